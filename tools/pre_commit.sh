#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Quick checks before a commit: format of the staged files, layers, whitespace. As a git hook:
#   ln -s ../../tools/pre_commit.sh .git/hooks/pre-commit
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
git diff --cached --check
mapfile -t files < <(git diff --cached --name-only --diff-filter=ACM -- '*.cc' '*.h')
[ ${#files[@]} = 0 ] || tools/format.sh --check "${files[@]}"
tools/check_layers.py
