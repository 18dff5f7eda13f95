# Checks that run no tests. Sourced by integration/run.

# modules prints the directories that have a go.mod.
modules() { find . -name go.mod -not -path './integration/.cache/*' | sed 's|^\./||; s|/*go\.mod$||; s|^$|.|' | sort; }

# in_modules runs a command in some modules and names those where it failed: the directories, "--", the command.
in_modules() {
	local dirs=() dir out failed=0
	while [[ $1 != -- ]]; do dirs+=("$1") && shift; done
	shift
	for dir in "${dirs[@]}"; do
		if out=$(cd "$dir" && "$@" 2>&1); then continue; fi
		printf '%s: %s\n%s\n' "$dir" "$*" "$out"
		printf '  (cd %s && %s)\n%s\n' "$dir" "$*" "$(tail -n 20 <<<"$out" | sed 's/^/    /')" >>"$why"
		failed=1
	done
	return $failed
}

# formatted uses the gofmt that belongs to go, which need not be in PATH.
formatted() {
	local files
	files=$(find . -name '*.go' -not -path './integration/.cache/*' -print0 | xargs -0 "$(go env GOROOT)/bin/gofmt" -l) || return
	[[ -z $files ]] || {
		printf 'not formatted by gofmt:\n%s\n' "$files" | tee -a "$why"
		return 1
	}
}

files() {
	local failed=0
	formatted || failed=1
	in_modules . examples examples/zklock integration -- go mod tidy -diff || failed=1
	return $failed
}

# vet builds everything too. Files for the race detector are left out elsewhere.
vet() {
	local dirs failed=0
	# shellcheck disable=SC2046 # one directory a word
	in_modules $(modules) -- go vet ./... || failed=1
	dirs=$(find framework recipes retry -name '*.go' -exec grep -lE '^//go:build .*\brace\b' {} + | xargs -n 1 dirname | sort -u | sed 's|^|./|') || return
	# shellcheck disable=SC2086 # one directory a word
	in_modules . -- go vet -race $dirs || failed=1
	return $failed
}

lint_in() { (cd "$1" && "$OLDPWD/integration/tool" golangci-lint run --allow-parallel-runners "${@:2}"); }

# lint_packages lints the packages of the command line, each in its module.
lint_packages() {
	local dir failed=0
	for dir in $(modules_of "${packages[@]}"); do
		# shellcheck disable=SC2046 # one package a word
		lint_in "$dir" $(packages_in "$dir" "${packages[@]}") || failed=1
	done
	return $failed
}

# systems vets for systems that no test runs on here, and compiles nothing for them.
systems() {
	local system failed=0
	for system in windows/amd64 darwin/arm64 linux/386; do
		go run -C integration/vet . -dir "$PWD" "$system" ./... || failed=1
		go run -C integration/vet . -dir "$PWD/examples/zklock" "$system" ./... || failed=1
	done
	(cd examples && GOOS=js GOARCH=wasm go vet ./playground/process) || failed=1
	return $failed
}

site() { go run -C integration/site . && tests_of integration/site ./...; }

tools() {
	local failed=0
	# shellcheck disable=SC2046 # one directory a word
	in_modules $(modules) -- go mod tidy -diff || failed=1
	# shellcheck disable=SC2046 # one directory a word
	in_modules $(modules | grep -vx .) -- "$PWD/integration/tool" golangci-lint run --allow-parallel-runners ./... || failed=1
	tests_of integration/figures ./... || failed=1
	tests_of integration/vet ./... || failed=1
	tests_of integration ./run.d ./testrun/... ./internal/... ./renewal ./causes || failed=1
	return $failed
}
