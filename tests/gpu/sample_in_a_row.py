"""Twenty kernels in a row through one worker: time stamps, counters, samples, heartbeat and counts of each, and no lost
record; what is counted is the same whenever it is.

    python3 tests/gpu/sample_in_a_row.py path/to/attnscope [HOW MANY]"""
import json
import os
import subprocess
import sys
import tempfile

KERNELS = ["naive", "flash_simt", "tiled", "flash_tf32x3"]


def main():
    program = os.path.realpath(sys.argv[1])
    kernels = [KERNELS[n % len(KERNELS)] for n in range(int(sys.argv[2]) if len(sys.argv) > 2 else 20)]
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "rows.json")
        done = subprocess.run([program, "worker", "--measure", ",".join(kernels), "--sample", "--heartbeat",
                               "--counts", "--seconds", "0.05", "--l", "1024", "--hq", "16", "--d", "64",
                               "--json", file],
                              capture_output=True, text=True, timeout=30 + 6 * len(kernels))
        print(done.stderr.strip())
        if done.returncode != 0:
            return 1
        with open(file, encoding="utf-8") as f:
            rows = json.load(f)["measurements"]
    good = len(rows) == len(kernels)
    executed_by = {}
    for row in rows:
        stamps = row["clock"] == "CUPTI kernel time stamps"
        counted = "value" in row["figures"]["dram_read_bytes"]
        samples = row.get("samples")
        total = 0
        if samples:
            total = sum(int(reason.split(":")[1]) for f in samples["functions"] for i in f["instructions"]
                        for reason in i.split(" ")[3].split(",") if reason != "-")
        beat = row.get("heartbeat")
        counts = row.get("instruction_counts")
        executed = 0
        if counts:
            executed = sum(int(i.split(" ")[3].split(":")[0]) for f in counts["functions"] for i in f["instructions"])
        same = executed > 0 and executed == executed_by.setdefault(row["kernel"], executed)
        holds = bool(stamps and counted and samples and total >= 20000 and samples["dropped"] == 0 and
                     not samples["no_lines"] and beat and len(beat["launches"]) == len(row["launches"]) and
                     same and not counts["no_lines"])
        good = good and holds
        if not holds:
            print(f"{row['kernel']}: clock {row['clock']}, counted {counted}, {total} samples, "
                  f"{samples and samples['no_lines']} {row.get('no_samples', '')} {row.get('no_heartbeat', '')}, "
                  f"{executed} executed {row.get('no_instruction_counts', '')}")
    print(f"{len(rows)} rows in a row, " + ("none lost anything" if good else "SOMETHING WAS LOST"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
