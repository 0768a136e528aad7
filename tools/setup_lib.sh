# SPDX-License-Identifier: Apache-2.0
# The steps behind tools/setup.sh; sourced, not run. The working folder is the repository's root.

BUILD_PACKAGES="g++-14 cmake ninja-build ccache mold git pkg-config
  libboost1.83-dev libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  libsqlite3-dev libpq-dev nlohmann-json3-dev libsimdjson-dev libyaml-cpp-dev libcli11-dev libspdlog-dev
  prometheus-cpp-dev libssl-dev libxxhash-dev libarchive-dev libzstd-dev libcpp-httplib-dev
  libonnxruntime-dev libgtest-dev bubblewrap zlib1g-dev"
TEST_PACKAGES="clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev postgresql chromium
  fonts-noto-core fonts-noto-cjk curl strace libbenchmark-dev"

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
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || echo "$package"
  done
}

# Debian 12 lacks g++-14: add the next suite, pinned low, from the mirror that this machine already uses.
add_newer_suite() {
  . /etc/os-release
  [ "${VERSION_CODENAME:-}" = bookworm ] || return 0
  [ -e /etc/apt/sources.list.d/takt-trixie.sources ] && return 0
  local mirror signed_by
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' | head -n 1)
  [ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(SUITE)' | awk '$2=="bookworm"||$3=="bookworm"{print $1; exit}')
  [ -n "$mirror" ] || mirror=$(grep -hoE 'https?://[^ ]+' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | grep -v security | head -n 1)
  [ -n "$mirror" ] || die "no Debian mirror found in this machine's apt sources; add one for bookworm first"
  signed_by=/usr/share/keyrings/debian-archive-keyring.gpg
  printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: %s\n' "$mirror" "$signed_by" |
    as_root tee /etc/apt/sources.list.d/takt-trixie.sources >/dev/null
  printf 'Package: *\nPin: release n=trixie\nPin-Priority: 100\n' |
    as_root tee /etc/apt/preferences.d/takt-trixie >/dev/null
}

apt_install() {
  local missing
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  say "installing with apt: $(echo $missing)"
  add_newer_suite
  as_root apt-get update -qq
  local target=()
  . /etc/os-release
  [ "${VERSION_CODENAME:-}" = bookworm ] && target=(-t trixie)
  # Services that a package would start are not wanted here: takt starts what it needs itself.
  as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends \
    -o Dpkg::Options::=--force-confold "${target[@]}" $missing >/dev/null
}

# One stamp per step, holding the digest of what the step depends on, makes a second run quick.
stamp_is_fresh() { [ -f "build/stamps/$1" ] && [ "$(cat "build/stamps/$1")" = "$2" ]; }
write_stamp() { mkdir -p build/stamps && echo "$2" > "build/stamps/$1"; }
digest_of() { cat "$@" | sha256sum | cut -d' ' -f1; }

make_venv() { # name, requirements file
  local stamp; stamp=$(digest_of "$2")
  stamp_is_fresh "$1" "$stamp" && return 0
  say "installing Python packages of $2 into build/$1"
  [ -x "build/$1/bin/python" ] || python3 -m venv "build/$1" || die "python3 -m venv failed; install python3-venv"
  "build/$1/bin/pip" install -q -r "$2"
  write_stamp "$1" "$stamp"
}

# The inference library, pinned: the official build out of its PyPI package, without Python.
install_onnxruntime() {
  local stamp; stamp=$(digest_of tools/onnxruntime.txt)
  stamp_is_fresh onnxruntime "$stamp" && [ -e build/ort/libonnxruntime.so ] && return 0
  say "installing ONNX Runtime into build/ort"
  rm -rf build/ort build/ort.tmp && mkdir -p build/ort.tmp
  python3 -m venv build/ort.tmp/venv
  build/ort.tmp/venv/bin/pip install -q --no-deps -r tools/onnxruntime.txt
  mkdir -p build/ort
  cp "$(find build/ort.tmp/venv -name 'libonnxruntime.so.*' | head -n 1)" build/ort/libonnxruntime.so
  rm -rf build/ort.tmp
  write_stamp onnxruntime "$stamp"
}

setup_build() {
  apt_install $BUILD_PACKAGES python3 python3-venv
  install_onnxruntime
}
setup_web() {
  command -v npm >/dev/null || apt_install nodejs npm
  local stamp; stamp=$(digest_of web/package-lock.json)
  stamp_is_fresh web "$stamp" && [ -d web/node_modules ] && return 0
  say "installing the console's packages into web/node_modules"
  npm ci --prefix web --ignore-scripts --no-audit --no-fund --silent
  write_stamp web "$stamp"
}
setup_example() { make_venv venv-example examples/digits/requirements.txt; }
setup_test() {
  apt_install $TEST_PACKAGES
  make_venv venv-test tests/requirements.txt
}
