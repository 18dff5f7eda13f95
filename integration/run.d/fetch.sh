# What the tests need, fetched once. Sourced by integration/run.

# needs and tests_of tell what the packages that are to be tested are, or import: a part of an import path is enough.
imports=$(go list -deps -test -f '{{.ImportPath}}' "${packages[@]}" 2>/dev/null) || imports=''
listed=$(go list -f '{{.ImportPath}}' "${packages[@]}" 2>/dev/null) || listed=''
needs() { [[ $everything = yes || $imports == *"$1"* ]]; }
tests_of() {
	local part
	[[ $everything = no ]] || return 0
	for part in "$@"; do
		[[ $listed != *"$part"* ]] || return 0
	done
	return 1
}

# apt gets packages of the system. A fresh machine may be about to upgrade itself, and have the lock for minutes.
apt() { DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@"; }
apt_update() { [[ -e $work/updated ]] || { apt update && touch "$work/updated"; }; }

# install gets packages of the system, or says what is needed.
install() {
	local what=$1
	shift
	if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
		echo "$what; install it and try again (Debian: $*)." >&2
		return 1
	fi
	apt_update && apt install -y --no-install-recommends "$@"
}

# get installs packages unless one of some programs is here: the programs, then as install takes them.
get() {
	local program
	for program in $1; do
		! command -v "$program" || return 0
	done
	install "${@:2}"
}

# Maven is needed only to fetch jars, and to compile.
java_and_maven() {
	local missing=()
	command -v javac || missing+=(default-jdk-headless)
	if [[ $everything = yes ]] || ! has_jars $zookeeper_pom "$(zookeeper_dir)" || ! has_jars $curator_pom "$(curator_dir "$(curator_version)")"; then
		command -v mvn || missing+=(maven)
	fi
	[[ ${#missing[@]} = 0 ]] || install "Java and Maven are needed to run ZooKeeper" "${missing[@]}"
}

kdc() {
	local PATH=$PATH:/usr/sbin
	get krb5kdc 'A Kerberos server is needed' krb5-kdc krb5-admin-server &&
		get kadmin.local 'The administration of a Kerberos server is needed' krb5-admin-server
}

# promtool judges alerts, and prometheus the dashboard. Their package would start a server when it is installed, so it is
# only unpacked.
promtool() {
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
zookeeper_jars() {
	echo "ZooKeeper $(zookeeper_version)"
	jars $zookeeper_pom "$(zookeeper_dir)" "-Dzookeeper.version=$(zookeeper_version)"
}

curator_pom=integration/interop/java/pom.xml
curator_version() { echo "${CURATOR_JAVA_VERSION:-$(property $curator_pom curator.version)}"; }
curator_dir() { echo "$PWD/integration/.cache/curator-$1"; }
curator_jars() {
	local version
	for version in "$(curator_version)" "$(property $curator_pom curator.old.version)"; do
		echo "Curator $version"
		jars $curator_pom "$(curator_dir "$version")" "-Dcurator.version=$version" || return
	done
}

python_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null || install "Python 3 with venv is needed for $1" python3-venv; }

# mkdocs has the program that builds the documentation site fetch what it needs.
mkdocs() { python_venv MkDocs && go run -C integration/site . -fetch; }

# kazoo makes a virtual environment of Python with kazoo in it. It is complete when a copy of the list of packages lies in it.
kazoo() {
	local dir=$PWD/integration/.cache/kazoo list=integration/interop/kazoo/requirements.txt
	cat $list
	! cmp -s $list "$dir/complete" || return 0
	python_venv kazoo || return
	rm -rf "$dir"
	python3 -m venv "$dir" &&
		"$dir/bin/python" -m pip install --quiet --disable-pip-version-check --requirement $list &&
		cp $list "$dir/complete"
}
