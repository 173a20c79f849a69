"""Pictures of Step and Bench against those that were looked at and approved, in tests/pictures, in dark and light, and
once more in a language that is a third longer.

    python3 tests/cli/test_pictures.py            compares; what differs is left in the folder it names
    python3 tests/cli/test_pictures.py --approve  draws them anew: look at each before it is committed

A picture is 1440 x 900, stored at half that size. Software renderers differ in how they smooth edges, so few pixels may
differ, and none far; two different pictures are far beyond what is allowed, which is checked too.
"""

import os
import pathlib
import sys
import tempfile

import numpy as np

from program import Report, run

try:
    from PIL import Image
except ImportError:
    print("There is no Pillow here: apt install python3-pil")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
APPROVED = ROOT / "tests" / "pictures"
# From ROOT: a view names the file it was loaded from, and no picture may depend on where the project lies.
H100 = "assets/sessions/h100.attn"
LEARN = "attn1,workspace=learn,"
PIPELINE = "attn1,preset=random,L=4/32,D=4,br=2,bc=4,set=pipeline:"
TIMELINE = "attn1,workspace=profile,profile_page=timeline,"
PICTURES = {
    "blackboard": ["--preset", "blackboard", "--step", "14"],
    "late_outlier": ["--preset", "late_outlier", "--step", "26"],
    "causal_partial": ["--preset", "causal", "--step", "8"],
    "masked_row": ["--preset", "masked_row", "--step", "8"],
    "ragged": ["--preset", "ragged", "--step", "66", "--chart", "hindsight"],
    "heat_map": ["--l", "128", "--d", "64", "--tile", "16x16", "--generator", "normal", "--step", "30"],
    "large_logits": ["--preset", "large_logits", "--step", "14", "--chart", "error"],
    "large_logits_no_max": ["--preset", "large_logits", "--no-max", "--step", "14", "--chart", "error"],
    "three_passes": ["--preset", "random", "--kernel", "cpu_multicore", "--step", "9", "--chart", "passes"],
    "backward": ["--pass", "backward", "--l", "16", "--d", "4", "--tile", "4x4", "--generator", "normal", "--seed",
                 "61", "--step", "67"],
    "wrong_run": ["--kernel", "museum_alpha_on_l_only", "--preset", "late_outlier", "--step", "15"],
    "learn_question": ["--view", "learn", "--state", LEARN + "lesson=one-pass,beat=past"],
    "learn_mistake": ["--view", "learn", "--state", LEARN + "lesson=one-pass,beat=past", "--answer", "wrong"],
    "learn_class": ["--view", "learn", "--state", LEARN + "teach=1,lesson=by-hand,beat=largest"],
    "profile_gpu": ["--view", "profile", "--session", H100],
    "pipeline": ["--state", PIPELINE + "hopper", "--step", "60"],
    "pipeline_one_slot": ["--state", PIPELINE + "hopper_one_slot", "--step", "60"],
    "timeline": ["--view", "profile", "--state", TIMELINE + "profile_timeline=2141999f,profile_key_tile=4"],
    "timeline_turns": ["--view", "profile", "--state", TIMELINE + "profile_timeline=d4b6cc2b,"
                       "profile_time_beside=fb866afa-a2a8"],
    "timeline_sms": ["--view", "profile", "--state", TIMELINE + "profile_timeline=8a8af4d9,profile_time_sms=1"],
    "pages": ["--preset", "pages", "--step", "16", "--chart", "pages"],
    "fragments": ["--l", "16", "--d", "64", "--tile", "4x4", "--chart", "fragments"],
    "bench_ladder": ["--view", "bench", "--state", "attn1,bench_page=ladder",
                     "--session", H100],
    "bench_tiles": ["--view", "bench", "--state", "attn1,bench_page=tiles,bench_kernel=flash_mma,"
                    "sweep_kernels=flash_mma,sweep_dtype=f16,sweep_D=128,sweep_values=4096,sweep_arch=sm_86"],
    "bench_gpu": ["--view", "bench", "--session", H100],
}
# Of 255: the mean difference, and from where on a pixel counts as another one, in percent of all pixels.
MOST_MEAN, FAR, MOST_FAR_PERCENT = 1.2, 48, 0.15


