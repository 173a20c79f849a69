"""AttnScope from Python: attention kernels that you can watch, check and time.

Nothing of CUDA and no array library is imported here; arrays come from whichever you use.
"""

from ._attention import (
    Call,
    CopyWarning,
    Prepared,
    attention,
    attention_flash,
    attention_naive,
    attention_tiled,
    flash_attention,
    kernels,
    last_call,
    prepare,
    run_flash,
)
from ._tables import Table
from .measuring import Verdict, bench, compare, judge, profile
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
    "compare",
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
]
