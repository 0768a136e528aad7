#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Split the raw table: each fifth row is for the test, the others are for training.
# reads TAKT_INPUT_RAW, writes TAKT_OUTPUT_TRAIN and TAKT_OUTPUT_TEST.
set -eu
export LC_ALL=C
mkdir -p "$TAKT_OUTPUT_TRAIN" "$TAKT_OUTPUT_TEST"
cat "$TAKT_INPUT_RAW"/*.csv | awk -v train="$TAKT_OUTPUT_TRAIN/train.csv" \
    -v test="$TAKT_OUTPUT_TEST/test.csv" '
  NR == 1 { header = $0; print > train; print > test; next }
  $0 == header { next }                       # of a second file
  { row++; if (row % 5 == 0) { print > test; tests++ } else { print > train; trains++ } }
  END { printf "%d rows: %d for training, %d for the test\n", row, trains, tests }'
