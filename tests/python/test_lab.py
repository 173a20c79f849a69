"""A notebook of docs/notebooks in JupyterLab in Chromium: executed there, its slider moved by mouse and by keyboard.
What the page shows is what the program says of the same numbers.

ATTNSCOPE_PICTURES: a folder for pictures of what was seen.
"""

import contextlib
import importlib.util
import json
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import package

np, attnscope = package.wanted("numpy", "attnscope")
package.wanted("jupyterlab", "anywidget", "matplotlib", "ipykernel")
sync_playwright = package.wanted("playwright.sync_api").sync_playwright
report = package.wanted("program").Report()
ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "notebooks" / "microscope.ipynb"
PICTURES = os.environ.get("ATTNSCOPE_PICTURES")
SECONDS = 60

# What the first slider of the page shows, as its own elements have it.
SHOWN = """(all) => ({
  place: all.querySelector(".attnscope-place").textContent,
  phase: all.querySelector(".attnscope-phase").textContent,
  code: all.querySelector(".attnscope-code").textContent,
  spoken: all.querySelector("input").getAttribute("aria-valuetext"),
  value: Number(all.querySelector("input").value),
  tiles: [...all.querySelectorAll("g.tile")].map((tile) => ({
    place: tile.querySelector("title").textContent,
    made: tile.querySelector("path.made") !== null,
    figures: [...tile.querySelectorAll("text[text-anchor=end]")].map((text) => text.textContent) })) })"""


def skipped(why):
    print(f"SKIPPED: {why}")
    sys.exit(77)


def the_numbers():
    """The notebook's own, made here anew; it uses them as Q, K and V."""
    return np.random.default_rng(1).standard_normal((1, 1, 16, 8)).astype(np.float32)


def the_program_says(folder):
    """Every step of the notebook's run, by the program."""
    file = pathlib.Path(folder) / "x.npy"
    np.save(file, the_numbers())
    words = ["step", "--q", file, "--k", file, "--v", file, "--tile", "4x4", "--causal", "--kernel", "cpu_flash"]
    return json.loads(attnscope.program.run(*words, "--json", timeout=120))["steps"]


def figure(value):
    return f"{float(value):.3g}".replace("-", "−").replace("inf", "∞")


def tile(values, row, column):
    place = f"rows {row} to {row + len(values) - 1}, columns {column} to {column + len(values[0]) - 1}"
    return place, [figure(x) for line in values for x in line]


def live_after(steps):
    """After each step: place and figures of each tensor, and which of them this step made.

    Inputs are the notebook's numbers at the step's tiles. The program said the others when it made
    them; what one key tile leaves behind as new is the next one's old, and another query tile begins anew.
    """
    x, i, j, live = the_numbers()[0, 0], None, None, {}
    for step in steps:
        if step["i"] != i:
            live = {name: what for name, what in live.items() if name in ("k", "v")}
        elif step["j"] != j:
            live.update({name.replace("_new", "_old"): what for name, what in live.items() if name.endswith("_new")})
        i, j = step["i"], step["j"]
        for made in step["made"]:
            live[made["tensor"]] = tile(made["values"], made["first_row"], made["first_col"])
        for name, at in (("q", i), ("k", j), ("v", j)):
            if at is not None:
                live[name] = tile(x[4 * at : 4 * at + 4], 4 * at, 0)
        yield dict(live), {made["tensor"] for made in step["made"]}


