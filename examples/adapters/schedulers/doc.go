// Package schedulers has no code but its tests: they compile and run what its page shows, one run of a tick on many
// replicas with cron and with asynq's scheduler.
package schedulers
