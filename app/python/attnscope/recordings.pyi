import subprocess
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

__all__ = ["FirstWrong", "Recording", "Step", "load", "record", "show"]

class FirstWrong(NamedTuple):
    step: int
    phase: str
    tensor: str
    b: int
    h: int
    row: int
    column: int
    recorded: float
    right: float
    place: str
    spread: str
    cause: str

class Step:
    recording: Recording
    number: int
    phase: str
    letter: str
    b: int
    h: int
    i: int
    j: int
    bytes: int
    bytes_so_far: int
    made: tuple[str, ...]
    names: tuple[str, ...]
    def __init__(self, recording: Recording, number: int) -> None: ...
    def __getitem__(self, name: str) -> npt.NDArray[np.float32]: ...
    def place(self, name: str) -> tuple[int, int]: ...
    def holds(self, name: str) -> dict[str, bool]: ...
    def picture(self, size: tuple[int, int] = (1440, 900), theme: str = "light") -> bytes: ...

class Steps(Sequence[Step]):
    def __init__(self, recording: Recording) -> None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, number: int) -> Step: ...
    @overload
    def __getitem__(self, number: slice) -> list[Step]: ...

class Recording:
    kernel: str
    device: str
    order: str
    problem: str
    tile: tuple[int, int]
    nbytes: int
    steps: Steps
    def __init__(self, core: Any) -> None: ...
    def __len__(self) -> int: ...
    @property
    def out(self) -> npt.NDArray[np.float32] | None: ...
    @property
    def lse(self) -> npt.NDArray[np.float32] | None: ...
    def array(self, name: str, step: int = -1, b: int = 0, h: int = 0) -> npt.NDArray[np.float32]: ...
    def first_wrong(self, other: Recording | None = None) -> FirstWrong | None: ...
    def verdict(self) -> tuple[str, str, float, float]: ...
    def save(self, file: str | PathLike[str]) -> None: ...
    def picture(self, step: int = 0, size: tuple[int, int] = (1440, 900), theme: str = "light") -> bytes: ...

def record(
    q: Any,
    k: Any,
    v: Any,
    *,
    tile: tuple[int, int] | None = None,
    kernel: str = "auto",
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    bias: Any | None = None,
    softcap: float | None = None,
    alibi: bool | Sequence[float] | Any | None = None,
    scale: float | None = None,
    key_lengths: Sequence[int] | Any | None = None,
    layout: str = "bhld",
    options: Mapping[str, Any] | None = None,
) -> Recording: ...
def load(file: str | PathLike[str]) -> Recording: ...
def show(recording: Recording | str | PathLike[str]) -> subprocess.Popen[bytes]: ...
def svg(step: Step) -> str: ...
def tiles(step: Step, style: str = "") -> str: ...
def page(step: Step) -> str: ...
def words_of(step: Step) -> list[str]: ...
