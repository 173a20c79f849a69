"""The CSV and JSON of `attnscope bench`: read by csv, by pandas as they are, and equal to one another."""

import csv
import io
import json
import math
import sys

from program import Report, run

report = Report()


def sweep(*arguments):
    done = run("bench", "--kernels", "cpu_sequential,cpu_flash", "--axis", "L", "--values", "16,32,48", "--d", "8",
               "--time-limit", "0.02", *arguments)
    report.check(done.returncode == 0, f"exit {done.returncode}: {done.stderr}")
    return done


def rows_and_columns():
    text = sweep("--causal").stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    report.check(len(rows) == 6, f"{len(rows)} rows, not 6")
    report.check([(r["kernel"], r["Lq"]) for r in rows].count(("cpu_flash", "32")) == 1, "not one row a kernel and L")
    header = text.splitlines()[0].split(",")
    for name in ("kernel", "Lq", "D", "dtype", "causal", "state", "reason", "time_us_median", "device", "date"):
        report.check(name in header, f"no column {name}")
    sources = [name for name in header if name.endswith("_source")]
    report.check(len(sources) >= 5, f"only {len(sources)} columns say where figures come from")
    for row in rows:
        report.check(None not in row and None not in row.values(), f"a row of another length: {row}")
        report.check(float(row["time_us_median"]) > 0, f"no time: {row['time_us_median']}")
        for source in sources:
            figure = source.removesuffix("_source")
            report.check(figure in header, f"{source} has no figure")
            # An empty cell says why it is empty; a number says how it was made.
            report.check(row[source] != "", f"{figure} does not say where it comes from")
            if row[figure] != "":
                report.check(math.isfinite(float(row[figure])), f"{figure} = {row[figure]}")
    report.check(not any(line.startswith("#") for line in text.splitlines()), "comment lines")


def refused_points():
    done = run("bench", "--kernels", "cpu_sequential", "--values", "64,4096", "--d", "16", "--time-limit", "0.02",
               "--memory-limit", "8M")
    report.check(done.returncode == 0, f"a refused point beside a good one: exit {done.returncode}")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    report.check([r["state"] for r in rows] == ["done", "refused"], f"states {[r['state'] for r in rows]}")
    report.check("largest L" in rows[1]["reason"], f"reason: {rows[1]['reason']}")
    report.check(rows[1]["time_us_median"] == "", "a figure for a point that never ran")


def json_has_the_samples():
    j = json.loads(sweep("--json", "-").stdout)
    rows = next(value for value in j.values() if isinstance(value, list) and len(value) == 6)
    report.check(any("samples" in key and len(value) >= 5 for row in rows for key, value in row.items()),
                 f"no samples in {list(rows[0])}")


GPU_SWEEP = ("bench", "--kernels", "naive,flash_simt,cpu_flash", "--values", "32,64", "--d", "16", "--time-limit",
             "0.02", "--verify", "full")


def gpu_rows():
    """With a GPU its rows have times; without one they say why, with what the compiler knows where there is one."""
    done = run(*GPU_SWEEP)
    report.check(done.returncode == 0, f"exit {done.returncode}: {done.stderr}")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    report.check([r["kernel"] for r in rows] == ["naive", "flash_simt", "cpu_flash"] * 2,
                 f"kernels {[r['kernel'] for r in rows]}")
    for row in rows:
        on_gpu = row["kernel"] != "cpu_flash"
        report.check(row["state"] == "done" or (on_gpu and row["state"] == "refused" and "GPU" in row["reason"]),
                     f"{row['kernel']}: {row['state']}, {row['reason']}")
        report.check((row["time_us_median"] != "") == (row["state"] == "done"), "a time that nobody took")
        if on_gpu:
            compiled = row["registers_count_source"] == "compiled"
            report.check(compiled == (row["registers_count"] != ""), f"registers: {row['registers_count_source']}")
            report.check(compiled or row["registers_count_source"].startswith("not available: "), "no reason")
            report.check(float(row["compulsory_bytes"]) > 0, "no prediction")
        else:
            report.check(row["device"] != "" and row["registers_count"] == "", "registers on a CPU")


def pandas_reads_it():
    try:
        import pandas
    except ImportError:
        print("left out: reading by pandas, which is not installed")
        return
    both = pandas.read_csv(io.StringIO(run(*GPU_SWEEP).stdout))
    report.check(len(both) == 6 and both["time_us_median"].dtype.kind == "f", "GPU rows differ to pandas")
    report.check(both["registers_count"].dtype.kind == "f", "registers are no numbers to pandas")
    report.check(both[both["state"] == "done"]["time_us_median"].notna().all(), "a row that is done has no time")
    table = pandas.read_csv(io.StringIO(sweep("--dtype", "f16").stdout))
    report.check(len(table) == 6, f"pandas reads {len(table)} rows")
    report.check(table["time_us_median"].dtype.kind == "f", "time is no number to pandas")
    report.check(set(table["Lq"]) == {16, 32, 48}, f"Lq is {set(table['Lq'])}")
    report.check((table["dtype"] == "f16").all(), "dtype differs")
    report.check(table.groupby("kernel")["time_us_median"].count().to_dict() == {"cpu_sequential": 3, "cpu_flash": 3},
                 "grouping by kernel differs")


rows_and_columns()
refused_points()
json_has_the_samples()
gpu_rows()
pandas_reads_it()
sys.stdout.flush()
report.exit(least=100)
