package worker

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/integration/bench/job"
)

// dialers has the clients by name.
var dialers = map[string]func(ctx context.Context, j job.Job) (client, error){
	"go-curator":          dialCurator,
	"go-curator-retained": dialCuratorRetained,
	"raw":                 dialRaw,
	"zk.Lock":             dialZK,
	"etcd":                dialEtcd,
	"nats":                dialNATS,
	"postgres":            dialPostgres,
	"redsync":             dialRedsync,
	"redsync-always":      dialRedsync,
	"redsync-three":       dialRedsync,
	"redislock":           dialRedislock,
}

func noSuchLock(j, kind string) error { return fmt.Errorf("%s has no %s", j, kind) }
