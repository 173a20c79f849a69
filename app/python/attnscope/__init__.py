"""AttnScope from Python: attention kernels that you can watch, check and time.

This package imports neither CUDA nor an array library; arrays come from whichever library you use.
"""

from ._attention import (
    Prepared,
    attention,
    attention_flash,
    attention_naive,
    attention_tiled,
    flash_attention,
    kernels,
    prepare,
    run_flash,
)
from ._call import Call, CopyWarning, last_call
from ._tables import Table
from .figures import figure
from .measuring import Verdict, bench, compare, judge, profile
from .notebook import slider
from .recordings import FirstWrong, Recording, Step, load, record, show

__all__ = [
    "Call",
    "CopyWarning",
    "FirstWrong",
    "Prepared",
    "Recording",
    "Step",
    "Table",
    "Verdict",
    "attention",
    "attention_flash",
    "attention_naive",
    "attention_tiled",
    "bench",
    "capture",
    "compare",
    "figure",
    "flash_attention",
    "judge",
    "kernels",
    "last_call",
    "load",
    "prepare",
    "profile",
    "record",
    "run_flash",
    "show",
    "slider",
]


def capture(model=None, layer=0, b=0, h=0, rows=None, keys=None):
    """attnscope.torch.capture: one attention call of a running torch model. Needs torch."""
    from .torch import capture as of_torch

    return of_torch(model, layer, b, h, rows, keys)
