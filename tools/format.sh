#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formats the C++ sources with clang-format-19. Usage: tools/format.sh [--check] [FILE...]
# With --check it only names the files that would change, and fails if there are any.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
if [ "${1:-}" = --check ]; then
  mode=(--dry-run -Werror --ferror-limit=1)
  shift
fi
if ! command -v clang-format-19 >/dev/null; then
  echo "error: clang-format-19 is missing; run tools/setup.sh test" >&2
  exit 1
fi
if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(git ls-files -co --exclude-standard -- \
    'src/*.cc' 'src/*.h' 'tests/*.cc' 'bench/*.cc' 'bench/*.h')
fi
for file in "${files[@]}"; do [ -e "$file" ] && printf '%s\0' "$file"; done |
  xargs -0 -r -n 20 -P "$(nproc)" clang-format-19 "${mode[@]}"
