"""The timeline of a sweep: valid trace-event JSON, whose slices add up to what the rows say."""

import csv
import json
import pathlib
import tempfile

from program import Report, run

report = Report()
NAMES = {"process_name", "thread_name"}
STAGES = ["plan", "inputs", "run", "verify", "warm up", "time"]


def checked_events(trace):
    """The slices, after every event was held against the trace-event format."""
    report.check(isinstance(trace.get("traceEvents"), list), f"no list of events: {list(trace)}")
    report.check(trace.get("displayTimeUnit") in ("ms", "ns"), f"unit {trace.get('displayTimeUnit')}")
    named, slices = set(), []
    for event in trace["traceEvents"]:
        for key in ("pid", "tid"):
            report.check(isinstance(event.get(key), int), f"{key} of {event}")
        report.check(isinstance(event.get("name"), str) and event["name"], f"no name: {event}")
        if event["ph"] == "M":
            report.check(event["name"] in NAMES and event["args"]["name"], f"a name of nothing: {event}")
            named.add((event["pid"], event["tid"]))
        else:
            report.check(event["ph"] == "X", f"an event of kind {event['ph']}")
            for key in ("ts", "dur"):
                report.check(isinstance(event.get(key), (int, float)) and event[key] >= 0, f"{key} of {event}")
            slices.append(event)
    for event in slices:
        report.check((event["pid"], event["tid"]) in named, f"a thread without a name: {event}")
    return slices


def nest(points, stages):
    """Each stage within one point, the points of a thread one after the other. Returns the stages of each point."""
    inside = [[] for _ in points]
    for stage in stages:
        holders = [n for n, p in enumerate(points) if p["ts"] - 1e-6 <= stage["ts"] and
                   stage["ts"] + stage["dur"] <= p["ts"] + p["dur"] + 1e-6 and p["tid"] == stage["tid"]]
        report.check(len(holders) == 1, f"{stage['name']} lies in {len(holders)} points")
        if holders:
            inside[holders[0]].append(stage)
    ordered = sorted(points, key=lambda p: p["ts"])
    for a, b in zip(ordered, ordered[1:]):
        report.check(a["ts"] + a["dur"] <= b["ts"] + 1, f"{a['name']} and {b['name']} overlap")
    return inside


def of_a_sweep(folder):
    trace, table, session = folder / "sweep.trace.json", folder / "rows.csv", folder / "sweep.attn"
    done = run("bench", "--kernels", "cpu_multicore,cpu_flash", "--values", "32,64", "--d", "8", "--time-limit", "0.05",
               "--trace", trace, "--csv", table, "-o", session)
    report.check(done.returncode == 0, f"exit {done.returncode}: {done.stderr}")
    slices = checked_events(json.loads(trace.read_text(encoding="utf-8")))
    points = [s for s in slices if s["cat"] == "point"]
    stages = [s for s in slices if s["cat"] == "stage"]
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    report.check(len(points) == len(rows) == 4, f"{len(points)} points, {len(rows)} rows")
    for point, inside, row in zip(points, nest(points, stages), rows):
        report.check([s["name"] for s in inside] == STAGES, f"stages {[s['name'] for s in inside]}")
        report.check(point["args"]["kernel"] == row["kernel"] and row["kernel"] in point["name"], point["name"])
        report.check(point["args"]["time_us_median"] == float(row["time_us_median"]), "another median than the row's")
        told = dict(part.split("=") for part in row["stage_times_us"].split(";"))
        report.check(list(told) == STAGES, f"the CSV has {list(told)}")
        for stage in inside:
            report.check(abs(float(told[stage["name"]]) - stage["dur"]) <= 0.1, f"{stage}, the CSV {told}")
        report.check(int(row["begun_unix_us"]) > 1.7e15, f"begun {row['begun_unix_us']}")
        # The repeats lie within the time that they are said to have taken.
        least = float(row["time_us_q1"]) * int(row["repeats_count"].split(".")[0]) / 2
        report.check(float(told["time"]) >= least, f"{told['time']} us hold {row['repeats_count']} repeats")
    return session, len(stages)


def of_a_file(folder, session, stages):
    """What was saved has the same timeline; what was saved before stages were kept has none, and its report goes on."""
    done = run("report", session, "-o", folder / "report")
    report.check(done.returncode == 0, done.stderr)
    made = json.loads((folder / "report" / "timeline.trace.json").read_text(encoding="utf-8"))
    report.check(sum(e.get("cat") == "stage" for e in made["traceEvents"]) == stages, "the report has other stages")
    bundled = pathlib.Path(__file__).resolve().parents[2] / "assets" / "sessions" / "h100.attn"
    done = run("report", bundled, "-o", folder / "older")
    report.check(done.returncode == 0, done.stderr)
    with_stages = (folder / "older" / "timeline.trace.json").exists()
    rows = list(csv.DictReader((folder / "older" / "rows.csv").open(encoding="utf-8")))
    report.check(with_stages == any(row["stage_times_us"] for row in rows), "a timeline of rows that keep none")


def to_stdout():
    done = run("bench", "--kernels", "cpu_flash", "--values", "16", "--d", "8", "--time-limit", "0.01", "--trace", "-")
    report.check(done.returncode == 0 and json.loads(done.stdout)["traceEvents"], f"stdout: {done.stdout[:80]}")
    done = run("bench", "--kernels", "cpu_flash", "--values", "16", "--trace", "-", "--csv", "-")
    report.check(done.returncode == 2 and "stdout" in done.stderr, f"two to stdout: {done.returncode} {done.stderr}")


with tempfile.TemporaryDirectory() as made:
    kept, count = of_a_sweep(pathlib.Path(made))
    of_a_file(pathlib.Path(made), kept, count)
to_stdout()
report.exit(least=150)
