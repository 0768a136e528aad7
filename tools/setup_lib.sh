# SPDX-License-Identifier: Apache-2.0
# The steps behind tools/setup.sh; sourced, not run. The working folder is the repository's root.

# Packages whose version matters come from trixie on Debian 12, the rest from its own suite.
NEWER_BUILD_PACKAGES="g++-14 libboost1.83-dev libgrpc++-dev libprotobuf-dev protobuf-compiler
  protobuf-compiler-grpc nlohmann-json3-dev libsimdjson-dev libyaml-cpp-dev libcli11-dev
  libspdlog-dev prometheus-cpp-dev libssl-dev libxxhash-dev libarchive-dev libzstd-dev
  libcpp-httplib-dev libcurl4-openssl-dev libonnxruntime-dev libgtest-dev"
BUILD_PACKAGES="cmake ninja-build ccache mold git pkg-config libsqlite3-dev libpq-dev zlib1g-dev
  bubblewrap python3 python3-venv python3-yaml curl"
NEWER_TEST_PACKAGES="clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev"
TEST_PACKAGES="postgresql chromium fonts-noto-core fonts-noto-cjk strace libbenchmark-dev"

say() { printf '\033[1m%s\033[0m\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "installing packages needs root: run this as root or install sudo"; fi
}

# Prints the packages of its arguments that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
      echo "$package"
  done
}

# Debian 12, also after packages from trixie came in (its os-release then says 13 already).
is_bookworm() {
  [ -e /etc/apt/preferences.d/takt-trixie ] || grep -q '^VERSION_CODENAME=bookworm' /etc/os-release
}

# The mirror that this machine already uses for the given suite, without its trailing slash.
apt_mirror() {
  apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(SUITE) $(ORIGIN)' \
    'Created-By: Packages' |
    awk -v suite="$1" '$4 == "Debian" && ($2 == suite || $3 == suite) { print $1; exit }' |
    sed 's:/*$::'
}

# Debian 12 lacks g++-14: add the next suite, pinned low, from this machine's own mirror.
add_newer_suite() {
  is_bookworm || return 0
  local list=/etc/apt/sources.list.d/takt-trixie.sources pin=/etc/apt/preferences.d/takt-trixie
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg mirror
  if [ ! -e "$list" ]; then
    mirror=$(apt_mirror bookworm)
    if [ -z "$mirror" ]; then  # a fresh container has no lists yet
      as_root apt-get update -qq
      mirror=$(apt_mirror bookworm)
    fi
    [ -n "$mirror" ] || die "this machine's apt sources name no Debian mirror; add one for bookworm"
    printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: %s\n' \
      "$mirror" "$keys" | as_root tee "$list" >/dev/null
  fi
  [ -e "$pin" ] || printf 'Package: *\nPin: release n=trixie\nPin-Priority: 100\n' |
    as_root tee "$pin" >/dev/null
}

# apt_install newer PACKAGE... takes them from trixie on Debian 12; `own` from the machine's suite.
apt_install() {
  local from=$1 missing options=()
  shift
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  say "installing with apt: $(echo $missing)"
  add_newer_suite
  if [ -z "${apt_is_updated:-}" ]; then
    as_root apt-get update -qq || say "apt-get update failed for a source; going on with the rest"
    apt_is_updated=1
  fi
  if [ "$from" = newer ] && is_bookworm; then options=(-t trixie); fi
  if ! apt_get_install "${options[@]}" $missing >build/apt.log 2>&1 &&
    ! apt_get_install_other "$from" $missing; then
    tail -n 20 build/apt.log >&2
    die "apt could not install: $(echo $missing)"
  fi
}

# Services that a package would start are not wanted here: takt starts what it needs itself.
apt_get_install() {
  as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -q \
    --no-install-recommends -o Dpkg::Options::=--force-confold "$@"
}

# On a machine that mixes suites, a library pulled up by one package can keep another of the old
# suite from being installed; the newer one then fits.
apt_get_install_other() {
  is_bookworm || return 1
  local from=$1 package
  shift
  for package in "$@"; do
    if [ "$from" = newer ]; then
      apt_get_install "$package" >>build/apt.log 2>&1 || return 1
    else
      apt_get_install "$package" >>build/apt.log 2>&1 ||
        apt_get_install -t trixie "$package" >>build/apt.log 2>&1 || return 1
    fi
  done
}

# One stamp per step, holding the digest of what the step depends on, makes a second run quick.
stamp_is_fresh() { [ -f "build/stamps/$1" ] && [ "$(cat "build/stamps/$1")" = "$2" ]; }
write_stamp() { mkdir -p build/stamps && echo "$2" > "build/stamps/$1"; }
digest_of() { cat "$@" | sha256sum | cut -d' ' -f1; }

make_venv() { # name, requirements file
  local stamp; stamp=$(digest_of "$2")
  stamp_is_fresh "$1" "$stamp" && return 0
  say "installing Python packages of $2 into build/$1"
  if ! grep -qs '^home = /usr/bin$' "build/$1/pyvenv.cfg"; then
    # The system's Python, not one of a home folder: jobs run as another user, who cannot read that.
    rm -rf "build/$1"
    apt_install own python3 python3-venv
    /usr/bin/python3 -m venv "build/$1"
  fi
  "build/$1/bin/pip" install -q --disable-pip-version-check -r "$2"
  write_stamp "$1" "$stamp"
}

# The inference library, pinned: the official build out of its PyPI package, without Python.
install_onnxruntime() {
  local stamp
  stamp=$(digest_of tools/onnxruntime.txt)
  stamp_is_fresh onnxruntime "$stamp" && [ -e build/ort/libonnxruntime.so ] && return 0
  say "installing ONNX Runtime into build/ort"
  rm -rf build/ort.tmp && mkdir -p build/ort.tmp
  /usr/bin/python3 -m venv build/ort.tmp/venv
  build/ort.tmp/venv/bin/pip install -q --disable-pip-version-check --no-deps \
    -r tools/onnxruntime.txt
  mkdir -p build/ort
  cp "$(find build/ort.tmp/venv -name 'libonnxruntime.so.*' | head -n 1)" \
    build/ort/libonnxruntime.so.new
  mv build/ort/libonnxruntime.so.new build/ort/libonnxruntime.so # replaced, never overwritten
  rm -rf build/ort.tmp
  write_stamp onnxruntime "$stamp"
}

setup_build() {
  apt_install newer $NEWER_BUILD_PACKAGES
  apt_install own $BUILD_PACKAGES
  install_onnxruntime
}

# Node.js of another source (nodejs.org, NodeSource) will do as well.
setup_node() {
  if ! command -v npm >/dev/null; then apt_install newer nodejs npm; fi
  local major
  major=$(node -p 'process.versions.node.split(".")[0]')
  [ "$major" -ge 20 ] || die "the console needs Node.js 20 or newer; 'node' is version $major"
}

setup_web() {
  setup_node
  local stamp
  stamp=$(digest_of web/package-lock.json)
  stamp_is_fresh web "$stamp" && [ -d web/node_modules ] && return 0
  say "installing the console's packages into web/node_modules"
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --prefix web --ignore-scripts --no-audit --no-fund \
    --silent
  write_stamp web "$stamp"
}

setup_example() { make_venv venv-example examples/digits/requirements.txt; }

setup_test() {
  apt_install newer $NEWER_TEST_PACKAGES
  apt_install own $TEST_PACKAGES
  make_venv venv-test tests/requirements.txt
}
