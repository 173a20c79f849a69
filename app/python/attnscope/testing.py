"""Checks attention functions by AttnScope's rule on its problems. A failure names the place and the likely cause."""

import sys

from . import _core

__all__ = ["AttentionWrong", "assert_attention_right", "cases"]

_SHORT = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "f32": "f32", "f16": "f16", "bf16": "bf16"}
_TILE = 64


class AttentionWrong(AssertionError):
    """An answer is wrong. ``case`` is the problem."""

    def __init__(self, words, case):
        super().__init__(words)
        self.case = case


class Case:
    """One problem: ``words`` describes it; ``arguments`` go to the function in addition to q, k and v."""

    def __init__(self, core):
        self._core = core
        self.facts = core.facts()
        self.words = self.facts["words"]
        given = {name: self.facts[name] for name in ("window", "key_lengths", "softcap", "alibi")}
        self.arguments = {name: value for name, value in given.items() if value is not None}
        if self.facts["causal"]:
            self.arguments["causal"] = True
        if not self.facts["usual_scale"]:
            self.arguments["scale"] = self.facts["scale"]

    def __repr__(self):
        return f"<case {self.words}>"

    def arrays(self, library="numpy", device=None):
        """(q, k, v, bias or None): [B, H, L, D] arrays of "numpy", "torch" or "jax", the same at each call."""
        return tuple(None if x is None else _in_library(x, library, device) for x in self._core.arrays())

    def judged(self, out, lse=None):
        """(outcome, reason, error, allowed, first wrong element, cause): outcome is "pass", "wrong" or "not judged"."""
        return self._core.judged(_on_cpu(out), None if lse is None else _on_cpu(lse))


def _in_library(array, library, device):
    if library == "torch":
        import torch

        tensor = torch.from_dlpack(array)
        return tensor if device is None else tensor.to(device)
    if library == "jax":
        import jax

        made = jax.dlpack.from_dlpack(array)
        return made if device is None else jax.device_put(made, device)
    if library != "numpy":
        raise ValueError(f"library: {library!r} is not supported; use 'numpy', 'torch' or 'jax'")
    import numpy as np

    try:
        return np.from_dlpack(array).copy()
    except (RuntimeError, TypeError, BufferError, ValueError):
        raise TypeError("dtype: NumPy has no bfloat16; use library='torch' or 'jax'") from None


def _on_cpu(array):
    if hasattr(array, "detach"):
        return array.detach().cpu().contiguous()
    if type(array).__module__.startswith("cupy"):
        return array.get()
    return array


def cases(shapes="paired", dtype="float32"):
    """The problems that every kernel of AttnScope must get right, as a list of :class:`Case`.

    shapes: "paired", each shape and each head dimension at least once, with masks; "all", every combination; "scores",
    softcap and ALiBi; "random", 40 random problems.

    >>> import attnscope.testing
    >>> len(attnscope.testing.cases()) > 50
    True
    """
    if dtype not in _SHORT:
        raise ValueError(f"dtype: {dtype!r} is not supported; use 'float32', 'float16' or 'bfloat16'")
    return [Case(core) for core in _core.cases(shapes, _SHORT[dtype])]


_ARGUMENTS = ("causal", "scale", "window", "key_lengths", "softcap", "alibi", "bias")
_FEATURES = (*_ARGUMENTS, "grouped", "dv", "not_finite")


def _known(features):
    """The features as a set; a misspelt one would leave out problems in silence."""
    features = {features} if isinstance(features, str) else set(features)
    for name in sorted(features - set(_FEATURES), key=str):
        raise ValueError(f"features: unknown {name!r}; use {', '.join(_FEATURES)}")
    return features


def _called(fn, q, k, v, arguments, lse):
    """(out, lse or None) of a call."""
    answer = fn(q, k, v, **arguments)
    if answer is None:
        raise TypeError("fn: returned None; return the answer")
    if not lse:
        return answer, None
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise TypeError(f"fn: returned a {type(answer).__name__}; with lse=True, return (out, lse)")
    return answer


def _takes(case, features, longest):
    facts = case.facts
    b, hq, hkv, lq, lk, d, dv = facts["shape"]
    wanted = set(case.arguments) | ({"bias"} if facts["has_bias"] else set())
    wanted |= ({"grouped"} if hq != hkv else set()) | ({"dv"} if d != dv else set())
    wanted |= {"not_finite"} if not facts["finite"] else set()
    return max(lq, lk) <= longest and wanted <= features


