"""The microscope: every step of a run, its arrays as NumPy, where it first goes wrong, and pictures of it."""

import collections.abc
import contextlib
import html
import operator
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import typing

import numpy as np

from . import _core, program
from ._call import _options

__all__ = ["FirstWrong", "Recording", "Step", "load", "record", "show"]


class FirstWrong(typing.NamedTuple):
    """The first place where a run differs from the correct one.

    step: the first wrong step, from 0. phase, tensor: what the step did, and which of its tensors is wrong. b, h: batch
    and query head. row, column: the first wrong element, in the whole tensor (a key's index for S and P). recorded,
    right: the element's number, and what it should be. place, spread, cause: sentences; cause is empty if none is
    known.
    """

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

    def __str__(self):
        return "\n".join(words for words in (self.place, self.spread, self.cause) if words)


class Step:
    """One step of a recording: what it computed, and what is live after it.

    number: from 0, as in ``recording.steps``; texts count from 1 and have the index beside, as in "step 7 of 34
    (steps[6])". phase, letter: "rescale", "α". b, h: batch and query head; i, j: query
    and key tile, -1 if there is none. made: the tensors that the step computed; names: all tensors that are live after
    it. bytes: those that the step requested from HBM.

    >>> import numpy as np, attnscope
    >>> x = np.arange(8, dtype=np.float32).reshape(4, 2)
    >>> step = attnscope.record(x, x, x, tile=(2, 2)).steps[2]
    >>> step
    <step 3 of 34 (steps[2]), scores, query tile 0, key tile 0: s>
    >>> step.phase, step.made, step["s"].shape
    ('scores', ('s',), (2, 2))
    """

    def __init__(self, recording, number):
        self.recording, self.number = recording, number
        facts = recording._core.step(number)
        self.phase, self.letter = facts["phase"], facts["letter"]
        self.b, self.h, self.i, self.j = (facts[name] for name in "bhij")
        self.bytes, self.bytes_so_far = facts["bytes"], facts["bytes_so_far"]
        self.made, self.names = tuple(facts["made"]), tuple(facts["live"])

    def __getitem__(self, name):
        """The tile of that name after this step: a read-only float32 array [rows, columns], not copied.

        Raises KeyError if the step has no tile of that name.
        """
        return self._tile(name)[0]

    def _tile(self, name):
        try:
            found = self.recording._core.tile(self.number, name)
        except ValueError as error:
            raise KeyError(str(error)) from None
        if found is None:
            words = f"step {self.number + 1} (steps[{self.number}])"
            raise KeyError(f"{name} has not been computed after {words}; use one of {', '.join(self.names)}")
        return found

    def place(self, name):
        """(row, column) of the tile's first number in the whole tensor."""
        return self._tile(name)[1:3]

    def holds(self, name):
        """How the numbers are held, as a dict of scaled, base2, normalised, masked and partial."""
        return self._tile(name)[3]

    def __repr__(self):
        tiles = "".join(
            f", {name} {tile}" for name, tile in (("query tile", self.i), ("key tile", self.j)) if tile >= 0
        )
        made = f": {', '.join(self.made)}" if self.made else ""
        place = f"step {self.number + 1} of {len(self.recording)} (steps[{self.number}])"
        return f"<{place}, {self.phase}{tiles}{made}>"

    def picture(self, size=(1440, 900), theme="light"):
        """Returns the window's Step view at this step as PNG bytes: see :meth:`Recording.picture`."""
        return self.recording.picture(self.number, size, theme)

    def _repr_svg_(self):
        return svg(self)

    def _repr_html_(self):
        return page(self)


class Steps(collections.abc.Sequence):
    """The steps of a recording, in the order in which they ran."""

    def __init__(self, recording):
        self._recording = recording

    def __len__(self):
        return len(self._recording)

    def __getitem__(self, number):
        if isinstance(number, slice):
            return [Step(self._recording, n) for n in range(*number.indices(len(self)))]
        try:
            number = operator.index(number)
        except TypeError:
            raise TypeError(f"step: {number!r} is not an integer or a slice") from None
        if not -len(self) <= number < len(self):
            raise IndexError(f"step: {number} is out of range; use 0 to {len(self) - 1}")
        return Step(self._recording, number % len(self))


