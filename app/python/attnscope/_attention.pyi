from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar, overload

from ._call import Call

# Whatever speaks DLPack or the buffer protocol: NumPy, torch, JAX, CuPy, memoryview.
_Array = TypeVar("_Array")
_Layout = Literal["bhld", "blhd"]

@overload
def attention(
    q: _Array,
    k: _Array,
    v: _Array,
    *,
    kernel: str = "auto",
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    bias: Any | None = None,
    softcap: float | None = None,
    alibi: bool | Sequence[float] | Any | None = None,
    scale: float | None = None,
    key_lengths: Sequence[int] | Any | None = None,
    layout: _Layout = "bhld",
    return_lse: Literal[False] = False,
    out: _Array | None = None,
    tile: tuple[int, int] | None = None,
    threads: int | None = None,
    options: Mapping[str, Any] | None = None,
    dropout_p: float = 0.0,
    page_table: Any | None = None,
    sink: None = None,
    cu_seqlens: None = None,
) -> _Array: ...
@overload
def attention(
    q: _Array,
    k: _Array,
    v: _Array,
    *,
    kernel: str = "auto",
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    bias: Any | None = None,
    softcap: float | None = None,
    alibi: bool | Sequence[float] | Any | None = None,
    scale: float | None = None,
    key_lengths: Sequence[int] | Any | None = None,
    layout: _Layout = "bhld",
    return_lse: Literal[True],
    out: _Array | None = None,
    tile: tuple[int, int] | None = None,
    threads: int | None = None,
    options: Mapping[str, Any] | None = None,
    dropout_p: float = 0.0,
    page_table: Any | None = None,
    sink: None = None,
    cu_seqlens: None = None,
) -> tuple[_Array, _Array]: ...

class Prepared:
    out: Any
    lse: Any
    def __init__(self, ready: Any, home: Any) -> None: ...
    @property
    def call(self) -> Call: ...
    def __call__(self) -> Any: ...

def prepare(
    q: Any,
    k: Any,
    v: Any,
    *,
    kernel: str = "auto",
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    bias: Any | None = None,
    softcap: float | None = None,
    alibi: bool | Sequence[float] | Any | None = None,
    scale: float | None = None,
    key_lengths: Sequence[int] | Any | None = None,
    layout: _Layout = "bhld",
    out: Any | None = None,
    tile: tuple[int, int] | None = None,
    threads: int | None = None,
    options: Mapping[str, Any] | None = None,
    page_table: Any | None = None,
) -> Prepared: ...
def kernels() -> list[dict[str, Any]]: ...
def run_flash(Q: _Array, K: _Array, V: _Array) -> _Array: ...
def flash_attention(q: Any, k: Any, v: Any, out: _Array) -> _Array: ...
def attention_naive(q: _Array, k: _Array, v: _Array, *, causal: bool = False, scale: float | None = None) -> _Array: ...
def attention_tiled(q: _Array, k: _Array, v: _Array, *, causal: bool = False, scale: float | None = None) -> _Array: ...
def attention_flash(q: _Array, k: _Array, v: _Array, *, causal: bool = False, scale: float | None = None) -> _Array: ...
