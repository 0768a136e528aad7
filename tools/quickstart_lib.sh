# SPDX-License-Identifier: Apache-2.0
# The steps behind ./quickstart; sourced after tools/check_lib.sh, not run.
export TAKT_HOME=${TAKT_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/takt}
export TAKT_URL=${TAKT_URL:-http://127.0.0.1:8700}
PID_FILE=build/quickstart.pid
SERVER_LOG=$PWD/build/server.log

# Says what is about to be installed, before anything is.
announce() { # yes: the example runs as well
  local missing
  missing=$(missing_packages $NEWER_BUILD_PACKAGES $BUILD_PACKAGES)
  if [ -n "$missing" ]; then
    say "takt needs these packages and installs them with apt (about 1 GB; by sudo if not root):"
    echo $missing | fold -s -w 90 | sed 's/^/  /'
    ! is_bookworm ||
      echo "  On Debian 12 some come from trixie, added to apt's sources with a low priority."
  fi
  stamp_is_fresh web "$(digest_of web/package-lock.json)" ||
    echo "  npm ci: the console's packages, into web/node_modules"
  [ "$1" = no ] || stamp_is_fresh venv-example "$(digest_of examples/digits/requirements.txt)" ||
    echo "  pip: the example's Python packages, into build/venv-example"
}

# Ninja's lines on one line of a terminal, and every fifth of a log.
show_progress() {
  if [ -t 1 ]; then
    while IFS= read -r line; do
      case "$line" in
        "["*"]"*) printf '\r\033[K%.90s' "$line" ;;
        "") ;;
        *) printf '\r\033[K%s\n' "$line" ;;
      esac
    done
    printf '\r\033[K'
  else
    awk '!/^\[/ || NR % 20 == 0'
  fi
}

is_ready() { curl -fsS -m 2 -o /dev/null "$TAKT_URL/readyz" 2>/dev/null; }

ours_is_running() {
  [ -f "$PID_FILE" ] && kill -0 "$(cat "$PID_FILE")" 2>/dev/null &&
    tr '\0' ' ' <"/proc/$(cat "$PID_FILE")/cmdline" 2>/dev/null | grep -q ' server '
}

# A server of an older build is replaced; jobs and services go on meanwhile.
stop_outdated() {
  ours_is_running || return 0
  [ build/release/bin/takt -nt "$PID_FILE" ] || return 0
  say "a newer build: restarting the server (jobs and services go on)"
  local pid
  pid=$(cat "$PID_FILE")
  kill -TERM "$pid"
  for _ in $(seq 150); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.2
  done
  die "the server (process $pid) has not stopped within 30 s; see $SERVER_LOG"
}

start_server() {
  stop_outdated
  if is_ready; then
    say "a server is running on $TAKT_URL"
    return 0
  fi
  say "starting the server on $TAKT_URL, data in $TAKT_HOME"
  local pid
  setsid nohup build/release/bin/takt server --data-dir "$TAKT_HOME" --listen "${TAKT_URL#*://}" \
    >"$SERVER_LOG" 2>&1 </dev/null &
  pid=$!
  echo "$pid" >"$PID_FILE"
  for _ in $(seq 300); do
    ! is_ready || return 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  tail -n 20 "$SERVER_LOG" >&2
  die "the server did not come up; its log is $SERVER_LOG"
}
