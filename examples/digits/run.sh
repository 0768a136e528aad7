#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Run the example line on a server that is up: a first model goes live, a second one goes out as a
# 5 % canary and is promoted once a person approves. Ends with a summary.
#
# environment, all optional:
#   TAKT       the takt program               (build/release/bin/takt)
#   PYTHON     interpreter with requirements.txt installed (build/venv-example/bin/python)
#   TAKT_URL, GATEWAY_URL  where server and gateway answer (http://127.0.0.1:8700 and :8000)
#   AT_CANARY  command to run while the canary takes 5 % and before it is approved
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
takt=$(realpath "${TAKT:-$root/build/release/bin/takt}")
# Not resolved further: a virtual environment is known by the path of its link.
python=$(realpath --no-symlinks "${PYTHON:-$root/build/venv-example/bin/python}")
export TAKT_URL="${TAKT_URL:-http://127.0.0.1:8700}"
gateway="${GATEWAY_URL:-http://127.0.0.1:8000}"
VIRTUAL_ENV=$(dirname "$(dirname "$python")")
PATH="$(dirname "$python"):$PATH"
export VIRTUAL_ENV PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
approver_token=""

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'run.sh: %s\n' "$*" >&2; exit 1; }

# get PATH...: print the value at a path of names in the JSON on standard input, nothing if absent.
get() {
  "$python" -c '
import json, sys
value = json.load(sys.stdin)
for name in sys.argv[1:]:
    if isinstance(value, list):
        value = next((item for item in value if item.get("name") == name), None)
    else:
        value = (value or {}).get(name)
if value is not None:
    print(value if isinstance(value, str) else json.dumps(value))' "$@"
}

# node_states: one line `NAME STATE REASON` per node of the pipeline run on standard input.
node_states() {
  "$python" -c '
import json, sys
for node in json.load(sys.stdin).get("nodes", []):
    print(node["name"], node["state"], node.get("reason") or "")'
}

# approver: the token of user quickstart, who is made if need be. Who submits may not approve.
approver() {
  if [ -z "$approver_token" ]; then
    "$takt" user add quickstart --role operator > "$scratch/user" 2>&1 \
      || grep -qi 'exist' "$scratch/user" || fail "$(cat "$scratch/user")"
    approver_token=$("$takt" token create --user quickstart --json | get token)
    [ -n "$approver_token" ] || fail "takt token create gave no token"
  fi
}

# run_line KEY=VALUE...: run the pipeline to its end, approving where it waits for a person; the
# run's JSON is left in $scratch/run.json.
run_line() {
  local number state node now before="" args=()
  for parameter in "$@"; do args+=(-p "$parameter"); done
  number=$("$takt" pipeline run "$here/pipeline.yaml" "${args[@]}" --json | get number)
  [ -n "$number" ] || fail "takt pipeline run gave no run number"
  echo "pipeline-run/digits-line/$number  ($TAKT_URL/p/default/pipelines/digits-line/$number)"
  for ((i = 0; i < 1200; i++)); do
    "$takt" pipeline show digits-line "$number" --json > "$scratch/run.json"
    now=$(node_states < "$scratch/run.json")
    diff <(echo "$before") <(echo "$now") | sed -n 's/^> \(.\)/  \1/p' || true
    before=$now
    state=$(get state < "$scratch/run.json")
    case $state in
      succeeded) return ;;
      failed | stopped | cancelled)
        fail "the pipeline run $state; see: takt why pipeline-run/digits-line/$number" ;;
    esac
    node=$(awk '$2 ~ /approv/ { print $1; exit }' <<< "$now")
    if [ -n "$node" ]; then approve "$number" "$node"; else sleep 0.5; fi
  done
  fail "no end after ten minutes; see: takt why pipeline-run/digits-line/$number"
}

approve() {
  if [ -n "${AT_CANARY:-}" ] && ! [ -e "$scratch/canary-seen" ] && [ -e "$scratch/second" ]; then
    touch "$scratch/canary-seen"
    bash -c "$AT_CANARY"
  fi
  approver
  TAKT_TOKEN=$approver_token "$takt" pipeline approve digits-line "$1" "$2" \
    --note "approved by the quickstart script" > "$scratch/approve"
  echo "  $2 approved as user quickstart (the admin submitted, so another person has to agree)"
  sleep 0.5
}

# test_image: the last image of the test split as `LABEL PIXEL,PIXEL,...`.
test_image() {
  local version
  version=$(get nodes preprocess outputs test ref < "$scratch/run.json")
  "$takt" data get "${version#dataset/}" "$scratch/test" > "$scratch/get"
  find "$scratch/test" -name '*.csv' -exec tail -n 1 {} + | sed -E 's/^(.*),([0-9]+)$/\2 \1/'
}

# metrics: what the evaluate node found on the test split, on one line.
metrics() {
  get nodes evaluate outputs metrics json < "$scratch/run.json" | "$python" -c '
import json, sys
found = json.load(sys.stdin)
print("accuracy %(accuracy).4f  macro_f1 %(macro_f1).4f  on %(n)d test images" % found)'
}

summary() {
  local image body digit home
  image=$(test_image)
  home=${TAKT_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/takt}
  body='{"inputs":[{"name":"pixels","datatype":"FP32","shape":[1,64],"data":['${image#* }']}],'
  body+='"outputs":[{"name":"label"}]}'
  digit="sed -E 's/.*\"data\": *\[ *([0-9]+).*/\1/'"
  say "done"
  cat <<END
data version    $data_version
metrics         $(metrics)
model version   $(get nodes register outputs version ref < "$scratch/run.json")
service         $gateway/v2/models/digits
console         $TAKT_URL
sign in         paste the token that stands in $home/admin-token

A prediction for a test image of the digit ${image%% *}:
curl -s $gateway/v2/models/digits/infer -H 'Content-Type: application/json' -d '$body' | $digit
END
}

[ -x "$takt" ] || fail "$takt is missing; build it with ./quickstart --no-run or set TAKT"
[ -x "$python" ] || fail "$python is missing; make it with ./quickstart --no-run or set PYTHON"
cd "$here"

say "data: 1,797 handwritten digits"
"$python" make_data.py "$scratch/data" > "$scratch/made"
data_version=$("$takt" data add digits-raw "$scratch/data/digits.csv" --json | get ref)
echo "$data_version"

if "$takt" services show digits --json > "$scratch/service" 2>&1; then
  say "a first model is live already"
else
  say "first model: hidden=32, goes live at 100 %"
  run_line hidden=32
fi

say "second model: hidden=128, goes out as a 5 % canary"
touch "$scratch/second"
run_line hidden=128
summary
