package commands

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/gocurator/curator/examples/zklock/internal/manual"
	"github.com/gocurator/curator/examples/zklock/internal/run"
	"github.com/gocurator/curator/examples/zklock/internal/servers"
)

// Overview is what zklock alone prints.
func Overview(out io.Writer) { overview(out, run.Supported) }

func overview(out io.Writer, runs bool) {
	_, _ = io.WriteString(out, "zklock: locks in ZooKeeper, for shells and people\n\n")
	for _, c := range all(runs) {
		_, _ = fmt.Fprintf(out, "  zklock %-10s  %s\n", c.Name, c.Short)
	}
	_, _ = io.WriteString(out, `  zklock completion  print a script for bash, zsh or fish
  zklock help        print this; help -man the man page

Examples:

`)
	if runs {
		_, _ = io.WriteString(out, `  export ZOOKEEPER=zk1:2181,zk2:2181,zk3:2181
  zklock run /locks/nightly -- ./backup.sh
  zklock who /locks/nightly
`)
	} else {
		_, _ = io.WriteString(out, "  zklock who -zk zk1:2181,zk2:2181,zk3:2181 /locks/nightly\n")
	}
	_, _ = io.WriteString(out, "\nzklock COMMAND -h has a command's manual.\n")
}

// Man prints the man page: the manuals of all commands, for troff.
func Man(out io.Writer) {
	var page strings.Builder
	page.WriteString(".TH ZKLOCK 1\n.SH NAME\nzklock \\- locks in ZooKeeper, for shells and people\n.SH SYNOPSIS\n.nf\n")
	for _, c := range All() {
		synopsis, _, _ := strings.Cut(c.Help, "\n")
		page.WriteString(troff(synopsis) + "\n")
	}
	page.WriteString(".fi\n")
	for _, c := range All() {
		_, text, _ := strings.Cut(c.Help, "\n\n")
		page.WriteString(".SH \"ZKLOCK " + strings.ToUpper(c.Name) + "\"\n.nf\n" + troff(strings.TrimSpace(text)) + "\n.fi\n")
		page.WriteString(".PP\nFlags:\n")
		c.Flags().VisitAll(func(f *flag.Flag) {
			name, usage := flag.UnquoteUsage(f)
			page.WriteString(".TP\n" + troff(strings.TrimSpace("-"+f.Name+" "+name)) + "\n" + troff(usage+manual.Default(f, usage)) + "\n")
		})
	}
	page.WriteString(".SH \"ENVIRONMENT AND CONFIGURATION\"\n.nf\n" + troff(servers.Help) + "\n.fi\n")
	_, _ = io.WriteString(out, page.String())
}

// troff escapes a text.
func troff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
