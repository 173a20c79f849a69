"""Measuring from Python: bench() and profile() run the program in a separate process; judge() applies its rule."""

import collections.abc
import csv
import io
import subprocess
import typing

import numpy as np

from . import _core, program
from ._tables import Table

__all__ = ["Verdict", "bench", "compare", "judge", "profile"]

_SHORT = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "f32": "f32", "f16": "f16", "bf16": "bf16"}


def _words(named):
    """--name value of what is given; True alone is a flag, a list is joined by commas."""
    words = []
    for name, value in named.items():
        if value is None or value is False:
            continue
        words.append(f"--{name.replace('_', '-')}")
        if value is not True:
            joined = isinstance(value, (list, tuple))
            words.append(",".join(map(str, value)) if joined else str(value))
    return words


def _problem(given):
    """The arguments of a problem as the command line has them."""
    known = dict(given)
    dtype = known.pop("dtype", None)
    if dtype is not None and dtype not in _SHORT:
        raise ValueError(f"dtype: {dtype!r} is not supported; use 'float32', 'float16' or 'bfloat16'")
    tile = known.pop("tile", None)
    if tile is not None and not isinstance(tile, str):
        tile = f"{tile[0]}x{tile[1]}"
    return _words({"dtype": _SHORT.get(dtype), "tile": tile, **known})


def _values(values):
    """The points of a sweep as the command line has them; a single number is one point."""
    if isinstance(values, (int, np.integer)):
        return str(values)
    if isinstance(values, str) or not isinstance(values, collections.abc.Iterable):
        raise TypeError(f"values: {values!r} is not a list of numbers")
    return ",".join(map(str, values))


def _words_of_error(words, command, problem):
    """The program's words about arguments that Python has under another name, or the words as they are."""
    words = words.strip().removeprefix("attnscope: ") or "the program printed no rows"
    if words.startswith("The following argument"):
        for name in problem:
            if f"--{name.replace('_', '-')}" in words.split():
                return f"{name}: is not an argument; use an option of `attnscope {command} --help`, with _ for -"
    return words


