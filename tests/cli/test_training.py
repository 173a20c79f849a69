"""`attnscope bench --pass training`: a forward and its backward as one timing, judged output by output; peers beside;
what takes one pass alone says so."""

import csv
import io
import json
import pathlib
import sys
import tempfile

from program import Report, run

report = Report()
ROWS = [row for row in json.loads(run("list", "--json").stdout) if row["passes"] == ["training"]]
KERNELS = [row["id"] for row in ROWS if row["place"] == "cpu"]
OUTPUTS = ("o", "dq", "dk", "dv")


def table(folder, *arguments, computes="training", prefix=None):
    file = folder / "t.csv"
    file.unlink(missing_ok=True)
    done = run("bench", "--pass", computes, "--time-limit", "0.05", *arguments, "--csv", file, prefix=prefix)
    return done, list(csv.DictReader(io.StringIO(file.read_text()))) if file.exists() else []


def listed():
    passes = {row["id"]: row["passes"] for row in json.loads(run("list", "--json").stdout)}
    report.check(len(ROWS) >= 6 and len(KERNELS) >= 2, f"list names {[row['id'] for row in ROWS]}")
    for row in ROWS:
        report.check([passes[part] for part in row["runs"]] == [["forward"], ["backward"]],
                     f"{row['id']}: {row['runs']}")
    text = run("list").stdout
    report.check("pass: training" in text and "runs: cpu_flash, then cpu_flash_bwd" in text, "list in words")


def measured(folder):
    done, rows = table(folder, "--device", "cpu", "--values", "64,96", "--d", "16", "--hq", "4", "--hkv", "2",
                       "--causal")
    report.check(done.returncode == 0, f"bench: {done.stderr}")
    report.check({row["kernel"] for row in rows} == set(KERNELS), f"it measures {[row['kernel'] for row in rows]}")
    _, forward = table(folder, "--kernels", "cpu_flash", "--values", "64,96", "--d", "16", "--hq", "4", "--hkv", "2",
                       "--causal", computes="forward")
    flops = {row["Lq"]: float(row["tflops"]) * float(row["time_us_median"]) for row in forward}
    for row in rows:
        report.check(row["state"] == "done" and row["verdict"] == "pass" and row["pass"] == "training", f"{row}")
        for name in OUTPUTS:
            error, allowed = float(row[f"{name}_error_abs"]), float(row[f"{name}_allowed_abs"])
            report.check(0 <= error <= allowed, f"{row['kernel']}: {name} {error} of {allowed}")
        report.check(float(row["lse_error_abs"]) < 1e-4, f"LSE {row['lse_error_abs']}")
        ratio = float(row["tflops"]) * float(row["time_us_median"]) / flops[row["Lq"]]
        report.check(abs(ratio - 3.5) < 1e-6, f"{row['kernel']}: {ratio} times the FLOPs of a forward")
        report.check(row["tile_load_bytes"] == "" and float(row["compulsory_bytes"]) > 0, "its bytes")
    times = {(row["kernel"], row["Lq"]): float(row["time_us_median"]) for row in rows}
    for row in rows:  # over the step that belongs to the usual baseline, not over a forward
        over = times["cpu_naive_train", row["Lq"]] / float(row["time_us_median"])
        report.check(abs(float(row["speedup_ratio"]) / over - 1) < 1e-9 and float(row["speedup_ratio"]) > 0,
                     f"{row['kernel']}: {row['speedup_ratio']} times cpu_naive_train, not {over}")
    report.check("correct: O " in done.stderr and ", dV " in done.stderr, f"its verdicts are not told: {done.stderr}")


def without_its_baseline(folder):
    _, rows = table(folder, "--kernels", "cpu_flash_train", "--values", "40", "--d", "8")
    report.check("measure cpu_naive_train as well" in rows[0]["speedup_ratio_source"],
                 f"{rows[0]['speedup_ratio_source']}")


