# Phases: what is planned, done, timed and summed up. Sourced by integration/run.

names=() usual=() budgets=() commands=() whats=()
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

# plan adds a phase. What it took here the last time is a better guess than anything else.
plan() {
	local seconds=$2
	[[ $everything = no || ! -s $timings/$1 ]] || seconds=$(<"$timings/$1")
	names+=("$1") usual+=("$seconds") budgets+=($(($3 * 60))) commands+=("$4") whats+=("$5")
}

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

announce() {
	local i sum=0 others=0 first='' end=$((${#names[@]} - 1))
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
	for i in "${!names[@]}"; do printf '  %2d %-13s %s\n' $((i + 1)) "${names[i]}" "${whats[i]}"; done
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
				phase "$end"
			) &
			last=$!
			set +m
		fi
		[[ $i = "$end" && -n $last ]] || phase "$i"
	done
	[[ -z $last ]] || wait "$last" || true
	last=''
}

# phase runs one, with its output in a file that follow prints: so a process that the phase leaves behind, which still holds
# its output, cannot keep this one waiting. Inside a phase set -e is off: a function has to return its failures itself.
phase() {
	local i=$1 start=$SECONDS result=ok title seconds
	phase_number=$i
	title="[$((i + 1))/${#names[@]}] ${names[i]}"
	echo "--- $title"
	: >"$work/$i.log"
	follow "$i" "$title" &
	local follower=$!
	"${commands[i]}" >>"$work/$i.log" 2>&1 </dev/null || result=FAILED
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
	local i failed=0 sorted seconds result results=()
	printf '\nwhere the time went%s\n' "${beside:+ (${names[${#names[@]} - 1]}: beside others)}"
	sorted=$(for i in "${!names[@]}"; do
		read -r seconds result <"$work/$i.result"
		printf '%5d s  %-13s %s\n' "$seconds" "${names[i]}" "$result"
	done | sort -rn)
	printf '%s\n%5d s  in all\n' "$sorted" $SECONDS
	slowest_tests
	crashes
	stalls
	for i in "${!names[@]}"; do
		read -r seconds results[i] <"$work/$i.result"
		[[ ${results[i]} == FAILED* ]] || continue
		failed=$((failed + 1))
	done
	if [[ $failed = 0 ]]; then
		printf '\nok: all %d phases in %s\n' ${#names[@]} "$(clock $SECONDS)"
		repeated
		return 0
	fi
	printf '\nFAILED: %d of %d phases in %s\n' $failed ${#names[@]} "$(clock $SECONDS)"
	for i in "${!names[@]}"; do
		[[ ${results[i]} == FAILED* ]] || continue
		printf '\n[%d/%d] %s\n' $((i + 1)) ${#names[@]} "${names[i]}"
		if [[ -s $work/$i.failures ]]; then
			cat "$work/$i.failures"
		else
			tail -n 20 "$work/$i.log" | sed 's/^/  /'
		fi
	done
	repeated
	return 1
}
