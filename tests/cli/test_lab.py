"""The lab without a window, from outside: its experiments as files that open as kernels, options of the compiler in
hash and rows, mistakes as one line, the compiler's marks. What a GPU says is tried by tests/gpu/experiments.sh.
"""

import csv
import json
import pathlib
import tempfile

from program import Report, run

report = Report()
TINY = ("--l", "64", "--hq", "1", "--d", "16", "--tile", "16x16")


def one_line(what, done, code, words):
    lines = [line for line in done.stderr.splitlines() if line]
    report.check(done.returncode == code, f"{what}: exit {done.returncode}, not {code}: {done.stderr}")
    report.check(len(lines) == 1 and words in lines[0], f"{what}: not one line with '{words}': {done.stderr}")


def experiments(folder):
    done = run("lab", "--list", "--json")
    listed = json.loads(done.stdout)
    report.check(len(listed) == 7 and all(e["question"].endswith("?") for e in listed), f"--list: {done.stdout}")
    for e in listed:
        text = run("lab", "--experiment", e["id"], "--text").stdout
        report.check(text.startswith('// attn-build: {"edits":"' + e["kernel"] + '"}\n'), f"{e['id']}: {text[:80]}")
        (folder / f"{e['id']}.cu").write_text(text, encoding="utf-8")
    one_line("unknown", run("lab", "--experiment", "none"), 2, "unknown experiment 'none'; use pad_away")
    one_line("nothing", run("lab"), 2, "Name a kernel")
    one_line("cpu", run("lab", "cpu_flash"), 2, "runs on the CPU")
    one_line("registers", run("lab", "naive", "--maxrregcount", "8"), 2, "must be 16 to 255")
    one_line("loop", run("lab", "naive", "--loop", "0"), 2, "use 1 to 100")


def compiled(folder):
    done = run("lab", folder / "expf.cu", *TINY, "--json", cwd=folder)
    report.check(done.returncode == 0, f"lab: exit {done.returncode}: {done.stderr}")
    j = json.loads(done.stdout) if done.returncode == 0 else {}
    if j:
        report.check(j["name"].startswith("flash_simt@") and j["kernel"] == "flash_simt", f"names: {j['name']}")
        for which in ("edit", "original"):
            report.check(j[which]["figures"]["registers_count"]["value"] > 0, f"{which} has no registers")
        report.check(j["edit"]["source_hash"].startswith(j["name"][-8:]), "its name has not its hash")
    typo = (folder / "expf.cu").read_text(encoding="utf-8").replace("expf((s", "expg((s")
    (folder / "typo.cu").write_text(typo, encoding="utf-8")
    line = typo.split("expg")[0].count("\n")  # the build line is no part of the text
    done = run("lab", folder / "typo.cu", *TINY)
    words = f'It does not compile: line {line}: identifier "expg" is undefined'
    report.check(done.returncode == 1 and words in done.stdout,
                 f"a typing mistake: exit {done.returncode}: {done.stdout}{done.stderr}")


# The picture shows this very edit: another one is another picture, and what cannot be drawn is said before it is built.
def drawn(folder):
    pictures = []
    for tile in ("16x16", "32x32"):
        file = folder / f"{tile}.png"
        done = run("lab", "flash_simt", "--l", "64", "--hq", "1", "--d", "16", "--tile", tile, "--png", file)
        if done.returncode == 3 and "libEGL" in done.stderr:
            print("skipped: " + done.stderr.strip())
            return
        report.check(done.returncode == 0 and file.read_bytes()[:4] == b"\x89PNG",
                     f"--png: exit {done.returncode}: {done.stderr}")
        pictures.append(file.read_bytes())
    report.check(pictures[0] != pictures[1], "--png shows the same of two edits")
    one_line("size", run("lab", "naive", "--png", folder / "x.png", "--size", "10x10"), 2,
             "Cannot draw a picture of 10 x 10")
    one_line("theme", run("lab", "naive", "--png", folder / "x.png", "--theme", "red"), 2, "Unknown --theme red")
    one_line("suffix", run("lab", "naive", "--png", folder / "x.jpg"), 2, "png")


def built_otherwise(folder):
    plain = json.loads(run("inspect", "naive", "--arch", "sm_80", "--head-dim", "16", "--json").stdout)
    fast = json.loads(run("inspect", "naive", "--arch", "sm_80", "--head-dim", "16", "--fast-math", "--json").stdout)
    report.check(plain[0]["source_hash"] != fast[0]["source_hash"] and fast[0]["kernel"].startswith("naive@"),
                 f"fast math is no other kernel: {fast[0]}")
    done = run("bench", "--kernels", "naive", "--values", "16", "--d", "16", "--maxrregcount", "64", "--fast-math",
               "--csv", folder / "b.csv", cwd=folder)
    report.check(done.returncode in (0, 3), f"bench: exit {done.returncode}: {done.stderr}")  # 3: no GPU to time it on
    rows = list(csv.DictReader((folder / "b.csv").read_text(encoding="utf-8").splitlines()))
    report.check(len(rows) == 1 and rows[0]["compiled_with"] == "maxrregcount=64 use_fast_math", f"rows: {rows}")
    one_line("cpu", run("bench", "--kernels", "cpu_flash", "--values", "16", "--fast-math"), 2, "runs on the CPU")


with tempfile.TemporaryDirectory() as name:
    place = pathlib.Path(name)
    experiments(place)
    if run("inspect", "naive", "--arch", "sm_80", "--head-dim", "16").returncode == 0:
        compiled(place)
        built_otherwise(place)
        drawn(place)
    else:
        print("left out: what needs NVRTC, which is not here")
report.exit(17)
