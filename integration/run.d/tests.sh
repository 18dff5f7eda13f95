# Tests, what they leave behind, and what became of them. Sourced by integration/run.

# Packages that start no goroutine find nothing by the race detector, and take four times as long with it.
without_race=(./framework/internal/cause ./framework/internal/watches ./framework/saslmd5 ./framework/zktest/explore ./recipes/internal/model ./recipes/journaltest)

# The packages whose tests take longest, which begin first.
longest=(./recipes/locks ./recipes/leader ./recipes/nodes ./recipes/cache ./framework/internal/live)

library_tests() {
	local race failed=0
	race=$(go list ./... | grep -vxE "$(printf '|github.com/gocurator/curator/%s' "${without_race[@]#./}" "${longest[@]#./}" | sed 's/^|//')") || return
	# shellcheck disable=SC2086 # one package a word
	tests_of . "${longest[@]}" $race || failed=1
	race_detector=no tests_of . "${without_race[@]}" || failed=1
	return $failed
}

# all_random plays the whole of what library_tests plays a sample of.
all_random() { CURATOR_SAMPLE=all library_tests; }

zklock() {
	local failed=0
	zklock_machine
	tests_of examples/zklock ./... || failed=1
	tests_of integration ./zklock || failed=1
	return $failed
}

kerberos() {
	tests_of examples/kerberos ./... && tests_of integration/kerberos ./...
}

adapters() {
	local dir failed=0
	for dir in $(modules | grep '^examples/adapters/'); do tests_of "$dir" ./... || failed=1; done
	return $failed
}

# tests_but tests a package of the module integration, and a module without the packages that have a piece in their path.
tests_but() {
	local list failed=0
	list=$(cd "$2" && go list ./... | grep -v "$3") || return
	# shellcheck disable=SC2086 # one package a word
	tests_of "$2" $list || failed=1
	tests_of integration "./${1#integration/}" || failed=1
	return $failed
}

# modules_of prints the modules of packages, each once; packages_in prints those of one module, as seen from there.
module_of() {
	local dir=${1%/...}
	dir=${dir#./}
	while [[ ! -e ${dir:-.}/go.mod ]]; do dir=$([[ $dir = */* ]] && echo "${dir%/*}" || echo ''); done
	echo "${dir:-.}"
}
modules_of() {
	local package
	for package in "$@"; do module_of "$package"; done | sort -u
}
packages_in() {
	local dir=$1 package below
	shift
	for package in "$@"; do
		[[ $(module_of "$package") = "$dir" ]] || continue
		below=${package#./}
		[[ $dir = . ]] || below=${below#"$dir"}
		echo "./${below#/}"
	done
}

test_packages() {
	local dir failed=0
	for dir in $(modules_of "${packages[@]}"); do
		# shellcheck disable=SC2046 # one package a word
		tests_of "$dir" $(packages_in "$dir" "${packages[@]}") || failed=1
	done
	return $failed
}

# tests_of tests packages of the module in a directory. Testrun repeats what may be chance. Only a test that hangs needs
# the time limit.
tests_of() {
	local dir=$1 status=0 v=() race=(-race) list=$PWD/integration/passed-only-when-repeated.txt silence=$((10 + load))m report
	shift
	report=$work/report-$number-${dir//\//-}
	mkdir -p "$report"
	go build -C integration -o "$work/testrun" ./testrun || return
	[[ $verbose = no ]] || v=(-v)
	[[ ${#args[@]} = 0 ]] || silence=0 # they may be those of a run that takes hours
	# These read source code or pages, one thing after the other, and with the detector four times as long.
	case $dir in integration/figures | integration/release | integration/site | integration/vet) race=() ;; esac
	[[ ${race_detector:-yes} = yes && $* != './pages ./promises ./planted' ]] || race=()
	(cd "$dir" && CURATOR_INTEGRATION=required CURATOR_INTEGRATION_RUN=$mark-$number. CURATOR_INTEGRATION_BUSY=$busy \
		"$work/testrun" ${v[@]+"${v[@]}"} -dir "$report" -list "$list" "-silence=$silence" "$@" -- \
		${race[@]+"${race[@]}"} -vet=off -shuffle=on "-timeout=$((40 + 2 * load))m" ${args[@]+"${args[@]}"}) || status=1
	nothing_left | tee -a "$report/failures" || true
	[[ -s $report/failures ]] || return $status
	{ echo "  (cd $dir && go test $* ${race[*]-} ${args[*]-})" && cat "$report/failures"; } >>"$why"
	return 1
}

# zklock_machine says what of zklock run this machine cannot show, whatever is installed: those tests are skipped.
zklock_machine() {
	local mount="" on dir kind
	if [[ $(id -u) != 0 ]]; then
		echo "without root: processes of other users, and cgroups, are not tested"
		return
	fi
	[[ $(sed -n 's/^NoNewPrivs:[[:space:]]*//p' /proc/self/status 2>/dev/null) = 0 ]] || echo "setuid programs gain nothing here: they are not tested"
	[[ -r /proc/mounts ]] || return 0
	while read -r on dir kind _; do [[ $kind != cgroup2 || -n $mount ]] || mount=$dir; done </proc/mounts
	if [[ -n $mount ]] && dir=$(mktemp -d "$mount/zklock-run.XXXXXX" 2>/dev/null); then
		[[ -e $dir/cgroup.kill ]] && echo "zklock's cgroups: real ones below $mount" || echo "zklock's cgroups: a directory of files, since this kernel kills none"
		rmdir "$dir"
	else
		echo "zklock's cgroups: a directory of files, since no cgroup2 can be written here"
	fi
}

# running_still prints the processes that carry a mark in their environment, which whatever the tests start inherits. A
# zombie has no environment any more, so it does not count.
running_still() {
	local dir
	for dir in /proc/[0-9]*; do
		{ [[ $(tr '\0' '\n' <"$dir/environ") == *"CURATOR_INTEGRATION_RUN=$1"* ]]; } 2>/dev/null || continue
		echo "${dir#/proc/} $(tr '\0' ' ' <"$dir/cmdline" 2>/dev/null)"
	done
}

# end_processes ends what the tests of a run that was stopped have started.
end_processes() {
	local pid command
	[[ -d /proc/self ]] || return 0
	running_still "$mark-" | while read -r pid command; do kill -9 "$pid" 2>/dev/null || true; done
}

# nothing_left fails if a process that the tests started has outlived them, after a minute of grace, and ends it. It may
# have been killed, and still wait for a processor of a busy machine, for each of its threads, to end.
nothing_left() {
	[[ -d /proc/self ]] || return 0
	local left pid command
	for _ in {1..600}; do
		left=$(running_still "$mark-$number.")
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

# all_of prints what the tests of all parts have written into files of one name.
all_of() { cat "$work"/report-*/"$1" 2>/dev/null || true; }

slowest_tests() {
	[[ -n $(all_of slowest) ]] || return 0
	printf '\nthe slowest tests\n'
	all_of slowest | sort -rn | sed -n 1,10p | while read -r seconds package test; do printf '%7s s  %s %s\n' "$seconds" "$package" "$test"; done
}

crashes() {
	[[ -n $(all_of crashed) ]] || return 0
	printf '\nthe race detector'"'"'s runtime died (golang.org/issue/78156), and the packages were tried again:\n'
	all_of crashed | sort | uniq -c | while read -r times package; do printf '  %s, %s times\n' "$package" "$times"; done
}

stalls() {
	[[ -n $(all_of stalls) ]] || return 0
	printf '\nthe machine stalled, and these tests ran:\n'
	all_of stalls | sort -rn | sed -n 1,10p | while read -r seconds at ran; do printf '%7s s at %s  %s\n' "$seconds" "$at" "$ran"; done
}

# repeated is what the run says last: it must not be forgotten.
repeated() {
	[[ -n $(all_of repeated) ]] || return 0
	printf '\npassed only when repeated; integration/passed-only-when-repeated.txt has it now: commit that, and mend the test first\n'
	all_of repeated
	[[ -z ${GITHUB_ACTIONS:-} ]] || all_of repeated | sed -n 's/^\([^[:space:]#].*\)/::warning title=passed only when repeated::\1/p'
}
