"""What a call asks for, and what it did: options, an account, warnings. What attention() and all beside it share."""

import operator
import threading
import typing
import warnings

_last = threading.local()
_said = set()


class CopyWarning(UserWarning):
    """An argument's layout is not one that the kernel reads, so each call copies it, within the call's time."""


class Call(typing.NamedTuple):
    """What a call did.

    kernel: id of the rung that ran, as ``attnscope list`` names it; "none" if there was nothing to compute.
    why: why it was chosen.
    threads: number of CPU threads, including the calling one; 0 on a GPU.
    copied: arguments that were copied because the kernel cannot read their layout.
    """

    kernel: str
    why: str
    threads: int
    copied: tuple


def last_call():
    """Returns what this thread's last call did; None before the first call.

    >>> import numpy as np, attnscope
    >>> q = np.ones((1, 2, 8, 4), np.float32)
    >>> _ = attnscope.attention(q, q, q)
    >>> attnscope.last_call().kernel
    'cpu_flash'
    """
    account = getattr(_last, "account", None)
    return account and _call_of(account)


def _call_of(account):
    kernel, why, threads, copied = account
    return Call(kernel, why, threads, tuple(copied))


def _account(account):
    kernel, _, _, copied = account
    if copied:
        key = (kernel, tuple(copied))
        if key not in _said:
            _said.add(key)
            warnings.warn(
                f"{kernel} reads dense arrays, so each call spends time copying {', '.join(copied)}. Shown once.",
                CopyWarning,
                stacklevel=4,
            )
    _last.account = account


def _tile(tile):
    use = "use (Br, Bc), the numbers of query rows and keys"
    try:
        br, bc = (operator.index(extent) for extent in tile)
    except (TypeError, ValueError):
        raise TypeError(f"tile: {tile!r} is not a tile; {use}") from None
    if br < 1 or bc < 1:
        raise ValueError(f"tile: ({br}, {bc}) is out of range; {use}, each 1 or more")
    return br, bc


def _options(tile, threads, options):
    if tile is None and threads is None:
        return options
    chosen = dict(options or {})
    if tile is not None:
        chosen["br"], chosen["bc"] = _tile(tile)
    if threads is not None:
        chosen["threads"] = threads
    return chosen


def _refuse_dropout(dropout_p):
    if dropout_p:
        raise ValueError(f"dropout_p: {dropout_p!r} is not supported because kernels compute all weights; use 0")
