# Tests, what they leave behind, and what became of them. Sourced by integration/run.

tests() { test_in . "${go_test[@]}"; }

# The modules below are no part of ./...
telemetry() { test_module examples/observability; }
kerberos() { test_module examples/kerberos; }
adapters() {
	local mod status=0
	for mod in examples/adapters/*/go.mod; do
		test_module "$(dirname "$mod")" || status=1
	done
	cat "$work"/report-examples-adapters-*/failures >"$work/$phase_number.failures"
	return $status
}
bench() { test_module integration/bench; }
figures() { test_module integration/figures; }
release() { test_module integration/release; }
test_module() {
	(cd "$1" && go mod tidy -diff) || return
	test_in "$1" ./...
}

# test_in tests packages of the module in a directory. Those in which only Go's runtime died are tried again, whatever became
# of the others, on one processor, where it has not been seen to die.
test_in() {
	local dir=$1 status=0 again=() options=() try package i
	shift
	report=$work/report-${dir//\//-}
	mkdir -p "$report"
	go build -o "$report/testrun" ./integration/testrun || return
	race_test "$dir" "$@" || status=1
	[[ $dir != . ]] || options=(${args[@]+"${args[@]}"})
	for try in 1 2 3; do
		again=()
		while IFS= read -r package; do again+=("$package"); done < <(take "$report/crashed")
		[[ ${#again[@]} -gt 0 ]] || break
		echo "the race detector's runtime died (golang.org/issue/78156); once more, $try of 3: ${again[*]}"
		printf '%s\n' "${again[@]}" >>"$work/all-crashed"
		status=0 # unless there are other failures
		GOMAXPROCS=1 race_test "$dir" "${again[@]}" ${options[@]+"${options[@]}"} || status=1
	done
	take "$report/crashed" | sed 's|.*|FAIL\t&\n  the race detector'"'"'s runtime died (golang.org/issue/78156), four times|' >>"$report/failures"
	cat "$report/slowest" >>"$work/slowest" 2>/dev/null || true
	nothing_left | tee -a "$report/failures" || true
	[[ ! -s $report/failures ]] || status=1
	cp "$report/failures" "$work/$phase_number.failures"
	return $status
}

# take prints a file and empties it.
take() {
	[[ ! -s $1 ]] || { cat "$1"; : >"$1"; }
}

# race_test has a time limit for each package that only a test that hangs needs. The packages whose tests take longest wait
# for servers and sessions most of the time: six at once take two processors 7 minutes, two at once 11.
race_test() {
	local dir=$1 v=() limit=$((40 + 2 * load))m at_once
	at_once=$(getconf _NPROCESSORS_ONLN)
	shift
	[[ $verbose = no ]] || v=(-v)
	(cd "$dir" && CURATOR_INTEGRATION=required CURATOR_INTEGRATION_RUN=$mark-$phase_number. CURATOR_INTEGRATION_BUSY=$busy \
		go test -json -race -shuffle=on "-timeout=$limit" -p $((at_once < 6 ? 6 : at_once)) "$@" 2>&1) | "$report/testrun" ${v[@]+"${v[@]}"} -dir "$report"
}

# running_still prints the processes that carry this phase's mark in their environment, which whatever the tests start
# inherits. A zombie has no environment any more, so it does not count.
running_still() {
	local dir
	for dir in /proc/[0-9]*; do
		{ [[ $(tr '\0' '\n' <"$dir/environ") == *"CURATOR_INTEGRATION_RUN=$mark-$phase_number."* ]]; } 2>/dev/null || continue
		echo "${dir#/proc/} $(tr '\0' ' ' <"$dir/cmdline" 2>/dev/null)"
	done
}

# nothing_left fails if a process that the tests started has outlived them, after a minute of grace, and ends it. It may
# have been killed, and still wait for a processor of a busy machine, for each of its threads, to end.
nothing_left() {
	[[ -d /proc/self ]] || return 0
	local left pid command
	for _ in {1..600}; do
		left=$(running_still)
		[[ -n $left ]] || return 0
		sleep 0.1
	done
	echo "the tests left processes behind:"
	while read -r pid command; do
		echo "  $pid $command"
		kill -9 "$pid" 2>/dev/null || true
	done <<<"$left"
	return 1
}

slowest_tests() {
	[[ -s $work/slowest ]] || return 0
	printf '\nthe slowest tests\n'
	sort -rn "$work/slowest" | sed -n 1,10p | while read -r seconds package test; do printf '%7s s  %s %s\n' "$seconds" "$package" "$test"; done
}

crashes() {
	[[ -s $work/all-crashed ]] || return 0
	printf '\nthe race detector'"'"'s runtime died (golang.org/issue/78156), and the packages were tried again:\n'
	sort "$work/all-crashed" | uniq -c | while read -r times package; do printf '  %s, %s times\n' "$package" "$times"; done
}
