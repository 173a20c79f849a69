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
    k, v = (np.repeat(np.asarray(x, np.float64), heads, axis=1) for x in (k, v))
    s = scale * (np.asarray(q, np.float64) @ k.swapaxes(-1, -2))
    if is_causal:
        s = np.where(np.tril(np.ones(s.shape[-2:], bool)), s, -np.inf)
    if attn_mask is not None:
        mask = np.asarray(attn_mask)
        s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    m = s.max(-1, keepdims=True)
    p = np.exp(s - np.where(np.isneginf(m), 0, m))
    total = p.sum(-1, keepdims=True)
    return as_tensor(((p / np.where(total == 0, 1, total)) @ v).astype(q.dtype))