class Recording:
    """Every step of one run. Returned by :func:`record` and :func:`load`; immutable.

    kernel, device, order, problem: as text. tile: (Br, Bc). out, lse: the answer, as float32. steps: a sequence of
    :class:`Step`.
    """

    def __init__(self, core):
        self._core = core
        self.kernel, self.device, self.order, self.problem = core.kernel, core.device, core.order, core.problem
        self.tile, self.nbytes = core.tile_size, core.nbytes
        self.steps = Steps(self)

    def __len__(self):
        return len(self._core)

    def __repr__(self):
        return (
            f"<recording of {self.kernel} on {self.problem}, tile {self.tile[0]} × {self.tile[1]}: {len(self)} steps>"
        )

    @property
    def out(self):
        """The output [B, Hq, Lq, Dv] that the kernel stored, as a float32 copy. None for a backward pass."""
        return self._core.out

    @property
    def lse(self):
        """A copy of the output's log-sum-exp [B, Hq, Lq]. None for a backward pass."""
        return self._core.lse

    def array(self, name, step=-1, b=0, h=0):
        """Returns one head's whole tensor as known after a step: float32, NaN where nothing has been computed yet.

        name: "q", "k", "v", "s", "p", "m_new", "l_new", "alpha", "o_new", "lse". step: from 0; -1 is the last.
        Shapes: [Lq or Lk, D, Dv, Lk or 1].

        >>> import numpy as np, attnscope
        >>> x = np.arange(8, dtype=np.float32).reshape(4, 2)
        >>> recording = attnscope.record(x, x, x, tile=(2, 2))
        >>> int(np.isnan(recording.array("s", 2)).sum()), recording.array("s").shape
        (12, (4, 4))
        """
        return self._core.matrix(name, self.steps[step].number, b, h)

    def first_wrong(self, other=None):
        """Returns the place where this run first goes wrong; None if the run is correct.

        other: a correct recording with the same problem, numbers, tile and order; None: a recording of the
        ladder's own kernel with that order.

        >>> import numpy as np, attnscope
        >>> x = np.random.default_rng(1).standard_normal((8, 4)).astype(np.float32)
        >>> attnscope.record(x, x, x, tile=(4, 4)).first_wrong() is None
        True
        >>> wrong = attnscope.record(x, x, x, tile=(4, 4), kernel="museum_alpha_on_l_only")
        >>> wrong.first_wrong().phase
        'output'
        """
        if other is not None and not isinstance(other, Recording):
            raise TypeError(f"other: a {type(other).__name__} is not a recording; use what record() or load() returns")
        found = self._core.first_wrong(None if other is None else other._core)
        if found is None:
            return None
        counted = f"step {found['step'] + 1} ("
        found["place"] = found["place"].replace(counted, f"{counted}steps[{found['step']}], ", 1)
        return FirstWrong(**found)

    def verdict(self):
        """Returns ("pass", "wrong" or "not judged", reason, largest error, allowed error), by the rule against fp64."""
        return self._core.verdict()

    def save(self, file):
        """Writes an .attn file, which the window and :func:`load` open."""
        self._core.write(_path(file))

    def picture(self, step=0, size=(1440, 900), theme="light"):
        """Returns the window's Step view at a step as PNG bytes; the program draws it without a display."""
        number = self.steps[step].number + 1
        with tempfile.TemporaryDirectory(prefix="attnscope-") as folder:
            file, image = pathlib.Path(folder) / "run.attn", pathlib.Path(folder) / "step.png"
            self.save(file)
            words = ["shot", "--session", file, "--step", number, "--theme", theme, "--size", f"{size[0]}x{size[1]}"]
            program.run(*words, "-o", image, timeout=120)
            return image.read_bytes()

    def _repr_svg_(self):
        return svg(self.steps[len(self) - 1])

    def _repr_html_(self):
        return page(self.steps[len(self) - 1])


