# SPDX-License-Identifier: Apache-2.0
"""Write the UCI handwritten digits (1,797 real images, shipped by scikit-learn) as digits.csv.

usage: make_data.py FOLDER

One row per image: pixel_RC is the ink in row R, column C (0..16), label is the digit. The bytes are
the same on every machine, so adding them again to a dataset yields the same version.
"""

import os
import sys
from pathlib import Path

from sklearn.datasets import load_digits


def write_digits(folder: Path) -> Path:
    pixels, labels = load_digits(return_X_y=True)
    names = [f"pixel_{row}{column}" for row in range(8) for column in range(8)]
    lines = [",".join([*names, "label"])]
    for image, label in zip(pixels.astype(int), labels):
        lines.append(",".join(str(value) for value in [*image, label]))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "digits.csv"
    temporary = folder / ".digits.csv.tmp"
    temporary.write_text("\n".join(lines) + "\n", encoding="ascii")
    os.replace(temporary, path)
    return path


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(write_digits(Path(sys.argv[1])))
