from collections.abc import Callable, Sequence
from typing import Any, Literal

__all__ = ["AttentionWrong", "assert_attention_right", "cases"]

class AttentionWrong(AssertionError):
    case: Case
    def __init__(self, words: str, case: Case) -> None: ...

class Case:
    facts: dict[str, Any]
    words: str
    arguments: dict[str, Any]
    def __init__(self, core: Any) -> None: ...
    def arrays(
        self, library: Literal["numpy", "torch", "jax"] = "numpy", device: Any | None = None
    ) -> tuple[Any, Any, Any, Any | None]: ...
    def judged(self, out: Any, lse: Any | None = None) -> tuple[str, str, float, float, str, str]: ...

def cases(shapes: str = "paired", dtype: str = "float32") -> list[Case]: ...
def assert_attention_right(
    fn: Callable[..., Any],
    *,
    dtype: str = "float32",
    library: Literal["numpy", "torch", "jax"] = "numpy",
    device: Any | None = None,
    shapes: str = "paired",
    features: Sequence[str] = ("causal", "scale"),
    longest: int = 640,
    lse: bool = False,
) -> int: ...
