# The parts of the plan are done here, timed and summed up. Sourced by integration/run.

work='' stopped=no
loads=() pids=() began=() states=() # by the number of a part; states: running, ok or FAILED
mark=$$-$RANDOM                     # in the environment of all that the tests start

begin() {
	work=$(mktemp -d "${TMPDIR:-/tmp}/run.XXXXXX")
	trap finish EXIT
	trap 'stopped=yes; exit 130' INT TERM HUP
	mkdir -m 1777 "$work/t"
	chmod 755 "$work" # tests run programs of theirs as other users
	export TMPDIR=$work/t # of all that runs, so that nothing stays behind; the paths of sockets must be short
	[[ -n $sample ]] || sample=$(($(date +%s) / 86400))
	[[ " ${chosen[*]-} " != *' all '* ]] || sample=all
	export CURATOR_SAMPLE=$sample
	busy=no
	local minute processors
	processors=$(getconf _NPROCESSORS_ONLN)
	read -r minute _ 2>/dev/null </proc/loadavg || minute=0
	((load <= 4 * processors && ${minute%.*} <= 4 * processors)) || busy=yes # sessions on real servers are longer then
	echo "integration/run: ${#plan[@]} parts on $processors processors; the random tests play sample $sample (again: --sample $sample)"
	make_load
}

# finish ends what is left, and says what a run that was stopped knows.
finish() {
	local i
	trap - EXIT INT TERM HUP
	if [[ $stopped = yes ]]; then
		printf '\nstopped after %s\n' "$(clock $SECONDS)"
		for i in "${plan[@]}"; do
			case ${states[i]:-} in
			'') echo "  not run  ${names[i]}" ;;
			running) echo "  stopped  ${names[i]}$(failures_so_far "$i")" ;;
			FAILED) echo "  FAILED   ${names[i]}" ;;
			esac
		done
	fi
	for i in "${!pids[@]}"; do
		[[ ${states[i]} != running ]] || kill -- "-${pids[i]}" 2>/dev/null || true
	done
	for i in ${loads[@]+"${loads[@]}"}; do kill "$i" 2>/dev/null || true; done
	[[ $stopped = no ]] || end_processes
	rm -rf "$work"
}

failures_so_far() {
	local failed
	failed=$(grep -hE '^ *--- FAIL: |^FAIL	' "$work/$1.log" 2>/dev/null | head -n 10 | sed 's/^ */\n           /') || true
	printf '%s' "${failed:+; had failed:$failed}"
}

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# make_load starts processes that do nothing, until this one has ended.
make_load() {
	local i
	for ((i = 0; i < load; i++)); do
		(
			trap - EXIT INT TERM HUP
			while kill -0 $$ 2>/dev/null; do for _ in {1..100000}; do :; done; done
		) &
		loads+=($!)
	done
	[[ $load = 0 ]] || echo "beside it, $load processes are kept busy"
}

# start_part runs a part in a process group of its own. Its output goes to a file, so that a process that it leaves
# behind keeps nobody waiting. Inside a part set -e is off: a function returns its failures itself.
start_part() {
	local i=$1
	: >"$work/$i.log"
	set -m
	(
		trap - EXIT INT TERM HUP
		set +e
		number=$i why=$work/$i.why status=0
		if fetch_all ${needs[i]}; then eval "${commands[i]}" || status=1; else status=1; fi
		times >"$work/$i.times" # of this shell, and of its children
		tr 'ms' '  ' <"$work/$i.times" | awk '{ sum += $1 * 60 + $2 + $3 * 60 + $4 } END { printf "%d\n", sum }' >"$work/$i.processor"
		echo "$status" >"$work/$i.status.part" && mv "$work/$i.status.part" "$work/$i.status"
	) >>"$work/$i.log" 2>&1 </dev/null &
	pids[i]=$! began[i]=$SECONDS states[i]=running
	set +m
	echo "--- ${names[i]}: ${abouts[i]}"
}

