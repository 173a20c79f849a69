"""attnscope.record: every step's arrays against NumPy in fp64, where a wrong run first goes wrong, files, pictures."""

import os
import pathlib
import re
import tempfile
import xml.etree.ElementTree

import package

np = package.wanted("numpy")
attnscope = package.wanted("attnscope")
program = package.wanted("program")
report = program.Report()
random = np.random.default_rng(4)


def numbers(*shape):
    return random.standard_normal(shape).astype(np.float32)


def near(words, got, right, allowed=1e-5):
    error = np.abs(np.asarray(got, np.float64) - right).max()
    report.check(error <= allowed, f"{words}: off by {error}")


def walk():
    """S, m, P, l and O of every step of a flash run, by the definition over the keys seen so far."""
    q, k, v = numbers(2, 4, 10, 6), numbers(2, 2, 13, 6), numbers(2, 2, 13, 5)
    recording = attnscope.record(q, k, v, tile=(4, 3), causal=True)
    right, right_lse = program.attention(q, k, v, causal=True)
    near("O", recording.out, right)
    near("LSE", recording.lse, right_lse, 1e-4)
    report.check(recording.out.shape == (2, 4, 10, 5) and recording.tile == (4, 3), f"{recording!r}")
    own = np.arange(10)[:, None] + 3
    seen = np.arange(13)[None, :] <= own
    counted = dict.fromkeys(("s", "m_new", "o_new"), 0)
    for step in recording.steps:
        s = q[step.b, step.h].astype(np.float64) @ k[step.b, step.h // 2].T / np.sqrt(6)
        s = np.where(seen, s, -np.inf)
        for name in step.made:
            tile, (row, column) = step[name], step.place(name)
            rows = slice(row, row + tile.shape[0])
            if name == "s" and step.phase == "scores":
                whole = q[step.b, step.h].astype(np.float64) @ k[step.b, step.h // 2].T / np.sqrt(6)
                near(f"{step!r} S", tile, whole[rows, column : column + tile.shape[1]])
                counted["s"] += 1
            if name == "m_new" and step.phase == "max":
                near(f"{step!r} m", tile[:, 0], s[rows, : 3 * step.j + 3].max(1))
                counted["m_new"] += 1
            if name == "o_new" and step.phase == "output":
                upto = s[rows, : 3 * step.j + 3]
                p = np.exp(upto - upto.max(1, keepdims=True))
                near(f"{step!r} O", tile, p @ v[step.b, step.h // 2, : upto.shape[1]])
                counted["o_new"] += 1
    report.check(min(counted.values()) > 50, f"steps of each kind were looked at: {counted}")
    whole = recording.array("o_new", b=1, h=3)
    near("the last O", whole, right[1, 3])
    first = recording.array("s", 0)
    report.check(np.isnan(first).all() and first.shape == (10, 13), "before its first step S is not computed")
    near("V", recording.array("v", b=1, h=2), v[1, 1], 0)


def what_is_kept():
    x = numbers(1, 1, 8, 4)
    recording = attnscope.record(x, x, x, tile=(4, 4))
    step = recording.steps[-1]
    tile = step["o_new"]
    kept = tile.copy()
    del recording, step
    for _ in range(20):
        attnscope.record(x * 2, x, x, tile=(4, 4))
    report.check(np.array_equal(tile, kept), "a tile outlives its recording")
    report.check(not tile.flags.writeable, "a tile is read-only")
    recording = attnscope.record(x, x, x, tile=(4, 4))
    report.check(len(recording.steps) == len(list(recording.steps)) == len(recording.steps[:]), "steps are a sequence")
    for words, call, kind in (
        ("a step beyond", lambda: recording.steps[999], IndexError),
        ("a tensor that is none", lambda: recording.steps[0]["x"], KeyError),
        ("a tensor that is not yet", lambda: recording.steps[0]["lse"], KeyError),
        ("a head that is none", lambda: recording.array("s", b=3), ValueError),
    ):
        try:
            call()
            report.check(False, f"{words} is given")
        except kind:
            report.check(True, words)
    package.refused(report, "kernel:", lambda: attnscope.record(x, x, x, kernel="flash_mma"))
    package.refused(report, "kernel:", lambda: attnscope.record(x, x, x, kernel="cpu_flash_bwd"))
    big = np.zeros((1, 8, 4096, 64), np.float32)
    package.refused(report, "", lambda: attnscope.record(big, big, big), ValueError, RuntimeError)


def wrong_runs():
    x, y, z = (numbers(1, 2, 16, 8) for _ in range(3))
    for kernel in ("cpu_flash", "cpu_flash1", "cpu_tiled", "cpu_multicore"):
        recording = attnscope.record(x, y, z, tile=(4, 4), kernel=kernel)
        report.check(recording.first_wrong() is None, f"{kernel} is right at every step")
        report.check(recording.verdict()[0] == "pass", f"{kernel}: {recording.verdict()}")
    wrong = attnscope.record(x, y, z, tile=(4, 4), kernel="museum_alpha_on_l_only")
    right = attnscope.record(x, y, z, tile=(4, 4))
    found = wrong.first_wrong(right)
    report.check(found == wrong.first_wrong(), "the same with the right run given and found")
    step = wrong.steps[found.step]
    report.check((step.phase, found.tensor) == ("output", "o_new"), f"{found}")
    row, column = found.row - step.place("o_new")[0], found.column
    report.check(float(step["o_new"][row, column]) == found.recorded, "the number named is the recording's")
    near("what is right", right.steps[found.step]["o_new"][row, column], found.right)
    report.check(bool(found.cause) and wrong.verdict()[0] == "wrong", f"{found.cause}")
    infinite = attnscope.record(x * 50, y * 50, z, tile=(4, 4), options={"subtract_max": False})
    report.check(infinite.first_wrong() is not None, "a what-if that overflows is found")
    package.refused(report, "other:", lambda: wrong.first_wrong(3))


def files_and_pictures():
    x = numbers(1, 1, 6, 4)
    recording = attnscope.record(x, x, x, tile=(2, 2))
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "run.attn"
        recording.save(file)
        again = attnscope.load(file)
        same = all(np.array_equal(a[name], b[name]) for a, b in zip(recording.steps, again.steps) for name in a.names)
        report.check(same and len(again) == len(recording), "a file holds every step")
        package.refused(
            report, "", lambda: attnscope.load(pathlib.Path(folder) / "none.attn"), RuntimeError, ValueError
        )
    step = recording.steps[6]
    root = xml.etree.ElementTree.fromstring(step._repr_svg_())
    texts = ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("text")]
    for name in step.names:
        report.check(any(text.startswith(name) for text in texts), f"the SVG has {name}")
        for value in step[name].flat:
            words = f"{value:.3g}".replace("-", "−") if np.isfinite(value) else "−∞"
            report.check(words in texts, f"the SVG has {words} of {name}")
    try:
        attnscope.program.path()
    except FileNotFoundError as error:
        print(f"left out: pictures by the program; {error}")
        return
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "backward.attn"
        attnscope.program.run("step", "--preset", "blackboard", "--pass", "backward", "--attn", file)
        gradients = attnscope.load(file)
    report.check(gradients.out is None and gradients.array("dq").shape == (4, 2), "a backward is walked, too")
    report.check(gradients.verdict()[0] == "pass", f"its verdict: {gradients.verdict()}")
    try:
        png = step.picture()
    except RuntimeError as error:  # no OpenGL here
        print(f"left out: pictures by the program; {error}")
        return
    report.check(png.startswith(b"\x89PNG") and len(png) > 20000, "a step's picture is a PNG")
    report.check(png == recording.picture(6) and png != recording.picture(7), "two steps differ")


def what_a_step_says():
    """Texts count steps from 1 and have the index beside; a picture of a large tile says that it is a part."""
    x = numbers(1, 1, 16, 8)
    wrong = attnscope.record(x, x, x, tile=(4, 4), kernel="museum_alpha_on_l_only")
    found, step = wrong.first_wrong(), wrong.steps[6]
    both = f"step {found.step + 1} (steps[{found.step}], output, "
    report.check(str(found).startswith(both) and found.place.startswith(both), f"{found}")
    report.check(repr(step).startswith(f"<step 7 of {len(wrong)} (steps[6]), "), f"{step!r}")
    picture = step._repr_svg_()
    report.check(f"Step 7 of {len(wrong)}, " in picture and "(steps[6])" in picture, "so does the picture")
    on_page = step._repr_html_()
    texts = [sorted(re.findall(r"text-anchor='end'[^>]*>([^<]*)<", shown)) for shown in (picture, on_page)]
    report.check(texts[0] == texts[1] and "(steps[6])" in on_page, "a page has the same numbers")
    report.check(on_page.count("max-width:100%") == len(step.names), "and each tile fits a narrow page")
    for shown in (step, wrong):
        report.check(not hasattr(shown, "_repr_png_"), "to display one does not run the program")
    package.refused(report, "step: 999 is out of range; use 0 to", lambda: wrong.steps[999], IndexError)
    package.refused(report, "step: 'a' is not an integer", lambda: wrong.steps["a"], TypeError)
    package.refused(report, "file: a NoneType", lambda: attnscope.load(None), TypeError)
    package.refused(report, "other: a list", lambda: wrong.first_wrong([]), TypeError)
    q = numbers(1, 1, 13, 20)
    q[0, 0, 12, 19] = 100
    picture = attnscope.record(q, q, q, tile=(13, 12)).steps[0]._repr_svg_().split("<g class='tile'>")[1]
    report.check("q (first 12 × 12 of 13 × 20)" in picture, "a part of a tile is named as one")
    shares = [int(share) for share in re.findall(r"--share:(\d+)%", picture)]
    report.check(len(shares) == 144 and max(shares) < 10, f"colours are by the tile's largest number: {shares}")
    outline = re.search(r"<path class='made' d='([^']*)'", picture)[1]
    report.check("Z" not in outline and picture.count("class='rest'") == 1, f"it has open edges: {outline}")
    whole = attnscope.record(x, x, x, tile=(4, 4)).steps[0]._repr_svg_()
    outline = re.search(r"<path class='made' d='([^']*)'", whole)[1]
    report.check("Z" in outline and "rest" not in whole, "a whole is closed")


os.environ.pop("DISPLAY", None)
os.environ.pop("WAYLAND_DISPLAY", None)
for part in (walk, what_is_kept, wrong_runs, what_a_step_says, files_and_pictures):
    part()
package.refused(
    report, "No display is set", lambda: attnscope.show(attnscope.record(*[numbers(4, 2)] * 3)), RuntimeError
)
report.exit(200)
