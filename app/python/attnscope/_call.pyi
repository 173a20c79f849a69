from typing import NamedTuple

class CopyWarning(UserWarning): ...

class Call(NamedTuple):
    kernel: str
    why: str
    threads: int
    copied: tuple[str, ...]

def last_call() -> Call | None: ...
