# SPDX-License-Identifier: Apache-2.0
"""Split the raw table into train, validation and test (60/20/20), each digit in equal shares.

reads TAKT_INPUT_RAW, writes TAKT_OUTPUT_TRAIN, TAKT_OUTPUT_VALIDATION, TAKT_OUTPUT_TEST.
The split depends on the rows and the seed alone, so it is the same bytes every time.
"""

from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from job_files import input_folder, output_path, seed, write_whole


def read_lines(folder: Path) -> tuple[str, list[str]]:
    """The header and the distinct rows of all CSV files, in order: a repeated image may not stand
    on both sides of the split."""
    header = ""
    rows: dict[str, None] = {}
    for file in sorted(folder.glob("*.csv")):
        header, *lines = file.read_text(encoding="utf-8").splitlines()
        rows.update(dict.fromkeys(line for line in lines if line))
    return header, list(rows)


def main() -> None:
    header, rows = read_lines(input_folder("RAW"))
    labels = np.array([row.rsplit(",", 1)[1] for row in rows])
    everything = np.arange(len(rows))
    rest, test = train_test_split(
        everything, test_size=0.2, stratify=labels, random_state=seed())
    train, validation = train_test_split(
        rest, test_size=0.25, stratify=labels[rest], random_state=seed())
    for name, chosen in (("train", train), ("validation", validation), ("test", test)):
        text = "\n".join([header, *(rows[i] for i in np.sort(chosen))]) + "\n"
        write_whole(output_path(name.upper()) / f"{name}.csv", text.encode())
        print(f"{name}: {len(chosen)} of {len(rows)} images")


if __name__ == "__main__":
    main()
