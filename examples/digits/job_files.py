# SPDX-License-Identifier: Apache-2.0
"""Where this job's inputs, outputs and parameters are. takt tells a command by plain environment
variables, so the same scripts run by hand: set the variables, or see README.md."""

import contextlib
import json
import os
import sys
from pathlib import Path

import numpy as np

# The MLflow client would otherwise report its use to the outside and complain where git is missing.
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")


def input_folder(name: str) -> Path:
    return _path("TAKT_INPUT_" + name)


def output_path(name: str) -> Path:
    return _path("TAKT_OUTPUT_" + name)


def checkpoint_folder() -> Path | None:
    folder = os.environ.get("TAKT_CHECKPOINT_DIR")
    return Path(folder) if folder else None


def parameter(name: str, default):
    """The parameter as the type of its default."""
    text = os.environ.get("TAKT_PARAM_" + name.upper())
    if text is None:
        return default
    try:
        return type(default)(text)
    except ValueError:
        sys.exit(f"parameter {name}: {text!r} is not a {type(default).__name__}")


def seed(default: int = 7) -> int:
    return int(os.environ.get("TAKT_SEED") or default)


@contextlib.contextmanager
def tracked_run():
    """The run that MLFLOW_RUN_ID names, as the mlflow module; None without a tracking server."""
    if not os.environ.get("MLFLOW_TRACKING_URI"):
        print("MLFLOW_TRACKING_URI is not set: metrics are only printed")
        yield None
        return
    import mlflow

    with mlflow.start_run():
        yield mlflow


def read_table(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The images (float32, n x 64) and labels (n) of all CSV files in a folder."""
    files = sorted(folder.glob("*.csv"))
    if not files:
        sys.exit(f"{folder} holds no CSV file")
    rows = np.concatenate([np.loadtxt(f, delimiter=",", skiprows=1, ndmin=2) for f in files])
    return rows[:, :-1].astype(np.float32), rows[:, -1].astype(np.int64)


def write_whole(path: Path, data: bytes) -> None:
    """Make a file appear with all its bytes, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def write_json(path: Path, value) -> None:
    write_whole(path, (json.dumps(value, indent=2) + "\n").encode())


def _path(variable: str) -> Path:
    text = os.environ.get(variable)
    if not text:
        sys.exit(f"{variable} is not set: it names a path that takt gives to the job")
    return Path(text)
