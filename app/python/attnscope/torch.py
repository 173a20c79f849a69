"""torch: the operator attnscope::attention with its gradient, a stand-in for scaled_dot_product_attention, capture().

The operator works with torch.compile, opcheck and autograd. Its gradient is recomputed from O and LSE, by cpu_flash_bwd
on the CPU, and by flash_bwd (float16, bfloat16) or flash_bwd_simt (float32) on a GPU. On a GPU, dQ is summed in
arbitrary block order, unless torch.use_deterministic_algorithms() requests a fixed order.
"""

import contextlib

import torch
import torch.nn.functional

from . import recordings
from ._call import _refuse_dropout
from ._torch_operator import attention_with_gradients

__all__ = ["Captured", "attention", "capture", "replaced", "scaled_dot_product_attention"]


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
):
    """attnscope.attention as a torch operator: traced by torch.compile, with gradients of q, k and v.

    The arguments and the result are the same. LSE has no gradient. float64 and dropout are rejected.

    >>> import torch, attnscope.torch
    >>> q = torch.ones(1, 1, 4, 8, requires_grad=True)
    >>> attnscope.torch.attention(q, q, q).sum().backward()
    >>> q.grad.shape
    torch.Size([1, 1, 4, 8])
    """
    out, lse = attention_with_gradients(
        q, k, v, kernel, causal, window, bias, softcap, alibi, scale, key_lengths, layout, None
    )
    return (out, lse) if return_lse else out


# ---- as torch's own function is called


def _mask_as_bias(mask, lq, lk, top_left, device):
    """torch's mask, true where a key is seen, or added to the scores; and its causal mask of unlike lengths."""
    bias = None
    if mask is not None:
        if mask.dtype == torch.bool:
            bias = torch.zeros(mask.shape, dtype=torch.float32, device=mask.device).masked_fill(~mask, float("-inf"))
        else:
            bias = mask.to(torch.float32)
    if top_left:
        seen = torch.ones(lq, lk, dtype=torch.bool, device=device).tril()
        causal = torch.zeros(lq, lk, dtype=torch.float32, device=device).masked_fill(~seen, float("-inf"))
        bias = causal if bias is None else bias + causal
    return bias


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False, *, kernel="auto"
):
    """torch.nn.functional.scaled_dot_product_attention with one of AttnScope's kernels and the same arguments.

    The causal mask starts at the top left, as in torch. dropout_p > 0 and float64 are rejected with a message.

    >>> import torch, attnscope.torch
    >>> q = torch.randn(2, 3, 8, 4)
    >>> ours = attnscope.torch.scaled_dot_product_attention(q, q, q, is_causal=True)
    >>> torch.allclose(ours, torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True), atol=1e-5)
    True
    """
    _refuse_dropout(dropout_p)
    if not enable_gqa and query.dim() >= 3 and query.shape[-3] != key.shape[-3]:
        raise ValueError(f"key: has {key.shape[-3]} heads, but query has {query.shape[-3]}; pass enable_gqa=True")
    lead = query.shape[:-3] if query.dim() > 4 else None
    if lead is not None:
        query, key, value = (x.reshape(-1, *x.shape[-3:]) for x in (query, key, value))
        if attn_mask is not None and attn_mask.dim() > 4:
            attn_mask = attn_mask.expand(*lead, *attn_mask.shape[-3:]).reshape(-1, *attn_mask.shape[-3:])
    lq, lk = query.shape[-2], key.shape[-2]
    alike = is_causal and lq == lk
    bias = _mask_as_bias(attn_mask, lq, lk, is_causal and not alike, query.device)
    out, _ = attention_with_gradients(
        query, key, value, kernel, alike, None, bias, None, None, scale, None, "bhld", None
    )
    return out if lead is None else out.reshape(*lead, *out.shape[-3:])


