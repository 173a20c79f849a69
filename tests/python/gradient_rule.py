"""The rule of docs/correctness.md for gradients, by torch's autograd in float64 on the stored inputs."""

import torch


def scores(q, k, causal):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        lq, lk = s.shape[-2:]
        s = s.masked_fill(torch.ones(lq, lk, dtype=torch.bool, device=s.device).triu(lk - lq + 1), float("-inf"))
    return s


def summed(x, heads):
    return x.unflatten(1, (heads, -1)).sum(2)


def wide(x, heads):
    return x.repeat_interleave(heads // x.shape[1], 1)


def baseline(q, k, v, d_out, causal):
    """In the inputs' dtype: sums in float32; P, O and dS rounded before they are used."""
    dtype, hq, hkv = q.dtype, q.shape[1], k.shape[1]
    tf32 = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    q, k, v, d_out = q.float(), wide(k.float(), hq), wide(v.float(), hq), d_out.float()
    p = scores(q, k, causal).softmax(-1)
    rounded = p.to(dtype).float()
    out = (rounded @ v).to(dtype).float()
    d_s = (p * (d_out @ v.mT - (d_out * out).sum(-1, keepdim=True))).to(dtype).float()
    scale = q.shape[-1] ** -0.5
    answer = (d_s @ k * scale, summed(d_s.mT @ q, hkv) * scale, summed(rounded.mT @ d_out, hkv))
    torch.backends.cuda.matmul.allow_tf32 = tf32
    return [x.to(dtype).double() for x in answer]


def exact(q, k, v, d_out, causal):
    """Autograd's, the sums over absolute values, and the largest score."""
    hq, hkv = q.shape[1], k.shape[1]
    leaves = [x.detach().double().requires_grad_() for x in (q, k, v)]
    s = scores(leaves[0], wide(leaves[1], hq), causal)
    p = s.softmax(-1)
    out = p @ wide(leaves[2], hq)
    gradients = torch.autograd.grad(out, leaves, d_out.double())
    with torch.no_grad():
        d_o, k, v = d_out.double(), wide(leaves[1], hq), wide(leaves[2], hq)
        d_s = (p * (d_o @ v.mT - (d_o * out).sum(-1, keepdim=True))).abs()
        scale = q.shape[-1] ** -0.5
        sizes = (d_s @ k.abs() * scale, summed(d_s.mT @ leaves[0].abs(), hkv) * scale, summed(p.mT @ d_o.abs(), hkv))
        return gradients, [x.max().item() for x in sizes], s[s.isfinite()].abs().max().item()


def judge(report, words, got, q, k, v, d_out, causal=False):
    """dQ, dK and dV, each by its own."""
    gradients, sizes, score = exact(q, k, v, d_out, causal)
    for name, x, right, base, size in zip("qkv", got, gradients, baseline(q, k, v, d_out, causal), sizes):
        dtype = x.dtype
        rounding = (((right + 0.3).to(dtype).double() - 0.3).to(dtype).double() - right).abs().max().item()
        allowed = 6 * (base - right).abs().max().item() + 6 * rounding
        allowed += 4 * 2**-23 * size + 2 * 2**-24 * score * size
        error = (x.double() - right).abs().max().item()
        report.check(error <= allowed, f"{words}, {dtype}: d{name} is off by {error:.3g}, allowed are {allowed:.3g}")
