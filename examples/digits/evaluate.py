# SPDX-License-Identifier: Apache-2.0
"""Measure the exported model on the test images, which no earlier step has trained on.

reads TAKT_INPUT_MODEL/model.onnx and TAKT_INPUT_TEST, writes TAKT_OUTPUT_METRICS (JSON). It runs
the very file that will be served, in ONNX Runtime, not the scikit-learn object it came from.
"""

import numpy as np
import onnxruntime

from job_files import input_folder, output_path, read_table, tracked_run, write_json


def predict(images: np.ndarray) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(input_folder("MODEL") / "model.onnx"), options, providers=["CPUExecutionProvider"])
    return session.run(["label"], {"pixels": images})[0]


def confusion_matrix(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Cell [t, p]: how many images of digit t were taken for p."""
    counts = np.zeros((10, 10), dtype=int)
    np.add.at(counts, (truth, predicted), 1)
    return counts


def macro_f1(counts: np.ndarray) -> float:
    hits = np.diag(counts)
    return float(np.mean(2 * hits / np.maximum(counts.sum(axis=0) + counts.sum(axis=1), 1)))


def main() -> None:
    images, truth = read_table(input_folder("TEST"))
    counts = confusion_matrix(truth, predict(images))
    summary = {
        "accuracy": float(np.trace(counts) / len(truth)),
        "macro_f1": macro_f1(counts),
        "n": len(truth),
    }
    with tracked_run() as mlflow:
        if mlflow:
            mlflow.log_metrics(summary)
            mlflow.log_dict({"rows": "truth", "columns": "predicted", "counts": counts.tolist()},
                            "confusion_matrix.json")
    write_json(output_path("METRICS"), {**summary, "confusion_matrix": counts.tolist()})
    print("  ".join(f"{name} {value:.4g}" for name, value in summary.items()))
    print(counts)


if __name__ == "__main__":
    main()
