package commands

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/run"
	"github.com/gocurator/curator/examples/zklock/internal/servers"
)

// CompletionHelp says how to use the scripts.
const CompletionHelp = `zklock completion bash|zsh|fish

Prints a script that completes commands, flags and paths of locks:

  source <(zklock completion bash)      # in ~/.bashrc
  source <(zklock completion zsh)       # in ~/.zshrc, behind compinit; or as a
                                        # file _zklock in a directory of fpath
  zklock completion fish | source       # in ~/.config/fish/config.fish

Paths are asked of the servers that ZOOKEEPER or the configuration names.
`

var scripts = map[string]string{
	"bash": `_zklock() {
	local IFS=$'\n'
	COMPREPLY=($(zklock complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
	[[ ${#COMPREPLY[@]} -eq 0 || ${COMPREPLY[0]} != /* ]] || compopt -o nospace
}
complete -o default -F _zklock zklock
`,
	// As a file _zklock in fpath its first line is read by compinit, and its text is the body of the function _zklock.
	"zsh": `#compdef zklock
_zklock() {
	local -a found path_goes_on
	found=("${(@f)$(zklock complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	[[ $PREFIX == /* ]] && path_goes_on=(-S '')
	[[ -n $found ]] && compadd -Q "${path_goes_on[@]}" -- $found || _files
}
if [[ $funcstack[1] == _zklock ]]; then
	_zklock "$@"
else
	compdef _zklock zklock
fi
`,
	// Files are offered only where zklock offers nothing.
	"fish": `function _zklock
	set -l found (zklock complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
	if set -q found[1]
		printf '%s\n' $found
	else
		__fish_complete_path (commandline -ct)
	end
end
complete -c zklock -f -a '(_zklock)'
`,
}

// Completion prints the script for a shell.
func Completion(args []string, out io.Writer) bool {
	if len(args) != 1 || scripts[args[0]] == "" {
		return false
	}
	_, _ = io.WriteString(out, scripts[args[0]])
	return true
}

// Complete prints what the last of some words can be. It prints nothing if it cannot know, and takes three seconds at
// most.
func Complete(words []string, out io.Writer) {
	if len(words) == 0 {
		return
	}
	last := words[len(words)-1]
	for _, word := range candidates(words[:len(words)-1], last) {
		if strings.HasPrefix(word, last) {
			_, _ = fmt.Fprintln(out, word)
		}
	}
}

func candidates(before []string, last string) (words []string) {
	if len(before) == 0 {
		for _, c := range All() {
			words = append(words, c.Name)
		}
		return append(words, "completion", "help")
	}
	at := slices.IndexFunc(All(), func(c Command) bool { return c.Name == before[0] })
	switch {
	case at < 0 && before[0] == "completion":
		return []string{"bash", "zsh", "fish"}
	case at < 0 || slices.Contains(before, "--"):
		return nil
	}
	set := All()[at].Flags()
	if strings.HasPrefix(last, "-") {
		set.VisitAll(func(f *flag.Flag) { words = append(words, "-"+f.Name) })
		return words
	}
	if strings.HasPrefix(last, "/") && set.Lookup("zk") != nil { // else it asks no servers, and this is a file
		return completePath(set, before[1:], last)
	}
	return nil
}

// completePath lists the children of the directory that has been typed so far.
func completePath(set *flag.FlagSet, before []string, last string) (words []string) {
	from := typedServers(set, before)
	if from == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	client, err := from.Client(nil)
	if err != nil {
		return nil
	}
	defer func() { _ = client.Close() }()
	dir := path.Dir(last)
	if strings.HasSuffix(last, "/") && last != "/" {
		dir = strings.TrimSuffix(last, "/")
	}
	children, _, err := client.Children(ctx, dir)
	if err != nil {
		return nil
	}
	for _, child := range children {
		words = append(words, path.Join(dir, child))
	}
	slices.Sort(words)
	return words
}

// typedServers are those that the flags that were typed, or the configuration, name; nil if they are wrong.
func typedServers(set *flag.FlagSet, before []string) *servers.Config {
	typed := flag.NewFlagSet("", flag.ContinueOnError)
	typed.SetOutput(io.Discard)
	from := servers.Flags(typed)
	set.VisitAll(func(f *flag.Flag) { // those of the command, so that they parse
		if typed.Lookup(f.Name) == nil {
			typed.Var(f.Value, f.Name, f.Usage)
		}
	})
	if _, err := run.Interleaved(typed, before); err != nil || from.Complete(os.Getenv) != nil {
		return nil
	}
	from.ConnectTimeout = 2 * time.Second
	return from
}
