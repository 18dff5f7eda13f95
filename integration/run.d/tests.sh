# Tests, what they leave behind, and what became of them. Sourced by integration/run.

# test_in tests packages of the module in a directory: what stands before the first flag, or flags alone for all of args.
# testrun repeats what may be chance. The time limit for each package is one that only a test that hangs needs. The packages
# whose tests take longest wait for servers and sessions most of the time: six at once take two processors 7 minutes, two at
# once 11.
test_in() {
	local dir=$1 status=0 v=() race=(-race) vet=() flags=() list=$PWD/integration/passed-only-when-repeated.txt at_once silence=$((10 + load))m report
	shift
	at_once=$(getconf _NPROCESSORS_ONLN)
	report=$work/report-${dir//\//-}
	mkdir -p "$report"
	go build -o "$report/testrun" ./integration/testrun || return
	[[ $verbose = no ]] || v=(-v)
	[[ $dir != . && $dir != ./. ]] || flags=(${args[@]+"${args[@]}"})
	[[ ${#flags[@]} = 0 ]] || silence=0 # they may be those of a run that takes hours
	# These read source code or pages, one thing after the other, and with the detector four times as long.
	case $dir in *integration/figures | *integration/release | *integration/site | *integration/vet) race=() ;; esac
	# The phase vet has checked everything, with more analyzers.
	[[ $everything = no ]] || vet=(-vet=off)
	flags=(${race[@]+"${race[@]}"} ${vet[@]+"${vet[@]}"} -shuffle=on "-timeout=$((40 + 2 * load))m" -p $((at_once < 6 ? 6 : at_once)) ${flags[@]+"${flags[@]}"})
	(cd "$dir" && CURATOR_INTEGRATION=required CURATOR_INTEGRATION_RUN=$mark-$number. CURATOR_INTEGRATION_BUSY=$busy \
		"$report/testrun" ${v[@]+"${v[@]}"} -dir "$report" -list "$list" "-silence=$silence" "$@" -- "${flags[@]}") || status=1
	nothing_left | tee -a "$report/failures" || true
	[[ -s $report/failures ]] || return $status
	{ echo "  (cd $dir && go test $* ${flags[*]})" && cat "$report/failures"; } >"$why"
	return 1
}

# test_all_but tests the module's packages without those in these directories.
test_all_but() {
	local rest but
	but=$(printf '|/%s$' "$@")
	rest=$(go list ./... | grep -vE "${but#|}") || return
	# shellcheck disable=SC2086 # one package a word
	test_in . $rest
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

# causes_machine says how this machine shows that a process was throttled.
causes_machine() {
	local dir kind options quota=''
	while read -r _ dir kind options _; do
		case $kind in
		cgroup2) [[ " $(cat "$dir/cgroup.subtree_control" 2>/dev/null) " != *' cpu '* ]] || quota="a CPU quota of a cgroup of version 2 below $dir" ;;
		cgroup) [[ ,$options, != *,cpu,* ]] || quota="a CPU quota of a cgroup of version 1 below $dir; its count of throttling: a directory of files" ;;
		esac
		[[ -z $quota || ! -w $dir ]] || break
	done </proc/mounts
	[[ -n $quota && -w $dir ]] || quota='a directory of files alone, since no cgroup with a CPU quota can be made here'
	echo "a process that is throttled: $quota"
}

# running_still prints the processes that carry this phase's mark in their environment, which whatever the tests start
# inherits. A zombie has no environment any more, so it does not count.
running_still() {
	local dir
	for dir in /proc/[0-9]*; do
		{ [[ $(tr '\0' '\n' <"$dir/environ") == *"CURATOR_INTEGRATION_RUN=$mark-$number."* ]]; } 2>/dev/null || continue
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

# all_of prints what the phases of tests have written into files of one name.
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
