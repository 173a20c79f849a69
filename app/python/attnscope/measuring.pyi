from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ._tables import Table

__all__ = ["Verdict", "bench", "compare", "judge", "profile"]

class Verdict(NamedTuple):
    outcome: str
    reason: str
    error: float
    allowed: float
    first_wrong: str
    cause: str

def bench(
    kernels: Sequence[str] | None = None,
    *,
    values: Sequence[int],
    axis: str = "L",
    device: str = "cpu",
    repeats: int | None = None,
    seconds: float | None = None,
    generator: str | None = None,
    seed: int | None = None,
    peers: bool | Sequence[str] | None = None,
    peers_python: str | None = None,
    save: Any | None = None,
    timeout: float | None = None,
    **problem: Any,
) -> Table: ...
def profile(
    kernel: str,
    *,
    arch: str | None = None,
    sample: bool = False,
    seconds: float | None = None,
    timeout: float | None = None,
    **problem: Any,
) -> Table: ...
def judge(
    q: Any,
    k: Any,
    v: Any,
    out: Any,
    lse: Any | None = None,
    *,
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    bias: Any | None = None,
    softcap: float | None = None,
    alibi: Any | None = None,
    scale: float | None = None,
    key_lengths: Any | None = None,
) -> Verdict: ...
def compare(
    fns: Callable[..., Any] | Mapping[str, Callable[..., Any]],
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    scale: float | None = None,
    seconds: float = 0.5,
    ours: str = "auto",
) -> Table: ...
