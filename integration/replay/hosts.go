package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A job is one run of the tests under a schedule.
type job struct {
	schedule  uint64
	arguments []string
	faults    []byte // if not nil, the file faults
}

// An outcome is how a job ended.
type outcome struct {
	schedule uint64
	code     int
	hangs    bool // it was ended when its time was up
	output   []byte
	history  []byte
	faults   []byte // the job's faults
}

// hosts are processes of Node.js. Each of them runs one schedule at a time.
type hosts struct {
	command []string
	home    string // where the tests run
	dir     string
	limit   time.Duration
	idle    chan *process
}

func newHosts(command []string, home, dir string, n int, limit time.Duration) *hosts {
	h := &hosts{command: command, home: home, dir: dir, limit: limit, idle: make(chan *process, n)}
	for range n {
		h.idle <- nil
	}
	return h
}

// close ends the processes. No job may be under way.
func (h *hosts) close() {
	for range cap(h.idle) {
		if p := <-h.idle; p != nil {
			p.end()
		}
	}
}

// execute waits until a process is idle, and runs a job.
func (h *hosts) execute(ctx context.Context, j job) (outcome, error) {
	p := <-h.idle
	defer func() { h.idle <- p }()
	o := outcome{schedule: j.schedule, faults: j.faults}
	dir, err := os.MkdirTemp(h.dir, "run-")
	if err != nil {
		return o, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if j.faults != nil {
		if err := os.WriteFile(filepath.Join(dir, "faults"), j.faults, 0o600); err != nil {
			return o, err
		}
	}
	if p != nil && p.jobs >= 100 { // memory of programs that have ended is given back late
		p.end()
		p = nil
	}
	if p == nil {
		if p, err = h.start(); err != nil {
			return o, err
		}
	}
	p.jobs++
	var crash string
	if o.code, o.hangs, crash = p.execute(ctx, j, dir, h.limit); crash != "" || o.hangs || ctx.Err() != nil {
		p.end()
		p = nil
	}
	if err := ctx.Err(); err != nil {
		return o, err
	}
	o.output, err = os.ReadFile(filepath.Join(dir, "output"))
	early := o.hangs && errors.Is(err, os.ErrNotExist) // ended before it had printed anything
	if err != nil && crash == "" && !early {
		return o, err
	}
	o.output = append(o.output, crash...)
	o.history, err = os.ReadFile(filepath.Join(dir, "history"))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return o, err
}

// A process is one of Node.js.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs *bytes.Buffer
	jobs int
	once sync.Once
}

func (h *hosts) start() (*process, error) {
	p := &process{cmd: exec.Command(h.command[0], h.command[1:]...), errs: new(bytes.Buffer)}
	p.cmd.Dir = h.home
	p.cmd.Env = append(os.Environ(), "TZ=UTC", "NODE_OPTIONS=")
	p.cmd.Stderr = p.errs
	p.cmd.WaitDelay = 5 * time.Second
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewReader(out)
	return p, p.cmd.Start()
}

// execute has the process run a job, and kills it when ctx ends or the time is up. crash is what Node.js said if the
// process ended otherwise.
func (p *process) execute(ctx context.Context, j job, dir string, limit time.Duration) (code int, hangs bool, crash string) {
	request, err := json.Marshal(map[string]any{
		"schedule": strconv.FormatUint(j.schedule, 10), "directory": dir, "arguments": j.arguments,
	})
	if err != nil {
		return unable, false, err.Error()
	}
	var expired atomic.Bool
	timer := time.AfterFunc(limit, func() {
		expired.Store(true)
		_ = p.cmd.Process.Kill()
	})
	defer timer.Stop()
	defer context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })()
	_, err = p.in.Write(append(request, '\n'))
	answer := ""
	if err == nil {
		answer, err = p.out.ReadString('\n')
	}
	if err == nil {
		code, err = strconv.Atoi(strings.TrimSpace(answer))
	}
	switch {
	case expired.Load():
		return unable, true, ""
	case err != nil:
		p.end()
		return unable, false, fmt.Sprintf("Node.js ended: %v\n%s", err, p.errs)
	}
	return code, false, ""
}

// end ends the process and waits for that.
func (p *process) end() {
	p.once.Do(func() {
		_ = p.in.Close()
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
}