@contextlib.contextmanager
def jupyterlab(folder):
    """JupyterLab at a free port of this machine; gives its address and token."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home, token = pathlib.Path(folder) / "home", secrets.token_hex(24)
    home.mkdir()
    own = {"HOME": home, "JUPYTER_CONFIG_DIR": home / "config", "JUPYTER_DATA_DIR": home / "data",
           "JUPYTER_RUNTIME_DIR": home / "runtime", "JUPYTERLAB_SETTINGS_DIR": home / "settings",
           "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces", "IPYTHONDIR": home / "ipython",
           "JUPYTER_TOKEN": token}  # fmt: skip
    words = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
             "--ServerApp.port_retries=0", f"--ServerApp.root_dir={pathlib.Path(folder) / 'open'}"]  # fmt: skip
    log = pathlib.Path(folder) / "lab.log"
    with log.open("wb") as out:
        environment = {**os.environ, **{name: str(value) for name, value in own.items()}}
        lab = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment, cwd=folder)
    try:
        address, begun = f"http://127.0.0.1:{port}", time.monotonic()
        while True:
            with contextlib.suppress(OSError):
                request = urllib.request.Request(f"{address}/api/status", headers={"Authorization": f"token {token}"})
                urllib.request.urlopen(request, timeout=5).close()
                break
            if lab.poll() is not None or time.monotonic() - begun > SECONDS:
                raise RuntimeError(f"JupyterLab did not start: {log.read_text(errors='replace')[-800:]}")
            time.sleep(0.2)
        yield address, token, home / "settings"
    finally:
        lab.terminate()
        try:
            lab.wait(20)
        except subprocess.TimeoutExpired:
            lab.kill()
            lab.wait()


def settings(folder, theme):
    """The theme; every cell kept as elements, in view or not; and nothing asked of other servers."""
    for package_name, name, value in (
        ("apputils", "themes", {"theme": theme}),
        ("apputils", "notification", {"fetchNews": "false", "checkForUpdates": False}),
        ("notebook", "tracker", {"windowingMode": "none"}),
    ):
        place = folder / "@jupyterlab" / f"{package_name}-extension"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.jupyterlab-settings").write_text(json.dumps(value), encoding="utf-8")


class Lab:
    """The notebook as a page of JupyterLab shows it."""

    def __init__(self, browser, address, token):
        self.page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        self.page.set_default_timeout(SECONDS * 1000)
        self.thrown, self.asked = [], set()
        self.page.on("pageerror", lambda error: self.thrown.append(str(error)))
        self.page.on("request", lambda r: self.asked.add(r.url.split("/")[2]) if r.url.startswith("http") else None)
        self.page.goto(f"{address}/lab/tree/microscope.ipynb?reset&token={token}")
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        self.page.wait_for_selector("text=/ipykernel. . Idle/")  # before that it would ask which kernel
        self.slider = self.page.locator(".attnscope-slider").first
        self.range = self.slider.locator("input[type=range]")

    def run_all(self, cells):
        self.page.click(".lm-MenuBar-itemLabel >> text=Run")
        self.page.click(".lm-Menu-itemLabel >> text=/^Run All Cells$/")
        numbered = """(most) => [...document.querySelectorAll(".jp-CodeCell .jp-InputPrompt")]
            .filter((prompt) => /^\\[\\d+\\]:$/.test(prompt.textContent)).length >= most"""
        try:
            self.page.wait_for_function(numbered, arg=cells)
        except Exception:
            self.picture("lab_waiting")
            raise
        self.slider.wait_for()

    def shown(self):
        return self.slider.evaluate(SHOWN)

    def until(self, step):
        """What it shows, once it stands at that step."""
        begun = time.monotonic()
        while time.monotonic() - begun < 10:
            seen = self.shown()
            if seen["place"].startswith(f"Step {step + 1} of "):
                return seen
            time.sleep(0.02)
        return seen

    def at(self, part):
        """The point of the slider's track at a part of its way."""
        box, thumb = self.range.bounding_box(), 16
        return box["x"] + thumb / 2 + part * (box["width"] - thumb), box["y"] + box["height"] / 2

    def python(self, source):
        """What a new last cell prints, typed and run by hand."""
        self.page.locator(".jp-Notebook .jp-Cell .jp-InputPrompt").first.click()
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("a")
        self.page.keyboard.press("Enter")
        self.page.keyboard.type(source)
        self.page.keyboard.press("Control+Enter")
        output = self.page.locator(".jp-Notebook .jp-Cell").first.locator(".jp-OutputArea-output pre")
        output.wait_for()
        return output.inner_text().strip()

    def picture(self, name, element=None):
        if PICTURES:
            pathlib.Path(PICTURES).mkdir(parents=True, exist_ok=True)
            (element or self.page).screenshot(path=pathlib.Path(PICTURES) / f"{name}.png")