def record(
    q,
    k,
    v,
    *,
    tile=None,
    kernel="auto",
    causal=False,
    window=None,
    bias=None,
    softcap=None,
    alibi=None,
    scale=None,
    key_lengths=None,
    layout="bhld",
    options=None,
):
    """Runs a CPU kernel on exactly these numbers and keeps every step. The arguments are those of :func:`attention`.

    kernel: one whose row in :func:`kernels` records, or a piece of the bug museum ("museum_alpha_on_l_only").
    tile: (Br, Bc); None: the kernel's own. options: what-ifs such as {"subtract_max": False}.

    Returns a :class:`Recording`. Raises ValueError if the recording would exceed the program's limit, and for anything
    that attention() rejects. Recordings are meant for small problems, with hundreds of queries and keys.

    >>> import numpy as np, attnscope
    >>> x = np.arange(8, dtype=np.float32).reshape(4, 2)
    >>> attnscope.record(x, x, x, tile=(2, 2))
    <recording of cpu_flash on B=1 H=1 L=4 D=2 f32, tile 2 × 2: 34 steps>
    """
    asked = (kernel, causal, window, bias, softcap, alibi, scale, key_lengths, layout, _options(tile, None, options))
    return Recording(_core.record(*(_detached(x) for x in (q, k, v)), *asked))


def _detached(array):
    return array.detach() if hasattr(array, "detach") else array


def load(file):
    """Loads the recording in an .attn file, such as a GPU recording that the program wrote."""
    return Recording(_core.load(_path(file)))


def _path(file):
    try:
        return os.fspath(file)
    except TypeError:
        raise TypeError(f"file: a {type(file).__name__} is not a path") from None


def show(recording):
    """Opens the window on a recording or an .attn file, and returns its process, a subprocess.Popen, at once.

    Raises RuntimeError if there is no display.
    """
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise RuntimeError("No display is set (DISPLAY, WAYLAND_DISPLAY); use recording.picture() instead.")
    if not isinstance(recording, Recording):
        return subprocess.Popen([str(program.path()), os.fspath(recording)], stdin=subprocess.DEVNULL)
    folder = tempfile.mkdtemp(prefix="attnscope-")
    file = pathlib.Path(folder) / "notebook.attn"
    try:
        recording.save(file)
        window = subprocess.Popen([str(program.path()), str(file)], stdin=subprocess.DEVNULL)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    threading.Thread(target=_remove_after, args=(window, folder), daemon=True).start()
    return window


def _remove_after(window, folder):
    with contextlib.suppress(OSError):
        window.wait()
    shutil.rmtree(folder, ignore_errors=True)


# ---- a picture of a step's tiles that needs no program

_CELL, _HIGH, _GAP, _MOST, _WIDEST, _EDGE = 58, 20, 18, 12, 960, 10
_FONT = "font-family='sans-serif' font-size='11'"


def _number(value):
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "−∞"
    return f"{value:.3g}".replace("-", "−")


def _paint(value, largest):
    """White at 0, orange above, blue below: readable under black figures. A page's own style may say it otherwise."""
    if value != value or value in (float("inf"), float("-inf")):
        return "fill='#e8e8e8' class='none'"
    share = min(abs(value) / largest, 1) if largest else 0
    name, full = ("more", (244, 178, 102)) if value > 0 else ("less", (126, 174, 226))
    colour = "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in full)
    return f"fill='{colour}' class='{name}' style='--share:{round(100 * share)}%'"


def _outline(left, top, right, bottom, open_right, open_below):
    """The path around a tile, open where the tile goes on."""
    if open_right and open_below:
        return f"M{right + _EDGE} {top}H{left}V{bottom + _EDGE}"
    if open_right:
        return f"M{right + _EDGE} {top}H{left}V{bottom}H{right + _EDGE}"
    if open_below:
        return f"M{left} {bottom + _EDGE}V{top}H{right}V{bottom + _EDGE}"
    return f"M{left} {top}H{right}V{bottom}H{left}Z"


def _rest_svg(left, top, right, bottom, open_right, open_below):
    """The lines of a tile's grid a little beyond the cells that are drawn: there is more of it."""
    rows = "".join(f"M{right} {y}h{_EDGE}" for y in range(top, bottom + 1, _HIGH)) if open_right else ""
    columns = "".join(f"M{x} {bottom}v{_EDGE}" for x in range(left, right + 1, _CELL)) if open_below else ""
    return f"<path class='rest' d='{rows}{columns}' fill='none' stroke='#bbb' stroke-dasharray='4 2'/>"


def _cell_svg(value, x, y, largest):
    words = html.escape(_number(value))
    squeezed = f" textLength='{_CELL - 8}' lengthAdjust='spacingAndGlyphs'" if len(words) > 7 else ""
    anchor = f"x='{x + _CELL - 4}' y='{y + 14}' text-anchor='end'{squeezed}"
    size = f"width='{_CELL}' height='{_HIGH}'"
    return (
        f"<rect x='{x}' y='{y}' {size} {_paint(value, largest)} stroke='#bbb'/><text {anchor} {_FONT}>{words}</text>"
    )


