#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Share of test rows that the model gets right. The weights are read out of model.onnx itself.
# reads TAKT_INPUT_MODEL and TAKT_INPUT_TEST, writes TAKT_OUTPUT_METRICS (JSON).
set -eu
export LC_ALL=C
model="$TAKT_INPUT_MODEL/model.onnx"
weights=$({
  od -A n -v -t f4 -j 126 -N 64 "$model"
  od -A n -v -t f4 -j 201 -N 16 "$model"
} | tr '\n' ' ')
cat "$TAKT_INPUT_TEST"/*.csv | awk -F , -v weights="$weights" '
  BEGIN { if (split(weights, weight, " ") != 20) { print "model.onnx holds no weights"; exit 1 } }
  $1 !~ /^-?[0-9.]+$/ { next }                # a header
  {
    best = 0
    for (class = 1; class <= 4; class++) {
      score = weight[16 + class]
      for (i = 1; i <= 4; i++) score += $i * weight[4 * (i - 1) + class]
      if (best == 0 || score > highest) { best = class; highest = score }
    }
    rows++; if (best - 1 == $5) right++
  }
  END {
    if (rows == 0) { print "no test rows" > "/dev/stderr"; exit 1 }
    printf "{\"accuracy\": %.6f, \"right\": %d, \"n\": %d}\n", right / rows, right, rows
  }' > "$TAKT_OUTPUT_METRICS.tmp"
mv "$TAKT_OUTPUT_METRICS.tmp" "$TAKT_OUTPUT_METRICS"
cat "$TAKT_OUTPUT_METRICS"