def right_at(seen, steps, after, number, how):
    """What is seen of a step is what the program says of it: its line, its tensors, their places and numbers."""
    said, (live, made) = steps[number], after[number]
    words = f"{how}, step {number}"
    report.check(seen["place"] == said["position"], f"{words}: {seen['place']}, the program: {said['position']}")
    report.check(seen["phase"] == said["phase"] and seen["code"] == f"steps[{number}]", f"{words}: {seen['phase']}")
    report.check(seen["spoken"] == f"{said['position']}. {said['phase']}", f"{words}: spoken {seen['spoken']}")
    report.check(seen["value"] == number, f"{words}: the slider stands at {seen['value']}")
    names = [tile["place"].split(":")[0] for tile in seen["tiles"]]
    report.check(made <= set(names) and bool(names), f"{words}: of what was made, {made}, there are {names}")
    for tile in seen["tiles"]:
        name, place = tile["place"].split(": ")
        report.check(tile["made"] == (name in made), f"{words}: {name} is marked as made: {tile['made']}")
        right = live.get(name)
        report.check((place, tile["figures"]) == right, f"{words}: {name} {place} {tile['figures'][:4]}, not {right}")
    return sum(len(tile["figures"]) for tile in seen["tiles"])


def by_mouse(lab, steps, after):
    last = len(steps) - 1
    lab.page.mouse.move(*lab.at(lab.shown()["value"] / last))
    lab.page.mouse.down()
    for part in (0.2, 0.35, 0.5):
        lab.page.mouse.move(*lab.at(part))
    lab.page.mouse.up()
    dragged = lab.shown()["value"]
    report.check(abs(dragged - last / 2) <= 1.5, f"the thumb, dragged to the middle, stands at {dragged} of {last}")
    right_at(lab.until(dragged), steps, after, dragged, "dragged")
    lab.page.mouse.click(*lab.at(0.25))
    clicked = lab.shown()["value"]
    report.check(abs(clicked - last / 4) <= 1.5, f"the track, clicked at a quarter: {clicked} of {last}")
    right_at(lab.until(clicked), steps, after, clicked, "clicked")
    for name, way in (("next step", 1), ("previous step", -1), ("previous step", -1)):
        lab.slider.get_by_role("button", name=name).click()
        clicked += way
        right_at(lab.until(clicked), steps, after, clicked, name)
    told = lab.python("print(widget.step)")
    report.check(told == str(clicked), f"Python is told of step {clicked}: {told}")


def by_keyboard(lab, steps, after):
    """From Home to End, each step, with the keys that JupyterLab has commands of its own for."""
    lab.range.focus()
    lab.page.keyboard.press("Home")
    figures, last = right_at(lab.until(0), steps, after, 0, "Home"), len(steps) - 1
    for number in range(1, last + 1):
        lab.page.keyboard.press("ArrowRight")
        figures += right_at(lab.until(number), steps, after, number, "ArrowRight")
    height = lab.slider.evaluate("(all) => all.offsetHeight")
    for _ in range(10):
        lab.page.keyboard.press("ArrowLeft")
    lab.until(last - 10)
    again = lab.slider.evaluate("(all) => all.offsetHeight")
    report.check(again == height, f"the height stays as the tallest step made it: {height}, then {again}")
    lab.page.keyboard.press("End")
    lab.until(last)
    report.check(figures > 5000, f"{figures} figures were read")
    for key, number in (("ArrowLeft", last - 1), ("ArrowDown", last - 2), ("ArrowUp", last - 1), ("End", last)):
        lab.page.keyboard.press(key)
        right_at(lab.until(number), steps, after, number, key)
    report.check(lab.python("print(widget.step)") == str(last), "Python is told of the keys")
    lab.range.focus()
    lab.page.keyboard.press("Home")
    lab.until(0)
    lab.page.keyboard.press("Shift+Tab")  # the buttons are reached by keys
    for _ in range(9):  # JupyterLab's own buttons of the cell may come first
        lab.page.keyboard.press("Tab")
        if lab.range.evaluate("(range) => document.activeElement === range"):
            break
    lab.page.keyboard.press("Tab")
    lab.page.keyboard.press("Enter")
    right_at(lab.until(1), steps, after, 1, "the button by keyboard")
    return figures


