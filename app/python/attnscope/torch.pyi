from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from .recordings import Recording

__all__ = ["Captured", "attention", "capture", "replaced", "scaled_dot_product_attention"]

# Tensors are torch's; torch need not be there for these stubs to be read.
_Tensor = Any

def attention(
    q: _Tensor,
    k: _Tensor,
    v: _Tensor,
    *,
    kernel: str = "auto",
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    bias: _Tensor | None = None,
    softcap: float | None = None,
    alibi: bool | Sequence[float] | _Tensor | None = None,
    scale: float | None = None,
    key_lengths: Sequence[int] | _Tensor | None = None,
    layout: str = "bhld",
    return_lse: bool = False,
) -> Any: ...
def scaled_dot_product_attention(
    query: _Tensor,
    key: _Tensor,
    value: _Tensor,
    attn_mask: _Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    kernel: str = "auto",
) -> _Tensor: ...
def replaced(kernel: str = "auto") -> AbstractContextManager[None]: ...

class Captured:
    q: _Tensor
    k: _Tensor
    v: _Tensor
    bias: _Tensor | None
    causal: bool
    scale: float | None
    calls: int
    def __init__(self) -> None: ...
    def record(self, tile: tuple[int, int] | None = None, kernel: str = "auto") -> Recording: ...
    def show(self, tile: tuple[int, int] | None = None, kernel: str = "auto") -> Any: ...

def capture(
    model: Any | None = None,
    layer: int | str = 0,
    b: int = 0,
    h: int = 0,
    rows: slice | None = None,
    keys: slice | None = None,
) -> AbstractContextManager[Captured]: ...
