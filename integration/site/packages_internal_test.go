package main

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const source = `// Package gate has a [Gate], above [github.com/gocurator/curator/retry.Policy] and [time.Duration].
//
// # Use
//
//   - one
//   - two *stars*
package gate

import "time"

// Most is the most.
const Most = 3

// ErrShut says that a gate is shut, see [Gate.Open] and [Gate.Width].
var ErrShut = error(nil)

// A Gate opens.
type Gate[T any] struct {
	Width int // in metres
	value T
}

// New makes a gate.
func New[T any]() *Gate[T] { return nil }

// Open opens it.
func (g *Gate[T]) Open(d time.Duration) error { return ErrShut }

func (g *Gate[T]) hidden() {}

// A Keeper keeps, with [Keeper.Keep].
type Keeper interface {
	Keep() // all
}
`

const page = `# Package gate

~~~go
import "github.com/gocurator/curator/recipes/gate"
~~~

Package gate has a [Gate](#Gate), above [github.com/gocurator/curator/retry.Policy](../retry.md#Policy) and [time.Duration](https://pkg.go.dev/time#Duration).

## Use {#hdr-Use}

  - one
  - two \*stars\*

## Constants

<a id="Most"></a>

~~~go
const Most = 3
~~~

Most is the most.

## Variables

<a id="ErrShut"></a>

~~~go
var ErrShut = error(nil)
~~~

ErrShut says that a gate is shut, see [Gate.Open](#Gate.Open) and [Gate.Width](#Gate.Width).

## Types

### Gate {#Gate}

<a id="Gate.Width"></a>

~~~go
type Gate[T any] struct {
	Width int // in metres
	// contains filtered or unexported fields
}
~~~

A Gate opens.

#### New {#New}

~~~go
func New[T any]() *Gate[T]
~~~

New makes a gate.

**Example**

~~~go
// First a gate.
g := gate.New[int]()
if g != nil {
	_ = g.Open(0)
}
// Output:
~~~

#### Gate.Open {#Gate.Open}

~~~go
func (g *Gate[T]) Open(d time.Duration) error
~~~

Open opens it.

### Keeper {#Keeper}

<a id="Keeper.Keep"></a>

~~~go
type Keeper interface {
	Keep() // all
}
~~~

A Keeper keeps, with [Keeper.Keep](#Keeper.Keep).

The sources are in [recipes/gate](https://github.com/gocurator/curator/tree/main/recipes/gate).
`

const example = `package gate_test

import "github.com/gocurator/curator/recipes/gate"

func ExampleNew() {
	// First a gate.
	g := gate.New[int]()
	if g != nil {
		_ = g.Open(0)
	}
	// Output:
}
`

func TestPackagesShowWhatGoDocShows(t *testing.T) {
	s := site{dir: t.TempDir(), ref: "main"}
	for name, text := range map[string]string{
		"recipes/gate/gate.go": source, "recipes/gate/gate_test.go": example, "recipes/gate/other_windows.go": "package gate\n\nvar W = 1\n",
		"retry/retry.go": "package retry\n", "recipes/internal/queue/queue.go": "package queue\n", "framework/ranked/ranked.go": "package ranked\n",
		"examples/leader/main.go": "package main\n", "examples/zklock/txnlog/log.go": "package txnlog\n", "recipes/gate/testdata/x.txt": "",
	} {
		if err := write(filepath.Join(s.dir, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	texts, err := s.packages()
	want := []string{"packages/examples/zklock/txnlog.md", "packages/recipes/gate.md", "packages/retry.md"}
	if got := slices.Sorted(maps.Keys(texts)); err != nil || !slices.Equal(got, want) {
		t.Fatalf("got pages of %q and %v, want %q", got, err, want)
	}
	empty := regexp.MustCompile(`\n\n+`) // how many empty lines there are is nothing that a reader sees
	got := empty.ReplaceAllString(string(texts["packages/recipes/gate.md"]), "\n\n")
	if want := strings.ReplaceAll(page, "~~~", "```"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPackagesNameTheOneThatCannotBeRead(t *testing.T) {
	s := site{dir: t.TempDir(), ref: "main"}
	if err := write(filepath.Join(s.dir, "retry/retry.go"), []byte("package retry\nfunc {")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.packages(); err == nil || !strings.HasPrefix(err.Error(), "retry: ") {
		t.Errorf("got %v, want an error of retry", err)
	}
}

// The packages that only our own tests use, and those beside the library, are there.
func TestPackagesWithAnExceptionAreThere(t *testing.T) {
	for _, dir := range slices.Concat(ownTests, besideLibrary) {
		if sources, err := filepath.Glob(filepath.Join("../..", dir, "*.go")); err != nil || len(sources) == 0 {
			t.Errorf("%s: got %q and %v, want a package", dir, sources, err)
		}
	}
}