def walk(lab, steps, after, cells):
    lab.run_all(cells)
    outputs = lab.page.locator(".jp-OutputArea-output[data-mime-type*=stderr]")
    report.check(outputs.count() == 0, f"no cell says an error: {outputs.all_inner_texts()}")
    right_at(lab.until(6), steps, after, 6, "widget.step = 6 of the next cell")
    still = lab.page.locator(".attnscope-still")
    report.check(still.count() == 1 and not still.is_visible(), "beside a slider that runs its still is hidden")
    charts = lab.page.locator(".jp-OutputArea-output[data-mime-type='image/png']")
    report.check(charts.count() == 1, f"the last cell shows its chart, once: {charts.count()}")
    lab.page.locator(".jp-Notebook .jp-Cell").first.scroll_into_view_if_needed()
    lab.picture("lab_top")
    lab.slider.scroll_into_view_if_needed()
    lab.picture("lab_light")
    by_mouse(lab, steps, after)
    print(f"{by_keyboard(lab, steps, after)} figures of {len(steps)} steps, by keyboard")
    report.check(not lab.thrown, f"nothing is thrown: {lab.thrown[:3]}")


OFFLINE = """
import numpy as np, attnscope
x = np.random.default_rng(1).standard_normal((1, 1, 16, 8)).astype(np.float32)
recording = attnscope.record(x, x, x, tile=(4, 4), causal=True)
display(recording)
attnscope.slider(recording, step=6)
"""


def exported(browser, folder):
    """A page that nbconvert writes, 700 wide, without a network: the step's picture, whole, instead of the slider."""
    if importlib.util.find_spec("nbconvert") is None:
        print("left out: an exported page, for nbconvert is not installed")
        return
    import nbclient
    import nbconvert
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(OFFLINE)])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    file = pathlib.Path(folder) / "exported.html"
    file.write_text(nbconvert.HTMLExporter().from_notebook_node(notebook)[0], encoding="utf-8")
    page = browser.new_context(viewport={"width": 700, "height": 900}, offline=True).new_page()
    page.goto(file.as_uri())
    still = page.locator(".attnscope-still")
    report.check(still.count() == 1 and still.is_visible(), "an exported page without a network shows the step")
    report.check("Step 7 of " in still.text_content(), f"it says which: {still.text_content()[:200]}")
    ends = page.locator("svg").evaluate_all("(all) => all.map((svg) => svg.getBoundingClientRect().right)")
    report.check(len(ends) > 10 and max(ends) <= 700, f"each tile of both steps is whole: they end at {ends} of 700")
    if PICTURES:
        page.screenshot(path=pathlib.Path(PICTURES) / "exported_offline.png")


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        skipped("there is no chromium (app/setup/packages_web)")
    if not package.has_program():
        skipped("the program is not beside the package, and ATTNSCOPE_BINARY does not name it")
    cells = sum(c["cell_type"] == "code" for c in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        steps = the_program_says(folder)
        after = list(live_after(steps))
        (pathlib.Path(folder) / "open").mkdir()
        shutil.copy(NOTEBOOK, pathlib.Path(folder) / "open")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with jupyterlab(folder) as (address, token, kept):
            settings(kept, "JupyterLab Light")
            lab = Lab(browser, address, token)
            walk(lab, steps, after, cells)
            report.check(lab.asked == {address.split("/")[2]}, f"nothing is asked of another server: {lab.asked}")
            settings(kept, "JupyterLab Dark")
            dark = Lab(browser, address, token)
            dark.run_all(cells)
            right_at(dark.until(6), steps, after, 6, "in the dark theme")
            dark.slider.scroll_into_view_if_needed()
            dark.picture("lab_dark")
        exported(browser, folder)
        browser.close()


main()
report.exit(1000)
