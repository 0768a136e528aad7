#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tiny ONNX files that src/serve's tests run (src/serve/testing/models/).

    python3 -m venv VENV && VENV/bin/pip install onnx numpy
    VENV/bin/python tools/make_test_models.py src/serve/testing/models

The files are committed, so that building and testing need no Python packages.
"""
import pathlib
import sys

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

T = TensorProto
NAMES = {
    "bool": T.BOOL, "uint8": T.UINT8, "uint16": T.UINT16, "uint32": T.UINT32,
    "uint64": T.UINT64, "int8": T.INT8, "int16": T.INT16, "int32": T.INT32, "int64": T.INT64,
    "fp16": T.FLOAT16, "bf16": T.BFLOAT16, "fp32": T.FLOAT, "fp64": T.DOUBLE, "bytes": T.STRING,
}


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def build(nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "takt-test", inputs, outputs, list(constants))
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="takt")
    model.ir_version = 8
    checker.check_model(model)
    return model


def identity(kind):
    """y = x, any number of rows of two."""
    return build([helper.make_node("Identity", ["x"], ["y"])],
                 [value("x", kind, ["n", 2])], [value("y", kind, ["n", 2])])


def linear():
    """Four features to three classes: scores, and the best one's index."""
    weights = np.array([[1, 0, -1], [0.5, 2, 0], [0, 1, 1], [-1, 0, 0.25]], np.float32)
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["scores"]),
             helper.make_node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0)]
    return build(nodes, [value("x", T.FLOAT, ["n", 4])],
                 [value("label", T.INT64, ["n"]), value("scores", T.FLOAT, ["n", 3])],
                 [constant("w", weights), constant("b", np.array([0.1, 0.2, 0.3], np.float32))])


def add_two():
    """Two inputs of one shape with an open second dimension."""
    nodes = [helper.make_node("Add", ["a", "b"], ["sum"]),
             helper.make_node("Sub", ["a", "b"], ["difference"])]
    return build(nodes, [value("a", T.FLOAT, ["n", "m"]), value("b", T.FLOAT, ["n", "m"])],
                 [value("sum", T.FLOAT, ["n", "m"]), value("difference", T.FLOAT, ["n", "m"])])


def scalar():
    """A rank-0 input beside a row: not to be batched."""
    return build([helper.make_node("Mul", ["x", "factor"], ["y"])],
                 [value("x", T.FLOAT, ["n"]), value("factor", T.FLOAT, [])],
                 [value("y", T.FLOAT, ["n"])])


def softmax_rows():
    """Softmax over dimension 0: the shapes look batchable, the values are not."""
    return build([helper.make_node("Softmax", ["x"], ["y"], axis=0)],
                 [value("x", T.FLOAT, ["n", 2])], [value("y", T.FLOAT, ["n", 2])])


def gather():
    """Rows of a table by index: an index out of range fails at run time."""
    return build([helper.make_node("Gather", ["table", "index"], ["row"], axis=0)],
                 [value("index", T.INT64, ["n"])], [value("row", T.FLOAT, ["n", 2])],
                 [constant("table", np.array([[0, 1], [2, 3], [4, 5]], np.float32))])


def divide():
    """x / x: NaN for zero."""
    return build([helper.make_node("Div", ["x", "x"], ["y"])],
                 [value("x", T.FLOAT, ["n", 2])], [value("y", T.FLOAT, ["n", 2])])


def zipmap():
    """A sequence output, as skl2onnx writes classifiers unless told not to: refused."""
    sequence = helper.make_tensor_sequence_value_info("output_probability", T.FLOAT, None)
    return build([helper.make_node("SequenceConstruct", ["x"], ["output_probability"])],
                 [value("x", T.FLOAT, ["n", 2])], [sequence])


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    models = {f"identity_{name}": identity(kind) for name, kind in NAMES.items()}
    models |= {make.__name__: make()
               for make in (linear, add_two, scalar, softmax_rows, gather, divide, zipmap)}
    for name, model in models.items():
        (out / f"{name}.onnx").write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main()
