"""attention() and related functions."""

import os
import sys

from . import _core
from ._call import _account, _call_of, _options, _refuse_dropout
from ._homes import Jax, NumPy, home_of

# The threads of a parent are not in its child.
os.register_at_fork(after_in_child=_core.forget_workers)

_NOT_TAKEN = {
    "sink": "no kernel supports a sink logit per head; add a first key whose score is set by a bias and whose row of v "
            "is 0",
    "cu_seqlens": "no kernel supports packed sequences; pad all batches to one length and pass key_lengths",
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
    """Computes softmax(scale q kᵀ) v with one of AttnScope's kernels, on the device of the arrays.

    q: [B, Hq, Lq, D], float32, float16 or bfloat16; or [Hq, Lq, D] or [Lq, D]. Anything that supports DLPack or
       the buffer protocol: NumPy, torch, JAX, CuPy, memoryview. D is at most 256.
    k: [B, Hkv, Lk, D]; Hq is a multiple of Hkv (grouped heads).
    v: [B, Hkv, Lk, Dv].
    kernel: an id of :func:`kernels`, or "auto": the highest rung of the ladder that supports the dtype and is made
       for the shape on the device (flash_splitkv only if Lq times Hq / Hkv is at most 64).
       :func:`last_call` says which kernel ran. No other library's attention is ever called.
    causal: mask the keys after the query's own; queries and keys are aligned at the end (bottom right).
    window: (left, right), the numbers of visible keys before and after the query's own; None or -1: unlimited.
    bias: float32, broadcasts to [B, Hq, Lq, Lk]; added after the scale; -inf masks.
    softcap: c turns scores into c tanh(s / c).
    alibi: True, or slopes [Hq] or [B, Hq]: slope times distance is subtracted from each score.
    scale: factor applied to q kᵀ; None: 1/sqrt(D).
    key_lengths: [B] integers; keys beyond a batch's length are masked. An array on the GPU stays there.
    layout: "bhld", or "blhd" if the arrays are [B, L, H, D].
    return_lse: return (out, lse) instead of out.
    out: an array for the result; it must not share memory with the others.
    tile, threads: (Br, Bc) and the number of CPU threads; options: any other option of the kernel, by name.
    page_table: int32 [B, pages of a batch]: k and v are then a pool of pages, [pages, Hkv, page, D], and a batch's
       keys are in the pages that its row of the table names, in order. The longest of key_lengths is Lk; without
       key_lengths, every entry counts. Entries beyond a batch's length may be -1. On a GPU, the numbers are limited to
       the pool's pages instead of being checked.
    sink, cu_seqlens: rejected with a message, because no kernel supports them.

    Returns an array [B, Hq, Lq, Dv] from q's library, in q's dtype; lse [B, Hq, Lq] is float32, a natural logarithm.
    A row that sees no key is 0, and its lse is -inf.

    Raises ValueError or TypeError with a message that begins with the argument, or RuntimeError if this machine cannot
    run it. float64 and dropout are rejected. Arrays that are not dense are copied (CopyWarning, once per kernel).
    On a CPU, the GIL is released during the computation. On a GPU, the kernels go to the current stream, and nothing
    waits.

    Source: Dao 2023, FlashAttention-2, for the flash rungs; :func:`kernels` has each rung's source.

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
            raise ValueError("page_table: a gradient needs dense k and v; detach them, or omit page_table")
        from . import _torch_operator

        return _torch_operator.attention_with_gradients(*asked)
    home = home_of(asked[0])
    if home is Jax:
        Jax.wait_for(*asked, page_table)
    answer, lse, account = _core.attention(*asked, out, home, page_table)
    _account(account)
    if home is NumPy:
        return answer, lse
    return (home.finished(answer) if out is None else answer), home.finished(lse)


class Prepared:
    """A call that is ready to launch: checked, planned and compiled, with its result allocated. See :func:`prepare`.

    ``out`` and ``lse`` hold the result of the last launch; each launch reads the inputs again.
    """

    def __init__(self, ready, home):
        self._ready = ready
        self.out = home.finished(ready.answer)
        self.lse = home.finished(ready.lse)
        self._launch = ready.launch

    @property
    def call(self):
        """The :class:`Call` that describes each launch."""
        return _call_of(self._ready.account)

    def __call__(self):
        """Launches the call again, on a GPU on the current stream, and returns ``out``."""
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
    """Prepares the same call as :func:`attention` for many launches on the same arrays.

    The arguments are the same. The current numbers in the page table are used. On a GPU, this compiles and loads the
    kernels. A launch is then one driver call per kernel and may be captured into a CUDA graph.

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
    if home is Jax:
        Jax.wait_for(q, k, v, bias, alibi, key_lengths, page_table)
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
    """Returns the ladder: one dict per rung, with id, rung, device, pass, dtypes, options, what, source and records.

    >>> import attnscope
    >>> [k["id"] for k in attnscope.kernels() if k["device"] == "cpu" and k["pass"] == "forward"]
    ['cpu_sequential', 'cpu_multicore', 'cpu_tiled', 'cpu_flash1', 'cpu_flash']
    """
    return _core.kernels()


# ---- as the public projects that AttnScope grew from call it


def run_flash(Q, K, V):
    """Computes flash attention for one head. Q, K and V are (N, d), and so is the result.

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
    """Computes flash attention into ``out`` and returns it. All arrays have the same number of axes, 2 to 4.

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
    """Computes attention by its definition, with S and P stored, on [B, H, L, D] arrays: the ladder's baseline.

    >>> import numpy as np, attnscope
    >>> x = np.ones((1, 2, 8, 4), np.float32)
    >>> attnscope.attention_naive(x, x, x).shape, attnscope.last_call().kernel
    ((1, 2, 8, 4), 'cpu_multicore')
    """
    return _by_order("naive", q, k, v, causal, scale)


def attention_tiled(q, k, v, *, causal=False, scale=None):
    """Computes the same in tiles, with S still stored, on [B, H, L, D] arrays.

    >>> import numpy as np, attnscope
    >>> x = np.ones((1, 2, 8, 4), np.float32)
    >>> attnscope.attention_tiled(x, x, x).shape, attnscope.last_call().kernel
    ((1, 2, 8, 4), 'cpu_tiled')
    """
    return _by_order("tiled", q, k, v, causal, scale)


def attention_flash(q, k, v, *, causal=False, scale=None):
    """Computes flash attention on [B, H, L, D] arrays with the highest rung that supports it.

    >>> import numpy as np, attnscope
    >>> x = np.ones((1, 2, 8, 4), np.float32)
    >>> attnscope.attention_flash(x, x, x).shape, attnscope.last_call().kernel
    ((1, 2, 8, 4), 'cpu_flash')
    """
    return _by_order("flash", q, k, v, causal, scale)
