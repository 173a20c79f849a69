from plain import attention


def flash_attn_func(q, k, v, qv=None, gather_kv_indices=None, softmax_scale=None, causal=False,
                    window_size=(None, None), learnable_sink=None, softcap=0.0, num_splits=1, pack_gqa=None):
    """Its windows are open at None; with the LSE, as this version answers."""
    if any(side is not None and side < 0 for side in window_size):
        raise ValueError("a negative side is a window that ends before the query's own key")
    return attention(q, k, v, softmax_scale, causal, window_size, softcap, None), None
