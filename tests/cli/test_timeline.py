"""attnscope timeline on a bundled session: tables and traces that add up, one recording at a time, and none of another
source."""

import csv
import io
import json
import pathlib
import re
import tempfile

from program import Report, run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SESSION = ROOT / "assets" / "sessions" / "h100-timeline.attn"
RUNG = ROOT / "kernels" / "gpu" / "rungs" / "hopper" / "flash_hopper.cu"


def ids():
    text = run("timeline", "--session", SESSION).stdout
    return re.findall(r"^ID: (\S+)$", text, re.M), text


def check_table(report, which, clocks):
    """A lane's states have no gap and no overlap, and are all of the block's clocks."""
    done = run("timeline", "--session", SESSION, "--id", which, "--csv", "-")
    report.check(done.returncode == 0, done.stderr)
    lanes = {}
    for row in csv.DictReader(io.StringIO(done.stdout)):
        lanes.setdefault((row["block"], row["lane"], row["index"]), []).append(row)
    whole = 0
    for lane, rows in lanes.items():
        for before, after in zip(rows, rows[1:]):
            report.check(before["to_clock"] == after["from_clock"], f"a gap in {lane}")
        if rows[0]["block"] == clocks[0] and len(rows) > 50:
            whole += 1
            length = sum(int(r["to_clock"]) - int(r["from_clock"]) for r in rows)
            report.check(length == clocks[1], f"{lane}: {length} clocks of {clocks[1]}")
            report.check(rows[-1]["state"] == "done", f"{lane} does not end with done")
    report.check(whole >= 4, f"{whole} lanes were recorded state by state")


def check_trace(report, which, clocks, folder):
    file = folder / "t.json"
    done = run("timeline", "--session", SESSION, "--id", which, "--perfetto", file)
    report.check(done.returncode == 0, done.stderr)
    trace = json.loads(file.read_text(encoding="utf-8"))
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X" and str(e["pid"]) == clocks[0]]
    threads = {}
    for e in slices:
        threads.setdefault(e["tid"], []).append(e)
    for lane in threads.values():
        lane.sort(key=lambda e: e["ts"])
        for before, after in zip(lane, lane[1:]):
            report.check(abs(before["ts"] + before["dur"] - after["ts"]) < 0.003, "slices leave a gap")
    report.check(len(threads) >= 4 and trace["otherData"]["recorded_over_plain"] < 1.1, "lanes and price")


def check_source(report, which, folder):
    """An edited copy is another kernel: what was recorded of the shipped one is not told of it."""
    kernels = folder / "kernels"
    kernels.mkdir()
    own = run("timeline", "--session", SESSION, "--id", which)
    report.check("different source" not in own.stderr, own.stderr)
    (kernels / "flash_hopper.cu").write_text(RUNG.read_text(encoding="utf-8") + "// edited\n", encoding="utf-8")
    edited = run("timeline", "--session", SESSION, "--id", which, prefix=f"export ATTNSCOPE_KERNELS={kernels}")
    report.check("recorded with a different source of flash_hopper" in edited.stderr, edited.stderr)


def main():
    report = Report()
    found, text = ids()
    report.check(len(found) == 21 and len(set(found)) == 21, f"{len(found)} IDs")
    block, clocks = re.search(r"^Block (\d+) on SM \d+: (\d+) clocks", text, re.M).groups()
    check_table(report, found[0], (block, int(clocks)))
    several = run("timeline", "--session", SESSION, "--csv", "-")
    report.check(several.returncode == 2 and "--id" in several.stderr, several.stderr)
    nobody = run("timeline", "--session", SESSION, "--id", "nobody")
    report.check(nobody.returncode == 2 and "'nobody'" in nobody.stderr, nobody.stderr)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_trace(report, found[0], (block, int(clocks)), folder)
        check_source(report, found[0], folder)
    report.exit(least=100)


main()