def _tile_svg(step, name, left, top):
    """The elements of one tile whose first cell lies at (left, top), its width and its height.

    Of a large tile the first cells; their colours are by the largest number of all.
    """
    tile, (row, column), made = step[name], step.place(name), name in step.made
    rows, columns = min(tile.shape[0], _MOST), min(tile.shape[1], _MOST)
    largest = float(np.abs(tile[np.isfinite(tile)]).max(initial=0))
    is_open = columns < tile.shape[1], rows < tile.shape[0]
    title = f"{name} (first {rows} × {columns} of {tile.shape[0]} × {tile.shape[1]})" if any(is_open) else name
    weight = " font-weight='bold'" if made else ""
    place = f"{name}: rows {row} to {row + tile.shape[0] - 1}, columns {column} to {column + tile.shape[1] - 1}"
    parts = [f"<g class='tile'><title>{html.escape(place)}</title>"]
    parts.append(f"<text x='{left}' y='{top - 6}' {_FONT}{weight}>{html.escape(title)}</text>")
    for r in range(rows):
        for c in range(columns):
            parts.append(_cell_svg(float(tile[r, c]), left + c * _CELL, top + r * _HIGH, largest))
    box = (left, top, left + columns * _CELL, top + rows * _HIGH, *is_open)
    if any(is_open):
        parts.append(_rest_svg(*box))
    if made:
        parts.append(f"<path class='made' d='{_outline(*box)}' fill='none' stroke='#222' stroke-width='2'/>")
    width, height = columns * _CELL + _EDGE * is_open[0], rows * _HIGH + _EDGE * is_open[1]
    return "".join(parts) + "</g>", max(width, 7 * len(title)), height


def _whole(width, height, inside, style=""):
    size = f"width='{width}' height='{height}' viewBox='0 0 {width} {height}'{style}"
    return f"<svg xmlns='http://www.w3.org/2000/svg' {size}>{inside}</svg>"


def words_of(step):
    """Two texts, what the window's line says: the step counted from 1, its tile and letter; and the phase."""
    place = f"Step {step.number + 1} of {len(step.recording)}"
    last = step.recording.steps[-1]
    if last.b or last.h:
        place += f", batch {step.b}, query head {step.h}"
    for name, tile in (("query tile", step.i), ("key tile", step.j)):
        place += f", {name} {tile}" if tile >= 0 else ""
    return [f"{place}: {step.letter}", step.phase]


def _heading(step):
    return f"{'. '.join(words_of(step))} (steps[{step.number}])"


def svg(step):
    """Returns the tiles that are live after a step as SVG with their numbers; new ones have a thick outline."""
    words = _heading(step)
    left, top, tallest, widest, parts = 8, 48, 0, 8 + 7 * len(words), []
    for name in step.names:
        part, width, height = _tile_svg(step, name, left, top)
        if left > 8 and left + width > _WIDEST:
            left, top, tallest = 8, top + tallest + 34, 0
            part, width, height = _tile_svg(step, name, left, top)
        parts.append(part)
        left += width + _GAP
        tallest, widest = max(tallest, height), max(widest, left)
    height = top + tallest + 10
    background = f"<rect width='{widest}' height='{height}' fill='white'/>"
    head = f"<text x='8' y='18' {_FONT}>{html.escape(words)}</text>"
    return _whole(widest, height, background + head + "".join(parts))


def tiles(step, style=""):
    """As svg() has them, each a picture of its own with no background: a page breaks its lines between them."""
    drawn = (_tile_svg(step, name, 1, 20) for name in step.names)
    return "".join(_whole(width + 2, height + 22, part, style) for part, width, height in drawn)


def page(step):
    """The tiles as HTML: lines break between them, and a tile wider than the page shrinks. A page would cut an SVG."""
    head = f"<div style='font:11px sans-serif;margin-bottom:6px'>{html.escape(_heading(step))}</div>"
    line = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:6px 18px"
    fits = " style='max-width:100%;height:auto'"
    body = f"<div style='{line}'>{tiles(step, fits)}</div>"
    return f"<div style='background:white;color:black;padding:8px'>{head}{body}</div>"
