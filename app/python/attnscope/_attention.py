"""attention() and its relatives."""

import os
import sys
import threading
import typing
import warnings

from . import _core
from ._homes import NumPy, home_of

# The threads of a parent are not in its child.
os.register_at_fork(after_in_child=_core.forget_workers)

_last = threading.local()
_said = set()


class CopyWarning(UserWarning):
    """An argument does not lie as the kernel reads it and is copied at each call, within the call's time."""


class Call(typing.NamedTuple):
    """What a call did.

    kernel: id of the rung that ran, as ``attnscope list`` names it; "none" where there was nothing to compute.
    why: why it was taken.
    threads: threads of the CPU, the calling one included; 0 on a GPU.
    copied: arguments that were copied, for they do not lie as the kernel reads them.
    """

    kernel: str
    why: str
    threads: int
    copied: tuple


def last_call():
    """What the last call of this thread did; None before the first.

    >>> import numpy as np, attnscope
    >>> q = np.ones((1, 2, 8, 4), np.float32)
    >>> _ = attnscope.attention(q, q, q)
    >>> attnscope.last_call().kernel
    'cpu_flash'
    """
    account = getattr(_last, "account", None)
    return account and _call_of(account)


def _call_of(account):
    kernel, why, threads, copied = account
    return Call(kernel, why, threads, tuple(copied))


def _account(account):
    kernel, _, _, copied = account
    if copied:
        key = (kernel, tuple(copied))
        if key not in _said:
            _said.add(key)
            warnings.warn(
                f"{kernel} reads dense arrays, so each call copies {', '.join(copied)} within its time. Shown once.",
                CopyWarning,
                stacklevel=4,
            )
    _last.account = account


def _options(tile, threads, options):
    if tile is None and threads is None:
        return options
    chosen = dict(options or {})
    if tile is not None:
        if isinstance(tile, str) or not hasattr(tile, "__len__") or len(tile) != 2:
            raise TypeError(f"tile: {tile!r} is not a tile; use (Br, Bc), the numbers of query rows and keys")
        chosen["br"], chosen["bc"] = tile
    if threads is not None:
        chosen["threads"] = threads
    return chosen


def _refuse_dropout(dropout_p):
    if dropout_p:
        raise ValueError(f"dropout_p: {dropout_p!r} is not supported: kernels here compute all weights; use 0")


_NOT_TAKEN = {
    "sink": "no kernel supports a sink logit per head; add a first key, its score set by a bias and its row of v 0",
    "cu_seqlens": "no kernel supports packed lengths; pass a batch of one length with key_lengths",
}


def _refuse_not_taken(**given):
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name}: {_NOT_TAKEN[name]}")


def _wants_gradients(*tensors):
    torch = sys.modules.get("torch")
    if torch is None or not torch.is_grad_enabled():
        return False
    return any(isinstance(t, torch.Tensor) and t.requires_grad for t in tensors)