def in_a_session(folder):
    session = folder / "s.json"
    done = run("bench", "--pass", "training", "--kernels", "cpu_flash_train", "--values", "40", "--d", "8",
               "--time-limit", "0.02", "--json", session)
    report.check(done.returncode == 0, f"bench: {done.stderr}")
    (row,) = [row for one in json.loads(session.read_text())["runs"] for row in one["measurements"]]
    report.check(row["problem"]["pass"] == "training" and len(row["launches"]) == 2, f"{row['launches']}")
    report.check(sorted(row["verdict"]["outputs"]) == ["delta", "dk", "dq", "dv", "lse", "o"],
                 f"{sorted(row['verdict']['outputs'])}")


def verified():
    done = run("verify", "--pass", "training", "--dtype", "f16", "--longest", "120")
    report.check(done.returncode == 0, f"verify: {done.stdout}{done.stderr}")
    for word in (*KERNELS, *OUTPUTS, "lse"):
        report.check(word in done.stdout, f"verify does not show {word}: {done.stdout}")
    report.check("train" not in run("verify", "--longest", "8").stdout, "verify tries training steps by itself")


def refused():
    one = "takes one pass at a time; use --pass forward or backward"
    for command, words in (
            (["bench", "--pass", "sideways", "--values", "8"], "use forward, backward or training"),
            (["bench", "--pass", "training", "--kernels", "cpu_flash", "--values", "8"],
             "supports the pass forward, not training"),
            (["bench", "--kernels", "cpu_flash_train", "--values", "8"], "supports the pass training, not forward"),
            (["bench", "--pass", "training", "--page", "16", "--values", "64"], "A backward pass needs dense K and V"),
            (["step", "--pass", "training"], one),
            (["run", "--pass", "training", "--kernel", "cpu_flash", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy",
              "--out", "o.npy"], one)):
        done = run(*command)
        report.check(words in done.stderr, f"{command}: {done.returncode} {done.stderr}")
    for step in (row for row in ROWS if row["place"] == "gpu"):
        for command, instead in (("tune", "tune one of the two"), ("profile", "profile one of the two")):
            done = run(command, step["id"])
            words = f"{step['id']} is {step['runs'][0]} followed by {step['runs'][1]}"
            report.check(done.returncode == 2 and words in done.stderr and instead in done.stderr,
                         f"{command} {step['id']}: {done.returncode} {done.stderr}")
    done = run("shot", "--state", "attn1,pass=training", "-o", "never.png")
    report.check(done.returncode != 0 and "forward" in done.stderr, f"Step takes a training step: {done.stderr}")


def peers(folder):
    double = pathlib.Path(__file__).resolve().parent / "torch_double"
    (folder / "mine.py").write_text("def attention(q, k, v, scale, causal):\n    return q + 0\n", encoding="utf-8")
    common = ["--kernels", "cpu_flash_train", "--values", "9", "--d", "8", "--hq", "4", "--peers-python",
              sys.executable]
    for arguments in ([], ["--causal"], ["--hkv", "2"], ["--dtype", "f16"]):
        done, rows = table(folder, *common, *arguments, "--peers", prefix=f"export PYTHONPATH={double}")
        row = next((row for row in rows if row["peer"]), {"state": "missing", "reason": done.stderr})
        report.check(row["state"] == "done" and row["verdict"] == "pass",
                     f"{arguments}: {row['state']} {row['reason']}")
        for name in OUTPUTS:
            report.check(row.get(f"{name}_error_abs", "") != "", f"{arguments}: {name} of the peer was not judged")
        report.check(row.get("lse_error_abs") == "" and "cpu_flash_train=" in row.get("peer_beside_us", ""),
                     f"{arguments}: {row}")
    done, _ = table(folder, *common, "--peer", folder / "mine.py", prefix=f"export PYTHONPATH={double}")
    report.check("autograd has no gradient" in done.stderr, f"an answer apart from its inputs: {done.stderr}")


def main():
    listed()
    verified()
    refused()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        measured(folder)
        without_its_baseline(folder)
        in_a_session(folder)
        peers(folder)
    report.exit(least=60)


main()
