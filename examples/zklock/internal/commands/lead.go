package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/lead"
	"github.com/gocurator/curator/examples/zklock/internal/run"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

const leadHelp = `zklock lead [flags] PATH

Stands for the election at a path, and answers over HTTP whether it leads: for a
program beside it that cannot be run by zklock run -leader, as in a container of
the same pod. It is a participant as a LeaderSelector of this library or of Java
Curator, in one queue with them and with zklock run -leader; zklock who lists
it, and zklock revoke asks it to leave. LeaderLatches stand in another queue.

  GET /leader       status 200 and who leads: {"name": "pod-1", "me": "pod-1",
  GET /             "leading": true, "since": …, "token": 12,
                    "valid_for_ms": 5000, "connected": true}
  GET /am-i-leader  the same, but status 503 unless this one leads
  GET /healthz      status 200 for as long as the process answers

"leading" is a promise: no other participant leads within valid_for_ms from the
moment of the question, unless this one's node or session is removed by hand.
So work that a yes allows is to end within that time, or to ask again; no answer
is a no. -promise is that time. zklock says yes only while the lease lasts as
long, by its own clock; whether servers answer does not matter. "name" is "me"
only then. Another's name is who led when the servers last said so: long ago, if
"connected" is false, and for a moment after it is true again. It is "" if no
participant leads, if zklock may not read the leader's node, and if the leader
was asked to leave before zklock read it. Participants need different names.

"token" is a number that grows from term to term: a store that refuses smaller
ones than it has seen is safe even from a program that is late.

At TERM, INT and HUP, and when it is asked to leave, zklock says no, waits until
the last yes has run out, and releases. Then the next one leads. After a signal
it ends; asked to leave, it stands again behind the others. When it has lost the
leadership it ends with status 79, so that what has started it starts it again;
with -exit-on-loss=false it stands again. It prints its address, and a line for
each change, or with -json an object. Lines that nothing reads are dropped.

It listens on this machine alone, unless -listen says otherwise: the containers
of a pod share that. An address that others can reach needs -insecure.

Examples:

  zklock lead -zk zk1:2181 /leaders/billing
  curl -s http://127.0.0.1:4040/leader | jq -r .name
  curl -sf http://127.0.0.1:4040/am-i-leader >/dev/null && ./once
  zklock lead -listen :4040 -insecure /leaders/billing   # for probes of kubelet

Exit status: 64 wrong usage; 69 no server reached; 70 another failure; 77
refused by the servers; 78 -promise does not fit the session, or no chroot; 79
the leadership was lost; 128 + n after signal n. It does not end otherwise.
`

// A standing is what zklock lead is to do.
type standing struct {
	options  lead.Options
	listen   string
	insecure bool
}

func newLead(set *flag.FlagSet) *looker {
	host, _ := os.Hostname() // if there is none, -name has to be given
	st := &standing{options: lead.Options{Promise: -1}}
	set.StringVar(&st.listen, "listen", "127.0.0.1:4040", "`address` to listen on; port 0 takes a free one")
	set.BoolVar(&st.insecure, "insecure", false, "let everybody ask who can reach the address, by any name of this host")
	set.StringVar(&st.options.Name, "name", host, "this participant's `name`, which no other one has (default: the host's, in a pod the pod's)")
	set.DurationVar(&st.options.Promise, "promise", -1, "`duration` for which a yes holds (default: T/8, at most 5s; T is the session timeout)")
	exit := set.Bool("exit-on-loss", true, "end when the leadership was lost")
	return &looker{paths: [2]int{1, 1}, do: func(ctx context.Context, s *scene) error {
		st.options.Client, st.options.Path, st.options.StandAgain = s.client, s.paths[0], !*exit
		if err := st.check(set); err != nil {
			return &statusError{run.ExitUsage, err}
		}
		st.options.Report = func(event lead.Event) { _ = s.report(event) } // a full disk is no reason to give up
		return st.stand(ctx, s)
	}}
}

// check returns everything that is wrong with the flags.
func (st *standing) check(set *flag.FlagSet) (wrong error) {
	if st.options.Path == "/" {
		wrong = errors.Join(wrong, errors.New(`"/" is no path of an election: say which, such as /leaders/billing`))
	}
	if st.options.Name == "" {
		wrong = errors.Join(wrong, errors.New("-name is empty, and this host has no name"))
	}
	given := false
	set.Visit(func(f *flag.Flag) { given = given || f.Name == "promise" })
	if given && st.options.Promise < 0 {
		wrong = errors.Join(wrong, fmt.Errorf("-promise %v: want a time that is not negative", st.options.Promise))
	}
	if !st.insecure && !isLoopback(st.listen) {
		wrong = errors.Join(wrong, fmt.Errorf("-listen %s can be reached from other machines: "+
			"say -insecure if all of them may ask who leads", st.listen))
	}
	return wrong
}

// stand answers and takes part in the election, until ctx ends or something fails.
func (st *standing) stand(ctx context.Context, s *scene) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", st.listen)
	if err != nil {
		return err
	}
	if err := s.report(lead.Event{Event: lead.Listens, At: time.Now(), Address: "http://" + listener.Addr().String()}); err != nil {
		return errors.Join(err, listener.Close())
	}
	elector := lead.New(st.options)
	server := answerServer(elector.Handler(!st.insecure), 10*time.Second)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	served := make(chan struct{})
	go func() { // ends with Close
		defer close(served)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			stop(err)
		}
	}()
	err = elector.Run(ctx) // answers go on until the term is released
	_ = server.Close()
	<-served
	var lost *lead.LostError
	var promise *lead.PromiseError
	switch {
	case errors.As(err, &lost):
		return &statusError{run.ExitLost, err}
	case errors.As(err, &promise):
		return &statusError{run.ExitConfig, err}
	default:
		return err
	}
}

// answerServer waits no longer than patience for a request with its body, and for the reader of an answer.
func answerServer(handler http.Handler, patience time.Duration) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: patience, ReadTimeout: patience, WriteTimeout: patience,
		IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14,
	}
}

// report prints an event.
func (s *scene) report(event lead.Event) error {
	if s.json {
		text, err := json.Marshal(event)
		if err != nil {
			return err
		}
		return s.print(string(text) + "\n")
	}
	text := eventText(event)
	if event.Dropped > 0 {
		text += fmt.Sprintf(" (the output was stuck, and %d lines before this one were dropped)", event.Dropped)
	}
	return s.print(survey.Printable(text) + "\n")
}

func eventText(event lead.Event) string {
	switch event.Event {
	case lead.Listens:
		return event.Address
	case lead.Leads:
		return fmt.Sprintf("this one leads, as %s, token %d", event.Name, event.Token)
	case lead.Yields:
		return "this one does not lead any more: the leadership is being released"
	case lead.Lost:
		return "the leadership is lost: " + event.Why
	case lead.Sees:
		return "the leader is " + cmp.Or(event.Name, "a participant whose name is not known")
	default:
		return event.Why
	}
}