def attention(
    q,
    k,
    v,
    *,
    kernel="auto",
    causal=False,
    window=None,
    bias=None,
    softcap=None,
    alibi=None,
    scale=None,
    key_lengths=None,
    layout="bhld",
    return_lse=False,
    out=None,
    tile=None,
    threads=None,
    options=None,
    dropout_p=0.0,
    page_table=None,
    sink=None,
    cu_seqlens=None,
):
    """Attention by one of AttnScope's kernels: softmax(scale q kᵀ) v, where the arrays lie.

    q: [B, Hq, Lq, D], float32, float16 or bfloat16; or [Hq, Lq, D] or [Lq, D]. Whatever speaks DLPack or the buffer
       protocol: NumPy, torch, JAX, CuPy, memoryview. D up to 256.
    k: [B, Hkv, Lk, D]; Hq is a multiple of Hkv (grouped heads).
    v: [B, Hkv, Lk, Dv].
    kernel: an id of :func:`kernels`, or "auto", the highest rung of the ladder that takes dtype and is made for the
       shape on the device: flash_splitkv where Lq times Hq / Hkv is 64 at most.
       :func:`last_call` says which it was. No other library's attention is ever called.
    causal: no key after the query's own; queries and keys end together (bottom right).
    window: (left, right) keys before and after the query's own that are seen; None or -1 on a side: unbounded.
    bias: float32, broadcasts to [B, Hq, Lq, Lk]; added after the scale; -inf masks.
    softcap: c turns scores into c tanh(s / c).
    alibi: True, or slopes [Hq] or [B, Hq]: slope times distance is taken from each score.
    scale: factor of q kᵀ; None: 1/sqrt(D).
    key_lengths: [B] whole numbers; keys beyond are not seen.
    layout: "bhld", or "blhd" where the arrays are [B, L, H, D].
    return_lse: (out, lse) instead of out.
    out: an array for the answer; it may share no memory with the others.
    tile, threads: (Br, Bc) and the CPU's threads; options: any other option of the kernel, by name.
    page_table: int32 [B, pages of a batch]: k and v are then a pool of pages, [pages, Hkv, page, D], and a batch's next
       keys lie in the pages that its row names. The longest of key_lengths is Lk; without them every entry counts.
       Entries beyond a batch's length may be -1. Its numbers are checked at each call, which waits for a GPU.
    sink, cu_seqlens: refused in words, for no kernel here takes them.

    Returns an array [B, Hq, Lq, Dv] of q's library and dtype; lse [B, Hq, Lq] is float32, in natural logarithms.
    A row that sees no key is 0, its lse -inf.

    Raises ValueError or TypeError, whose words begin with the argument; RuntimeError where this machine cannot do it.
    float64 and dropout are refused. Arrays that do not lie densely are copied (CopyWarning, once a kernel).
    The GIL is released while a CPU computes; on a GPU the kernels go to the current stream, and nothing waits.

    Source: Dao 2023, FlashAttention-2, for the flash rungs; each rung's own is in :func:`kernels`.

    >>> import numpy as np, attnscope
    >>> q = np.array([[1, 2], [3, 4]], np.float32)
    >>> k = np.array([[.5, 1.5], [2.5, 3.5]], np.float32)
    >>> v = np.array([[.1, .2], [.3, .4]], np.float32)
    >>> attnscope.attention(q, k, v, causal=True).round(4)
    array([[0.1, 0.2],
           [0.3, 0.4]], dtype=float32)
    >>> out, lse = attnscope.attention(q, k, v, return_lse=True)
    >>> lse.round(4)
    array([ 6.7318, 15.2028], dtype=float32)
    """
    if dropout_p:
        _refuse_dropout(dropout_p)
    if sink is not None or cu_seqlens is not None:
        _refuse_not_taken(sink=sink, cu_seqlens=cu_seqlens)
    chosen = options if tile is None and threads is None else _options(tile, threads, options)
    asked = (q, k, v, kernel, causal, window, bias, softcap, alibi, scale, key_lengths, layout, chosen)
    answer, lse = _computed(asked, out, page_table)
    return (answer, lse) if return_lse else answer


def _computed(asked, out, page_table):
    if out is None and _wants_gradients(*asked[:3]):
        if page_table is not None:
            raise ValueError("page_table: a gradient needs dense k and v; detach them, or omit the pages")
        from . import torch as of_torch

        return of_torch.attention_with_gradients(*asked)
    home = home_of(asked[0])
    answer, lse, account = _core.attention(*asked, out, home, page_table)
    _account(account)
    if home is NumPy:
        return answer, lse
    return (home.finished(answer) if out is None else answer), home.finished(lse)


class Prepared:
    """A call made ready: checked, planned, compiled, with its answer allocated. Made by :func:`prepare`.

    ``out`` and ``lse`` hold the answer of the last launch; the inputs are read anew at each.
    """

    def __init__(self, ready, home):
        self._ready = ready
        self.out = home.finished(ready.answer)
        self.lse = home.finished(ready.lse)
        self._launch = ready.launch

    @property
    def call(self):
        """The :class:`Call` that each launch is."""
        return _call_of(self._ready.account)

    def __call__(self):
        """Launches it once more, on a GPU on the stream that is current now, and returns ``out``."""
        self._launch()
        return self.out


