# SPDX-License-Identifier: Apache-2.0
"""Train a small neural network, one epoch at a time, and export it as ONNX.

reads TAKT_INPUT_TRAIN and, where given, TAKT_INPUT_VALIDATION; writes TAKT_OUTPUT_MODEL/model.onnx.
Parameters: hidden, epochs, learning_rate; the seed is TAKT_SEED. After each epoch a checkpoint is
put into TAKT_CHECKPOINT_DIR, and a restarted attempt goes on from the last one to the same model.
"""

import hashlib
import os
import pickle
import time
import warnings

import numpy as np
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from job_files import (checkpoint_folder, input_folder, output_path, parameter, read_table, seed,
                       tracked_run, write_whole)

CLASSES = np.arange(10)


def main() -> None:
    params = {
        "hidden": parameter("hidden", 32),
        "epochs": parameter("epochs", 40),
        "learning_rate": parameter("learning_rate", 0.003),
        "seed": seed(),
    }
    train = read_table(input_folder("TRAIN"))
    validation = None
    if os.environ.get("TAKT_INPUT_VALIDATION"):
        validation = read_table(input_folder("VALIDATION"))
    with tracked_run() as mlflow:
        if mlflow:
            mlflow.log_params(params)
        scale = MinMaxScaler().fit(np.array([[0.0] * 64, [16.0] * 64]))  # ink is 0..16 in all data
        network = fit(params, scale, train, validation, mlflow)
        model = make_pipeline(scale, network)
        write_whole(output_path("MODEL") / "model.onnx", to_onnx(model))
        if mlflow:
            mlflow.log_text(describe(params, network), "training.txt")
    print(f"model written to {output_path('MODEL')}/model.onnx")


def fit(params, scale, train, validation, mlflow) -> MLPClassifier:
    images, labels = scale.transform(train[0]), train[1]
    fingerprint = hashlib.sha256(repr(params).encode() + images.tobytes()).hexdigest()
    state = load_checkpoint(fingerprint)
    if state:
        print(f"resuming after epoch {state['epoch']} of {params['epochs']}")
        log(mlflow, state)  # the last epoch's points again: a crash may have come before them
    else:
        network = MLPClassifier(
            hidden_layer_sizes=(params["hidden"],), learning_rate_init=params["learning_rate"],
            alpha=1e-3, batch_size=32, random_state=params["seed"])
        state = {"fingerprint": fingerprint, "epoch": 0, "network": network}
    network = state["network"]
    while state["epoch"] < params["epochs"]:
        network.partial_fit(images, labels, classes=CLASSES)
        state["epoch"] += 1
        state["metrics"] = measure(network, scale, train, validation)
        state["timestamp_ms"] = time.time_ns() // 1_000_000
        save_checkpoint(state)
        log(mlflow, state)
        shown = "  ".join(f"{name} {value:.4f}" for name, value in state["metrics"].items())
        print(f"epoch {state['epoch']:3d} of {params['epochs']}: {shown}", flush=True)
    return network


def measure(network, scale, train, validation) -> dict[str, float]:
    metrics = {"train_loss": float(network.loss_)}
    if validation is not None:
        chances = network.predict_proba(scale.transform(validation[0]))
        metrics["validation_loss"] = float(log_loss(validation[1], chances, labels=CLASSES))
        metrics["validation_accuracy"] = float(np.mean(chances.argmax(axis=1) == validation[1]))
    return metrics


def log(mlflow, state) -> None:
    """Step and timestamp come from the checkpoint, so a point logged twice is the same point."""
    if mlflow:
        mlflow.log_metrics(state["metrics"], step=state["epoch"], timestamp=state["timestamp_ms"])


def load_checkpoint(fingerprint: str):
    folder = checkpoint_folder()
    if folder is None or not (folder / "state.pickle").exists():
        return None
    state = pickle.loads((folder / "state.pickle").read_bytes())
    if state["fingerprint"] != fingerprint:
        print("the checkpoint is of other data or parameters: starting afresh")
        return None
    return state


def save_checkpoint(state) -> None:
    folder = checkpoint_folder()
    if folder is not None:
        write_whole(folder / "state.pickle", pickle.dumps(state))


def to_onnx(model) -> bytes:
    """pixels [batch, 64] float in; label [batch] int64 and probabilities [batch, 10] float out."""
    from skl2onnx import to_onnx as convert
    from skl2onnx.common.data_types import FloatTensorType

    onnx_model = convert(
        model, initial_types=[("pixels", FloatTensorType([None, 64]))], name="digits",
        options={id(model): {"zipmap": False}}, target_opset={"": 17, "ai.onnx.ml": 3})
    graph = onnx_model.graph
    for value in [*graph.input, *graph.output]:
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    return onnx_model.SerializeToString(deterministic=True)


def describe(params, network) -> str:
    layers = " -> ".join(str(w.shape[0]) for w in network.coefs_)
    weights = sum(w.size for w in network.coefs_ + network.intercepts_)
    lines = [f"{name}: {value}" for name, value in params.items()]
    return "\n".join([*lines, f"layers: {layers} -> 10", f"weights: {weights}", ""])


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")
    main()
