"""cpu_flash against torch's attention on the CPU, each cell timed in turns by `attnscope bench --peers=torch-cpu`; or
cpu_flash_bwd against its backward:

    python3 cpu_against_torch.py PROGRAM [ROUNDS [forward or backward]]

f32, full, B = 1, H = 8 and 16 (a backward: 8), L = 1024 to 4096, D = 64 and 128, all cores. Prints the ratio of each
round (torch's time over ours: 1 and more is as fast), torch's build and the cores. Exit 1 where a cell's median is
under 1, 77 where there is no torch.
"""
import csv
import io
import os
import statistics
import subprocess
import sys

try:
    import torch
except ImportError:
    print("python3 has no torch")
    sys.exit(77)

PROGRAM, ROUNDS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
PASS = sys.argv[3] if len(sys.argv) > 3 else "forward"
KERNEL = "cpu_flash_bwd" if PASS == "backward" else "cpu_flash"
LENGTHS, HEADS = (1024, 2048, 4096), (8,) if PASS == "backward" else (8, 16)


def cells(heads, d):
    """L -> (torch's us, ours in the same turns), tile, software."""
    words = [PROGRAM, "bench", "--pass", PASS, "--kernels", KERNEL, "--values", ",".join(map(str, LENGTHS)),
             "--hq", heads, "--d", d, "--peers=torch-cpu", "--verify", "none", "--time-limit", "0.6",
             "--peers-python", sys.executable]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, timeout=300)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    tiles = {int(r["Lq"]): f"{r['br']} x {r['bc']}, {r['threads']} threads" for r in rows if r["kernel"] == KERNEL}
    found = {}
    for r in rows:
        if r["kernel"] != "torch-cpu":
            continue
        if r["state"] != "done":
            print(f"H = {heads}, D = {d}, L = {r['Lq']}: {r['state']}, {r['reason']}")
            continue
        beside = dict(part.split("=") for part in r["peer_beside_us"].split(";"))
        found[int(r["Lq"])] = (float(r["time_us_median"]), float(beside[KERNEL]))
    return found, tiles, next((r["peer_software"] for r in rows if r["peer"]), "")


print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {len(os.sched_getaffinity(0))} cores here")
print(torch.__config__.show())
print("  H    D     L  torch us   ours us  torch / ours, a round each       median  tile of ours")
missing, medians, every = 0, {}, []
for heads in HEADS:
    for d in (64, 128):
        rounds = [cells(heads, d) for _ in range(ROUNDS)]
        for length in LENGTHS:
            pairs = [found[length] for found, _, _ in rounds if length in found]
            if not pairs:
                missing += 1
                continue
            ratios = [theirs / ours for theirs, ours in pairs]
            every += ratios
            medians[heads, d, length] = statistics.median(ratios)
            print(f"{heads:>3} {d:>4} {length:>5} {statistics.median(p[0] for p in pairs):>9.0f} "
                  f"{statistics.median(p[1] for p in pairs):>9.0f}  {'  '.join(f'{r:.3f}' for r in ratios):<28} "
                  f"{medians[heads, d, length]:>9.3f}  {rounds[0][1].get(length, '')}", flush=True)
if medians:
    least = min(medians, key=medians.get)
    print(f"{len(medians)} cells; least {medians[least]:.3f} at H = {least[0]}, D = {least[1]}, L = {least[2]}; "
          f"under 1: {sum(r < 1 for r in medians.values())}; geometric mean {statistics.geometric_mean(every):.3f}")
sys.exit(1 if missing or not medians or min(medians.values()) < 1 else 0)
