"""Bench's charts as matplotlib figures, drawn from the tables that bench(), compare() and profile() return."""

import math

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


def _points(table, metric, axis):
    """Of each kernel its (x, y), by x; rows without a figure are left out."""
    lines = {}
    for kernel, x, y in zip(table["kernel"], table[axis], table[metric], strict=True):
        if not math.isnan(float(y)):
            lines.setdefault(kernel, []).append((float(x), float(y)))
    return {kernel: sorted(points) for kernel, points in lines.items()}


def _nothing(table, metric):
    reasons = table.columns.get(f"{metric}_source") or ["there are no rows"]
    return ValueError(f"metric: no row has {metric}: {reasons[0]}")


def figure(table, metric="time_us_median", axis="Lq"):
    """Returns a chart of one metric along an axis, with one line per kernel, as a matplotlib.figure.Figure.

    table: from :func:`attnscope.bench`. metric: any column of numbers, such as "time_us_median", "tflops",
    "dram_read_bytes" or "occupancy_achieved_pct". axis: the column along the horizontal axis. Whiskers
    show the quartiles of a time.

    Raises ImportError without matplotlib, and ValueError if the table has no such column or the column has no values.

    >>> import attnscope
    >>> table = attnscope.bench(["cpu_tiled", "cpu_flash"], values=[32, 64], d=16, seconds=0.02)
    >>> chart = attnscope.figure(table, "tflops")
    >>> [line.get_label() for line in chart.axes[0].get_lines()]
    ['cpu_tiled', 'cpu_flash']
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(f"A figure needs matplotlib: pip install matplotlib ({error}).") from None
    names = list(table.columns)
    if metric in names and isinstance(table[metric], list) and not any(table[metric]):
        raise _nothing(table, metric)
    for argument, name in (("metric", metric), ("axis", axis)):
        if name not in names or isinstance(table[name], list):
            numbers = [n for n in names if not isinstance(table[n], list)]
            raise ValueError(f"{argument}: {name!r} is not a column of numbers; use one of {', '.join(numbers)}")
    lines = _points(table, metric, axis)
    if not lines:
        raise _nothing(table, metric)
    chart = Figure(figsize=(7, 4), layout="constrained")
    plot = chart.add_subplot()
    for n, (kernel, points) in enumerate(lines.items()):
        plot.plot(*zip(*points, strict=True), marker=_MARKS[n % len(_MARKS)], label=kernel)
    if metric == "time_us_median" and {"time_us_q1", "time_us_q3"} <= set(names):
        drawn = {line.get_label(): line.get_color() for line in plot.get_lines()}
        for row, kernel in enumerate(table["kernel"]):
            low, high = float(table["time_us_q1"][row]), float(table["time_us_q3"][row])
            if kernel in drawn and not (math.isnan(low) or math.isnan(high)):
                plot.vlines(float(table[axis][row]), low, high, color=drawn[kernel])
    title, unit = _TITLES.get(metric, (metric, ""))
    plot.set_title(title, loc="left")
    plot.set_ylabel(unit)
    plot.set_xlabel(axis)
    plot.set_xscale("log", base=2)
    ticks = sorted({x for points in lines.values() for x, _ in points})
    plot.set_xticks(ticks, [f"{x:g}" for x in ticks])
    plot.minorticks_off()
    if metric in _LOG:
        plot.set_yscale("log")
    else:
        plot.set_ylim(bottom=0)
    plot.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return chart
