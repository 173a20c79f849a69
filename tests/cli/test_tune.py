"""attnscope tune: plan, run, what is kept, what a sweep makes of it."""

import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

from program import BINARY, Report, run

report = Report()
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "tune.md"
SMALL = ["--l", "64", "--d", "8", "--threads", "1"]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def plan():
    text = run("tune", "flash_mma", "--dtype", "f16", "--l", "4096", "--d", "256", "--plan", "--arch", "sm_86")
    report.check(text.returncode == 0, f"exit {text.returncode}: {text.stderr}")
    report.check(", usual" in text.stdout and "B shared, at most" in text.stdout, text.stdout[:300])
    report.check("bytes of shared memory, but sm_86 has 101376" in text.stdout, "no refusal in words")
    table = run("tune", "flash_mma", "--dtype", "f16", "--l", "4096", "--d", "64", "--plan", "--arch", "sm_90a",
                "--csv", "-")
    rows = rows_of(table.stdout)
    report.check(len(rows) > 100 and {r["fate"] for r in rows} <= {"not tried", "refused"}, f"{len(rows)} rows")
    report.check(sum(r["usual"] == "true" for r in rows) == 1, "not one usual tile")
    report.check(all(r["time_us"] == "" for r in rows), "a plan has times")
    for r in rows:
        if r["fate"] == "not tried":
            report.check(int(r["shared_dynamic_bytes"]) <= 227 * 1024 and int(r["blocks_per_sm"]) >= 1, f"{r}")


def refusals():
    for arguments, words in {
            ("naive",): "naive has no tile to tune",
            ("no_such",): "no_such",
            ("flash_mma", "--dtype", "f32"): "not f32",
            ("cpu_flash", "--budget", "0"): "budget",
            ("cpu_flash", "--best", "0"): "1 to 16",
            ("cpu_flash", "--arch", "sm_80"): "--arch works only with --plan",
            ("cpu_flash", "--stages", "2"): "--stages does not apply to cpu_flash",
            ("cpu_flash", "--csv", "-", "--json", "-"): "can use stdout"}.items():
        done = run("tune", *arguments)
        report.check(done.returncode == 2 and words in done.stderr, f"{arguments}: {done.returncode}, {done.stderr}")
    done = run("run", "--kernel", "cpu_flash", "--q", "x", "--k", "x", "--v", "x", "--out", "o.npy", "--tile", "tuned")
    report.check(done.returncode == 2, f"run takes a tuned tile: {done.returncode}")


def kept_and_used(folder):
    none = run("bench", "--kernels", "cpu_flash", "--values", "64", "--d", "8", "--threads", "1", "--tile", "tuned",
               "--csv", "-")
    report.check(none.returncode == 3 and "attnscope tune cpu_flash" in none.stdout,
                 f"{none.returncode}: {none.stdout}")
    surface, told = folder / "surface.csv", folder / "tune.json"
    done = run("tune", "cpu_flash", *SMALL, "--budget", "2", "--each", "0.01", "--csv", surface, "--json", told)
    report.check(done.returncode == 0, f"exit {done.returncode}: {done.stderr}")
    report.check("Br \\ Bc" in done.stdout and "Timed alternately:" in done.stdout, done.stdout)
    rows, j = rows_of(surface.read_text(encoding="utf-8")), json.loads(told.read_text(encoding="utf-8"))
    report.check([r["chosen"] for r in rows].count("true") == 1, "not one chosen tile")
    report.check(all(r["verdict"] == "pass" for r in rows if r["fate"] == "timed"), "a tile that was not checked")
    chosen = rows[j["chosen"]]
    report.check(chosen["chosen"] == "true", f"{chosen}")
    report.check(j["decision"] in ("faster", "usual is best", "can't tell"), f"{j['words']}")
    if j["decision"] != "faster":
        report.check(j["chosen"] == j["usual"], "nothing beat it, and another is chosen")
    described = re.findall(r"`([a-z_A-Z]+)`", "".join(
        line.split("|")[1] for line in DOCS.read_text(encoding="utf-8").split("## `--csv`")[1].splitlines()
        if line.startswith("| `")))
    columns = list(rows[0])  # the options that the kernel declares besides come last
    report.check(columns == described + ["splits", "merge", "ranks", "deal", "pipeline", "zero_tail"],
                 f"docs/tune.md describes {described}, the CSV has {columns}")
    used = rows_of(run("bench", "--kernels", "cpu_flash", "--values", "64", "--d", "8", "--threads", "1", "--tile",
                       "tuned", "--time-limit", "0.02", "--csv", "-").stdout)[0]
    report.check((used["br"], used["bc"], used["tile_from"]) == (chosen["br"], chosen["bc"], "tuned"), f"{used}")
    for tile, where in (("default", "default"), ("16x16", "asked")):
        row = rows_of(run("bench", "--kernels", "cpu_flash", "--values", "64", "--d", "8", "--tile", tile,
                          "--time-limit", "0.02", "--csv", "-").stdout)[0]
        report.check(row["tile_from"] == where, f"{tile}: {row['tile_from']}")
    damaged(folder)


