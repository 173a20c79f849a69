from typing import Any

from .recordings import Recording

__all__ = ["slider"]

def slider(recording: Recording, step: int = 0) -> Any: ...
