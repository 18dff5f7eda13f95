package run

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// checkData returns what is wrong with the flags for the node's data.
func (j *job) checkData() error {
	switch {
	case j.dataCommand && j.data != "":
		return errors.New("-data and -data-command exclude each other: the node has one text")
	case j.dataCommand && j.leader:
		return errors.New("-leader and -data-command exclude each other: the node of a leader has its id")
	default:
		return nil
	}
}

// who is the text that names this contender to people. Nodes of locks are readable for all by default, and stay in the
// servers' logs. So the command's arguments, which may contain passwords, are in the text only with -data-command.
func (j *job) who() string {
	name := "?"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	id := name + "@" + host
	if j.leader {
		return id
	}
	text := id + " " + strconv.Itoa(os.Getpid())
	if len(j.command) == 0 {
		return text + " zklock hold"
	}
	text += " " + filepath.Base(j.command[0])
	if j.dataCommand {
		text += " " + strings.Join(j.command[1:], " ")
	}
	const most = 200 // bytes; the command's arguments may be long
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
