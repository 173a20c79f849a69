"""A recording's steps behind a slider in a notebook: anywidget, whose pictures all lie in the page."""

from .recordings import Recording, svg

__all__ = ["slider"]

_MOST_BYTES = 32 << 20  # of pictures in a page

# Every picture is the page's own: it walks with no kernel behind it, in an exported page too.
_SCRIPT = """
function render({ model, el }) {
  const box = document.createElement("div"), line = document.createElement("div");
  const range = document.createElement("input"), words = document.createElement("span");
  const pictures = model.get("pictures");
  range.type = "range";
  range.min = 0;
  range.max = pictures.length - 1;
  range.step = 1;
  range.style.width = "24em";
  range.setAttribute("aria-label", "step");
  box.style.overflowX = "auto";
  const show = () => {
    const step = model.get("step");
    range.value = step;
    words.textContent = " step " + step + " of " + pictures.length;
    box.innerHTML = pictures[step];
  };
  range.addEventListener("input", () => {
    model.set("step", Number(range.value));
    model.save_changes();
    show();
  });
  model.on("change:step", show);
  line.append(range, words);
  el.append(line, box);
  show();
  return () => model.off("change:step", show);
}
export default { render };
"""


def slider(recording, step=0):
    """A widget that walks the steps of a recording; needs anywidget (pip install anywidget).

    step: where it begins, from 0; negative ones count from the end. The widget's `step` is where it stands, and
    follows what is written to it; `recording.steps[widget.step]` has the arrays of what is seen.

    Raises ImportError without anywidget, and ValueError for a recording whose pictures would take more than 32 MiB.

    >>> import numpy as np, attnscope
    >>> x = np.arange(8, dtype=np.float32).reshape(4, 2)
    >>> widget = attnscope.slider(attnscope.record(x, x, x, tile=(2, 2)), step=2)
    >>> widget.step, len(widget.pictures)
    (2, 34)
    """
    if not isinstance(recording, Recording):
        raise TypeError(f"recording: {recording!r} is not a recording")
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise ImportError(f"A slider needs anywidget: pip install anywidget ({error}).") from None
    begin = recording.steps[step].number
    pictures, taken = [], 0
    for one in recording.steps:
        pictures.append(svg(one))
        taken += len(pictures[-1])
        if taken > _MOST_BYTES:
            raise ValueError(
                f"recording: the pictures of its {len(recording)} steps take more than {_MOST_BYTES >> 20} MiB; "
                "record a smaller problem, or show single steps"
            )

    class Slider(anywidget.AnyWidget):
        _esm = _SCRIPT
        step = traitlets.Int().tag(sync=True)
        pictures = traitlets.List(traitlets.Unicode()).tag(sync=True)

        @traitlets.validate("step")
        def _one_of_them(self, proposal):
            wanted = proposal["value"]
            if not 0 <= wanted < len(recording):
                raise traitlets.TraitError(f"there is no step {wanted}; the recording has {len(recording)} steps")
            return wanted

    return Slider(step=begin, pictures=pictures)
