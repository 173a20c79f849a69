"""Bench's charts as matplotlib figures, drawn from the tables that bench(), compare() and profile() return."""

import functools
import io
import math

from ._tables import Table

__all__ = ["figure"]

# Titles and units of the window's four charts; of any other column its name.
_TITLES = {
    "time_us_median": ("Time", "µs, lower is better"),
    "dram_read_bytes": ("DRAM bytes", "read, lower is better"),
    "occupancy_achieved_pct": ("Occupancy", "% of the warps that an SM can hold"),
    "occupancy_theoretical_pct": ("Occupancy, theoretical", "% of the warps that an SM can hold"),
    "tflops": ("Throughput", "TFLOP/s, higher is better"),
}
_LOG = ("time_us_median", "dram_read_bytes")
_MARKS = "os^vDPX*<>"


@functools.cache
def _chart_type():
    """A figure that a notebook displays. matplotlib's own needs pyplot for that, which would open windows elsewhere."""
    from matplotlib.figure import Figure

    class Chart(Figure):
        def _repr_png_(self):
            picture = io.BytesIO()
            self.savefig(picture, format="png")
            return picture.getvalue()

    return Chart


def _points(table, metric, axis):
    """Of each kernel its (x, y), by x; rows without a figure are left out."""
    lines = {}
    for kernel, x, y in zip(table["kernel"], table[axis], table[metric], strict=True):
        if not math.isnan(float(y)):
            lines.setdefault(kernel, []).append((float(x), float(y)))
    return {kernel: sorted(points) for kernel, points in lines.items()}


def _merged(lines):
    """Kernels whose points are all equal would hide each other: one line has the names of all."""
    same = {}
    for kernel, points in lines.items():
        same.setdefault(tuple(points), []).append(kernel)
    return {" =\n".join(kernels): list(points) for points, kernels in same.items()}


def _swept(table, metric):
    """The column that was swept: the first that varies among the rows of a kernel, Lq before all others."""
    names = list(table.columns)
    settings = names[: names.index("time_us_median")] if "time_us_median" in names else names
    kernels = set(table["kernel"])
    for name in sorted(settings, key=lambda name: name != "Lq"):
        if name == metric or isinstance(table[name], list):
            continue
        if len(set(zip(table["kernel"], table[name].tolist(), strict=True))) > len(kernels):
            return name
    return "Lq"


def _nothing(table, metric):
    reasons = table.columns.get(f"{metric}_source") or ["there are no rows"]
    return ValueError(f"metric: no row has {metric}: {reasons[0]}")


def _check_columns(table, metric, axis):
    names = list(table.columns)
    if metric in names and isinstance(table[metric], list) and not any(table[metric]):
        raise _nothing(table, metric)
    for argument, name in (("metric", metric), ("axis", axis)):
        if name not in names or isinstance(table[name], list):
            numbers = [n for n in names if not isinstance(table[n], list)]
            raise ValueError(f"{argument}: {name!r} is not a column of numbers; use one of {', '.join(numbers)}")


def _draw_quartiles(plot, table, axis):
    """A bar with caps from the first to the third quartile of each time; returns whether there is one."""
    colours = {kernel: line.get_color() for line in plot.get_lines() for kernel in line.get_label().split(" =\n")}
    drawn = False
    for kernel, x, low, high in zip(
        table["kernel"], table[axis], table["time_us_q1"], table["time_us_q3"], strict=True
    ):
        if kernel in colours and not (math.isnan(float(low)) or math.isnan(float(high))):
            plot.vlines(float(x), float(low), float(high), color=colours[kernel])
            plot.scatter([float(x)] * 2, [float(low), float(high)], marker="_", color=colours[kernel])
            drawn = True
    return drawn


def _plain_numbers():
    """Two formatters of a logarithmic axis. Within one power of 10, matplotlib's write numbers like 4.4 × 10⁰."""
    from matplotlib.ticker import LogFormatter

    class Plain(LogFormatter):
        def __call__(self, x, pos=None):
            return f"{x:,.10g}".replace(",", "\u202f") if super().__call__(x, pos) else ""

    return Plain(labelOnlyBase=False), Plain(labelOnlyBase=False, minor_thresholds=(1, 0.4))


def _scale(plot, metric, lines):
    ticks = sorted({x for points in lines.values() for x, _ in points})
    if ticks[0] > 0:
        plot.set_xscale("log", base=2)
    plot.set_xticks(ticks, [f"{x:g}" for x in ticks])
    plot.minorticks_off()
    if metric not in _LOG:
        plot.set_ylim(bottom=min(0, *(y for points in lines.values() for _, y in points)))
        return
    plot.set_yscale("log")
    major, minor = _plain_numbers()
    plot.yaxis.set_major_formatter(major)
    plot.yaxis.set_minor_formatter(minor)


def figure(table, metric="time_us_median", axis=None):
    """Returns a chart of one metric along an axis, with one line per kernel, as a matplotlib.figure.Figure.

    table: from :func:`attnscope.bench`. metric: any column of numbers, such as "time_us_median", "tflops",
    "dram_read_bytes" or "occupancy_achieved_pct". axis: the column along the horizontal axis; None: the column that was
    swept. Bars with caps show the quartiles of a time. Kernels with equal numbers share a line that is labelled
    "a = b". A notebook displays the chart, with or without %matplotlib inline.

    Raises ImportError without matplotlib, and ValueError if the table has no such column or the column has no values.

    >>> import attnscope
    >>> table = attnscope.bench(["cpu_tiled", "cpu_flash"], values=[32, 64], d=16, seconds=0.02)
    >>> chart = attnscope.figure(table, "tflops")
    >>> [line.get_label() for line in chart.axes[0].get_lines()]
    ['cpu_tiled', 'cpu_flash']
    """
    if not isinstance(table, Table):
        raise TypeError(f"table: a {type(table).__name__} is not a Table; use what bench() returns")
    if "kernel" not in table.columns:
        raise ValueError("table: has no column 'kernel'; use what bench() returns, and select that column, too")
    try:
        chart = _chart_type()(figsize=(7, 4), layout="constrained")
    except ImportError as error:
        raise ImportError(f"A figure needs matplotlib: pip install matplotlib ({error}).") from None
    axis = _swept(table, metric) if axis is None else axis
    _check_columns(table, metric, axis)
    lines = _merged(_points(table, metric, axis))
    if not lines:
        raise _nothing(table, metric)
    plot = chart.add_subplot()
    for n, (kernels, points) in enumerate(lines.items()):
        plot.plot(*zip(*points, strict=True), marker=_MARKS[n % len(_MARKS)], label=kernels)
    title, unit = _TITLES.get(metric, (metric, ""))
    if metric == "time_us_median" and {"time_us_q1", "time_us_q3"} <= set(table.columns):
        unit += "; bars: quartiles" if _draw_quartiles(plot, table, axis) else ""
    plot.set_title(title, loc="left")
    plot.set_ylabel(unit)
    plot.set_xlabel(axis)
    _scale(plot, metric, lines)
    plot.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return chart
