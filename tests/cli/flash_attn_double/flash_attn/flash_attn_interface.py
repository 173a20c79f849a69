import numpy as np
from plain import attention


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
                    alibi_slopes=None, deterministic=False, return_attn_probs=False):
    if alibi_slopes is not None and alibi_slopes.dtype != np.float32:
        raise RuntimeError("ALiBi slopes must have dtype fp32")
    sides = [None if side < 0 else side for side in window_size]
    return attention(q, k, v, softmax_scale, causal, sides, softcap, alibi_slopes)