def assert_attention_right(
    fn,
    *,
    dtype="float32",
    library="numpy",
    device=None,
    shapes="paired",
    features=("causal", "scale"),
    longest=640,
    lse=False,
):
    """Calls ``fn(q, k, v, **arguments)`` on the rule's problems; raises AttentionWrong at the first wrong answer.

    The rule: O may differ from fp64 by at most twice as much as the same plain math in the dtype, plus the
    dtype's own rounding (docs/correctness.md). q is [B, Hq, Lq, D], the answer [B, Hq, Lq, Dv] in q's dtype.

    dtype: "float32", "float16" or "bfloat16"; a function of float64 arrays converts them at both ends. library:
    "numpy", "torch" or "jax". device: that of the arrays.
    features: what fn supports in addition to q, k and v; problems that need more are skipped: "causal", "scale",
    "window", "key_lengths", "softcap", "alibi", "bias" as arguments of these names, "grouped" heads, "dv" (Dv ≠ D),
    "not_finite" numbers. longest: largest number of queries or keys. lse: fn returns (out, lse).

    Returns the number of problems that were judged. The failure names the problem, the first wrong element with its
    tile of 64 × 64, the number of wrong elements, and the likely cause.

    >>> import numpy as np, attnscope
    >>> from attnscope.testing import assert_attention_right
    >>> assert_attention_right(attnscope.attention, longest=130) >= 5
    True
    >>> def forgets_the_scale(q, k, v, causal=False, scale=None):
    ...     return attnscope.attention(q, k, v, causal=causal, scale=1)
    >>> assert_attention_right(forgets_the_scale, longest=130)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    attnscope.testing.AttentionWrong: ...
    Likely cause: the scale is left out...
    """
    if not callable(fn):
        raise TypeError(f"fn: a {type(fn).__name__} is not callable")
    features = _known(features)
    judged = 0
    for case in cases(shapes, dtype):
        if not _takes(case, features, longest):
            continue
        q, k, v, bias = case.arrays(library, device)
        arguments = dict(case.arguments)
        if bias is not None:
            arguments["bias"] = bias
        out, its_lse = _called(fn, q, k, v, arguments, lse)
        outcome, reason, error, allowed, place, cause = case.judged(out, its_lse)
        if outcome == "wrong":
            raise AttentionWrong(_failure(case, out, reason, place, cause), case)
        judged += outcome == "pass"
    if judged == 0:
        raise ValueError("features: no problem uses only these features; add more features, or raise longest")
    return judged


def _failure(case, out, reason, place, cause):
    called = ", ".join(f"{name}={value!r}" for name, value in case.arguments.items())
    lines = [f"{case.words}", f"  called with {called or 'q, k and v alone'}", f"  {reason}"]
    if place:
        lines.append(f"First wrong: {place}{_tile_of(place)}")
    guess = _likely(case, out) or cause
    if guess:
        lines.append(f"Likely cause: {guess}")
    return "\n".join(lines)


def _tile_of(place):
    try:
        row = int(place.partition("row ")[2].split()[0].rstrip(","))
    except (IndexError, ValueError):
        return ""
    return f" (query tile {row // _TILE} of {_TILE} rows)"


# ---- what is likely: the definition with one thing wrong, in fp64


def _scores(case, q, k, scale, repeat):
    import numpy as np

    s = np.einsum("bhrd,bhcd->bhrc", q, repeat(k)) * scale
    return s


def _variant(case, q, k, v, scale=None, tiled_heads=False, top_left=False, ignore_mask=False, divide=True):
    """O by the definition, with what is named changed; None where the problem has what this does not know."""
    import numpy as np

    facts = case.facts
    if facts["softcap"] or facts["alibi"] or facts["has_bias"] or facts["window"] or facts["key_lengths"]:
        return None
    group = q.shape[1] // k.shape[1]

    def repeat(x):
        return np.tile(x, (1, group, 1, 1)) if tiled_heads else np.repeat(x, group, axis=1)

    s = _scores(case, q, k, facts["scale"] if scale is None else scale, repeat)
    lq, lk = s.shape[-2:]
    if facts["causal"] and not ignore_mask:
        s = np.where(np.tril(np.ones((lq, lk), bool), 0 if top_left else lk - lq), s, -np.inf)
    with np.errstate(all="ignore"):
        top = s.max(-1, keepdims=True)
        p = np.exp(s - np.where(np.isfinite(top), top, 0))
        total = p.sum(-1, keepdims=True)
        weights = np.where(total == 0, 0, p / total) if divide else p
        return weights @ repeat(v)


_MISTAKES = (
    ("the scale is left out: scores are q·k, not q·k / √D", {"scale": 1.0}),
    ("the causal mask is aligned to the top left; queries and keys end together (bottom right)", {"top_left": True}),
    ("the mask is not applied: rows see keys after their own", {"ignore_mask": True}),
    ("heads of k and v are repeated alternately; query heads h·G to h·G + G − 1 share head h", {"tiled_heads": True}),
    ("the weights are not divided by their sum ℓ", {"divide": False}),
)


def _likely(case, out):
    import numpy as np

    if "torch" in sys.modules and hasattr(out, "detach"):
        out = out.detach().cpu().double().numpy()
    try:
        got = np.asarray(out, np.float64)
        q, k, v, _ = (None if x is None else np.asarray(x, np.float64) for x in case.arrays())
    except (TypeError, ValueError):
        return ""
    if case._core.facts()["finite"] is False or got.size > 1 << 20:
        return ""
    scale = max(float(np.abs(v).max()), 1e-30)
    fitting = []
    for words, change in _MISTAKES:
        wrong = _variant(case, q, k, v, **change)
        if wrong is not None and wrong.shape == got.shape and np.allclose(got, wrong, rtol=1e-3, atol=1e-3 * scale):
            fitting.append(words)
    return "; or ".join(fitting)
