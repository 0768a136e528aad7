#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inference over HTTP (binary tensors) and gRPC (raw tensors), one row a request: `takt infer`
alone and behind `takt gateway`, with 1 and 16 connections. Baseline: a C++ loop of one thread that
calls the same ONNX Runtime library in process, one row a call. Loop and servers take turns, for
several rounds."""

import argparse
import contextlib
import dataclasses
import itertools
import json
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import measure
from measure import Table, median, wait_until

CONNECTIONS = (1, 16)


@dataclasses.dataclass
class Model:
    name: str
    file: pathlib.Path
    width: int  # floats a row
    aim: str


@dataclasses.dataclass
class Samples:
    """Figures of each round."""

    rate: list[float] = dataclasses.field(default_factory=list)
    p50_us: list[float] = dataclasses.field(default_factory=list)
    p99_us: list[float] = dataclasses.field(default_factory=list)
    cpu_us: list[float] = dataclasses.field(default_factory=list)  # of infer, or the loop
    gateway_cpu_us: list[float] = dataclasses.field(default_factory=list)


def save_model(
    file: pathlib.Path, width: int, layers, outputs: dict[str, tuple[int, list]]
) -> None:
    """Writes an ONNX file of one input `x` [batch, width]; `layers` are nodes and constants."""
    import onnx
    from onnx import TensorProto, helper

    nodes, constants = layers
    graph = helper.make_graph(
        nodes, "bench",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", width])],
        [helper.make_tensor_value_info(name, *typed) for name, typed in outputs.items()],
        constants,
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, file)


def make_small(folder: pathlib.Path) -> Model:
    """The shape of examples/digits' model: 64 -> 32 -> 10, with label and probabilities."""
    import numpy
    from onnx import TensorProto, helper, numpy_helper

    random = numpy.random.default_rng(7)
    constants = [
        numpy_helper.from_array((random.standard_normal(shape) / 8).astype(numpy.float32), name)
        for name, shape in (("w1", (64, 32)), ("b1", (32,)), ("w2", (32, 10)), ("b2", (10,)))
    ]
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h1"]),
        helper.make_node("Relu", ["h1"], ["h2"]),
        helper.make_node("Gemm", ["h2", "w2", "b2"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["probabilities"], axis=1),
        helper.make_node("ArgMax", ["probabilities"], ["label"], axis=1, keepdims=0),
    ]
    outputs = {
        "label": (TensorProto.INT64, ["batch"]),
        "probabilities": (TensorProto.FLOAT, ["batch", 10]),
    }
    file = folder / "small.onnx"
    save_model(file, 64, (nodes, constants), outputs)
    return Model("small", file, 64, "<= 15 us CPU over the model")


def make_large(folder: pathlib.Path, blocks: int) -> Model:
    """64 positions of 64 numbers through blocks of 64 -> 512 -> 64. One row is a matrix already, so
    a batch of rows is hardly cheaper a row: the ratio to the loop is not one of batching."""
    import numpy
    from onnx import TensorProto, helper, numpy_helper

    random = numpy.random.default_rng(7)
    constants = [
        numpy_helper.from_array(numpy.array([-1, 64, 64]), "positions"),
        numpy_helper.from_array(numpy.array([-1, 4096]), "flat"),
    ]
    nodes = [helper.make_node("Reshape", ["x", "positions"], ["t0"])]
    for block in range(blocks):
        for name, shape in ((f"up{block}", (64, 512)), (f"down{block}", (512, 64))):
            weights = (random.standard_normal(shape) / shape[0] ** 0.5).astype(numpy.float32)
            constants.append(numpy_helper.from_array(weights, name))
        nodes += [
            helper.make_node("MatMul", [f"t{block}", f"up{block}"], [f"u{block}"]),
            helper.make_node("Relu", [f"u{block}"], [f"r{block}"]),
            helper.make_node("MatMul", [f"r{block}", f"down{block}"], [f"t{block + 1}"]),
        ]
    nodes.append(helper.make_node("Reshape", [f"t{blocks}", "flat"], ["y"]))
    file = folder / "large.onnx"
    save_model(file, 4096, (nodes, constants), {"y": (TensorProto.FLOAT, ["batch", 4096])})
    return Model("large", file, 4096, ">= 70 % of the loop's rows/s")


