#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what takt needs from the distribution's packages, npm and PyPI. Idempotent; quick when
# nothing is missing.
# Usage: tools/setup.sh [build] [test] [web] [example] ...   (default: build)
#   build    compiler, libraries, ONNX Runtime            -> apt, and build/ort (from PyPI)
#   web      Node.js packages of the console              -> npm ci
#   example  Python environment of examples/              -> build/venv-example
#   test     database, browser, fonts, clients of the tests -> apt, and build/venv-test
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/setup_lib.sh
mkdir -p build

[ $# -gt 0 ] || set -- build
for part in "$@"; do
  case "$part" in
    build | web | example | test) "setup_$part" ;;
    *) die "unknown part '$part'; use build, web, example or test" ;;
  esac
done
