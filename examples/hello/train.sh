#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fit Y = X * W + b (softmax regression, in awk) and put W and b into a copy of identity.onnx.
# reads TAKT_INPUT_TRAIN, writes TAKT_OUTPUT_MODEL/model.onnx. Parameters: epochs, rate.
# Every ten epochs the weights go to TAKT_CHECKPOINT_DIR; a restarted attempt goes on from there.
set -eu
export LC_ALL=C
epochs=${TAKT_PARAM_EPOCHS:-30}
rate=${TAKT_PARAM_RATE:-0.1}
checkpoints=${TAKT_CHECKPOINT_DIR:-$(mktemp -d)}
state="$checkpoints/weights-$epochs-$rate"   # one line: epochs done, then W by rows, then b
mkdir -p "$checkpoints" "$TAKT_OUTPUT_MODEL"

if [ -f "$state" ]; then
  echo "resuming after epoch $(cut -d ' ' -f 1 "$state") of $epochs"
else
  echo "0 1 0 0 0  0 1 0 0  0 0 1 0  0 0 0 1  0 0 0 0" > "$state"   # the identity
fi

while [ "$(cut -d ' ' -f 1 "$state")" -lt "$epochs" ]; do
  awk -F '[ ,]+' -v last="$epochs" -v rate="$rate" '
    FILENAME == ARGV[1] { done = $1; for (i = 1; i <= 20; i++) weight[i] = $(i + 1); next }
    FNR > 1 { rows++; for (i = 1; i <= 5; i++) value[rows, i] = $i }
    END {
      for (epoch = done + 1; epoch <= last && epoch <= done + 10; epoch++) {
        loss = 0
        for (row = 1; row <= rows; row++) learn(row)
        printf "epoch %d of %d: loss %.4f\n", epoch, last, loss / rows > "/dev/stderr"
      }
      printf "%d", epoch - 1
      for (i = 1; i <= 20; i++) printf " %.9g", weight[i]
      print ""
    }
    function learn(row,   class, i, sum, error) {
      sum = 0
      for (class = 1; class <= 4; class++) {
        score[class] = weight[16 + class]
        for (i = 1; i <= 4; i++) score[class] += value[row, i] * weight[4 * (i - 1) + class]
        score[class] = exp(score[class]); sum += score[class]
      }
      loss -= log(score[value[row, 5] + 1] / sum)
      for (class = 1; class <= 4; class++) {
        error = score[class] / sum - (value[row, 5] + 1 == class)
        for (i = 1; i <= 4; i++) weight[4 * (i - 1) + class] -= rate * error * value[row, i]
        weight[16 + class] -= rate * error
      }
    }' "$state" "$TAKT_INPUT_TRAIN"/*.csv > "$state.tmp"
  mv "$state.tmp" "$state"
done

# float32 FIRST LAST: these numbers of the state as little-endian bytes, in printf's octal spelling.
float32() {
  awk -v first="$1" -v last="$2" '
    function octal(byte) { printf "\\%03o", byte }
    {
      for (i = first; i <= last; i++) {
        x = $(i + 1) + 0; sign = x < 0; if (sign) x = -x
        exponent = 127
        while (x >= 2) { x /= 2; exponent++ }
        while (x > 0 && x < 1 && exponent > 1) { x *= 2; exponent-- }
        fraction = int((x - 1) * 8388608 + 0.5)
        if (x < 1) { exponent = 0; fraction = 0 }     # too small for a normal number: zero
        if (fraction == 8388608) { fraction = 0; exponent++ }
        octal(fraction % 256); octal(int(fraction / 256) % 256)
        octal(int(fraction / 65536) + exponent % 2 * 128); octal(int(exponent / 2) + sign * 128)
      }
    }' "$state"
}

# identity.onnx holds W at byte 126 and b at byte 201, its end (tools/make_hello_onnx.py).
{
  head -c 126 identity.onnx
  printf "$(float32 1 16)"
  tail -c 27 identity.onnx | head -c 11
  printf "$(float32 17 20)"
} > "$TAKT_OUTPUT_MODEL/.model.onnx.tmp"
mv "$TAKT_OUTPUT_MODEL/.model.onnx.tmp" "$TAKT_OUTPUT_MODEL/model.onnx"
echo "model written: $(wc -c < "$TAKT_OUTPUT_MODEL/model.onnx") bytes"
