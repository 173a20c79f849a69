"""The slider by its model, as a notebook's page drives it; figures against the tables that they draw; the notebooks of
docs/notebooks from empty."""

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import package

np = package.wanted("numpy")
attnscope = package.wanted("attnscope")
report = package.wanted("program").Report()
ROOT = pathlib.Path(__file__).resolve().parents[2]


def there(*names):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        print(f"left out: {', '.join(missing)} is not installed")
    return not missing


def recording(rows=8):
    x = np.random.default_rng(3).standard_normal((1, 1, rows, 4)).astype(np.float32)
    return attnscope.record(x, x, x, tile=(4, 4))


def figures_of(picture):
    """The numbers of a picture's tiles, in their order."""
    texts = re.findall(r"text-anchor='end'[^>]*>([^<]*)<", picture)
    return [float(t.replace("−", "-").replace("∞", "inf")) for t in texts]


def without_a_package():
    for name, call in (
        ("anywidget", lambda: attnscope.slider(recording())),
        ("matplotlib.figure", lambda: attnscope.figure(attnscope.Table({"kernel": ["a"], "Lq": [1]}), "Lq")),
    ):
        kept = sys.modules.get(name)
        sys.modules[name] = None
        try:
            package.refused(report, "A ", call, ImportError)
        finally:
            del sys.modules[name]
            if kept is not None:
                sys.modules[name] = kept


def the_model():
    run = recording()
    widget = attnscope.slider(run, step=-1)
    report.check(widget.step == len(run) - 1, f"it begins at step {widget.step}")
    state = widget.get_state()
    report.check({"step", "pictures", "words", "_esm", "_css"} <= set(state), f"what a page gets: {sorted(state)}")
    for number, picture in enumerate(state["pictures"]):
        step, shown = run.steps[number], figures_of(picture)
        right = [float(f"{float(x):.3g}") for name in step.names for x in step[name].flat]
        report.check(np.array_equal(shown, right, equal_nan=True), f"step {number} shows its numbers")
    widget.set_state({"step": 3})  # as the page sends it
    report.check(widget.step == 3, "the page moves the slider")
    seen = []
    widget.observe(lambda change: seen.append(change["new"]), "step")
    widget.step = 5
    report.check(seen == [5] and widget.get_state()["step"] == 5, "Python moves it, and the page is told")
    for wrong in (-1, len(run)):
        try:
            widget.step = wrong
            report.check(False, f"step {wrong} was taken")
        except Exception as error:
            report.check("is out of range" in str(error), f"{error}")
    package.refused(report, "recording: a str is not", lambda: attnscope.slider("run.attn"), TypeError)
    package.refused(report, "recording:", lambda: attnscope.slider(recording(256)), ValueError)
    return widget


# A page's side of it, with as much of a browser as it asks for.
PAGE = """
import { readFileSync } from "node:fs";
const state = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const element = () => ({ style: {}, children: [], heard: {}, attributes: {},
  setAttribute(name, value) { this.attributes[name] = value; },
  addEventListener(name, call) { this.heard[name] = call; },
  append(...all) { this.children.push(...all); },
  // What a border box has: the padding and the content, at least as high as the style says.
  get scrollHeight() { return Math.max(8 + (this.innerHTML?.length ?? 0), parseInt(this.style.minHeight) || 0); } });
globalThis.document = { createElement: element };
const told = [];
const model = { heard: {}, get: (name) => state[name],
  set(name, value) {
    const old = state[name];
    state[name] = value;
    if (old !== value) this.heard["change:" + name]();
  },
  save_changes() { told.push(state.step); },
  on(name, call) { this.heard[name] = call; }, off(name) { delete this.heard[name]; } };
const { default: widget } = await import(process.argv[3]);
const el = element(), end = widget.render({ model, el });
const [line, box] = el.children[0].children, [back, range, on, ...words] = line.children;
const see = () => saw.push([range.value, box.innerHTML, words.map((w) => w.textContent), back.disabled, on.disabled]);
const saw = [];
see();
range.value = "7"; range.heard.input();                   // a hand
see();
on.heard.click(); back.heard.click(); back.heard.click(); // a button each way
see();
state.step = 0; model.heard["change:step"]();             // Python
see();
const heights = [];
for (let n = 0; n < 3; ++n)
  for (const step of [0, 5, 9]) {
    range.value = step;
    range.heard.input();
    heights.push(parseInt(box.style.minHeight));
  }
end();
console.log(JSON.stringify({ saw, told: told.slice(0, 4), most: range.max, heard: Object.keys(model.heard), heights }));
"""


