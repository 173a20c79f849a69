"""What FlashAttention's packages say they compute, row by row, on NumPy's arrays: doubles for tests without them."""

import numpy as np


def attention(q, k, v, scale, causal, window, softcap, slopes):
    """q [B, Lq, Hq, D], k and v [B, Lk, Hkv, ..]. `window`: (left, right) round a query's own key, None: open. The
    masks are aligned bottom-right; a row that sees nothing is zero.
    """
    for x in (q, k, v):
        if x.dtype != np.float16:
            raise RuntimeError("FlashAttention only support fp16 and bf16 data type")
        if not x.flags["C_CONTIGUOUS"]:
            raise RuntimeError("Input tensor must have contiguous last dimension")
    batch, queries, heads, dim = q.shape
    keys, key_heads = k.shape[1], k.shape[2]
    if dim > 256:
        raise RuntimeError("FlashAttention forward only supports head dimension at most 256")
    out = np.zeros((batch, queries, heads, v.shape[3]), np.float64)
    for b in range(batch):
        for h in range(heads):
            of = h // (heads // key_heads)
            for i in range(queries):
                own = i + keys - queries
                first = 0 if window[0] is None else max(0, own - window[0])
                last = keys - 1 if window[1] is None else own + window[1]
                last = min(last, own if causal else keys - 1)
                if last < first:
                    continue
                at = np.arange(first, last + 1)
                s = k[b, at, of].astype(np.float64) @ q[b, i, h].astype(np.float64) * scale
                if softcap:
                    s = softcap * np.tanh(s / softcap)
                if slopes is not None:
                    slope = slopes[h] if slopes.ndim == 1 else slopes[b, h]
                    s = s - slope * np.abs(own - at)
                p = np.exp(s - s.max())
                out[b, i, h] = p / p.sum() @ v[b, at, of].astype(np.float64)
    return type(q)(shape=out.shape, dtype=np.float16, buffer=out.astype(np.float16))
