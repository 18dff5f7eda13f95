# Checks that run no tests. Sourced by integration/run.

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

# vet_for does what go vet does for another system, and compiles nothing for it.
vet_for() { go run -C integration/vet . -dir "$PWD" "$1" ./...; }

# vet_race vets the packages that have files for the race detector, which go vet leaves out elsewhere.
vet_race() {
	local dirs
	dirs=$(find . -name '*.go' -not -path './integration/.cache/*' -exec grep -lE '^//go:build .*\brace\b' {} + | xargs -n 1 dirname | sort -u) || return
	# shellcheck disable=SC2086 # one directory a word
	go vet -race $dirs
}

# modules prints the directories that have a go.mod, from a depth on: 1 is all, 2 those below, which are no part of ./...
modules() {
	find . -mindepth "$1" -name go.mod -not -path './integration/.cache/*' | sed 's|^\./||; s|/*go\.mod$||; s|^$|.|' | sort
}

# in_modules runs a command in the modules from a depth on, in three at once.
in_modules() {
	export why
	export -f in_module
	modules "$1" | xargs -n 1 -P 3 bash -c 'in_module "${@: -1}" "${@:2:$#-2}"' bash "$@"
}

# in_module runs a command in a directory, and prints what it said in one piece.
in_module() {
	local dir=$1 out status=0
	shift
	out=$(cd "$dir" && "$@" 2>&1) || status=$?
	printf '%s\n' "$dir: $*" ${out:+"$out"}
	[[ $status = 0 ]] || printf '  (cd %s && %s)\n%s\n' "$dir" "$*" "$(tail -n 20 <<<"$out" | sed 's/^/    /')" >>"$why"
	return $status
}
