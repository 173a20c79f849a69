"""A slider through a recording's steps in a notebook: an anywidget whose pictures are all embedded in the page."""

from .recordings import Recording, page, tiles, words_of

__all__ = ["slider"]

_MOST_BYTES = 32 << 20  # of pictures in a page

# Every picture is the page's own: it walks with no kernel behind it, in an exported page too.
_SCRIPT = """
const make = (kind, name, into) => {
  const made = document.createElement(kind);
  made.className = "attnscope-" + name;
  into.append(made);
  return made;
};
function render({ model, el }) {
  const all = make("div", "slider", el), line = make("div", "line", all), box = make("div", "tiles", all);
  const back = make("button", "back", line), range = make("input", "range", line), on = make("button", "on", line);
  const place = make("span", "place", line), phase = make("strong", "phase", line), code = make("code", "code", line);
  const pictures = model.get("pictures"), words = model.get("words"), last = pictures.length - 1;
  let tallest = 0;
  range.type = "range";
  range.min = 0;
  range.max = last;
  range.step = 1;
  range.setAttribute("aria-label", "step");
  for (const [button, sign, says] of [[back, "‹", "previous step"], [on, "›", "next step"]]) {
    button.type = "button";
    button.textContent = sign;
    button.title = says;
    button.setAttribute("aria-label", says);
  }
  const show = () => {
    const step = model.get("step");
    range.value = step;
    back.disabled = step === 0;
    on.disabled = step === last;
    [place.textContent, phase.textContent] = words[step];
    code.textContent = "steps[" + step + "]";
    range.setAttribute("aria-valuetext", words[step].join(". "));
    box.innerHTML = pictures[step];
    // What lies below stays where it is when a step has fewer tiles. The height has the padding in it, as the minimum
    // does (box-sizing): else each step would add it once more.
    tallest = Math.max(tallest, box.scrollHeight || 0);
    box.style.minHeight = tallest + "px";
  };
  const go = (step) => {
    model.set("step", Math.min(Math.max(step, 0), last));
    model.save_changes();
  };
  range.addEventListener("input", () => go(Number(range.value)));
  back.addEventListener("click", () => go(model.get("step") - 1));
  on.addEventListener("click", () => go(model.get("step") + 1));
  // Its keys are its own, not the notebook's: JupyterLab reads the attribute, other pages listen above.
  line.setAttribute("data-lm-suppress-shortcuts", "true");
  line.addEventListener("keydown", (event) => event.stopPropagation());
  model.on("change:step", show);
  show();
  return () => model.off("change:step", show);
}
export default { render };
"""

# Colours by what the page around it has: JupyterLab, VS Code, Colab; else light.
_STYLE = """
.attnscope-slider {
  --paper: var(--jp-layout-color0, var(--vscode-editor-background, white));
  --ink: var(--jp-ui-font-color1, var(--vscode-editor-foreground, #222));
  --dim: var(--jp-ui-font-color2, var(--vscode-descriptionForeground, #666));
  --grid: #c8c8c8; --more: #f4b266; --less: #7eaee2; --none: #e8e8e8;
  color: var(--ink); font: 13px/1.5 var(--jp-ui-font-family, sans-serif); padding: 4px 0;
}
[data-jp-theme-light="false"] .attnscope-slider, .vscode-dark .attnscope-slider, [theme="dark"] .attnscope-slider {
  --grid: #4a4a4a; --more: #7a4a14; --less: #24568a; --none: #333;
}
.attnscope-line { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; }
.attnscope-line input { flex: 0 1 26em; min-width: 8em; margin: 0; accent-color: var(--jp-brand-color1, #2f6db3); }
.attnscope-line button {
  width: 24px; height: 24px; padding: 0; line-height: 1; font-size: 16px; color: var(--ink);
  background: none; border: 1px solid var(--grid); border-radius: 3px; cursor: pointer;
}
.attnscope-line button:disabled { color: var(--dim); opacity: 0.5; cursor: default; }
.attnscope-line :focus-visible { outline: 2px solid var(--jp-brand-color1, #2f6db3); outline-offset: 2px; }
.attnscope-place { margin-left: 8px; font-variant-numeric: tabular-nums; }
.attnscope-slider code { color: var(--dim); font-size: 12px; background: none; }
.attnscope-tiles { display: flex; flex-wrap: wrap; align-items: flex-start; align-content: flex-start; gap: 6px 18px; }
.attnscope-tiles { padding-top: 8px; box-sizing: border-box; overflow-x: auto; }
.attnscope-tiles svg { flex: none; max-width: none; }
.attnscope-tiles text { fill: var(--ink); font-family: inherit; font-variant-numeric: tabular-nums; }
.attnscope-tiles rect { stroke: var(--grid); }
.attnscope-tiles rect.more { fill: color-mix(in srgb, var(--more) var(--share), var(--paper)); }
.attnscope-tiles rect.less { fill: color-mix(in srgb, var(--less) var(--share), var(--paper)); }
.attnscope-tiles rect.none { fill: var(--none); }
.attnscope-tiles path.rest { stroke: var(--grid); }
.attnscope-tiles path.made { stroke: var(--ink); }
.attnscope-still { display: none; }
"""


