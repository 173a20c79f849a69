"""Prints scores_literals.h: attention with softcap and ALiBi by NumPy in fp64, for the test of the judge's reference.

    python3 tests/kernels/judge/scores_literals.py > tests/kernels/judge/scores_literals.h
"""
import numpy as np

B, HQ, HKV, LQ, LK, D, DV = 2, 4, 2, 3, 5, 3, 2


def sequence(count, factor, modulus):
    """Quarters: exact in f32, f16 and bf16. The test has the same line in C++."""
    return ((np.arange(count) * factor) % modulus - modulus // 2) / 4.0


q = sequence(B * HQ * LQ * D, 7, 11).reshape(B, HQ, LQ, D)
k = np.repeat(sequence(B * HKV * LK * D, 5, 9).reshape(B, HKV, LK, D), HQ // HKV, 1)
v = np.repeat(sequence(B * HKV * LK * DV, 3, 13).reshape(B, HKV, LK, DV), HQ // HKV, 1)
bias = sequence(HQ * LQ * LK, 11, 17).reshape(1, HQ, LQ, LK)
bias[0, :, 2, 1] = -np.inf
own = np.arange(LQ)[:, None] + LK - LQ
keys = np.arange(LK)[None, :]
usual = np.float32(2.0 ** (-8.0 * (np.arange(HQ) + 1) / HQ)).astype(float).reshape(1, HQ, 1, 1)
each = sequence(B * HQ, 3, 7).reshape(B, HQ, 1, 1)


def attention(scale, softcap=None, slopes=None, added=0.0, seen=True):
    s = np.einsum("bhrd,bhcd->bhrc", q, k) * scale
    if softcap is not None:
        s = softcap * np.tanh(s / softcap)
    s = s + added
    if slopes is not None:
        s = s - slopes * np.abs(own - keys)
    s = np.where(seen, s, -np.inf)
    m = s.max(-1, keepdims=True)
    p = np.exp(s - m)
    total = p.sum(-1, keepdims=True)
    return np.einsum("bhrc,bhcd->bhrd", p / total, v), (m + np.log(total))[..., 0]


def show(name, numbers):
    words = [repr(float(x)) for x in numbers.ravel()]
    print(f"const std::vector<double> {name} = {{")
    for at in range(0, len(words), 4):
        print("    " + ", ".join(words[at : at + 4]) + ",")
    print("};")


print("// Made by scores_literals.py, which says what these are. Do not edit.")
print("// clang-format off")
print("#pragma once\n\n#include <vector>\n\nnamespace score_literals {\n")
show("own_slopes", each)
for name, how in (
    ("capped", dict(scale=2.0, softcap=0.5)),
    ("sloped", dict(scale=1 / np.sqrt(3), slopes=usual)),
    ("both", dict(scale=1 / np.sqrt(3), softcap=0.75, slopes=each)),
    ("all", dict(scale=0.5, softcap=0.5, slopes=usual, added=bias, seen=(keys <= own))),
):
    o, lse = attention(**how)
    show(name + "_out", o)
    show(name + "_lse", lse)
print("\n}  // namespace score_literals")
