"""No load or store of flash_mma in shared memory waits for another's bank: at every instruction the wavefronts that the
GPU counted are the ideal's, in f16 and bf16, D = 64 and 128. That the counter sees conflicts is shown by flash_simt
without its padding. Needs a GPU whose counters may be read.

    python3 tests/gpu/conflict_free.py path/to/attnscope"""
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = os.path.realpath(sys.argv[1])
CELLS = [(dtype, d) for dtype in ("f16", "bf16") for d in (64, 128)]


def counted(kernel, folder, *words):
    file = os.path.join(folder, "counts.json")
    done = subprocess.run([PROGRAM, "profile", kernel, "--l", "4096", "--hq", "16", "--counts", "--seconds", "0.05",
                           "--lines", "0", "--json", file, *map(str, words)], capture_output=True, text=True,
                          timeout=60, check=False)
    if done.returncode != 0:
        sys.exit(f"profile {kernel} ended with {done.returncode}: {done.stderr[-500:]}")
    with open(file, encoding="utf-8") as f:
        counts = json.load(f)["counted"]
    if counts.get("not_available"):
        sys.exit(f"{kernel} was not counted: {counts['not_available']}")
    return counts["instructions"]


def told(name, instructions):
    used = [i for i in instructions if i["shared_wavefronts"]]
    worse = [i for i in used if i["shared_conflicts"]]
    wavefronts, conflicts = sum(i["shared_wavefronts"] for i in used), sum(i["shared_conflicts"] for i in worse)
    print(f"{name}: {len(used)} instructions use shared memory, {wavefronts} wavefronts, {conflicts} beyond the ideal "
          f"at {len(worse)} of them")
    for i in worse[:5]:
        print(f"  at {i['address']:#x}, {i['phase']}: {i['shared_wavefronts']} of {i['shared_wavefronts_ideal']}")
    return used, worse


good = True
with tempfile.TemporaryDirectory() as place:
    for dtype, d in CELLS:
        used, worse = told(f"flash_mma {dtype} D = {d}", counted("flash_mma", place, "--dtype", dtype, "--d", d))
        good = good and len(used) > 20 and not worse
    close = os.path.join(place, "close.cu")
    text = subprocess.run([PROGRAM, "lab", "--experiment", "pad_away", "--text"], capture_output=True, text=True,
                          check=True)
    with open(close, "w", encoding="utf-8") as f:
        f.write(text.stdout)
    _, worse = told("flash_simt without its padding", counted(close, place, "--d", 64))
    if not worse:
        print("the counter sees no conflict where there are some")
    good = good and bool(worse)
sys.exit(0 if good else 1)