# show_new prints what a part has written since the last time, line by line, without the colours of terminals.
declare -A shown=()
show_new() {
	local i=$1 from=${shown[$1]:-0} size
	size=$(wc -c <"$work/$i.log")
	((size > from)) || return 0
	tail -c "+$((from + 1))" "$work/$i.log" | head -c $((size - from)) | sed $'s/\x1b\\[[0-9;?]*[A-Za-z]//g; s/\r//g' | awk -v name="${names[i]}" '{ print "    " name ": " $0 }'
	shown[$i]=$size
}

# end_part says how a part has ended, and why it failed.
end_part() {
	local i=$1 status seconds=$((SECONDS - began[$1]))
	status=$(<"$work/$i.status")
	wait "${pids[i]}" 2>/dev/null || true
	show_new "$i"
	if [[ $status = 0 ]]; then
		states[i]=ok
	else
		states[i]=FAILED
		[[ -s $work/$i.why ]] || { echo "  ${commands[i]}" && tail -n 20 "$work/$i.log" | sed 's/^/    /'; } >"$work/$i.why"
	fi
	printf '%s %s: %s, %s s of processor\n' "--- ${states[i]}" "${names[i]}" "$(clock "$seconds")" "$(<"$work/$i.processor")"
	[[ $status = 0 ]] || cat "$work/$i.why"
	printf '%d %d %s %s\n' "$seconds" "$(<"$work/$i.processor")" "${names[i]}" "${states[i]}" >>"$work/times"
}

# run_all does the parts of each lane one after the other, and the lanes side by side.
run_all() {
	local i lane running heartbeat=$SECONDS
	local -A current=()
	while :; do
		running=''
		for lane in 1 2 3; do
			i=${current[$lane]:-}
			if [[ -n $i && ! -e $work/$i.status ]] && ! kill -0 "${pids[i]}" 2>/dev/null && [[ ! -e $work/$i.status ]]; then
				echo "  its process was killed" >>"$work/$i.why"
				echo 0 >"$work/$i.processor" && echo 1 >"$work/$i.status"
			fi
			if [[ -n $i && -e $work/$i.status ]]; then
				end_part "$i"
				current[$lane]='' i=''
			fi
			if [[ -z $i ]]; then
				for i in "${plan[@]}" ''; do
					[[ -n $i && (${lanes[i]} != "$lane" || -n ${states[i]:-}) ]] || break
				done
				[[ -z $i ]] || start_part "$i"
				current[$lane]=$i
			fi
			[[ -z $i ]] || running+=", ${names[i]} for $(clock $((SECONDS - began[i])))"
			[[ -z $i ]] || show_new "$i"
		done
		[[ -n $running ]] || return 0
		if ((SECONDS - heartbeat >= 60)); then
			heartbeat=$SECONDS
			echo "    $(clock $SECONDS):${running#,}"
		fi
		sleep 0.5
	done
}

# summary ends the run: where the time went, and then, as the very last, what failed.
summary() {
	local i failed=()
	printf '\nwhere the time went: seconds, seconds of processor\n'
	sort -rn "$work/times" | while read -r seconds processor name state; do printf '%6d %6d  %s%s\n' "$seconds" "$processor" "$name" "${state/ok/}"; done
	slowest_tests
	crashes
	stalls
	for i in "${plan[@]}"; do [[ ${states[i]} = ok ]] || failed+=("$i"); done
	if [[ ${#failed[@]} = 0 ]]; then
		printf '\nok: all %d parts in %s\n' ${#plan[@]} "$(clock $SECONDS)"
	else
		printf '\nFAILED: %d of %d parts in %s\n' ${#failed[@]} ${#plan[@]} "$(clock $SECONDS)"
		for i in "${failed[@]}"; do
			printf '\n%s (again: integration/run --sample %s %s)\n' "${names[i]}" "$sample" "${names[i]/#packages/${packages[*]-}}"
			cat "$work/$i.why"
		done
	fi
	repeated
	[[ ${#failed[@]} = 0 ]]
}
