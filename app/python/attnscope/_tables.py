"""A table that pandas, polars and others accept: an Arrow stream, and the older dataframe interchange protocol."""

import enum
import html

import numpy as np

from . import _core

__all__ = ["Table"]


class Kind(enum.IntEnum):
    """The protocol's numbers of types."""

    INT = 0
    FLOAT = 2
    BOOL = 20
    STRING = 21


_NOT_NULLABLE, _NAN = 0, 1


class Buffer:
    """Memory of a column."""

    def __init__(self, array):
        self._array = np.ascontiguousarray(array)

    @property
    def bufsize(self):
        return self._array.nbytes

    @property
    def ptr(self):
        return self._array.ctypes.data

    def __dlpack__(self, **given):
        return self._array.__dlpack__(**given)

    def __dlpack_device__(self):
        return (1, None)


class Column:
    """A column of the protocol; numbers are the table's own memory."""

    def __init__(self, values):
        self._values = values
        self.offset, self.null_count, self.metadata = 0, 0, {}

    def size(self):
        return len(self._values)

    @property
    def dtype(self):
        if isinstance(self._values, list):
            return (Kind.STRING, 8, "u", "=")
        kinds = {"b": (Kind.BOOL, 8, "b", "="), "i": (Kind.INT, 64, "l", "="), "f": (Kind.FLOAT, 64, "g", "=")}
        return kinds[self._values.dtype.kind]

    @property
    def describe_null(self):
        is_float = not isinstance(self._values, list) and self._values.dtype.kind == "f"
        return (_NAN if is_float else _NOT_NULLABLE, None)

    @property
    def describe_categorical(self):
        raise TypeError("no column is categorical")

    def num_chunks(self):
        return 1

    def get_chunks(self, n_chunks=None):
        return [self]

    def get_buffers(self):
        if not isinstance(self._values, list):
            return {"data": (Buffer(self._values), self.dtype), "validity": None, "offsets": None}
        texts = [text.encode() for text in self._values]
        offsets = np.cumsum([0] + [len(text) for text in texts], dtype=np.int64)
        data = np.frombuffer(b"".join(texts) or b"\0", np.uint8)
        return {
            "data": (Buffer(data), (Kind.STRING, 8, "u", "=")),
            "validity": None,
            "offsets": (Buffer(offsets), (Kind.INT, 64, "l", "=")),
        }


def _arrow_buffers(values):
    """(format, nulls, buffers) of a column, as the Arrow columnar format lays it out: validity, offsets, data."""
    if isinstance(values, list):
        texts = [text.encode() for text in values]
        offsets = np.cumsum([0] + [len(text) for text in texts], dtype=np.int64)
        return "U", 0, [None, offsets.tobytes(), b"".join(texts)]
    if values.dtype.kind == "b":
        return "b", 0, [None, np.packbits(values, bitorder="little").tobytes()]
    if values.dtype.kind == "i":
        return "l", 0, [None, values.astype(np.int64).tobytes()]
    missing = np.isnan(values)
    validity = np.packbits(~missing, bitorder="little").tobytes() if missing.any() else None
    return "g", int(missing.sum()), [validity, values.astype(np.float64).tobytes()]


def _typed(values):
    """Numbers as an array, Booleans as an array, all else as a list of texts; a number that is missing is NaN."""
    if all(isinstance(value, bool) for value in values):
        return np.array(values, bool)
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return np.array(values, np.int64)
    if all(value is None or isinstance(value, (int, float)) for value in values):
        return np.array([np.nan if value is None else value for value in values], np.float64)
    return ["" if value is None else str(value) for value in values]


def _read(texts):
    """What a column of a CSV file holds, by its texts."""
    if set(texts) <= {"true", "false"} and texts:
        return _typed([text == "true" for text in texts])
    for number in (int, float):
        try:
            return _typed([None if text == "" else number(text) for text in texts]) if any(texts) else list(texts)
        except ValueError:
            continue
    return list(texts)


def _words(value):
    """A value as a page shows it: numbers with 6 digits, and a dash for one that is missing."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.6g}" if value == value else "–"


class Table:
    """Columns by name, all of the same length: NumPy arrays of numbers, and lists of strings.

    ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and ``pandas.DataFrame(table.columns)`` convert it.

    >>> from attnscope import Table
    >>> table = Table({"L": [64, 128], "time_us": [1.5, None], "kernel": ["cpu_flash", "cpu_tiled"]})
    >>> int(table["L"].sum()), table.rows()[0]
    (192, {'L': 64, 'time_us': 1.5, 'kernel': 'cpu_flash'})
    """

    def __init__(self, columns):
        self.columns = {name: _typed(list(values)) for name, values in columns.items()}
        if len({len(values) for values in self.columns.values()}) > 1:
            raise ValueError("columns: have different lengths")

    @classmethod
    def of_rows(cls, rows):
        """Makes a table from a CSV file's rows of strings, the first of which names the columns."""
        table = cls({})
        table.columns = {name: _read([row[n] for row in rows[1:]]) for n, name in enumerate(rows[0])}
        return table

    def __getitem__(self, name):
        return self.columns[name]

    def __len__(self):
        return len(next(iter(self.columns.values()), ()))

    def rows(self):
        """Returns a list of dicts, one per row, with plain Python numbers."""
        lists = {name: values if isinstance(values, list) else values.tolist() for name, values in self.columns.items()}
        return [{name: values[n] for name, values in lists.items()} for n in range(len(self))]

    def select(self, *names):
        """Returns a table with only these columns."""
        table = Table({})
        table.columns = {name: self.columns[name] for name in names}
        return table

    def __repr__(self):
        shown = [name for name in self.columns if not name.endswith("_source")][:8]
        lines = ["  ".join(shown)]
        lines += ["  ".join(_words(row[name]) for name in shown) for row in self.rows()[:20]]
        return "\n".join([*lines, f"{len(self)} rows, {len(self.columns)} columns"])

    def _repr_html_(self):
        names = [name for name in self.columns if not name.endswith("_source") and self._has(name)]
        left_out = len(self.columns) - len(names)
        rest = f", of which {left_out} not shown (sources and empty columns)" if left_out else ""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_words(row[name]))}</td>" for name in names) + "</tr>"
            for row in self.rows()
        )
        told = f"<p>{len(self)} rows, {len(self.columns)} columns{rest}</p>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{told}"

    def _has(self, name):
        """Whether a row has a value in this column. A table without rows has all its columns."""
        values = self.columns[name]
        return not len(self) or any(values if isinstance(values, list) else (values == values).tolist())

    def __arrow_c_stream__(self, requested_schema=None):
        """The table as an Arrow stream of one batch; a number that is missing is null."""
        columns = [(name, *_arrow_buffers(values)) for name, values in self.columns.items()]
        return _core.arrow_stream(len(self), columns)

    # ---- the interchange protocol, for readers that know no Arrow

    metadata: dict = {}

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self

    def num_columns(self):
        return len(self.columns)

    def num_rows(self):
        return len(self)

    def num_chunks(self):
        return 1

    def column_names(self):
        return list(self.columns)

    def get_column(self, i):
        return Column(list(self.columns.values())[i])

    def get_column_by_name(self, name):
        return Column(self.columns[name])

    def get_columns(self):
        return [Column(values) for values in self.columns.values()]

    def select_columns(self, indices):
        return self.select(*[list(self.columns)[n] for n in indices])

    def select_columns_by_name(self, names):
        return self.select(*names)

    def get_chunks(self, n_chunks=None):
        return [self]
