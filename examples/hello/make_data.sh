#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Write data/sensors.csv again (the same bytes each time; the file is part of the example).
# Four microphones of different gain and offset hear one sound; source says at which it was made.
# The numbers are simulated.
set -eu
export LC_ALL=C
awk 'function random() { state = (state * 16807) % 2147483647; return state / 2147483647 }
BEGIN {
  state = 20260101
  split("1.0 0.6 1.4 0.9", gain, " "); split("0.0 0.5 0.2 -0.1", offset, " ")
  print "mic_1,mic_2,mic_3,mic_4,source"
  for (row = 1; row <= 400; row++) {
    source = int(random() * 4); line = ""
    for (mic = 1; mic <= 4; mic++) {
      level = random() + (mic - 1 == source ? 0.75 + 0.4 * random() : 0)
      line = line sprintf("%.3f,", gain[mic] * level + offset[mic])
    }
    print line source
  }
}' > "${1:-data/sensors.csv}"