@dataclasses.dataclass
class Request:
    """One inference as both protocols carry it."""

    http: pathlib.Path
    http_words: list[str]  # of bench-load
    grpc: pathlib.Path


def write_request(model: Model, folder: pathlib.Path) -> Request:
    import numpy
    from tritonclient.grpc import service_pb2

    values = (numpy.arange(model.width) % 17).astype("<f4").tobytes()
    tensor = {"name": "x", "datatype": "FP32", "shape": [1, model.width]}
    head = json.dumps(
        {
            "inputs": [tensor | {"parameters": {"binary_data_size": len(values)}}],
            "parameters": {"binary_data_output": True},
        }
    ).encode()
    message = service_pb2.ModelInferRequest(
        model_name=model.name,
        inputs=[service_pb2.ModelInferRequest.InferInputTensor(**tensor)],
        raw_input_contents=[values],
    )
    http, grpc = folder / f"{model.name}.http", folder / f"{model.name}.grpc"
    http.write_bytes(head + values)
    grpc.write_bytes(message.SerializeToString())
    words = ["--header", "Content-Type: application/octet-stream",
             "--header", f"Inference-Header-Content-Length: {len(head)}"]  # fmt: skip
    return Request(http, words, grpc)


def run_loop(library: pathlib.Path, model: Model, seconds: float) -> dict[str, float]:
    words = [
        measure.program("bench-ort-loop"),
        library,
        model.file,
        "x",
        str(model.width),
        "1",
        str(seconds),
    ]
    result = subprocess.run(words, capture_output=True, text=True, check=False, timeout=150)
    if result.returncode != 0:
        sys.exit(f"bench-ort-loop failed: {result.stderr}")
    return json.loads(result.stdout)


@dataclasses.dataclass
class Peer:
    """A process to be asked."""

    name: str
    pid: int
    http_port: int
    grpc_port: int


@contextlib.contextmanager
def running_infer(model: Model, folder: pathlib.Path, library: pathlib.Path) -> Iterator[Peer]:
    """`takt infer` with its defaults, once it is ready."""
    http, grpc = measure.free_port(), measure.free_port()
    with measure.started(
        measure.TAKT, "infer", "--model", model.file, "--model-name", model.name,
        "--http-port", http, "--grpc-port", grpc,
        log=folder / f"{model.name}.infer.log", TAKT_ONNXRUNTIME=str(library),
    ) as process:  # fmt: skip
        measure.wait_answer(http, "/v2/health/ready")
        yield Peer("infer", process.pid, http, grpc)


@contextlib.contextmanager
def running_gateway(model: Model, infer: Peer, folder: pathlib.Path) -> Iterator[Peer]:
    """`takt gateway` in front of one replica (docs/formats/gateway.md)."""
    own = folder / f"{model.name}.gateway"
    own.mkdir()
    replica = {"http": f"127.0.0.1:{infer.http_port}", "grpc": f"127.0.0.1:{infer.grpc_port}"}
    revision = {"number": 1, "share": 100, "replicas": [replica]}
    snapshot = {
        "format": 1, "version": 1, "token_hashes": [],
        "services": [{"name": model.name, "revisions": [revision]}],
    }  # fmt: skip
    (own / "snapshot.json").write_text(json.dumps(snapshot))
    http, grpc = measure.free_port(), measure.free_port()
    with measure.started(
        measure.TAKT, "gateway", "--folder", own,
        "--http", f"127.0.0.1:{http}", "--grpc", f"127.0.0.1:{grpc}",
        log=folder / f"{model.name}.gateway.log",
    ) as process:  # fmt: skip
        wait_until(
            lambda: measure.answers(http, f"/v2/models/{model.name}/ready"), 20, what="the gateway"
        )
        yield Peer("gateway + infer", process.pid, http, grpc)