@contextlib.contextmanager
def replaced(kernel="auto"):
    """Replaces torch.nn.functional.scaled_dot_product_attention in a with block: models run on our kernels unchanged.

    kernel: an id, or "auto". Not for several threads at once, since the module's function is replaced. A model that
    imported the function's name before (``from torch.nn.functional import …``) still calls the original function.

    >>> import torch, attnscope, attnscope.torch
    >>> model = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0, batch_first=True)
    >>> with attnscope.torch.replaced():
    ...     out = model(torch.randn(2, 5, 16))
    >>> attnscope.last_call().kernel
    'cpu_flash'
    """
    original = torch.nn.functional.scaled_dot_product_attention

    def ours(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        return scaled_dot_product_attention(
            query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, kernel=kernel
        )

    torch.nn.functional.scaled_dot_product_attention = ours
    try:
        yield
    finally:
        torch.nn.functional.scaled_dot_product_attention = original


# ---- one call of a running model


class Captured:
    """One attention call of a model, as captured by :func:`capture`.

    q, k, v: the head's [1, 1, rows or keys, D], on the CPU. bias: what was added to its scores, or None. causal, scale:
    those of the call. calls: how many attention calls the model made.
    """

    def __init__(self):
        self.q = self.k = self.v = self.bias = None
        self.causal, self.scale, self.calls = False, None, 0

    def _checked(self):
        if self.q is None:
            raise RuntimeError(
                f"No call was captured: the model called scaled_dot_product_attention {self.calls} times."
            )
        return (self.q, self.k, self.v), {"bias": self.bias, "causal": self.causal, "scale": self.scale}

    def record(self, tile=None, kernel="auto"):
        """Records the steps of one of our kernels on the call's numbers; returns a :class:`attnscope.Recording`."""
        arrays, given = self._checked()
        return recordings.record(*arrays, tile=tile, kernel=kernel, **given)

    def show(self, tile=None, kernel="auto"):
        """Opens the window on the call: see :func:`attnscope.show`."""
        return recordings.show(self.record(tile, kernel))


def _take(into, call, b, h, rows, keys):
    query, key, value, mask, is_causal, scale = call
    query, key, value = (x.detach() for x in (query, key, value))
    while query.dim() < 4:
        query, key, value = (x.unsqueeze(0) for x in (query, key, value))
    group = query.shape[-3] // key.shape[-3]
    rows = slice(None) if rows is None else rows
    keys = slice(None) if keys is None else keys
    lq, lk = query.shape[-2], key.shape[-2]
    whole = rows == slice(None) and keys == slice(None)
    into.causal = bool(is_causal and lq == lk and whole)
    bias = _mask_as_bias(mask, lq, lk, is_causal and not into.causal, query.device)
    into.q = query[b, h, rows][None, None].cpu().clone()
    into.k, into.v = (x[b, h // group, keys][None, None].cpu().clone() for x in (key, value))
    into.scale = query.shape[-1] ** -0.5 if scale is None else float(scale)
    if bias is not None:
        bias = bias.detach().expand(*query.shape[:-3], query.shape[-3], lq, lk)
        into.bias = bias[b, h][rows][:, keys][None, None].cpu().contiguous()


@contextlib.contextmanager
def capture(model=None, layer=0, b=0, h=0, rows=None, keys=None):
    """Keeps one attention call of a running model within a with block: its real q, k, v and mask.

    model: a torch module, needed if layer is a name. layer: which call of scaled_dot_product_attention, from 0; or the
    name of a module of the model, whose first call is captured. b, h: batch and query head. rows, keys: slices;
    None: all.

    Yields a :class:`Captured`. The model's results do not change.

    >>> import torch, attnscope.torch
    >>> model = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0, batch_first=True)
    >>> with attnscope.torch.capture(model, h=1) as captured:
    ...     out = model(torch.randn(2, 5, 16))
    >>> captured.record(tile=(2, 2)).out.shape
    (1, 1, 5, 8)
    """
    captured, original = Captured(), torch.nn.functional.scaled_dot_product_attention
    inside, hooks = [not isinstance(layer, str)], []
    if isinstance(layer, str):
        if model is None:
            raise ValueError("model: pass the module that contains the layer")
        named = dict(model.named_modules())
        if layer not in named:
            raise ValueError(
                f"layer: {layer!r} is not a module of the model; use one of {', '.join(filter(None, named))}"
            )
        hooks.append(named[layer].register_forward_pre_hook(lambda *_: inside.__setitem__(0, True)))
        hooks.append(named[layer].register_forward_hook(lambda *_: inside.__setitem__(0, False)))

    def watching(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        wanted = inside[0] and captured.q is None and (isinstance(layer, str) or captured.calls == layer)
        captured.calls += 1
        if wanted:
            _take(captured, (query, key, value, attn_mask, is_causal, scale), b, h, rows, keys)
        return original(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)

    torch.nn.functional.scaled_dot_product_attention = watching
    try:
        yield captured
    finally:
        torch.nn.functional.scaled_dot_product_attention = original
        for hook in hooks:
            hook.remove()
