"""Runs the program under test, and attention by NumPy in fp64: shared by the tests in this folder."""

import os
import re
import subprocess
import sys

import numpy as np

BINARY = os.environ.get("ATTNSCOPE_BINARY", "") and os.path.abspath(os.environ["ATTNSCOPE_BINARY"])


def run(*arguments, cwd=None, prefix=None, timeout=120, user=None, stdout=subprocess.PIPE):
    """`prefix`: a shell line that runs before the program in its process, such as ulimit. `user`: see subprocess."""
    command = [BINARY, *map(str, arguments)]
    if prefix:
        command = ["bash", "-c", prefix + '; exec "$0" "$@"', *command]
    done = subprocess.run(command, cwd=cwd, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False,
                          timeout=timeout, user=user)
    # What the leak checker says of itself is none of the program's words.
    if "external symbolizer!" in done.stderr:
        done.stderr = re.sub(r"==\d+==WARNING: .*external symbolizer!\n\n?", "", done.stderr)
    return done


def bf16(x):
    """x rounded to the nearest bf16, ties to even; finite numbers alone."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16).astype(np.uint32).view(np.float32)


def attention(q, k, v, scale=None, bias=None, causal=False, window=(-1, -1), key_lengths=None, softcap=None,
              slopes=None):
    """O and LSE of [B,H,L,D] arrays in fp64, from the definition."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    groups = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, groups, axis=1), np.repeat(v, groups, axis=1)
    lq, lk = q.shape[2], k.shape[2]
    s = np.einsum("bhrd,bhcd->bhrc", q, k) * (1 / np.sqrt(q.shape[3]) if scale is None else scale)
    own = np.arange(lq)[:, None] + lk - lq
    keys = np.arange(lk)[None, :]
    if softcap is not None:
        s = softcap * np.tanh(s / softcap)
    if bias is not None:
        s = s + np.asarray(bias, np.float64)
    if slopes is not None:  # [H] or [B,H]
        s = s - np.asarray(slopes, np.float64)[..., None, None] * np.abs(own - keys)
    left, right = window
    if causal:
        right = 0
    seen = np.ones((lq, lk), bool)
    if left >= 0:
        seen &= keys >= own - left
    if right >= 0:
        seen &= keys <= own + right
    seen = np.broadcast_to(seen, s.shape).copy()
    if key_lengths is not None:
        seen &= keys < np.asarray(key_lengths)[:, None, None, None]
    s = np.where(seen, s, -np.inf)
    m = s.max(-1, keepdims=True)
    with np.errstate(all="ignore"):
        p = np.exp(s - np.where(np.isneginf(m), 0, m))
        total = p.sum(-1, keepdims=True)
        weights = np.where(total == 0, 0, p / total)
        return np.einsum("bhrc,bhcd->bhrd", weights, v), (m + np.log(total))[..., 0]


class Report:
    """Counts checks; a program that checked nothing has not passed."""

    def __init__(self):
        self.checks, self.failures = 0, 0

    def check(self, right, words):
        self.checks += 1
        if not right:
            self.failures += 1
            print("FAILED", words)

    def exit(self, least):
        print(f"{self.checks} checks, {self.failures} failures")
        if self.checks < least:
            print(f"FAILED fewer than {least} checks ran")
        sys.exit(1 if self.failures or self.checks < least else 0)
