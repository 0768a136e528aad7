# SPDX-License-Identifier: Apache-2.0
# The stages behind ./check; sourced, not run. The working folder is the repository's root.
. tools/setup_lib.sh

OUT=build/check
JOBS=${TAKT_JOBS:-$(nproc)}

# A stage of tests leaves its numbers in $OUT/counts (tools/check_count.py); others count as one.
begin_check() {
  mkdir -p "$OUT"
  rm -f "$OUT"/*.json "$OUT"/*.xml "$OUT"/counts
  passed=0 failed=0 started=$SECONDS
  summary=()
}

end_check() {
  echo
  printf '%s\n' "${summary[@]}"
  echo "total $(duration $((SECONDS - started)))"
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

duration() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# stage NAME COMMAND...: runs it, keeps its output in build/check/NAME.log, shows a failure's end.
stage() {
  local name=$1 begin=$SECONDS status counts stage_passed=0 stage_failed=0
  shift
  printf '\033[1m== %s\033[0m\n' "$name"
  rm -f "$OUT/counts"
  # Ninja and test programs write progress; a log keeps it, and a terminal shows it.
  if [ -t 1 ]; then
    ("$@") 2>&1 | tee "$OUT/$name.log"
    status=${PIPESTATUS[0]}
  else
    ("$@") >"$OUT/$name.log" 2>&1
    status=$?
    [ "$status" = 0 ] || tail -n 60 "$OUT/$name.log"
  fi
  if [ -f "$OUT/counts" ]; then
    read -r stage_passed stage_failed <"$OUT/counts"
    if [ "$status" != 0 ] && [ "$stage_failed" = 0 ]; then stage_failed=1; fi
  elif [ "$status" = 0 ]; then
    stage_passed=1
  else
    stage_failed=1
  fi
  passed=$((passed + stage_passed)) failed=$((failed + stage_failed))
  counts="$stage_passed passed, $stage_failed failed"
  [ "$stage_failed" = 0 ] || counts="$counts  <- $OUT/$name.log"
  summary+=("$(printf '%-16s %6s  %s' "$name" "$(duration $((SECONDS - begin)))" "$counts")")
  echo "${summary[-1]}"
  return "$status"
}

set_up() {
  local parts=() part
  for part in "$@"; do
    case "$part" in
      web) [ ! -f web/package-lock.json ] || parts+=(web) ;;
      example) [ ! -f examples/digits/requirements.txt ] || parts+=(example) ;;
      *) parts+=("$part") ;;
    esac
  done
  tools/setup.sh "${parts[@]}"
}

build_preset() { # preset, targets...
  cmake --preset "$1" >"$OUT/cmake-$1.log" 2>&1 || { cat "$OUT/cmake-$1.log"; return 1; }
  cmake --build --preset "$1" -j "$JOBS" --target "${@:2}" -- -k 0
}

build_release() {
  local targets=()
  [ ! -f src/app/main.cc ] || targets+=(takt)
  [ ! -f src/shim/main.cc ] || targets+=(takt-shim)
  [ ${#targets[@]} = 0 ] || build_preset release "${targets[@]}"
}

# The test programs of the given rooms, of those that have tests.
existing_tests() {
  local room
  for room in "$@"; do
    if compgen -G "src/$room/*_test.cc" >/dev/null ||
      compgen -G "src/$room/*/*_test.cc" >/dev/null; then
      echo "${room}_test"
    fi
  done
}

