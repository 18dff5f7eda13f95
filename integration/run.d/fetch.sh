# What parts need and the machine may lack. Each thing is fetched once, by the function of its name. Sourced by
# integration/run.

# fetch_all fetches some things, for one part at a time.
fetch_all() {
	local thing out
	[[ $# -gt 0 ]] || return 0
	until mkdir "$work/fetching" 2>/dev/null; do sleep 0.2; done
	for thing in "$@"; do
		[[ ! -e $work/has-$thing ]] || continue
		if out=$("fetch_$thing" 2>&1); then
			touch "$work/has-$thing"
			continue
		fi
		rmdir "$work/fetching"
		printf '%s\n' "$out"
		echo "  $thing is not here: $(tail -n 1 <<<"$out")" >>"$why"
		return 1
	done
	rmdir "$work/fetching"
}

# needs_of prints what the tests of some packages need.
needs_of() {
	local dir list imports
	echo cc
	for dir in $(modules_of "$@"); do
		list=$(packages_in "$dir" "$@")
		# shellcheck disable=SC2086 # one package a word
		imports=$(cd "$dir" && go list -deps -test -f '{{.ImportPath}}' $list 2>/dev/null) || continue
		case $imports in *curator/integration/zookeeper*) echo java zookeeper ;; esac
		case $imports in *curator/integration/interop* | *curator/integration/chaos* | *curator/integration/ensemble*) echo curator kazoo ;; esac
		case $imports in *curator/integration/zklock*) echo tmux zsh fish chromium ;; esac
		case $imports in *curator/examples/playground*) echo chromium ;; esac
		case $imports in *curator/integration/replay*) echo node ;; esac
		case $dir in examples/observability) echo promtool ;; integration/kerberos) echo kdc ;; integration/site) echo mkdocs ;; integration/release) echo man tmux ;; esac
	done | tr ' ' '\n' | awk '!seen[$0]++' | paste -sd' '
}

# apt gets packages of the system. A fresh machine may be about to upgrade itself, and have the lock for minutes.
apt() { DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@"; }
apt_update() { [[ -e $work/updated ]] || { apt update && touch "$work/updated"; }; }

# install gets packages of the system, or says what is needed: what for, then their names.
install() {
	local what=$1
	shift
	if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
		echo "$what; only root on Debian gets it by this script, so install it and try again (there: $*)" >&2
		return 1
	fi
	apt_update && apt install -y --no-install-recommends "$@" && return
	echo "$what, and apt-get could not install $*; is there a network?" >&2
	return 1
}

# get installs packages unless one of some programs is here: the programs, then as install takes them.
get() {
	local program
	for program in $1; do
		! command -v "$program" >/dev/null || return 0
	done
	install "${@:2}"
}

fetch_cc() {
	local cc
	cc=$(go env CC)
	get "${cc%% *}" 'the race detector needs a C compiler' gcc libc6-dev
}
fetch_tmux() { get tmux 'zklock watch needs a terminal without a screen' tmux; }
fetch_zsh() { get zsh 'the completions need a zsh' zsh; }
fetch_fish() { get fish 'the completions need a fish' fish; }
fetch_chromium() { get 'google-chrome chromium' 'zklock serve and the playground need a browser' chromium; }
fetch_node() { get node 'exact schedules need Node.js' nodejs; }
fetch_man() { get man 'the quickstart needs a reader of manuals' man-db; }

# Maven is needed only to fetch jars, and to compile.
fetch_java() {
	local missing=()
	command -v javac >/dev/null || missing+=(default-jdk-headless)
	command -v mvn >/dev/null || missing+=(maven)
	[[ ${#missing[@]} = 0 ]] || install 'ZooKeeper needs Java and Maven' "${missing[@]}"
}

fetch_kdc() {
	local PATH=$PATH:/usr/sbin
	get krb5kdc 'Kerberos needs a server' krb5-kdc krb5-admin-server &&
		get kadmin.local 'Kerberos needs the administration of a server' krb5-admin-server
}

# promtool judges alerts, and prometheus the dashboard. Their package would start a server when it is installed, so it is
# only unpacked.
fetch_promtool() {
	local dir=$PWD/integration/.cache/promtool
	[[ ! -x $dir/usr/bin/prometheus && (-z $(type -P promtool) || -z $(type -P prometheus)) ]] || return 0
	if ! command -v apt-get >/dev/null; then
		echo "promtool and prometheus are needed, of Prometheus; install them and try again (Debian: prometheus)." >&2
		return 1
	fi
	[[ $(id -u) != 0 ]] || apt_update || return
	rm -rf "$dir" "$dir.part"
	mkdir -p "$dir.part" &&
		(cd "$dir.part" && apt -o APT::Sandbox::User=root download prometheus &&
			dpkg --fsys-tarfile prometheus_*.deb | tar x ./usr/bin/promtool ./usr/bin/prometheus) &&
		rm "$dir.part"/prometheus_*.deb &&
		mv "$dir.part" "$dir"
}

# jars has Maven copy a library and what it needs to a directory beside its place, and moves it there when it is complete.
# A copy of the list lies with them, so that a list that has changed is fetched again.
jars() {
	local pom=$1 dir=$2
	shift 2
	! has_jars "$pom" "$dir" || return 0
	rm -rf "$dir.part"
	mvn --quiet --batch-mode -Dstyle.color=never --file "$pom" "$@" \
		-DincludeScope=runtime "-DoutputDirectory=$dir.part" dependency:copy-dependencies &&
		cp "$pom" "$dir.part/pom.xml" &&
		rm -rf "$dir" &&
		mv "$dir.part" "$dir"
}
has_jars() { cmp -s "$1" "$2/pom.xml"; }

# property prints one of a pom.xml.
property() { sed -n "s|.*<$2>\(.*\)</$2>.*|\1|p" "$1"; }

zookeeper_pom=integration/zookeeper/pom.xml
zookeeper_version() { echo "${ZOOKEEPER_VERSION:-$(property $zookeeper_pom zookeeper.version)}"; }
zookeeper_dir() { echo "$PWD/integration/.cache/zookeeper-$(zookeeper_version)"; }
fetch_zookeeper() {
	echo "ZooKeeper $(zookeeper_version)"
	jars $zookeeper_pom "$(zookeeper_dir)" "-Dzookeeper.version=$(zookeeper_version)"
}

curator_pom=integration/interop/java/pom.xml
curator_version() { echo "${CURATOR_JAVA_VERSION:-$(property $curator_pom curator.version)}"; }
curator_dir() { echo "$PWD/integration/.cache/curator-$1"; }
fetch_curator() {
	local version
	for version in "$(curator_version)" "$(property $curator_pom curator.old.version)"; do
		echo "Curator $version"
		jars $curator_pom "$(curator_dir "$version")" "-Dcurator.version=$version" || return
	done
}

python_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null || install "$1 needs Python 3 with venv" python3-venv; }

# mkdocs has the program that builds the documentation site fetch what it needs.
fetch_mkdocs() { python_venv MkDocs && go run -C integration/site . -fetch; }

# kazoo makes a virtual environment of Python with kazoo in it. It is complete when a copy of the list of packages lies in it.
fetch_kazoo() {
	local dir=$PWD/integration/.cache/kazoo list=integration/interop/kazoo/requirements.txt
	cat $list
	! cmp -s $list "$dir/complete" || return 0
	python_venv kazoo || return
	rm -rf "$dir"
	python3 -m venv "$dir" &&
		"$dir/bin/python" -m pip install --quiet --disable-pip-version-check --requirement $list &&
		cp $list "$dir/complete"
}