def prepare(
    q,
    k,
    v,
    *,
    kernel="auto",
    causal=False,
    window=None,
    bias=None,
    softcap=None,
    alibi=None,
    scale=None,
    key_lengths=None,
    layout="bhld",
    out=None,
    tile=None,
    threads=None,
    options=None,
    page_table=None,
):
    """The same call as :func:`attention`, made ready to be launched many times on the same arrays.

    Arguments as there; a page table's numbers are those that it has now. On a GPU this compiles and loads; a launch
    then is one call of the driver a kernel, and may be captured into a CUDA graph.

    >>> import numpy as np, attnscope
    >>> q = np.ones((1, 1, 4, 8), np.float32)
    >>> ready = attnscope.prepare(q, q, q, kernel="cpu_tiled")
    >>> float(ready()[0, 0, 0, 0])
    1.0
    >>> q *= 2
    >>> float(ready()[0, 0, 0, 0]), ready.call.kernel
    (2.0, 'cpu_tiled')
    """
    home = home_of(q)
    ready = _core.Ready(
        q,
        k,
        v,
        kernel,
        causal,
        window,
        bias,
        softcap,
        alibi,
        scale,
        key_lengths,
        layout,
        _options(tile, threads, options),
        out,
        home,
        page_table,
    )
    _account(ready.account)
    return Prepared(ready, home)


def kernels():
    """The ladder: a dict a rung, in order, with id, rung, device, pass, dtypes, options, what, source and records.

    >>> import attnscope
    >>> [k["id"] for k in attnscope.kernels() if k["device"] == "cpu" and k["pass"] == "forward"]
    ['cpu_sequential', 'cpu_multicore', 'cpu_tiled', 'cpu_flash1', 'cpu_flash']
    """
    return _core.kernels()


# ---- as the public projects that AttnScope grew from call it


def run_flash(Q, K, V):
    """Flash attention of one head: Q, K and V are (N, d). Returns (N, d).

    >>> import numpy as np, attnscope
    >>> x = np.eye(4, dtype=np.float32)
    >>> attnscope.run_flash(x, x, x).shape
    (4, 4)
    """
    for name, array in (("Q", Q), ("K", K), ("V", V)):
        if len(getattr(array, "shape", (0, 0))) != 2:
            raise ValueError(f"{name}: has shape {tuple(array.shape)}; use (N, d)")
    return attention(Q, K, V)


def flash_attention(q, k, v, out):
    """Flash attention into ``out``, which is returned: arrays of 2 to 4 axes, all alike.

    >>> import numpy as np, attnscope
    >>> x = np.eye(4, dtype=np.float32)
    >>> out = np.empty_like(x)
    >>> attnscope.flash_attention(x, x, x, out) is out
    True
    """
    if out is None:
        raise TypeError("out: None is not an array; attnscope.attention allocates the output")
    return attention(q, k, v, out=out)


_RUNGS = {"naive": ("cpu_multicore", "naive"), "tiled": ("cpu_tiled", "tiled"), "flash": ("auto", "auto")}


def _by_order(order, q, k, v, causal, scale):
    on_gpu = bool(getattr(q, "is_cuda", False)) or type(q).__module__.startswith("cupy")
    return attention(q, k, v, kernel=_RUNGS[order][on_gpu], causal=causal, scale=scale)


def attention_naive(q, k, v, *, causal=False, scale=None):
    """The definition, with S and P stored: [B, H, L, D] arrays. The baseline of the ladder.

    >>> import numpy as np, attnscope
    >>> x = np.ones((1, 2, 8, 4), np.float32)
    >>> attnscope.attention_naive(x, x, x).shape, attnscope.last_call().kernel
    ((1, 2, 8, 4), 'cpu_multicore')
    """
    return _by_order("naive", q, k, v, causal, scale)


def attention_tiled(q, k, v, *, causal=False, scale=None):
    """The same through tiles, S still stored: [B, H, L, D] arrays.

    >>> import numpy as np, attnscope
    >>> x = np.ones((1, 2, 8, 4), np.float32)
    >>> attnscope.attention_tiled(x, x, x).shape, attnscope.last_call().kernel
    ((1, 2, 8, 4), 'cpu_tiled')
    """
    return _by_order("tiled", q, k, v, causal, scale)


def attention_flash(q, k, v, *, causal=False, scale=None):
    """Flash attention, the highest rung that takes it: [B, H, L, D] arrays.

    >>> import numpy as np, attnscope
    >>> x = np.ones((1, 2, 8, 4), np.float32)
    >>> attnscope.attention_flash(x, x, x).shape, attnscope.last_call().kernel
    ((1, 2, 8, 4), 'cpu_flash')
    """
    return _by_order("flash", q, k, v, causal, scale)
