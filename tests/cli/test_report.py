"""`attnscope report`: the folder holds what it says, and its summary says what the rows say."""

import csv
import math
import pathlib
import re
import struct
import tempfile

from program import Report, run

report = Report()
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLOTS = ("latency.png", "throughput.png", "speedup.png", "dram_bytes.png", "memory.png")


def size_of(png):
    """Width and height out of the first chunk."""
    head = png.read_bytes()[:24]
    return struct.unpack(">II", head[16:24]) if head.startswith(b"\x89PNG") else None


def whole_report(folder):
    session, out = folder / "sweep.attn", folder / "made" / "report"
    run("bench", "--kernels", "cpu_multicore,cpu_flash", "--values", "32,64,128", "--d", "8", "--time-limit", "0.05",
        "-o", session)
    done = run("report", session, "-o", out)
    report.check(done.returncode == 0, f"exit {done.returncode}: {done.stderr}")
    text = (out / "summary.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader((out / "rows.csv").open(encoding="utf-8")))
    report.check(len(rows) == 6, f"{len(rows)} rows in rows.csv")
    if "no plots" in done.stderr:
        print("left out: the plots, " + done.stderr.strip())
        report.check("No plots: " in text, "the summary does not say that there are no plots")
    else:
        for plot in PLOTS:
            report.check(size_of(out / plot) == (960, 600), f"{plot} is {size_of(out / plot)}")
            report.check(f"({plot})" in text, f"the summary does not show {plot}")
    for value in (32, 64, 128):
        report.check(f"**At L = {value}, " in text, f"no verdict at {value}: {text}")
    # How time grows, computed again from the rows.
    times = {(r["kernel"], int(r["Lq"])): float(r["time_us_median"]) for r in rows}
    for kernel in ("cpu_multicore", "cpu_flash"):
        said = re.search(rf"- {kernel}: .*, as L\^(-?\d+(?:\.\d+)?)", text)
        ratio = times[kernel, 128] / times[kernel, 64]
        report.check(said is not None and abs(float(said[1]) - math.log2(ratio)) <= 0.006,
                     f"{kernel}: {said and said[0]}, the rows make {math.log2(ratio):.3f}")
    lines = [line for line in text.splitlines() if line.startswith("| cpu_")]
    report.check(len(lines) == 6, f"{len(lines)} rows in the table")
    report.check(len({line.count("|") for line in lines}) == 1, "rows of the table have different widths")


def bundled_session(folder):
    done = run("report", ROOT / "assets" / "sessions" / "h100.attn", "-o", folder / "h100")
    report.check(done.returncode == 0, f"the bundled session: exit {done.returncode}: {done.stderr}")
    text = (folder / "h100" / "summary.md").read_text(encoding="utf-8")
    report.check("NVIDIA H100" in text, "the summary does not name the device")
    said = re.search(r"At L = 16384 \(B = 1\), flash_simt is \d+ times as fast as naive", text)
    report.check(said is not None, text[:500])


def what_will_not_do(folder):
    nothing = folder / "empty.attn"
    for name, arguments, words in (
            ("a file that is none", ["report", __file__, "-o", folder / "x"], "test_report.py"),
            ("a file that is not there", ["report", nothing, "-o", folder / "x"], "empty.attn"),
            ("a theme that is none", ["report", folder / "sweep.attn", "--theme", "blue", "-o", folder / "x"], "blue"),
            ("a folder that is a file", ["report", folder / "sweep.attn", "-o", folder / "sweep.attn"], "sweep.attn")):
        done = run(*arguments)
        report.check(done.returncode == 2 and words in done.stderr, f"{name}: exit {done.returncode}: {done.stderr}")
    report.check(not (folder / "x").exists(), "a refused report left a folder")


with tempfile.TemporaryDirectory() as made:
    whole_report(pathlib.Path(made))
    bundled_session(pathlib.Path(made))
    what_will_not_do(pathlib.Path(made))
report.exit(least=20)
