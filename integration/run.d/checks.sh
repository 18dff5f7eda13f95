# Checks that run no tests. Sourced by integration/run.

tidy() { go mod tidy -diff; }

# formatted uses the gofmt that belongs to go, which need not be in PATH.
formatted() {
	local files PATH=$PATH
	PATH=$(go env GOROOT)/bin:$PATH
	files=$(find . -name '*.go' -not -path './integration/.cache/*' -print0 | xargs -0 gofmt -l) || return
	[[ -z $files ]] || {
		printf 'not formatted by gofmt:\n%s\n' "$files"
		return 1
	}
}

# prose checks the words and the width of comments, messages and pages.
prose() { go run ./integration/prose; }

build() { go build ./...; }
vet() { go vet "${packages[@]}"; }

# Other systems are only compiled for: what depends on one has to stand in a file for it, tests included.
vet_windows() { GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go vet ./...; }
vet_darwin() { GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 go vet ./...; }
vet_386() { GOOS=linux GOARCH=386 CGO_ENABLED=0 go vet ./...; }

# each_module runs a command in every directory below that has a module of its own, and so is no part of ./..., in three at
# once.
each_module() {
	export -f in_module
	find . -mindepth 2 -name go.mod -not -path './integration/.cache/*' | sort |
		xargs -n 1 -P 3 bash -c 'in_module "${@: -1}" "${@:1:$#-1}"' bash "$@"
}

# in_module runs a command in the directory of a go.mod, and prints what it said in one piece.
in_module() {
	local dir out status=0
	dir=$(dirname "$1")
	shift
	out=$(cd "$dir" && "$@" 2>&1) || status=$?
	printf '%s\n' "$dir: $*" ${out:+"$out"}
	return $status
}

vet_modules() { each_module go vet ./...; }
lint() { integration/tool golangci-lint run --allow-parallel-runners "${packages[@]}"; }
lint_modules() { each_module "$PWD/integration/tool" golangci-lint run --allow-parallel-runners ./...; }

# porting compiles the Java side of the examples of porting.
porting() { mvn --quiet --batch-mode -Dstyle.color=never --file examples/porting/pom.xml compile; }