def verified(folder):
    """verify checks the case that a tile was kept for, and skips the other in one line."""
    arguments = ("verify", "--kernel", "cpu_flash", "--dtype", "f32", "--repeat-list", "--longest", "300", "--threads",
                 "1", "--tile", "tuned")
    none = run(*arguments)
    skipped = ("of cpu_flash f32: the tile is set to tuned, but there is no tuned tile for this problem; "
               "run `attnscope tune cpu_flash`")
    report.check(none.returncode == 3 and f"skipped 2 cases {skipped}" in none.stdout,
                 f"{none.returncode}: {none.stdout}")
    done = run("tune", "cpu_flash", "--b", "2", "--hq", "2", "--lq", "113", "--lk", "203", "--d", "64", "--threads",
               "1", "--budget", "1", "--each", "0.01")
    report.check(done.returncode == 0, f"exit {done.returncode}: {done.stderr}")
    taken = run(*arguments)
    report.check(taken.returncode == 0 and f"skipped 1 case {skipped}" in taken.stdout,
                 f"{taken.returncode}: {taken.stdout}")
    report.check("B=2 H=2 L=113x203 D=64 f32, normal" in taken.stdout, f"another case: {taken.stdout}")
    # With no list named, the problems that were tuned are cases of their own.
    done = run("tune", "cpu_flash", "--hq", "2", "--l", "77", "--d", "12", "--threads", "1", "--budget", "1", "--each",
               "0.01")
    report.check(done.returncode == 0, f"exit {done.returncode}: {done.stderr}")
    own = run("verify", "--kernel", "cpu_flash", "--dtype", "f32", "--longest", "80", "--threads", "1", "--tile",
              "tuned")
    passed = int(own.stdout.splitlines()[1].split()[2]) if own.returncode == 0 else 0
    kept = len(list((folder / "cache" / "attnscope" / "tiles").glob("cpu_flash-*.json")))
    report.check(kept >= 2 and passed == kept - 1, f"{kept} kept, one longer than 80: {own.returncode}: {own.stdout}")


def damaged(folder):
    files = list((folder / "cache" / "attnscope" / "tiles").glob("cpu_flash-*.json"))
    report.check(len(files) == 1, f"{files}")
    text = files[0].read_text(encoding="utf-8")
    files[0].write_text(text.replace('"decision"', '"decisions"'), encoding="utf-8")
    done = run("bench", "--kernels", "cpu_flash", "--values", "64", "--d", "8", "--threads", "1", "--tile", "tuned",
               "--csv", "-")
    report.check(done.returncode == 3 and "checksum is wrong" in done.stdout, f"{done.returncode}: {done.stdout}")
    files[0].write_text(text, encoding="utf-8")


# Once a tile has been timed and before the last: how soon that is depends on the machine.
def cancelled(folder):
    surface = folder / "cancelled.csv"
    fates = []
    for wait in (2, 6, 18, 40):
        child = subprocess.Popen([BINARY, "tune", "cpu_flash", "--l", "2048", "--d", "64", "--budget", "60", "--each",
                                  "0.2", "--threads", "1", "--csv", str(surface)], stderr=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        try:
            child.communicate(timeout=wait)
            report.check(False, "it ended by itself")
            break
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
            _, words = child.communicate(timeout=60)
            report.check(child.returncode == 130, f"exit {child.returncode}: {words}")
            fates = [r["fate"] for r in rows_of(surface.read_text(encoding="utf-8"))]
            if "timed" in fates:
                break
            surface.unlink()
    report.check("timed" in fates and "not tried" in fates, f"{fates}")
    kept = list((folder / "cache" / "attnscope" / "tiles").glob("*.json"))
    report.check(len(kept) == 1, f"a cancelled tuning was kept: {kept}")


with tempfile.TemporaryDirectory() as name:
    os.environ["XDG_CACHE_HOME"] = str(pathlib.Path(name) / "cache")
    plan()
    refusals()
    kept_and_used(pathlib.Path(name))
    cancelled(pathlib.Path(name))
    verified(pathlib.Path(name))
report.exit(least=150)
