from typing import Any

from ._tables import Table

__all__ = ["figure"]

def figure(table: Table, metric: str = "time_us_median", axis: str | None = None) -> Any: ...
