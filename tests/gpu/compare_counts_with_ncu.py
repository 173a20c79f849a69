"""Sets the counts of this program beside those of Nsight Compute, instruction by instruction and line by line.

    python3 tests/gpu/compare_counts_with_ncu.py path/to/attnscope [KERNEL ...]

Executed instructions must be the same at every address and so at every line; wavefronts and sectors of every line that
has a thousandth of them must agree within 3 %. Exit 77 where there is no ncu."""
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

from compare_samples_with_ncu import ENTRIES, SHAPE, SKIPPED_RUNS, STEP, count_of

# Ours, how the heads of ncu's columns go on behind "#" and blanks, and by how much they may differ.
COLUMNS = {
    "inst_executed": ("Instructions Executed", 0.0),
    "thread_inst_executed": ("Predicated-On Thread Instructions Executed", 0.0),
    "shared_wavefronts": ("L1 Wavefronts Shared", 0.03),
    "shared_wavefronts_ideal": ("L1 Wavefronts Shared Ideal", 0.03),
    "global_sectors": ("L2 Theoretical Sectors Global", 0.03),
    "global_sectors_ideal": ("L2 Theoretical Sectors Global Ideal", 0.03),
}
LEAST_SHARE = 0.001


def ours(program, kernel, folder):
    """Counts by address of each function, and the line of each address."""
    file = os.path.join(folder, kernel + ".json")
    done = subprocess.run([program, "profile", kernel, *SHAPE, "--counts", "--seconds", "0.1", "--json", file],
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    with open(file, encoding="utf-8") as f:
        profile = json.load(f)
    counted = profile["counted"]
    if counted["not_available"]:
        raise RuntimeError(counted["not_available"])
    by_function, line_of = {}, {}
    for i in counted["instructions"]:
        by_function.setdefault(i["function"], {})[i["address"]] = i
    for line in profile["lines"]:
        for i in line["sass"]:
            line_of[i["function"], i["address"]] = (line["file"].rsplit("/", 1)[-1], line["line"])
    print(f"  {counted['inst_executed']} instructions executed, {counted['shared_conflicts']} conflicts, "
          f"{counted['global_sectors_excess']} excess sectors, {counted['seconds']:.2f} s, no lines: "
          f"{counted['no_lines'] or 'none'}")
    return by_function, line_of


def of_ncu(program, kernel, folder):
    """The same by address, from the report's source page."""
    entries = ENTRIES[kernel]
    report = os.path.join(folder, kernel)
    sections = os.environ.get("NCU_SECTIONS", "--section SourceCounters").split()
    call = ["ncu", *sections, "--import-source", "yes", "--cache-control", "none", "--clock-control", "none",
            "--target-processes", "all", "--kernel-name", "regex:" + "|".join(entries), "--launch-skip",
            str(SKIPPED_RUNS * len(entries)), "--launch-count", str(len(entries)), "-f", "-o", report,
            program, "worker", "--measure", kernel, "--no-counters", "--seconds", "0.5", *SHAPE]
    done = subprocess.run(call, capture_output=True, text=True, timeout=100)
    if not os.path.exists(report + ".ncu-rep"):
        raise RuntimeError("ncu wrote no report: " + (done.stdout + done.stderr)[-1500:])
    by_function = {}
    for entry in entries:
        page = subprocess.run(["ncu", "--import", report + ".ncu-rep", "--kernel-name", entry, "--page", "source",
                               "--csv", "--print-source", "sass"], capture_output=True, text=True, timeout=60).stdout
        if os.environ.get("OUT"):
            with open(os.path.join(os.environ["OUT"], f"ncu_{entry}.csv"), "w", encoding="utf-8") as f:
                f.write(page)
        lines = page.splitlines()
        start = next((n for n, line in enumerate(lines) if "Source" in line and "Instructions Executed" in line), None)
        if start is None:
            raise RuntimeError(f"ncu's source page of {entry} has no executed instructions: {page[:600]}")
        rows = list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))
        heads = {head.lstrip("# ").strip(): head for head in rows[0] if head}
        by_function[entry] = {}
        for name, (head, _) in COLUMNS.items():
            if head not in heads:
                print(f"  ncu's page of {entry} has no column '{head}': {sorted(heads)}")
                continue
            for n, row in enumerate(rows):
                by_function[entry].setdefault(STEP * n, {})[name] = count_of(row.get(heads[head]))
    return by_function


def by_line(counts, line_of, function, name):
    lines = {}
    for address, of in counts.items():
        key = line_of.get((function, address), ("no line", 0))
        lines[key] = lines.get(key, 0) + (of.get(name) or 0)
    return lines


def agree(what, name, mine, theirs, tolerance):
    """Prints where they differ, and how far at most."""
    whole, worst, wrong, looked_at = sum(theirs.values()), 0.0, 0, 0
    for key in sorted(set(mine) | set(theirs), key=str):
        a, b = mine.get(key, 0), theirs.get(key, 0)
        if tolerance > 0 and max(a, b) < LEAST_SHARE * whole:
            continue
        looked_at += 1
        off = abs(a - b) / max(1, b)
        worst = max(worst, off)
        if off > tolerance:
            wrong += 1
            if wrong <= 8:
                print(f"    {what} {key}: {name} {a}, ncu {b}  TOO FAR")
    print(f"    {name} by {what}: {sum(mine.values())}, ncu {whole}; {looked_at} looked at, {wrong} too far, "
          f"{100 * worst:.3g} % at most")
    return wrong == 0


def main():
    program = os.path.realpath(sys.argv[1])
    if shutil.which("ncu") is None:
        print("ncu is not installed")
        return 77
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for kernel in sys.argv[2:] or ENTRIES:
            print(kernel, *SHAPE, flush=True)
            try:
                mine, line_of = ours(program, kernel, folder)
                theirs = of_ncu(program, kernel, folder)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print("  FAILED:", error)
                good = False
                continue
            for entry in ENTRIES[kernel]:
                m, t = mine.get(entry, {}), theirs[entry]
                print(f"  {entry}: counted at {len(m)} instructions, ncu lists {len(t)}", flush=True)
                for name, (_, tolerance) in COLUMNS.items():
                    if not any(name in of for of in t.values()):
                        good = good and name != "inst_executed"
                        continue
                    if tolerance == 0:
                        exact = agree("instruction", name, {k: v[name] for k, v in m.items() if v[name]},
                                      {k: v[name] for k, v in t.items() if v[name]}, 0)
                        good = good and exact
                    lines = agree("line", name, by_line(m, line_of, entry, name), by_line(t, line_of, entry, name),
                                  tolerance)
                    good = good and lines
    print("all agree" if good else "NOT all agree")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
