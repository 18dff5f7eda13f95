package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// A console does to a server what lines of text say, and answers each with "ok" or what was asked for.
type console struct {
	srv  *zktest.Server
	door *door
	out  io.Writer
}

// read does what the lines of in say, until there are no more.
func (c console) read(in io.Reader, quit func(why error)) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		switch err := c.do(lines.Text()); {
		case errors.Is(err, errQuit):
			quit(err)
			return
		case err != nil:
			c.say("error: %v", err)
		}
	}
}

// say prints an answer. If its reader has gone, the next read finds that out.
func (c console) say(format string, args ...any) { _, _ = fmt.Fprintf(c.out, format+"\n", args...) }

var errQuit = errors.New(`the line "quit"`)

// A command has arguments as named, and does something with them.
type command struct {
	name, args, about string
	do                func(c console, args []string) error
}

// commands is a function because help is one of them.
func commands() []command {
	return []command{
		{"drop-reply", "OP PATH [NTH]", "do one request, but cut the connection instead of answering", func(c console, a []string) error {
			return c.request(a, c.srv.DropReply)
		}},
		{"drop-request", "OP PATH [NTH]", "cut the connection instead of doing one request", func(c console, a []string) error {
			return c.request(a, c.srv.DropRequest)
		}},
		{"delay-reply", "DURATION OP PATH [NTH]", "answer one request, and what follows, later", func(c console, a []string) error {
			d, err := time.ParseDuration(a[0])
			return errors.Join(err, c.request(a[1:], func(m zktest.Match) { c.srv.DelayReply(m, d) }))
		}},
		{"expire", "SESSION", "end a session", func(c console, a []string) error { return session(a[0], c.srv.ExpireSession) }},
		{"cut", "SESSION", "reset a session's connection", func(c console, a []string) error { return session(a[0], c.srv.CutSession) }},
		{"cut-all", "", "reset all connections", func(c console, _ []string) error { c.srv.CutAll(); return nil }},
		{"freeze", "", "do nothing any more, as after SIGSTOP", func(c console, _ []string) error { c.srv.Freeze(); return nil }},
		{"thaw", "", "go on", func(c console, _ []string) error { c.srv.Unfreeze(); return nil }},
		{"restart", "", "reset all connections and give all sessions their whole time again", func(c console, _ []string) error { c.srv.Restart(); return nil }},
		{"refuse", "BOOL", "whether new connections are refused", func(c console, a []string) error {
			refuse, err := strconv.ParseBool(a[0])
			if err == nil {
				err = c.door.setRefuse(refuse)
			}
			return err
		}},
		{"read-only", "BOOL", "whether only reading clients are served", func(c console, a []string) error { return whether(a[0], c.srv.SetReadOnly) }},
		{"counter", "PATH NUMBER", "set a node's next sequence number", func(c console, a []string) error {
			n, err := strconv.ParseInt(a[1], 10, 32)
			if err == nil {
				c.srv.SetCreateCounter(a[0], int32(n))
			}
			return err
		}},
		{"create", "PATH [DATA]", "make a node", func(c console, a []string) error { return c.srv.Create(a[0], []byte(strings.Join(a[1:], " "))) }},
		{"set", "PATH [DATA]", "change a node", func(c console, a []string) error { return c.srv.SetData(a[0], []byte(strings.Join(a[1:], " "))) }},
		{"delete", "PATH", "remove a node", func(c console, a []string) error { return c.srv.Delete(a[0]) }},
		{"sessions", "", "list the sessions", console.sessions},
		{"help", "", "list the commands", console.help},
		{"quit", "", "end the server", func(console, []string) error { return errQuit }},
	}
}

func (c console) do(line string) error {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return nil
	}
	for _, cmd := range commands() {
		if cmd.name != fields[0] {
			continue
		}
		args, names := fields[1:], strings.Fields(cmd.args)
		least := len(names) - strings.Count(cmd.args, "[")
		if len(args) < least || len(args) > len(names) && !strings.HasSuffix(cmd.args, "[DATA]") {
			return fmt.Errorf("usage: %s %s", cmd.name, cmd.args)
		}
		err := cmd.do(c, args)
		if err == nil {
			c.say("ok")
		}
		return err
	}
	return fmt.Errorf("no command %q; there is help", fields[0])
}

// request finds the request that OP PATH [NTH] means; "*" is any.
func (c console) request(args []string, fault func(zktest.Match)) error {
	m := zktest.Match{Path: args[1]}
	if args[0] != "*" {
		op, ok := zktest.ParseOp(args[0])
		if !ok {
			return fmt.Errorf("no request is called %q", args[0])
		}
		m.Op = op
	}
	if args[1] == "*" {
		m.Path = ""
	}
	if len(args) > 2 {
		nth, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		m.Nth = nth
	}
	fault(m)
	return nil
}

func session(id string, do func(int64)) error {
	n, err := strconv.ParseInt(id, 0, 64)
	if err == nil {
		do(n)
	}
	return err
}

func whether(value string, do func(bool)) error {
	b, err := strconv.ParseBool(value)
	if err == nil {
		do(b)
	}
	return err
}

func (c console) sessions([]string) error {
	for _, s := range c.srv.Sessions() {
		c.say("0x%x timeout=%v connected=%v ephemerals=%q", s.ID, s.Timeout, s.Connected, s.Ephemerals)
	}
	return nil
}

func (c console) help([]string) error {
	for _, cmd := range commands() {
		c.say("%-12s %-24s %s", cmd.name, cmd.args, cmd.about)
	}
	c.say(`OP is ZooKeeper's name of a request, such as create2; PATH may end in "*"; "*" alone is any.`)
	return nil
}