def _still(step):
    """A step's picture for a page that runs no widgets. Where the widget runs, its style hides the picture."""
    words = "The slider does not run here. An exported page loads its widgets from the network."
    return f"<div class='attnscope-still'><p>{words}</p>{page(step)}</div>"


def _bundle(widget):
    """(data, metadata) of a widget's own display."""
    bundle = widget._repr_mimebundle_()
    return bundle if isinstance(bundle, tuple) else (bundle, {})


def slider(recording, step=0):
    """Returns a widget that steps through a recording. Needs anywidget (pip install anywidget).

    step: the first step shown, from 0; negative numbers count from the end. The widget's `step` is the current step and
    can be set; `recording.steps[widget.step]` has the arrays on screen. The text on the page counts steps from 1, as
    the window does. Use the slider, its arrow keys, Home and End, or the button in each direction. A page that cannot
    run widgets has the picture of the first step shown instead.

    Raises ImportError without anywidget, and ValueError for a recording whose pictures would take more than 32 MiB.

    >>> import numpy as np, attnscope
    >>> x = np.arange(8, dtype=np.float32).reshape(4, 2)
    >>> widget = attnscope.slider(attnscope.record(x, x, x, tile=(2, 2)), step=2)
    >>> widget.step, len(widget.pictures)
    (2, 34)
    """
    if not isinstance(recording, Recording):
        raise TypeError(
            f"recording: a {type(recording).__name__} is not a recording; use what record() or load() returns"
        )
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise ImportError(f"A slider needs anywidget: pip install anywidget ({error}).") from None
    begin = recording.steps[step].number
    pictures, words, taken = [], [], 0
    for one in recording.steps:
        words.append(words_of(one))
        pictures.append(tiles(one))
        taken += len(pictures[-1])
        if taken > _MOST_BYTES:
            raise ValueError(
                f"recording: the pictures of its {len(recording)} steps take more than {_MOST_BYTES >> 20} MiB; "
                "record a smaller problem, or show single steps"
            )

    class Slider(anywidget.AnyWidget):
        _esm = _SCRIPT
        _css = _STYLE
        step = traitlets.Int().tag(sync=True)
        pictures = traitlets.List(traitlets.Unicode()).tag(sync=True)
        words = traitlets.List().tag(sync=True)

        @traitlets.validate("step")
        def _one_of_them(self, proposal):
            wanted = proposal["value"]
            if not 0 <= wanted < len(recording):
                raise traitlets.TraitError(f"step: {wanted} is out of range; use 0 to {len(recording) - 1}")
            return wanted

        def _ipython_display_(self):
            from IPython.display import display

            data, metadata = _bundle(self)
            display(data, metadata=metadata, raw=True)
            display({"text/html": _still(recording.steps[self.step])}, raw=True)

    return Slider(step=begin, pictures=pictures, words=words)
