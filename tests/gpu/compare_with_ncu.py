"""Measures kernels with this program and with Nsight Compute and sets the figures side by side.

    python3 tests/gpu/compare_with_ncu.py path/to/attnscope

Bytes and occupancy must agree within 3 %, the DRAM bytes of each kernel lie where the prediction puts them, and
counting take under a second. Exit 77 where there is no ncu."""
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

COUNTERS = [
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__cycles_active.sum",
]
POINTS = [
    ("naive", "naive_scores|naive_softmax|naive_output", 3, ["--l", "8192", "--hq", "4", "--d", "64"]),
    ("tiled", "tiled_scores|tiled_softmax|tiled_output", 3, ["--l", "4096", "--hq", "16", "--d", "128"]),
    # Large enough that what is still in the L2 cache when the range ends is a small part of what was written.
    ("flash_simt", "flash_simt", 1, ["--l", "4096", "--b", "4", "--hq", "16", "--d", "128"]),
    ("flash_wmma", "flash_wmma", 1, ["--l", "4096", "--b", "8", "--hq", "16", "--d", "128", "--dtype", "f16"]),
    ("flash_mma", "flash_mma", 1, ["--l", "4096", "--b", "8", "--hq", "16", "--d", "128", "--dtype", "f16"]),
    ("flash_tf32x3", "flash_tf32x3", 1, ["--l", "4096", "--b", "4", "--hq", "16", "--d", "128"]),
]
SKIPPED_RUNS = 4  # the check's run and some of the warm-up


def ours(program, kernel, shape, folder):
    """Figures of our measurement, by metric."""
    file = os.path.join(folder, kernel + ".json")
    call = [program, "worker", "--measure", kernel, "--json", file, "--seconds", "0.5", *shape]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    with open(file, encoding="utf-8") as f:
        row = json.load(f)["measurements"][0]
    print(f"  clock: {row['clock']}; {row['time']['median']:.1f} us; passed: {row['verdict']['pass']}")
    return row["figures"]


def of_ncu(program, kernel, names, launches, shape):
    """DRAM bytes of one run and its occupancy, weighted by the cycles of each launch."""
    call = ["ncu", "--csv", "--print-units", "base", "--cache-control", "none", "--clock-control", "none",
            "--target-processes", "all", "--metrics", ",".join(COUNTERS), "--kernel-name", f"regex:{names}",
            "--launch-skip", str(SKIPPED_RUNS * launches), "--launch-count", str(launches),
            program, "worker", "--measure", kernel, "--no-counters", "--seconds", "0.2", *shape]
    done = subprocess.run(call, capture_output=True, text=True, timeout=200)
    lines = done.stdout.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise RuntimeError("ncu gave no table: " + (done.stdout + done.stderr)[-1500:])
    table = [r for r in csv.DictReader(io.StringIO("\n".join(lines[start:]))) if r.get("Metric Name") in COUNTERS]
    by_id = {}
    for r in table:
        by_id.setdefault(r["ID"], {})[r["Metric Name"]] = float(r["Metric Value"].replace(",", ""))
    cycles = sum(v[COUNTERS[3]] for v in by_id.values())
    return {
        "dram_read_bytes": sum(v[COUNTERS[0]] for v in by_id.values()),
        "dram_write_bytes": sum(v[COUNTERS[1]] for v in by_id.values()),
        "occupancy_achieved_pct": sum(v[COUNTERS[2]] * v[COUNTERS[3]] for v in by_id.values()) / cycles,
    }


def prediction_holds(kernel, figures, l2):
    """Are the DRAM bytes where MEASURING puts them?"""
    total = figures["dram_read_bytes"]["value"] + figures["dram_write_bytes"]["value"]
    compulsory = figures["compulsory_bytes"]["value"]
    loads = figures["tile_load_bytes"]["value"]
    if kernel.startswith("flash_"):
        good = compulsory - l2 <= total <= 1.5 * compulsory
        verdict = "as" if good else "NOT as"
        print(f"  DRAM {total:.4g} B, compulsory {compulsory:.4g} B, L2 {l2:.4g} B: {verdict} predicted")
        return good
    if kernel == "naive":
        good = loads / 1.15 <= total <= 1.15 * loads
        print(f"  DRAM {total:.4g} B, {total / loads:.3f} of the tile loads: {'as' if good else 'NOT as'} predicted")
        return good
    good = compulsory - l2 <= total <= 1.15 * loads
    print(f"  DRAM {total:.4g} B, between compulsory {compulsory:.4g} B and tile loads {loads:.4g} B: {good}")
    return good


def l2_bytes():
    try:
        import torch
        return torch.cuda.get_device_properties(0).L2_cache_size
    except Exception:
        return 60e6


def main():
    program = os.path.realpath(sys.argv[1])
    if shutil.which("ncu") is None:
        print("ncu is not installed")
        return 77
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for kernel, names, launches, shape in POINTS:
            print(kernel, *shape, flush=True)
            try:
                figures = ours(program, kernel, shape, folder)
                theirs = of_ncu(program, kernel, names, launches, shape)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print("  FAILED:", error)
                good = False
                continue
            for metric, value in theirs.items():
                figure = figures[metric]
                if "value" not in figure:
                    print(f"  {metric}: not available: {figure['reason']}")
                    good = False
                    continue
                # Small writes are compared with what the kernel moves in all.
                scale = value if "occupancy" in metric else theirs["dram_read_bytes"] + theirs["dram_write_bytes"]
                off = 100 * (figure["value"] - value) / scale
                holds = abs(off) <= 3
                good = good and holds
                print(f"  {metric}: {figure['value']:.6g}, ncu {value:.6g}: {off:+.2f} % {'' if holds else 'TOO FAR'}")
                print(f"    {figure['method']}")
                seconds = float(figure["method"].rsplit(" in ", 1)[1].split()[0])
                good = good and seconds < 1
            if all("value" in figures[m] for m in ("dram_read_bytes", "dram_write_bytes")):
                good = prediction_holds(kernel, figures, l2_bytes()) and good
    print("all agree" if good else "NOT all agree")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
