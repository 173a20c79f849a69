"""Sets the means of a heartbeat beside Nsight Compute's counters of the same launches.

    python3 tests/gpu/compare_heartbeat_with_ncu.py path/to/attnscope [KERNEL ...]

The L2 cache is warm in both: ncu repeats a launch for each of its passes and cannot fill the cache between them. Each
launch's mean over its own time must agree within a twentieth, or within half a point of what the chip could do. Exit 77
where there is no ncu."""
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

SHAPE = ["--l", "4096", "--hq", "16", "--d", "64"]
SKIPPED_RUNS = 2  # the check's run and a warm-up
OF = ".avg.pct_of_peak_sustained_elapsed"
COUNTERS = {
    "issue": "sm__inst_executed" + OF,
    "fma": "sm__inst_executed_pipe_fma" + OF,
    "tensor": "sm__pipe_tensor_cycles_active" + OF,
    "xu": "sm__inst_executed_pipe_xu" + OF,
    "shared": "l1tex__data_pipe_lsu_wavefronts_mem_shared" + OF,
    "dram_read": "dram__bytes_read" + OF,
    "dram_write": "dram__bytes_write" + OF,
}


def row_of(program, kernel, folder):
    file = os.path.join(folder, kernel + ".json")
    done = subprocess.run([program, "worker", "--measure", kernel, "--warm", "--heartbeat", "--seconds", "0.1",
                           "--json", file, *SHAPE], capture_output=True, text=True, timeout=60)
    print(" ", done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "")
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    with open(file, encoding="utf-8") as f:
        row = json.load(f)["measurements"][0]
    if "heartbeat" not in row:
        raise RuntimeError(row.get("no_heartbeat", "no heartbeat"))
    return row


def means_of(beat):
    """By launch and counter: each sample weighs by the time that it shares with the launch."""
    spans, at = [], 0
    for gap, length in zip(beat["gap_ns"], beat["length_ns"]):
        spans.append((at + gap, at + gap + length))
        at += gap + length
    means = {}
    for launch in beat["launches"]:
        begin, end = 1e3 * launch["start_us"], 1e3 * launch["end_us"]
        shared = [max(0, min(e, end) - max(s, begin)) for s, e in spans]
        means[launch["kernel"]] = {
            c["id"]: sum(w * v for w, v in zip(shared, c["values"])) / sum(shared)
            for c in beat["counters"] if c["values"]}
    return means


def of_ncu(program, kernel, entries):
    call = ["ncu", "--metrics", ",".join([*COUNTERS.values(), "gpu__time_duration.sum"]), "--cache-control", "none",
            "--clock-control", "none", "--target-processes", "all", "--csv", "--page", "raw", "--print-units", "base",
            "--kernel-name", "regex:" + "|".join(entries), "--launch-skip", str(SKIPPED_RUNS * len(entries)),
            "--launch-count", str(len(entries)),
            program, "worker", "--measure", kernel, "--warm", "--no-counters", "--seconds", "0.3", *SHAPE]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise RuntimeError("ncu gave no table: " + (done.stdout + done.stderr)[-1500:])
    table = list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))
    return {row["Kernel Name"].split("(")[0]: row for row in table if row["Kernel Name"]}


def main():
    program = os.path.realpath(sys.argv[1])
    if shutil.which("ncu") is None:
        print("ncu is not installed")
        return 77
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for kernel in sys.argv[2:] or ["flash_simt", "naive"]:
            print(kernel, *SHAPE, flush=True)
            try:
                row = row_of(program, kernel, folder)
                means = means_of(row["heartbeat"])
                theirs = of_ncu(program, kernel, list(means))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print("  FAILED:", error)
                good = False
                continue
            for launch, mine in means.items():
                for counter, name in COUNTERS.items():
                    if counter not in mine:
                        continue
                    x, y = mine[counter], float((theirs[launch].get(name) or "nan").replace(",", ""))
                    holds = abs(x - y) <= max(0.5, 0.05 * y)
                    good = good and holds
                    ratio = f"{x / y:.3f}" if y else "-"
                    print(f"    {launch} {counter}: {x:.2f} %, ncu {y:.2f} %, ratio {ratio}"
                          f"{'' if holds else '  TOO FAR'}")
    print("all agree" if good else "NOT all agree")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
