"""Sets the samples of this program beside those of Nsight Compute, instruction by instruction and line by line.

    python3 tests/gpu/compare_samples_with_ncu.py path/to/attnscope [KERNEL ...]

Of the ten hottest lines of each kernel the shares must agree within 1 point or a tenth of the share, whichever is
larger. Exit 77 where there is no ncu."""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SHAPE = ["--l", "4096", "--hq", "16", "--d", "64"]
ENTRIES = {"naive": ["naive_scores", "naive_softmax", "naive_output"], "flash_simt": ["flash_simt"]}
SKIPPED_RUNS = 2  # the check's run and a warm-up
STEP = 16  # bytes of an instruction
SAMPLES = "Warp Stall Sampling (All Samples)"


def ours(program, kernel, folder):
    """Samples by address of each function, and the line of each address."""
    file = os.path.join(folder, kernel + ".json")
    done = subprocess.run([program, "profile", kernel, *SHAPE, "--sample", "--seconds", "0.1", "--json", file],
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    with open(file, encoding="utf-8") as f:
        profile = json.load(f)
    sampled = profile["sampled"]
    if sampled["not_available"]:
        raise RuntimeError(sampled["not_available"])
    by_function, line_of = {}, {}
    for i in sampled["instructions"]:
        by_function.setdefault(i["function"], {})[i["address"]] = i["samples"]
    for line in profile["lines"]:
        for i in line["sass"]:
            # The innermost file is the last that counts it; one line an instruction is enough to compare by.
            line_of[i["function"], i["address"]] = (line["file"].rsplit("/", 1)[-1], line["line"])
    print(f"  {sampled['samples']} samples, {sampled['dropped']} dropped, {sampled['unattributed']} of other code, "
          f"every 2^{sampled['period_log2']} cycles, {sampled['launches']} launches, {sampled['seconds']:.2f} s")
    return by_function, line_of


def count_of(cell):
    """Of "1,234" and the like; an empty cell is 0."""
    digits = re.match(r"[\d,]*", (cell or "").strip()).group().replace(",", "")
    return int(digits or 0)


def of_ncu(program, kernel, folder, sections):
    """The same by address, from the report's source page."""
    entries = ENTRIES[kernel]
    report = os.path.join(folder, kernel)
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
        lines = page.splitlines()
        start = next((n for n, line in enumerate(lines) if "Source" in line and SAMPLES in line), None)
        if start is None:
            raise RuntimeError(f"ncu's source page of {entry} has no column {SAMPLES}: {page[:600]}")
        if os.environ.get("OUT"):
            with open(os.path.join(os.environ["OUT"], f"ncu_{entry}.csv"), "w", encoding="utf-8") as f:
                f.write(page)
        rows = list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))
        numbers = [count_of(row.get(SAMPLES)) for row in rows]
        by_function[entry] = {STEP * n: number for n, number in enumerate(numbers)}
    return by_function


def shares(counts):
    whole = sum(counts.values()) or 1
    return {key: 100 * n / whole for key, n in counts.items()}


def by_line(counts, line_of, function):
    lines = {}
    for address, n in counts.items():
        key = line_of.get((function, address), ("no line", 0))
        lines[key] = lines.get(key, 0) + n
    return lines


def agree(name, mine, theirs):
    """Prints the ten hottest of theirs beside ours."""
    good = True
    a, b = shares(mine), shares(theirs)
    for key in sorted(b, key=b.get, reverse=True)[:10]:
        x, y = a.get(key, 0), b[key]
        holds = abs(x - y) <= max(1, 0.1 * y)
        good = good and holds
        print(f"    {name} {key}: {x:.2f} %, ncu {y:.2f} %{'' if holds else '  TOO FAR'}")
    return good


def main():
    program = os.path.realpath(sys.argv[1])
    if shutil.which("ncu") is None:
        print("ncu is not installed")
        return 77
    sections = os.environ.get("NCU_SECTIONS", "--section SourceCounters").split()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for kernel in sys.argv[2:] or ENTRIES:
            print(kernel, *SHAPE, flush=True)
            try:
                mine, line_of = ours(program, kernel, folder)
                theirs = of_ncu(program, kernel, folder, sections)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print("  FAILED:", error)
                good = False
                continue
            for entry in ENTRIES[kernel]:
                m, t = mine.get(entry, {}), theirs[entry]
                print(f"  {entry}: {sum(m.values())} samples, ncu {sum(t.values())}; {len(t)} instructions", flush=True)
                lines = agree("line", by_line(m, line_of, entry), by_line(t, line_of, entry))
                agree("instruction", m, t)
                good = good and lines
    print("all agree" if good else "NOT all agree")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
