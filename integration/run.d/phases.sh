# Phases: what is planned, done, timed and summed up. Sourced by integration/run.

names=() usual=() budgets=() whats=() within=() # of phases; within: the numbers of their parts
parts=() commands=()                            # of parts
beside='' # the first phase beside which the last one runs

work=$(mktemp -d)
mark=$$-$RANDOM # in the environment of all that the tests start
timings=integration/.cache/timings
loads=()
last='' # the process of the last phase, if it runs beside others

finish() {
	local pid
	[[ -z $last ]] || kill -- "-$last" 2>/dev/null || true
	for pid in ${loads[@]+"${loads[@]}"}; do
		kill "$pid" 2>/dev/null || true
	done
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# phase adds a phase. What it took here the last time is a better guess than anything else.
phase() {
	local seconds=$2
	[[ $everything = no || ! -s $timings/$1 ]] || seconds=$(<"$timings/$1")
	names+=("$1") usual+=("$seconds") budgets+=($(($3 * 60))) whats+=("$4") within+=("")
}

# part adds a part to the phase that was added last: a name, and a command.
part() {
	local command
	printf -v command ' %q' "${@:2}"
	within[${#names[@]} - 1]+=" ${#parts[@]}"
	parts+=("$1") commands+=("${command# }")
}

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

announce() {
	local i p list sum=0 others=0 first='' end=$((${#names[@]} - 1))
	for i in "${!names[@]}"; do
		if [[ -n $beside && $i -ge $beside && $i != "$end" ]]; then others=$((others + usual[i])); else sum=$((sum + usual[i])); fi
	done
	sum=$((sum + (others > usual[end] ? others - usual[end] : 0)))
	[[ -d $timings ]] || first=', and up to twice as long the first time, when everything has to be fetched and built'
	if [[ $everything = yes ]]; then
		echo "integration/run: ${#names[@]} phases, about $((sum / 60 + 1)) min on a quiet machine$first"
	else
		echo "integration/run: ${#names[@]} phases; how long the last one takes depends on its arguments"
	fi
	for i in "${!names[@]}"; do
		printf '  %2d %-8s %s\n' $((i + 1)) "${names[i]}" "${whats[i]}"
		list=$(for p in ${within[i]}; do printf ', %s' "${parts[p]}"; done)
		[[ $list = ", ${names[i]}" ]] || fold -s -w 106 <<<"${list#, }" | sed 's/^/              /; s/ $//'
	done
	[[ $load = 0 ]] || echo "beside it, $load processes are kept busy"
}

# make_load starts processes that do nothing, without end, until this one has ended.
make_load() {
	local i
	for ((i = 0; i < $1; i++)); do
		(
			trap - EXIT INT TERM
			while kill -0 $$ 2>/dev/null; do for _ in {1..100000}; do :; done; done
		) &
		loads+=($!)
	done
}

# run_all runs the phases one after the other. When everything is checked, the last, the tests, runs beside those that
# need nothing fetched: the tests wait for servers half of the time.
run_all() {
	local i end=$((${#names[@]} - 1))
	for i in "${!names[@]}"; do
		if [[ $i = "$beside" ]]; then
			set -m # a process group, which finish can end
			(
				trap - EXIT INT TERM
				run_phase "$end"
			) &
			last=$!
			set +m
		fi
		[[ $i = "$end" && -n $last ]] || run_phase "$i"
	done
	[[ -z $last ]] || wait "$last" || true
	last=''
}

# run_phase runs one, with its output in a file that follow prints: so a process that the phase leaves behind, which still
# holds its output, cannot keep this one waiting. Inside a part set -e is off: a function has to return its failures itself.
run_phase() {
	local i=$1 log=$work/$1.log start=$SECONDS result=ok title seconds p from began failed
	number=$i why=$work/$i.why # for the parts: which phase, and where they may say why they failed
	title="[$((i + 1))/${#names[@]}] ${names[i]}"
	echo "--- $title"
	: >"$log"
	follow "$i" "$title" &
	local follower=$!
	for p in ${within[i]}; do
		echo "    $title: ${parts[p]}" >>"$log"
		rm -f "$why"
		from=$(wc -c <"$log") began=$SECONDS failed=''
		eval "${commands[p]}" >>"$log" 2>&1 </dev/null || failed=' FAILED'
		echo "$((SECONDS - began)) ${parts[p]}$failed" >>"$work/$i.parts"
		[[ -n $failed ]] || continue
		result=FAILED
		printf '\n%s: %s\n' "$title" "${parts[p]}"
		[[ -s $why ]] || { echo "  ${commands[p]}" && tail -c "+$((from + 1))" "$log" | tail -n 20 | sed 's/^/    /'; } >"$why"
		cat "$why"
	done >"$work/$i.failures"
	touch "$work/$i.ended"
	wait "$follower" || true
	seconds=$((SECONDS - start))
	if [[ $everything = yes && $load = 0 && $result = ok ]] && mkdir -p "$timings"; then echo "$seconds" >"$timings/${names[i]}"; fi
	[[ $seconds -le ${budgets[i]} ]] || result+=", over its budget of $((budgets[i] / 60)) min"
	echo "$seconds $result" >"$work/$i.result"
}

# follow prints what a phase writes. When there is nothing for some time it says what goes on.
follow() {
	local i=$1 title=$2 start=$SECONDS shown=0 size last=$SECONDS over=no ended=no expected=''
	[[ $everything = no ]] || expected="; usually $(clock "${usual[i]}")"
	trap - EXIT INT TERM
	while [[ $ended = no ]]; do
		if [[ -e $work/$i.ended ]]; then ended=yes; else sleep 0.5; fi
		size=$(wc -c <"$work/$i.log") || return 0
		if ((size > shown)); then
			tail -c "+$((shown + 1))" "$work/$i.log" | head -c $((size - shown)) || true
			shown=$size last=$SECONDS
		elif ((SECONDS - last >= 25)) && [[ $ended = no ]]; then
			echo "    $title: $(clock $((SECONDS - start))) so far$expected"
			last=$SECONDS
		fi
		if ((SECONDS - start > budgets[i])) && [[ $over = no ]]; then
			echo "    $title: over its budget of $((budgets[i] / 60)) min"
			over=yes last=$SECONDS
		fi
	done
}

# summary ends the run: where the time went, and then, as the very last, what failed.
summary() {
	local i failed=0 seconds result part
	printf '\nwhere the time went%s\n' "${beside:+ (${names[${#names[@]} - 1]}: beside others)}"
	for i in "${!names[@]}"; do
		read -r seconds result <"$work/$i.result"
		[[ $result != FAILED* ]] || failed=$((failed + 1))
		printf '%5d s  %-13s %s\n' "$seconds" "${names[i]}" "$result"
		[[ $(wc -l <"$work/$i.parts") -eq 1 ]] || sort -rn "$work/$i.parts" | while read -r seconds part; do printf '%12d s  %s\n' "$seconds" "$part"; done
	done
	printf '%5d s  in all\n' $SECONDS
	slowest_tests
	crashes
	stalls
	if [[ $failed = 0 ]]; then
		printf '\nok: all %d phases in %s\n' ${#names[@]} "$(clock $SECONDS)"
	else
		printf '\nFAILED: %d of %d phases in %s\n' $failed ${#names[@]} "$(clock $SECONDS)"
		for i in "${!names[@]}"; do cat "$work/$i.failures"; done
	fi
	repeated
	[[ $failed = 0 ]]
}
