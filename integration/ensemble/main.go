//go:build unix

package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gocurator/curator/integration/zookeeper"
)

const help = `status             what every server says that it is
kill N             kill -9
start N            start again, on its data
restart N          kill, start, wait until it serves
freeze N, thaw N   SIGSTOP, SIGCONT
cut A B            silence the links between two servers; "cut A" those between one and all others
oneway A B         B does not hear A any more
hold A B           hold back what is said between two servers until they are healed
delay A B 50ms     what is said between two servers arrives so much later
reset A B          break the connections between two servers
clients N cut      the same for the links of a server's clients: cut, hold, reset, heal, or delay 50ms
heal               every link is whole again
quit
`

func main() {
	servers := flag.Int("n", 3, "how many servers vote")
	observers := flag.Int("observers", 0, "how many more observe")
	tick := flag.Duration("tick", 2*time.Second, "tickTime")
	syncLimit := flag.Int("synclimit", 5, "syncLimit, in ticks")
	flag.Parse()
	config := zookeeper.EnsembleConfig{Servers: *servers, Observers: *observers, SyncLimit: *syncLimit}
	config.TickTime = *tick
	if err := run(config, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(config zookeeper.EnsembleConfig, in io.Reader, out io.Writer) error {
	dir, err := os.MkdirTemp("", "curator-ensemble-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupted)

	ensemble, err := zookeeper.NewEnsemble(dir, config, complaints{})
	if err != nil {
		return err
	}
	defer ensemble.Close()
	if _, err := fmt.Fprintln(out, ensemble.ConnectString()); err != nil {
		return err
	}

	orders := make(chan string)
	go func() {
		defer close(orders)
		for lines := bufio.NewScanner(in); lines.Scan(); {
			orders <- lines.Text()
		}
	}()
	for {
		select {
		case <-interrupted:
			return nil
		case order, more := <-orders:
			if !more || order == "quit" {
				return nil
			}
			if err := obey(ensemble, strings.Fields(order), out); err != nil {
				_, _ = fmt.Fprintln(out, err)
			}
		}
	}
}

// complaints prints what goes wrong.
type complaints struct{}

func (complaints) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

var errOrder = errors.New(`no such order; "help" prints those there are`)

func obey(e *zookeeper.Ensemble, words []string, out io.Writer) error {
	if len(words) == 0 {
		return nil
	}
	order, words := words[0], words[1:]
	switch order {
	case "help":
		_, err := io.WriteString(out, help)
		return err
	case "status":
		for _, m := range e.Members() {
			role := m.Role()
			if role == "" {
				role = "not serving"
			}
			_, _ = fmt.Fprintf(out, "%d %s pid %d: %s\n", m.ID(), m.Addr(), m.PID(), role)
		}
		return nil
	case "heal":
		e.Heal()
		return nil
	}
	var members []*zookeeper.Member
	for len(words) > 0 {
		n, err := strconv.Atoi(words[0])
		if err != nil {
			break
		}
		if n < 1 || n > len(e.Members()) {
			return fmt.Errorf("there is no server %d", n)
		}
		members = append(members, e.Members()[n-1])
		words = words[1:]
	}
	switch {
	case order == "clients" && len(members) == 1 && len(words) > 0:
		return disturb(members[0].Clients(), words[0], words[1:])
	case order == "oneway" && len(members) == 2 && members[0] != members[1]:
		return disturb(e.OneWay(members[0], members[1]), "cut", nil)
	case len(members) == 2 && members[0] != members[1]:
		return disturb(e.Between(members[0], members[1]), order, words)
	case len(members) == 1 && command(members[0], order):
		return nil
	case len(members) == 1:
		return disturb(e.Peers(members[0]), order, words)
	default:
		return errOrder
	}
}

func command(m *zookeeper.Member, order string) bool {
	switch order {
	case "kill":
		m.Kill()
	case "start":
		m.Start()
	case "restart":
		m.Restart()
	case "freeze":
		m.Freeze()
	case "thaw":
		m.Unfreeze()
	default:
		return false
	}
	return true
}

func disturb(links zookeeper.Links, order string, words []string) error {
	switch order {
	case "cut":
		links.Cut()
	case "hold":
		links.Freeze()
	case "reset":
		links.Reset()
	case "heal":
		links.Heal()
	case "delay":
		if len(words) != 1 {
			return errOrder
		}
		d, err := time.ParseDuration(words[0])
		if err != nil {
			return err
		}
		links.Delay(d)
	default:
		return errOrder
	}
	return nil
}