def the_page(widget):
    node = shutil.which("node")
    if node is None:
        print("left out: the page's side, for there is no node")
        return
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        state = {name: widget.get_state()[name] for name in ("step", "pictures", "words")}
        (here / "state.json").write_text(json.dumps(state), encoding="utf-8")
        (here / "slider.mjs").write_text(str(widget._esm), encoding="utf-8")
        (here / "page.mjs").write_text(PAGE, encoding="utf-8")
        words = [node, here / "page.mjs", here / "state.json", here / "slider.mjs"]
        run = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if run.returncode != 0:
        report.check(False, f"the page's side: {run.stderr[-500:]}")
        return
    got, pictures = json.loads(run.stdout), state["pictures"]
    for (value, picture, said, *ends), step in zip(got["saw"], (state["step"], 7, 6, 0)):
        report.check([int(value), picture] == [step, pictures[step]], f"it shows step {step}: {value}")
        right = [*state["words"][step], f"steps[{step}]"]
        report.check(said == right and said[0].startswith(f"Step {step + 1} of "), f"it says where it is: {said}")
        report.check(ends == [step == 0, step == len(pictures) - 1], f"at step {step} no button leads out: {ends}")
    tallest = 8 + max(len(pictures[step]) for step in (0, 5, 6, 7, 8, 9, state["step"]))
    report.check(set(got["heights"][2:]) == {tallest}, f"its height ends at the tallest step's: {got['heights']}")
    report.check("box-sizing: border-box" in str(widget._css), "the least height includes the padding, too")
    report.check(got["told"] == [7, 8, 7, 6], f"a hand moves it, and Python is told: {got['told']}")
    report.check(got["most"] == len(pictures) - 1 and got["heard"] == [], "it ends with its page")


def drawn(chart):
    """Of each kernel the points of its line, which kernels with equal points share."""
    all_lines = chart.axes[0].get_lines()
    return {name: line.get_xydata().tolist() for line in all_lines for name in line.get_label().split(" =\n")}


def made_up(**columns):
    """A sweep's table with these columns, of two kernels that differ in nothing."""
    settings = {"kernel": ["a", "a", "b", "b"], "Lq": [64] * 4, "D": [16, 32, 16, 32], "scale": [0.25, 0.18] * 2}
    times = {"time_us_median": [2, 5, 2, 5], "time_us_q1": [1, 4, 1, 4], "time_us_q3": [3, 7, 3, 7]}
    return attnscope.Table({**settings, **times, **columns})


def contrast(ink, paper):
    """Of two colours, by WCAG."""

    def light(colour):
        return sum(w * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4) for w, c in zip(WEIGHTS, colour))

    high, low = sorted((light(ink), light(paper)), reverse=True)
    return (high + 0.05) / (low + 0.05)


WEIGHTS = (0.2126, 0.7152, 0.0722)


def the_colours(widget):
    """Each number is legible on the fullest of its colours: JupyterLab's inks, and the palest of dark VS Code."""
    themes = re.findall(r"--more: (#\w+); --less: (#\w+);", str(widget._css))
    report.check(len(themes) == 2, f"light and dark: {themes}")
    for papers, inks in zip(themes, (((0, 0.87), (0x22 / 255, 1)), ((1, 0.87), (0xCC / 255, 1)))):
        for paper in papers:
            full = [int(paper[n : n + 2], 16) / 255 for n in (1, 3, 5)]
            for grey, part in inks:
                seen = contrast([part * grey + (1 - part) * c for c in full], full)
                report.check(seen >= 4.5, f"{grey} at {part} on {paper}: {seen:.2f}")


def where_no_widget_runs():
    """Beside the widget there is a picture of the step, which the widget's style hides."""
    run, widget = recording(), attnscope.slider(recording(), step=6)
    if not there("nbclient", "ipykernel"):
        return
    source = "import numpy as np, attnscope\nx = np.random.default_rng(3).standard_normal((1, 1, 8, 4)).astype('f')\n"
    seen = outputs_of(source + "attnscope.slider(attnscope.record(x, x, x, tile=(4, 4)), step=6)")
    kinds = [set(output.get("data", {})) for output in seen]
    report.check(len(kinds) == 2 and "application/vnd.jupyter.widget-view+json" in kinds[0], f"{kinds}")
    report.check(kinds[-1] == {"text/html"}, f"the still is no output of a terminal: {kinds}")
    html = seen[-1]["data"]["text/html"]
    right = [float(f"{float(x):.3g}") for name in run.steps[6].names for x in run.steps[6][name].flat]
    report.check(figures_of(html) == right and "Step 7 of " in html, "the still has the step's numbers")
    report.check("class='attnscope-still'" in html, "the still has a name")
    report.check(".attnscope-still { display: none; }" in str(widget._css), "a page with the widget hides the still")


