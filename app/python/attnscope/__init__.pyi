from contextlib import AbstractContextManager
from typing import Any

from ._attention import Prepared as Prepared
from ._attention import attention as attention
from ._attention import attention_flash as attention_flash
from ._attention import attention_naive as attention_naive
from ._attention import attention_tiled as attention_tiled
from ._attention import flash_attention as flash_attention
from ._attention import kernels as kernels
from ._attention import prepare as prepare
from ._attention import run_flash as run_flash
from ._call import Call as Call
from ._call import CopyWarning as CopyWarning
from ._call import last_call as last_call
from ._tables import Table as Table
from .figures import figure as figure
from .measuring import Verdict as Verdict
from .measuring import bench as bench
from .measuring import compare as compare
from .measuring import judge as judge
from .measuring import profile as profile
from .notebook import slider as slider
from .recordings import FirstWrong as FirstWrong
from .recordings import Recording as Recording
from .recordings import Step as Step
from .recordings import load as load
from .recordings import record as record
from .recordings import show as show
from .torch import Captured

def capture(
    model: Any | None = None,
    layer: int | str = 0,
    b: int = 0,
    h: int = 0,
    rows: slice | None = None,
    keys: slice | None = None,
) -> AbstractContextManager[Captured]: ...
