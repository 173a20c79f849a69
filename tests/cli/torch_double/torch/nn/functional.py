import os

import numpy as np

from .. import as_tensor


def scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):
    """As torch documents it: is_causal is aligned top-left, a boolean mask says which pairs take part."""
    if enable_gqa and os.environ.get("TORCH_DOUBLE_HAS_NO_GQA"):
        raise RuntimeError("no kernel takes enable_gqa")
    heads = q.shape[1] // k.shape[1]
    if heads > 1 and not enable_gqa:
        raise RuntimeError("the heads differ")
    wide_k, wide_v = (np.repeat(np.asarray(x, np.float64), heads, axis=1) for x in (k, v))
    s = scale * (np.asarray(q, np.float64) @ wide_k.swapaxes(-1, -2))
    if is_causal:
        s = np.where(np.tril(np.ones(s.shape[-2:], bool)), s, -np.inf)
    if attn_mask is not None:
        mask = np.asarray(attn_mask)
        s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    m = s.max(-1, keepdims=True)
    p = np.exp(s - np.where(np.isneginf(m), 0, m))
    total = p.sum(-1, keepdims=True)
    p = p / np.where(total == 0, 1, total)
    out = as_tensor((p @ wide_v).astype(q.dtype))
    out.requires_grad = q.requires_grad

    def gradients(d_out):
        d_o, o = np.asarray(d_out, np.float64), p @ wide_v
        d_p = d_o @ wide_v.swapaxes(-1, -2)
        d_s = p * (d_p - (d_o * o).sum(-1, keepdims=True)) * scale
        of_keys = [(k, d_s.swapaxes(-1, -2) @ np.asarray(q, np.float64)), (v, p.swapaxes(-1, -2) @ d_o)]
        return {id(q): as_tensor((d_s @ wide_k).astype(q.dtype)), **dict(of_leaf(x, d_x) for x, d_x in of_keys)}

    out.gradients = gradients
    return out


def of_leaf(x, d_x):
    """Heads that were copied, by the call or before it, have one gradient together."""
    leaf = getattr(x, "copies_of", x)
    shape = leaf.shape
    summed = d_x.reshape(shape[0], shape[1], -1, *d_x.shape[2:]).sum(2)
    return id(leaf), as_tensor(summed.astype(leaf.dtype))
