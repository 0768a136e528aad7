#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write examples/hello/identity.onnx: Y = X * W + b on four inputs, W the identity, b zero.

usage: make_hello_onnx.py [FILE]

The protobuf bytes are put together here, without the onnx package, so that their order is known:
W (16 float32) stands at byte 126 and b (4 float32) at byte 201, the end of the file.
examples/hello/train.sh replaces just those bytes, evaluate.sh reads them.
"""

import struct
import sys
from pathlib import Path

FLOAT = 1
WEIGHTS_AT = 126
BIAS_AT = 201
DEFAULT_FILE = Path(__file__).resolve().parent.parent / "examples" / "hello" / "identity.onnx"


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def block(field: int, data: bytes | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor(name: str, shape: list[int], values: list[float]) -> bytes:
    """TensorProto; raw_data comes last."""
    dims = b"".join(number(1, size) for size in shape)
    data = struct.pack(f"<{len(values)}f", *values)
    return dims + number(2, FLOAT) + block(8, name) + block(9, data)


def value_info(name: str) -> bytes:
    """ValueInfoProto of a float tensor [batch, 4]."""
    shape = block(1, block(2, "batch")) + block(1, number(1, 4))
    return block(1, name) + block(2, block(1, number(1, FLOAT) + block(2, shape)))


def node(operator: str, inputs: list[str], output: str) -> bytes:
    return b"".join(block(1, i) for i in inputs) + block(2, output) + block(4, operator)


def model() -> bytes:
    identity = [float(row == column) for row in range(4) for column in range(4)]
    graph = (
        block(1, node("MatMul", ["X", "W"], "XW"))
        + block(1, node("Add", ["XW", "b"], "Y"))
        + block(2, "hello")
        + block(11, value_info("X"))
        + block(12, value_info("Y"))
        + block(5, tensor("W", [4, 4], identity))
        + block(5, tensor("b", [4], [0.0] * 4))
    )
    opset = block(1, "") + number(2, 13)
    return number(1, 7) + block(2, "takt") + block(8, opset) + block(7, graph)


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_FILE
    data = model()
    if data.find(struct.pack("<5f", 1, 0, 0, 0, 0)) != WEIGHTS_AT or len(data) != BIAS_AT + 16:
        sys.exit("the weights have moved: mend the offsets here, in train.sh and in evaluate.sh")
    path.write_bytes(data)
    print(f"{path}: {len(data)} bytes, W at {WEIGHTS_AT}, b at {BIAS_AT}")


if __name__ == "__main__":
    main()
