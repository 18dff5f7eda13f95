# What there is to do. Sourced by integration/run.

names=() groups=() lanes=() needs=() abouts=() commands=()

# part adds a part: its name; the group it belongs to, whose name stands for all of it, and which is library for those of
# every run; the lane in which it waits for the one before it; what has to be fetched; what it is; its command.
part() {
	local command
	printf -v command ' %q' "${@:6}"
	names+=("$1") groups+=("$2") lanes+=("$3") needs+=("$4") abouts+=("$5") commands+=("${command# }")
}

# Three lanes run side by side, because tests on real servers wait most of the time.
declare_parts() {
	local servers='java zookeeper'
	part race library 1 cc 'tests of the library, with the race detector' library_tests
	part files library 2 '' 'go.mod and go.sum of all modules, gofmt' files
	part vet library 2 '' 'go vet of all modules, which builds them' vet
	part budget library 2 '' 'the figures of integration/budget.txt, whose limits only fall' go run -C integration/figures .
	[[ $lint = no ]] || part lint library 2 '' 'golangci-lint of the library' lint_in .
	part pages library 2 '' 'code, names and links of pages and comments; promises of all recipes' tests_of integration ./pages ./promises ./planted
	part zookeeper library 3 "cc $servers curator kazoo" 'the library on real ZooKeeper' tests_of integration . ./differential
	part interop library 2 "cc $servers curator kazoo" 'beside Java Curator and kazoo' tests_of integration ./interop

	part everything-random all 1 cc 'all of the large random tests of the library' all_random
	part ensemble all 1 "cc $servers curator kazoo" 'ensembles of real servers whose links are cut' tests_of integration ./zookeeper ./ensemble
	part chaos all 1 "cc $servers curator kazoo" 'three servers and processes in three languages under fire' tests_of integration ./chaos
	part causes all 1 "cc $servers" 'whether a client names what ended its lease' tests_of integration ./causes
	part soak all 1 "cc $servers" 'whether anything grows' tests_of integration ./soak
	part zklock all 1 "cc $servers tmux zsh fish chromium" 'zklock and holds' zklock
	part examples all 1 "cc $servers" 'the examples' tests_but integration/examples examples /playground
	part playground all 1 'cc chromium' 'the playground in a browser' tests_of examples ./playground/...
	part adapters all 1 cc 'adapters for other libraries' adapters
	part observability all 1 'cc promtool' 'traces, metrics, alerts' tests_of examples/observability ./...
	part kerberos all 1 "cc $servers kdc" 'SASL with Kerberos' kerberos
	part bench all 1 "cc $servers" 'the benchmark itself' tests_of integration/bench ./...
	part replay all 1 node 'exact schedules under Node.js' tests_of integration ./replay
	local area
	for area in live 'session transport|watches|framework|zktest|cause|listen' 'locks queue|locks|semaphore|retained|leader' 'recipes cache|nodes|discovery|counters|shared' 'zklock zklock|histories'; do
		part "planted-${area%% *}" planted 1 cc "planted bugs of $(sed 's/.* //; s/|/, /g' <<<"$area"), each found by a test" go run -C integration ./planted -again -only "^(${area#* })/"
	done
	part site all 1 mkdocs 'the documentation site' site
	part release all 1 'man tmux' 'a release, rehearsed' tests_of integration/release ./...
	part systems all 1 '' 'vet for Windows, macOS, 32 bits and WebAssembly' systems
	part porting all 1 java 'the Java side of examples/porting' mvn --quiet --batch-mode -Dstyle.color=never --file examples/porting/pom.xml compile
	part tools all 1 '' 'what measures, vets and runs tests, and go.mod and lint of all modules' tools
}

# choose makes the plan: the numbers of the parts to do.
plan=()
choose() {
	local i name
	if [[ ${#packages[@]} -gt 0 ]]; then
		part packages library 1 "$(needs_of "${packages[@]}")" "go test -race ${packages[*]} ${args[*]-}" test_packages
		[[ $lint = no ]] || part lint library 2 '' 'golangci-lint of these packages' lint_packages
		plan=("${!names[@]}")
		return
	fi
	declare_parts
	for name in ${chosen[@]+"${chosen[@]}"}; do
		[[ " all ${groups[*]} ${names[*]} " = *" $name "* ]] || refuse "there is no part $name; integration/run --list shows them"
	done
	[[ ${#chosen[@]} -gt 0 ]] || chosen=(library)
	for i in "${!names[@]}"; do
		if [[ " ${chosen[*]} " = *" ${names[i]} "* || " ${chosen[*]} " = *" ${groups[i]} "* || " ${chosen[*]} " = *" all "* ]]; then plan+=("$i"); fi
	done
}

show_list() {
	local i
	for i in "${!names[@]}"; do printf '%-18s %s%s\n' "${names[i]}" "${abouts[i]}" "${needs[i]:+ (fetches: ${needs[i]})}"; done
}

show_plan() {
	local i
	for i in "${plan[@]}"; do printf '%-18s %s\n' "${names[i]}" "${commands[i]}"; done
	[[ -z $(wanted) ]] || echo "fetches: $(wanted)"
}

# wanted prints what the plan has to fetch, each thing once.
wanted() {
	local i
	for i in "${plan[@]}"; do printf '%s\n' ${needs[i]}; done | awk 'NF && !seen[$0]++' | paste -sd' '
}