def _rows(words, timeout, problem=()):
    """The CSV of a command; exit 1 says that a check failed, which its rows tell, too. No rows: its words say why."""
    done = subprocess.run(
        [str(program.path()), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    rows = list(csv.reader(io.StringIO(done.stdout)))
    if done.returncode not in (0, 1) or len(rows) < 2:
        raise (ValueError if done.returncode == 2 else RuntimeError)(_words_of_error(done.stderr, words[0], problem))
    return Table.of_rows(rows)


def bench(
    kernels=None,
    *,
    values,
    axis="L",
    device="cpu",
    repeats=None,
    seconds=None,
    generator=None,
    seed=None,
    peers=None,
    peers_python=None,
    save=None,
    timeout=None,
    **problem,
):
    """Checks each answer and then times kernels along one axis, in a separate process.

    kernels: ids; None: all for the device. values: values of the axis; axis: "L", "B", "H", "D", "br", "bc", "threads"
    or an option. problem: b, hq, hkv, l (or lq, lk), d, dv, dtype, causal, window, softcap, alibi, tokens, tile and
    threads as `attnscope bench` has them. seconds: time for the repeats of a point. peers: other
    implementations to time alternately with ours, True or ids, run by peers_python. save: an .attn file, which the
    window opens.

    Returns a :class:`Table`, one row per point, with the columns of the program's CSV (docs/formats.md), such as
    time_us_median in microseconds, tflops, error_abs and verdict. NaN: not measured; column ..._source says why.

    Raises ValueError for invalid arguments, RuntimeError if this machine cannot run the sweep, and
    subprocess.TimeoutExpired.

    >>> import attnscope
    >>> table = attnscope.bench(["cpu_flash"], values=[32, 64], d=16, seconds=0.02)
    >>> table["Lq"].tolist(), table["verdict"]
    ([32, 64], ['pass', 'pass'])
    """
    words = ["bench", "--csv", "-", "--values", _values(values), "--axis", axis, "--device", device]
    words += _words(
        {"kernels": kernels, "repeats": repeats, "time-limit": seconds, "generator": generator, "seed": seed}
    )
    if peers is True:
        words.append("--peers")
    elif peers:
        words.append("--peers=" + ",".join(peers))
    words += _words({"peers-python": peers_python, "attn": None if save is None else str(save)})
    return _rows(words + _problem(problem), timeout, problem)


def profile(kernel, *, arch=None, sample=False, seconds=None, timeout=None, **problem):
    """Counts a GPU kernel's instructions by phase and line; with sample=True, also shows where its warps wait.

    kernel: a GPU kernel's id, or a .cu file. arch: architecture to compile for without a GPU, such as "sm_90a".
    problem: as in :func:`bench`. Returns a :class:`Table`: one row per phase, then one per line (docs/formats.md).

    Raises RuntimeError if NVRTC or nvdisasm is missing or sample=True finds no GPU. The message says how to get what is
    missing.
    """
    words = ["profile", kernel, "--csv", "-", *_words({"arch": arch, "sample": sample, "seconds": seconds})]
    return _rows(words + _problem(problem), timeout, problem)


class Verdict(typing.NamedTuple):
    """Whether an answer is right, by the rule of docs/correctness.md.

    outcome: "pass", "wrong" or "not judged". reason: empty if the answer passes. error, allowed: the largest
    |O - fp64|, and the largest that the rule allows. first_wrong, cause: sentences, or empty.
    """

    outcome: str
    reason: str
    error: float
    allowed: float
    first_wrong: str
    cause: str


def judge(
    q,
    k,
    v,
    out,
    lse=None,
    *,
    causal=False,
    window=None,
    bias=None,
    softcap=None,
    alibi=None,
    scale=None,
    key_lengths=None,
):
    """Checks an answer on these numbers against the definition in fp64 and returns a :class:`Verdict`.

    q, k, v: [B, H, L, D] on the CPU. Other arguments: as in :func:`attention`. out: [B, Hq, Lq, Dv] in q's dtype.

    >>> import numpy as np, attnscope
    >>> q = np.random.default_rng(1).standard_normal((1, 2, 8, 4)).astype(np.float32)
    >>> attnscope.judge(q, q, q, attnscope.attention(q, q, q)).outcome
    'pass'
    >>> attnscope.judge(q, q, q, q).outcome
    'wrong'
    """
    asked = (q, k, v, "auto", causal, window, bias, softcap, alibi, scale, key_lengths, "bhld", None)
    return Verdict(*_core.case_of(*asked).judged(out, lse))


def _median_us(call, seconds, finish):
    import statistics
    import time

    call()
    finish()
    times, until = [], time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < until and len(times) < 100000):
        began = time.perf_counter_ns()
        call()
        finish()
        times.append((time.perf_counter_ns() - began) / 1000)
    return statistics.median(times), len(times)


def compare(fns, q, k, v, *, causal=False, scale=None, seconds=0.5, ours="auto"):
    """Times your own callables and one of our kernels on these arrays, and checks each against fp64.

    fns: a callable fn(q, k, v, causal=…, scale=…), or a dict from names to callables. ours: a kernel's id.
    seconds: time for each callable. On a GPU, each call runs to completion before the next one starts. Arrays
    are [B, H, L, D].

    Returns a :class:`Table`: name, time_us_median, calls, ratio (our time divided by its own), error_abs,
    error_allowed_abs, verdict.

    >>> import numpy as np, attnscope
    >>> q = np.random.default_rng(1).standard_normal((1, 2, 32, 16)).astype(np.float32)
    >>> def mine(q, k, v, causal=False, scale=None):
    ...     s = q @ k.swapaxes(-1, -2) / np.float32(4)
    ...     p = np.exp(s - s.max(-1, keepdims=True))
    ...     return p / p.sum(-1, keepdims=True) @ v
    >>> table = attnscope.compare(mine, q, q, q, seconds=0.01)
    >>> table["name"], table["verdict"]
    (['cpu_flash', 'mine'], ['pass', 'pass'])
    """
    import sys

    from . import _attention, _call

    if not callable(fns) and not isinstance(fns, collections.abc.Mapping):
        raise TypeError(f"fns: a {type(fns).__name__} is neither a callable nor a dict of callables")
    if callable(fns):
        fns = {getattr(fns, "__name__", "yours"): fns}
    on_gpu = bool(getattr(q, "is_cuda", False))
    finish = sys.modules["torch"].cuda.synchronize if on_gpu else (lambda: None)
    host = [x.cpu() if on_gpu else x for x in (q, k, v)]
    _attention.attention(q, k, v, kernel=ours, causal=causal, scale=scale)
    name = _call.last_call().kernel

    def of_ours(q, k, v, **given):
        return _attention.attention(q, k, v, kernel=ours, **given)

    rows = []
    for title, fn in {name: of_ours, **fns}.items():
        out = fn(q, k, v, causal=causal, scale=scale)
        if out is None:
            raise TypeError(f"fns: {title} returned None; return the answer")
        verdict = judge(*host, out.detach().cpu() if hasattr(out, "detach") else out, causal=causal, scale=scale)
        median, calls = _median_us(lambda fn=fn: fn(q, k, v, causal=causal, scale=scale), seconds, finish)
        rows.append((title, median, calls, verdict))
    first = rows[0][1]
    return Table(
        {
            "name": [row[0] for row in rows],
            "time_us_median": [row[1] for row in rows],
            "calls": [row[2] for row in rows],
            "ratio": [first / row[1] for row in rows],
            "error_abs": [row[3].error for row in rows],
            "error_allowed_abs": [row[3].allowed for row in rows],
            "verdict": [row[3].outcome for row in rows],
        }
    )