# Runs test programs side by side; each reports by JSON, and a crash without a report is a failure.
unit_tests() { # preset, programs...
  local bin="build/$1/bin" programs=("${@:2}") rooms
  [ "$1" = debug ] && bin=build/dev/bin
  if [ ${#programs[@]} = 0 ]; then
    rooms=$(cd src && printf '%s\n' */ | tr -d /)
    # The longest first, so that both cores end together.
    mapfile -t programs < <(existing_tests store track jobs models $rooms | awk '!seen[$0]++')
  fi
  rm -rf "$OUT/unit" && mkdir -p "$OUT/unit"
  export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:${ASAN_OPTIONS:-}
  export UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS:-}
  export TSAN_OPTIONS=suppressions=$PWD/tools/tsan.supp:second_deadlock_stack=1:${TSAN_OPTIONS:-}
  export OUT bin
  # A thread-sanitized program needs the plain address-space layout on new kernels.
  [ "$1" = tsan ] && export RUN_WITH="setarch -R"
  printf '%s\n' "${programs[@]}" | xargs -r -n 1 -P "$JOBS" bash -c 'run_unit_program "$1"' _ ||
    true # the reports say which failed
  tools/check_count.py gtest "$OUT/unit" "${programs[@]}" --out "$OUT/counts"
}

run_unit_program() {
  local begin=$SECONDS
  timeout -k 10 "${TAKT_UNIT_TIMEOUT:-600}" ${RUN_WITH:-} "$bin/$1" --gtest_brief=1 \
    --gtest_output="json:$OUT/unit/$1.json" >"$OUT/unit/$1.log" 2>&1
  echo "$?" >"$OUT/unit/$1.exit"
  echo "$1 $((SECONDS - begin)) s"
}
export -f run_unit_program

check_layers() { tools/check_layers.py && (cd tools && python3 check_layers_test.py); }

end_to_end() { # pytest's arguments
  [ -x build/release/bin/takt ] || { echo "build/release/bin/takt does not exist yet"; return 0; }
  compgen -G "tests/*/*test*.py" >/dev/null || return 0
  build/venv-test/bin/python -m pytest tests -q --durations=15 --junitxml="$OUT/e2e.xml" \
    -n "$JOBS" --dist worksteal --timeout="${TAKT_E2E_TIMEOUT:-600}" "$@"
  local status=$?
  tools/check_count.py junit "$OUT/e2e.xml" --out "$OUT/counts"
  return "$status"
}

has_script() { [ -f web/package.json ] && grep -q "\"$1\":" web/package.json; }

console_stages() {
  local name script
  for name in lint test test:e2e; do
    has_script "$name" || continue
    [ "$name" != test:e2e ] || [ -x build/release/bin/takt ] || continue
    script="console-${name//:/-}"
    stage "$script" console_script "$name" "$script"
  done
}

console_script() { # npm script, log name
  local status
  npm run "$1" --prefix web
  status=$?
  tools/check_count.py text "$OUT/$2.log" --out "$OUT/counts"
  return "$status"
}

# Source files that differ from the branch's base (or the last commits), newest first, bounded.
changed_sources() {
  local base
  base=$(git merge-base HEAD "@{upstream}" 2>/dev/null || true)
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    base=$(git rev-list --max-count=5 HEAD | tail -n 1)
  fi
  { git diff --name-only "$base" -- src; git ls-files -o --exclude-standard -- src; } |
    sed 's/\.h$/.cc/' | grep '\.cc$' | sort -u | while read -r file; do
    [ ! -f "$file" ] || printf '%s %s\n' "$(stat -c %Y "$file")" "$file"
  done | sort -rn | cut -d' ' -f2- | head -n "${TAKT_TIDY_FILES:-24}"
}

tidy() { # changed | all
  local files
  build_preset debug generated || return 1
  if [ "$1" = all ]; then
    mapfile -t files < <(git ls-files -co --exclude-standard -- 'src/*.cc')
  else
    mapfile -t files < <(changed_sources)
  fi
  echo "${#files[@]} files"
  [ ${#files[@]} -gt 0 ] || return 0
  printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$JOBS" clang-tidy-19 -p build/dev --quiet \
    --extra-arg=-Wno-unknown-warning-option
}

fuzz_stages() { # seconds for each program
  compgen -G "tests/fuzz/*_fuzz.cc" >/dev/null || return 0
  stage build-fuzz build_preset fuzz fuzzers || return 0
  stage fuzz fuzz "$1"
}

fuzz() {
  export OUT seconds=$1
  rm -rf "$OUT/fuzz" && mkdir -p "$OUT/fuzz"
  basename -s .cc -a tests/fuzz/*_fuzz.cc |
    xargs -n 1 -P "$JOBS" bash -c 'run_fuzzer "$1"' _ || true
  tools/check_count.py exits "$OUT/fuzz" --out "$OUT/counts"
}

run_fuzzer() {
  local corpus="build/fuzz/corpus/$1"
  mkdir -p "$corpus"
  "build/fuzz/bin/$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$OUT/fuzz/$1-" \
    "$corpus" $(ls -d "tests/fuzz/corpus/$1" 2>/dev/null) \
    >"$OUT/fuzz/$1.log" 2>&1
  echo "$?" >"$OUT/fuzz/$1.exit"
  echo "$1: $(grep -c . "$OUT/fuzz/$1.log") lines of log, exit $(cat "$OUT/fuzz/$1.exit")"
}
export -f run_fuzzer
