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

__all__ = [
    "Call",
    "CopyWarning",
    "Prepared",
    "attention",
    "attention_flash",
    "attention_naive",
    "attention_tiled",
    "flash_attention",
    "kernels",
    "last_call",
    "prepare",
    "run_flash",
]