def send(
    model: Model, request: Request, peer: Peer, protocol: str, connections: int, seconds: float
):
    if protocol == "gRPC":
        return measure.load_grpc(
            peer.grpc_port,
            "/inference.GRPCInferenceService/ModelInfer",
            request.grpc,
            connections,
            seconds,
        )
    return measure.load(
        peer.http_port, f"/v2/models/{model.name}/infer", "--seconds", str(seconds), *request.http_words,
        body=request.http, connections=connections,
    )  # fmt: skip


def measure_peer(
    samples: Samples, model: Model, request: Request, infer: Peer, peer: Peer, protocol: str,
    connections: int, seconds: float,
) -> None:  # fmt: skip
    """One round: a short warm-up, then figures, with the CPU time of infer and of the gateway."""
    send(model, request, peer, protocol, connections, 0.2)
    before = [measure.process_cpu_s(pid) for pid in (infer.pid, peer.pid)]
    figures = send(model, request, peer, protocol, connections, seconds)
    after = [measure.process_cpu_s(pid) for pid in (infer.pid, peer.pid)]
    infer_us, peer_us = (
        (b - a) / figures["requests"] * 1e6 for a, b in zip(before, after, strict=True)
    )
    samples.rate.append(figures["rate"])
    samples.p50_us.append(figures["p50_us"])
    samples.p99_us.append(figures["p99_us"])
    samples.cpu_us.append(infer_us)
    if peer is not infer:
        samples.gateway_cpu_us.append(peer_us)


def measure_model(
    model: Model, folder: pathlib.Path, library: pathlib.Path, rounds: int, seconds: float
) -> dict[str, Samples]:
    results: dict[str, Samples] = {}
    request = write_request(model, folder)
    with (
        running_infer(model, folder, library) as infer,
        running_gateway(model, infer, folder) as gateway,
    ):
        for _ in range(rounds):
            loop = run_loop(library, model, seconds)
            samples = results.setdefault("loop in process, 1 thread", Samples())
            samples.rate.append(loop["rows_rate"])
            samples.p50_us.append(loop["p50_us"])
            samples.p99_us.append(loop["p99_us"])
            samples.cpu_us.append(loop["cpu_us"])
            for protocol, connections, peer in itertools.product(
                ("HTTP", "gRPC"), CONNECTIONS, (infer, gateway)
            ):
                samples = results.setdefault(f"{protocol}, {connections}: {peer.name}", Samples())
                measure_peer(samples, model, request, infer, peer, protocol, connections, seconds)
    return results


def print_results(model: Model, results: dict[str, Samples]) -> None:
    loop = next(iter(results.values()))
    print(f"## {model.name}: {median(loop.p50_us):.1f} us a call in the loop; aim {model.aim}\n")
    table = Table("protocol, connections", "rows/s", "of the loop", "p50, us", "p99, us",
                  "infer CPU a request, us", "over the model, us",
                  "gateway CPU a request, us")  # fmt: skip
    for name, samples in results.items():
        is_loop = samples is loop
        over = median(samples.cpu_us) - median(loop.cpu_us)
        table.add(
            name, f"{median(samples.rate):.0f}", f"{median(samples.rate) / median(loop.rate):.1%}",
            f"{median(samples.p50_us):.1f}", f"{median(samples.p99_us):.1f}",
            f"{median(samples.cpu_us):.1f}", "" if is_loop else f"{over:.1f}",
            f"{median(samples.gateway_cpu_us):.1f}" if samples.gateway_cpu_us else "",
        )  # fmt: skip
    table.print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--blocks", type=int, default=24, help="size of the large model")
    parser.add_argument(
        "--library", type=pathlib.Path, default=measure.ROOT / "build/ort/libonnxruntime.so"
    )
    options = parser.parse_args()
    measure.begin("Inference, one row a request")
    with measure.work_folder() as folder:
        for model in (make_small(folder), make_large(folder, options.blocks)):
            print_results(
                model,
                measure_model(model, folder, options.library, options.rounds, options.seconds),
            )
    print(
        f"- medians of {options.rounds} rounds of {options.seconds:g} s; the load shares the cores"
    )


if __name__ == "__main__":
    main()