def drawn(name, theme, folder, language=None):
    path = folder / f"{name}-{theme}{'-' + language if language else ''}.png"
    view = PICTURES[name] if "--view" in PICTURES[name] else ["--view", "step", *PICTURES[name]]
    prefix = f"export ATTNSCOPE_LANGUAGE={language}" if language else None
    done = run("shot", *view, "--theme", theme, "-o", path, prefix=prefix, cwd=ROOT)
    if "Cannot draw a picture" in done.stderr:
        print(done.stderr.strip())
        sys.exit(77)
    if done.returncode != 0:
        raise SystemExit(f"FAILED {name}, {theme}: exit {done.returncode}: {done.stderr}")
    with Image.open(path) as image:
        return image.convert("RGB").reduce(2)


def difference(a, b):
    """Mean over all channels, and percent of pixels that are far off in one of them."""
    if a.size != b.size:
        return 255.0, 100.0
    d = np.abs(np.asarray(a, np.int16) - np.asarray(b, np.int16))
    return float(d.mean()), 100 * float((d.max(-1) > FAR).mean())


def same(a, b):
    mean, far = difference(a, b)
    return mean <= MOST_MEAN and far <= MOST_FAR_PERCENT


def approve():
    APPROVED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in PICTURES:
            for theme in ("dark", "light"):
                image = drawn(name, theme, pathlib.Path(folder))
                # 256 colours are enough to compare with, at a third of the bytes, where none of them is far off.
                fewer = image.quantize(256)
                _, far = difference(fewer.convert("RGB"), image)
                (fewer if far < MOST_FAR_PERCENT / 10 else image).save(APPROVED / f"{name}-{theme}.png", optimize=True)


def compare():
    """What is drawn stays in ATTNSCOPE_PICTURES, to look at; without that it goes."""
    kept = os.environ.get("ATTNSCOPE_PICTURES")
    if kept:
        pathlib.Path(kept).mkdir(parents=True, exist_ok=True)
        compare_in(pathlib.Path(kept))
    else:
        with tempfile.TemporaryDirectory() as folder:
            compare_in(pathlib.Path(folder))


def compare_in(folder):
    report = Report()
    for theme in ("dark", "light"):
        seen = {}
        for name in PICTURES:
            approved = APPROVED / f"{name}-{theme}.png"
            if not approved.exists():
                report.check(False, f"there is no approved {approved}")
                continue
            with Image.open(approved) as image:
                wanted = image.convert("RGB")
            now = drawn(name, theme, folder)
            mean, far = difference(now, wanted)
            report.check(same(now, wanted), f"{name}, {theme}: mean difference {mean:.2f} of {MOST_MEAN}, "
                                            f"{far:.2f} % of {MOST_FAR_PERCENT} % far off; drawn: {folder}")
            seen[name] = now
        names = list(seen)
        for n, name in enumerate(names[1:]):
            report.check(not same(seen[names[n]], seen[name]), f"{names[n]} and {name} count as the same picture")
    # A third longer and with accents: every text has letters that the faces hold, and nothing stops the drawing. What
    # is cut or meets its neighbour is told by tests/gui/shell/pseudo_test.cpp.
    for name in PICTURES:
        longer = drawn(name, "dark", folder, "pseudo")
        if name == "learn_class":
            continue  # all that it says is its lesson's
        with Image.open(APPROVED / f"{name}-dark.png") as image:
            report.check(not same(longer, image.convert("RGB")), f"{name}: no text of it is marked")
    report.exit(least=5 * len(PICTURES) - 3)


if "--approve" in sys.argv[1:]:
    approve()
else:
    compare()
