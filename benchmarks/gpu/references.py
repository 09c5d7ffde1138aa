"""The operators in PyTorch: what a user of it would write, and so what cuBLAS, cuDNN and torch.compile get to run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from records import Argument, Operator

Tensors = dict[str, Any]
Reference = Callable[..., Any]
"""Takes the inputs by their names, and answers the outputs, in the order of the function's parameters."""


def conv(pad: int, step: int) -> Reference:
    def run(**t: Any) -> Any:
        import torch.nn.functional as f

        return f.relu(f.conv2d(t["in"] + t["shift"][:, None, None], t["w"], padding=pad, stride=step))

    return run


def attention(p: Any, v: Any, w: Any) -> Any:
    s = p * 0.125
    return s @ v, s @ w


def indep(**t: Any) -> Any:
    b, y, x, c = t["in"].shape
    rows = t["in"].reshape(b, y * x, c)
    return rows.float() + 1.0, rows.float() * 0.5


def mmbias(A: Any, Bm: Any, bias: Any) -> Any:
    import torch

    return torch.addmm(bias, A, Bm)


def linear(A: Any, Bm: Any, bias: Any) -> Any:
    import torch.nn.functional as f

    return f.linear(A, Bm, bias)


def softmax(x: Any) -> Any:
    return x.softmax(dim=1)


def layernorm(x: Any, scale: Any, shift: Any) -> Any:
    import torch.nn.functional as f

    return f.layer_norm(x, x.shape[1:], scale, shift, 1e-5)


def selfattention(q: Any, k: Any, v: Any) -> Any:
    import torch.nn.functional as f

    return f.scaled_dot_product_attention(q[None], k[None], v[None], scale=0.125)[0]


REFERENCES: dict[str, Reference] = {
    "add2": lambda x, y, z: x + y + z,
    "attention": attention,
    "bmmtrans": lambda p, v: (p @ v).transpose(1, 2).contiguous(),
    "cadd": lambda x, y: x.float() + y,
    "conv1": conv(1, 1),
    "conv2": conv(1, 1),
    "conv3": conv(1, 1),
    "conv4": conv(3, 2),
    "csn": lambda mask: (1.0 - mask.float()) * -10000.0,
    "indep": indep,
    "layernorm": layernorm,
    "madd": lambda x, mask: x * 0.125 + mask[:, None, None, :],
    "madd4": lambda x, y, z: x * 0.9 + (y * 0.1) * y + z,
    "matmul": lambda A, Bm: A @ Bm,
    "maxmin": lambda x: x.clamp(min=-100.0).clamp(max=100.0).int(),
    "mmbias1": mmbias,
    "mmbias2": linear,
    "mmbias3": mmbias,
    "mul2": lambda x, mask: x * 0.125 * mask,
    "rdadd": lambda x, y: x / 0.9 + y,
    "s2m": lambda x, y: (x - y) * 0.125 * y,
    "selfattention": selfattention,
    "softmax": softmax,
    "transbmm": lambda q, k: q.transpose(1, 2) @ k.transpose(-1, -2),
}
WIDE = {"maxmin": 200.0}
"""Operators that want inputs of another range than -1 to 1."""
MOST_ERROR = 1e-4
"""Of the largest value: sums are added up in other orders, and polyc's kernels contract `a * b + c`."""


def inputs(operator: Operator, device: str, seed: int = 0) -> Tensors:
    """Random tensors for the inputs, and room for everything else, by name."""
    import torch

    generator = torch.Generator(device=device).manual_seed(seed)
    found: Tensors = {}
    for argument in operator.arguments:
        dtype = getattr(torch, argument.dtype)
        if argument.role != "in":
            found[argument.name] = torch.zeros(argument.shape, dtype=dtype, device=device)
        elif dtype.is_floating_point:
            values = torch.rand(argument.shape, dtype=dtype, device=device, generator=generator)
            found[argument.name] = (2 * values - 1) * WIDE.get(operator.name, 1.0)
        else:
            found[argument.name] = torch.randint(0, 2, argument.shape, dtype=dtype, device=device, generator=generator)
    return found


def reference_of(operator: Operator, tensors: Tensors, run: Reference) -> Callable[[], dict[str, Any]]:
    """A call of the operator's form in PyTorch on the inputs; it answers the outputs by name."""
    taken = {a.name: tensors[a.name] for a in operator.arguments if a.role == "in"}
    names = outputs(operator)

    def call() -> dict[str, Any]:
        answer = run(**taken)
        return dict(zip(names, answer if isinstance(answer, tuple) else (answer,), strict=True))

    return call


def outputs(operator: Operator) -> list[str]:
    return [argument.name for argument in operator.arguments if argument.role == "out"]


def difference(argument: Argument, ours: Any, theirs: Any) -> float:
    """The largest difference, relative to the largest value; of integers, the share of elements that differ."""
    if tuple(theirs.shape) != argument.shape:
        return float("inf")
    if not ours.is_floating_point():
        return float((ours != theirs).double().mean())
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp(min=1e-30))
