// Package gocronlock has gocron's jobs run in one process at a time, on Curator's locks in ZooKeeper.
//
// A [Locker] decides run by run: every process schedules every job, and the first one to come runs it.
//
//	locker := gocronlock.NewLocker(client, "/jobs", 5*time.Second)
//	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
//	_, err = scheduler.NewJob(gocron.CronJob("0 3 * * *", false),
//		gocron.NewTask(locker.Task("nightly", work)), gocron.WithName("nightly"))
//
// An [Elector] decides once: one process leads, and runs all jobs until it ends or loses the lead.
//
//	elector := gocronlock.NewElector(client, "/jobs/leader", leader.WithID(hostname))
//	scheduler, err := gocron.NewScheduler(gocron.WithDistributedElector(elector))
//	go func() { … elector.Run(ctx) }()
//
// A scheduler that has both asks the elector alone.
//
// # What happens on a loss
//
// gocron cannot stop a job whose lock is gone, and runs it to its end. So a job should be made by
// [Locker.Task] or [Elector.Task]: its context ends before another process can run the job, and the loss is the job's
// error, for gocron.AfterJobRunsWithError.
//
// # What to know of gocron
//
//   - It skips a run whose lock it does not get, and reports why to gocron.AfterLockError. [Locker.Lock] does not wait
//     for another process: a job that waited would run the same tick a second time.
//   - Processes' clocks differ. With a short job, the process whose clock is late finds the lock free again, and runs
//     the same tick a second time. NewLocker's minHold keeps the lock for at least so long: more than twice what the
//     clocks differ, less than the interval of the job. A process that has to wait for the servers for half of it skips
//     the run, for the same reason. Shutdown waits for minHold as for a job, ten seconds unless gocron.WithStopTimeout
//     says otherwise.
//   - It cancels the job's context on Shutdown and after the last run, and then hands that context to Unlock, whose
//     error it drops. Unlock releases regardless of it.
//   - The key of a lock is the job's name, by default that of its function. Two jobs of one name share a lock.
//
// Shut the scheduler down before the end of Run's context, and close the client last.
package gocronlock
