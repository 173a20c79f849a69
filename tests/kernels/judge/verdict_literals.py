"""Prints verdict_literals.h: attention by NumPy in fp64, for the test of the judge's reference.

    python3 tests/kernels/judge/verdict_literals.py > tests/kernels/judge/verdict_literals.h
"""
import numpy as np

B, HQ, HKV, LQ, LK, D, DV = 2, 4, 2, 3, 5, 3, 2


def sequence(count, factor, modulus):
    """Quarters: exact in f32, f16 and bf16. The test has the same line in C++."""
    return ((np.arange(count) * factor) % modulus - modulus // 2) / 4.0


q = sequence(B * HQ * LQ * D, 7, 11).reshape(B, HQ, LQ, D)
k = sequence(B * HKV * LK * D, 5, 9).reshape(B, HKV, LK, D)
v = sequence(B * HKV * LK * DV, 3, 13).reshape(B, HKV, LK, DV)
bias = sequence(HQ * LQ * LK, 11, 17).reshape(1, HQ, LQ, LK)
bias[0, :, 0, :] = -np.inf
bias[0, :, 2, 1] = -np.inf
rows, keys = np.arange(LQ)[:, None], np.arange(LK)[None, :]
own = rows + LK - LQ
everything = np.ones((1, 1, LQ, LK), bool)


def attention(scale, seen, added, compute=np.float64, stored=np.float64):
    wide_k, wide_v = (np.repeat(x, HQ // HKV, 1).astype(compute) for x in (k, v))
    s = np.einsum("bhrd,bhcd->bhrc", q.astype(compute), wide_k) * compute(scale) + compute(added)
    s = np.where(seen, s, -np.inf).astype(compute)
    m = s.max(-1, keepdims=True)
    p = np.exp(s - np.where(np.isneginf(m), compute(0), m))
    total = p.sum(-1, keepdims=True, dtype=compute)
    weights = np.where(total == 0, compute(0), p / total).astype(stored).astype(compute)
    return np.einsum("bhrc,bhcd->bhrd", weights, wide_v).astype(stored), (m + np.log(total))[..., 0]


def show(name, numbers):
    words = ["-kInf" if np.isneginf(x) else repr(float(x)) for x in numbers.ravel()]
    print(f"const std::vector<double> {name} = {{")
    for at in range(0, len(words), 4):
        print("    " + ", ".join(words[at : at + 4]) + ",")
    print("};")


np.seterr(all="ignore")
print("// Made by verdict_literals.py, which says what these are. Do not edit.")
print("// clang-format off")
print("#pragma once\n\n#include <limits>\n#include <vector>\n\nnamespace literals {\n")
print("constexpr double kInf = std::numeric_limits<double>::infinity();\n")
o, lse = attention(1 / np.sqrt(3), everything, 0.0)
show("plain_out", o)
show("plain_lse", lse)
key_lengths = np.array([5, 3])[:, None, None, None]
band = ((keys <= own) & (keys >= own - 1))[None, None] & (keys[None, None] < key_lengths)
o, lse = attention(0.5, band, 0.0)
show("masked_out", o)
show("masked_lse", lse)
o, lse = attention(1 / np.sqrt(3), everything, bias)
show("biased_out", o)
show("biased_lse", lse)
o, lse = attention(1 / np.sqrt(3), everything, 0.0, np.float32, np.float16)
show("f16_baseline", o)
print("\n}  // namespace literals")
