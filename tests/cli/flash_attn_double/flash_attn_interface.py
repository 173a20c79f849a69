from plain import attention


def flash_attn_func(q, k, v, softmax_scale=None, causal=False, qv=None, q_descale=None, k_descale=None, v_descale=None,
                    window_size=(-1, -1), attention_chunk=0, softcap=0.0, num_splits=1, pack_gqa=None,
                    deterministic=False, sm_margin=0, return_attn_probs=False):
    sides = [None if side < 0 else side for side in window_size]
    return attention(q, k, v, softmax_scale, causal, sides, softcap, None)