def what_a_figure_says():
    chart = attnscope.figure(made_up())
    plot = chart.axes[0]
    report.check(plot.get_xlabel() == "D", f"the swept column is the axis: {plot.get_xlabel()}")
    names = [line.get_label() for line in plot.get_lines()]
    report.check(names == ["a =\nb"], f"equal kernels share a line with both names: {names}")
    report.check(plot.get_ylabel().endswith("bars: quartiles"), f"a word says what the bars are: {plot.get_ylabel()}")
    caps = sorted({float(y) for part in plot.collections for y in part.get_offsets()[:, 1] if len(part.get_offsets())})
    report.check({1.0, 3.0, 4.0, 7.0} <= set(caps), f"each bar ends in caps: {caps}")
    chart = attnscope.figure(made_up(time_us_q1=[float("nan")] * 4))
    report.check("quartiles" not in chart.axes[0].get_ylabel(), "no word of bars where there is none")
    chart = attnscope.figure(made_up(), axis="Lq")
    report.check(chart.axes[0].get_xlabel() == "Lq", "the axis that is asked for")
    chart = attnscope.figure(made_up(tflops=[1, 2, 3, 4], Lq=[64, 128] * 2), "tflops")
    names = [line.get_label() for line in chart.axes[0].get_lines()]
    report.check((chart.axes[0].get_xlabel(), names) == ("Lq", ["a", "b"]), f"Lq comes before D: {names}")
    one = attnscope.figure(attnscope.Table({"kernel": ["a"], "Lq": [64], "time_us_median": [4.435]}))
    one.canvas.draw()
    both = [*one.axes[0].get_yticklabels(), *one.axes[0].get_yticklabels(minor=True)]
    report.check(not any("times" in label.get_text() for label in both), f"ticks are plain numbers: {both}")
    package.refused(report, "table: a NoneType", lambda: attnscope.figure(None), TypeError)
    package.refused(report, "table: has no column 'kernel'", lambda: attnscope.figure(made_up().select("Lq")))


def shown_in_a_notebook():
    """A chart displays itself as one PNG, whether or not the notebook has %matplotlib inline."""
    report.check(attnscope.figure(made_up())._repr_png_().startswith(b"\x89PNG"), "a chart displays itself")
    if not there("nbclient", "ipykernel", "matplotlib_inline"):
        return
    drawing = "import attnscope\nattnscope.figure(attnscope.Table({'kernel': ['a'], 'Lq': [1], 'n': [1]}), 'n')"
    for magic in ("", "%matplotlib inline\n"):
        seen = outputs_of(magic + drawing)
        png = [output for output in seen if "image/png" in output.get("data", {})]
        report.check(len(png) == 1 and len(seen) == 1, f"{magic!r}: {[list(o.get('data', o)) for o in seen]}")


def outputs_of(source):
    """The outputs of one cell, run by a kernel of its own."""
    import nbclient
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return notebook.cells[0].outputs


def the_figures():
    table = attnscope.bench(["cpu_tiled", "cpu_flash"], values=[32, 64], d=16, seconds=0.02)
    for metric in ("time_us_median", "tflops", "compulsory_bytes"):
        chart = attnscope.figure(table, metric)
        lines = drawn(chart)
        for kernel in ("cpu_tiled", "cpu_flash"):
            right = [[r["Lq"], r[metric]] for r in table.rows() if r["kernel"] == kernel]
            report.check(lines.get(kernel) == right, f"{metric} of {kernel}: {lines.get(kernel)}, not {right}")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "chart.png"
        attnscope.figure(table).savefig(file)
        report.check(file.read_bytes().startswith(b"\x89PNG"), "a chart is saved")
    package.refused(report, "metric: 'speed' is not a column", lambda: attnscope.figure(table, "speed"))
    package.refused(report, "axis: 'kernel' is not a column", lambda: attnscope.figure(table, "tflops", axis="kernel"))
    package.refused(report, "metric: no row has dram_read", lambda: attnscope.figure(table, "dram_read_bytes"))


def the_notebooks():
    files = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
    report.check(bool(files), "there are notebooks")
    for file in files:
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        kept = [c for c in cells if c["cell_type"] == "code" and (c["outputs"] or c["execution_count"])]
        report.check(not kept, f"{file.name} is kept without what it printed")
        with tempfile.TemporaryDirectory() as folder:
            if there("nbclient", "ipykernel"):
                import nbclient
                import nbformat

                notebook = nbformat.read(file, as_version=4)
                place = {"metadata": {"path": folder}}
                try:
                    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=place).execute()
                    report.check(True, file.name)
                except Exception as error:
                    report.check(False, f"{file.name}: {error}")
                continue
            source = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
            words = [sys.executable, "-"]
            run = subprocess.run(words, input=source, cwd=folder, capture_output=True, text=True, timeout=120)
            report.check(run.returncode == 0, f"{file.name}: {run.stderr[-800:]}")


without_a_package()
if there("anywidget"):
    made = the_model()
    the_page(made)
    the_colours(made)
    where_no_widget_runs()
if package.has_program() and there("matplotlib"):
    the_figures()
    what_a_figure_says()
    shown_in_a_notebook()
    if there("anywidget"):
        the_notebooks()
report.exit(1)
