"""attnscope profile: what was sampled, as text, JSON and CSV, from a session and with no GPU; and what it refuses."""

import csv
import io
import json
import pathlib
import tempfile

from program import Report, run

report = Report()
ROOT = pathlib.Path(__file__).resolve().parents[2]
SESSION = ROOT / "assets" / "sessions" / "h100-profile.attn"

for words, *arguments in [
    ("--save", "naive", "--save", "x.attn"),
    ("--session", "naive", "--sample", "--session", "x.attn"),
    ("--arch", "naive", "--sample", "--arch", "sm_80"),
    ("--seconds", "naive", "--sample", "--seconds", "0"),
    ("runs on the CPU", "cpu_flash", "--sample"),
]:
    done = run("profile", *arguments)
    report.check(done.returncode == 2, f"profile {arguments}: exit {done.returncode}, not 2: {done.stderr}")
    report.check(words in done.stderr, f"profile {arguments}: '{words}' is not in: {done.stderr}")

done = run("profile", "naive", "--json", "-")
report.check("--sample" in json.loads(done.stdout)["sampled"]["not_available"], "it does not say how samples are taken")

done = run("profile", "flash_simt", "--d", 64, "--csv", "-")
if len(done.stdout.splitlines()) > 1:
    report.check(done.stderr == "", f"a table with rows needs no words: {done.stderr}")
else:  # no NVRTC or no nvdisasm
    told = done.stderr.startswith("The CSV has no rows: ") and "fetch-cuda" in done.stderr
    report.check(told, f"an empty table does not say why: {done.stderr}")
report.check(done.returncode == run("profile", "flash_simt", "--d", 64).returncode, "--csv changes the exit status")

# The columns of the first version, which hold every state once, and those that tell what three of them are made of.
STATES = ("issues", "ready", "dispatch", "last_result", "shared", "global", "barrier", "tensor", "fetch_and_other")
PARTS = {"last_result": ("own_result", "busy_pipe"), "global": ("l1_queue", "device_memory"),
         "shared": ("shared_memory", "special_functions", "memory_queue")}

if SESSION.exists():
    for kernel, d in (("naive", 64), ("tiled", 64), ("flash_simt", 64), ("flash_simt", 128)):
        of = ["profile", kernel, "--session", SESSION, "--l", 4096, "--hq", 16, "--d", d]
        name = f"{kernel}, D = {d}"
        done = run(*of)
        report.check(done.returncode == 0, f"{name}: exit {done.returncode}: {done.stderr}")
        told = "Where the warps' time goes" in done.stdout and " 0 dropped" in done.stdout
        report.check(told, f"{name}: {done.stdout}")
        sampled = json.loads(run(*of, "--json", "-").stdout)["sampled"]
        whole = sampled["samples"]
        report.check(whole >= 20000, f"{name}: {whole} samples")
        for part in ("phases", "instructions"):
            report.check(sum(row["samples"] for row in sampled[part]) == whole, f"{name}: {part} are not all samples")
        report.check(sum(sampled["states"][s] for s in STATES) == whole, f"{name}: states are not all samples")
        for state, parts in PARTS.items():
            told = sum(sampled["states"][part] for part in parts)
            report.check(told == sampled["states"][state], f"{name}: {parts} are {told}, not all of {state}")
        report.check(sum(sampled["reasons"].values()) == whole, f"{name}: reasons are not all samples")
        report.check(sampled["samples_not_issued"] < whole, f"{name}: nothing was ever issued")
        untagged = sum(row["samples"] for row in sampled["phases"] if row["phase"] == "untagged")
        report.check(untagged <= 0.02 * whole, f"{name}: {untagged} of {whole} samples belong to no phase")
        rows = list(csv.DictReader(io.StringIO(run(*of, "--csv", "-").stdout)))
        phases = {row["phase"]: row["samples"] for row in rows if row["row"] == "phase"}
        if phases:  # there is none where no machine code can be read here
            report.check(sum(int(n or 0) for n in phases.values()) == whole, f"{name}: CSV has {phases}")

# ---- counts of instructions

for words, *arguments in [
    ("--counts", "naive", "--counts", "--session", "x.attn"),
    ("--counts", "naive", "--counts", "--arch", "sm_80"),
    ("runs on the CPU", "cpu_flash", "--counts"),
]:
    done = run("profile", *arguments)
    report.check(done.returncode == 2, f"profile {arguments}: exit {done.returncode}, not 2: {done.stderr}")
    report.check(words in done.stderr, f"profile {arguments}: '{words}' is not in: {done.stderr}")

done = run("profile", "naive", "--json", "-")
report.check("--counts" in json.loads(done.stdout)["counted"]["not_available"], "it does not say how they are counted")
COUNTED = ["inst_executed", "thread_inst_executed", "shared_wavefronts", "shared_wavefronts_ideal", "global_sectors",
           "global_sectors_ideal", "shared_conflicts", "global_sectors_excess"]
head, *rows = csv.reader(io.StringIO(run("profile", "naive", "--csv", "-").stdout))
report.check(head[-8:] == COUNTED, f"CSV's last columns are {head[-8:]}")
report.check(all(row[-8:] == [""] * 8 for row in rows), "something was counted of a kernel that never ran")

COUNTS = ROOT / "assets" / "sessions" / "h100-counts.attn"
if COUNTS.exists():
    for kernel in ("naive", "flash_simt"):
        of = ["profile", kernel, "--session", COUNTS]
        done = run(*of)
        report.check(done.returncode == 0, f"{kernel}: exit {done.returncode}: {done.stderr}")
        told = "Instruction counts of one run, taken by GH100" in done.stdout
        report.check(told, f"{kernel}: {done.stdout}")
        counted = json.loads(run(*of, "--json", "-").stdout)["counted"]
        for key in COUNTED:
            for part in ("phases", "instructions"):
                whole = sum(row[key] for row in counted[part])
                report.check(whole == counted[key], f"{kernel}: {part} have {whole} of {counted[key]} {key}")
        for row in (counted, *counted["phases"], *counted["lines"], *counted["instructions"]):
            conflicts = row["shared_wavefronts"] - row["shared_wavefronts_ideal"]
            excess = row["global_sectors"] - row["global_sectors_ideal"]
            report.check((row["shared_conflicts"], row["global_sectors_excess"]) == (conflicts, excess), f"{row}")
        rows = [row for row in csv.DictReader(io.StringIO(run(*of, "--csv", "-").stdout)) if row["row"] == "phase"]
        if rows:  # there is none where no machine code can be read here
            whole = sum(int(row["inst_executed"]) for row in rows)
            report.check(whole == counted["inst_executed"], f"{kernel}: CSV's phases execute {whole}")

# ---- the heartbeat

for words, *arguments in [
    ("--heartbeat", "naive", "--heartbeat", "--session", "x.attn"),
    ("--heartbeat", "naive", "--heartbeat", "--arch", "sm_80"),
    ("runs on the CPU", "cpu_flash", "--heartbeat"),
]:
    done = run("profile", *arguments)
    report.check(done.returncode == 2, f"profile {arguments}: exit {done.returncode}, not 2: {done.stderr}")
    report.check(words in done.stderr, f"profile {arguments}: '{words}' is not in: {done.stderr}")

done = run("profile", "naive", "--json", "-")
report.check("--heartbeat" in json.loads(done.stdout)["heartbeat"]["not_available"], "it does not say how it is taken")
done = run("profile", "naive", "--heartbeat-csv", "-")
report.check(done.stdout.startswith("kernel,launch,start_us,end_us,issue_pct,fma_pct"), done.stdout)
report.check(len(done.stdout.splitlines()) == 1, "there is a heartbeat of a kernel that never ran")

BEATS = ROOT / "assets" / "sessions" / "h100-heartbeat.attn"
if BEATS.exists():
    for kernel, dtype, launches in (("naive", "f32", 3), ("flash_simt", "f32", 1), ("flash_mma", "f16", 1)):
        of = ["profile", kernel, "--session", BEATS, "--l", 4096, "--hq", 16, "--d", 64, "--dtype", dtype]
        done = run(*of)
        report.check(done.returncode == 0, f"{kernel}: exit {done.returncode}: {done.stderr}")
        report.check("A beat every" in done.stdout or "No beat" in done.stdout, f"{kernel}: {done.stdout}")
        beat = json.loads(run(*of, "--json", "-").stdout)["heartbeat"]
        report.check(len(beat["launches"]) == launches, f"{kernel}: {beat['launches']}")
        # Borders of a key tile's S, P and O, as the text says them; of flash_mma too few samples; naive has no tiles.
        if kernel == "naive":
            report.check("borders" not in beat and "A key tile" not in done.stdout, "borders of what has no tiles")
        elif kernel == "flash_simt":
            parts = beat["borders"]["parts"]
            report.check([p["phase"] for p in parts] == ["S", "P", "O"], f"{beat['borders']}")
            report.check(abs(sum(p["duration_us"] for p in parts) - beat["borders"]["period_us"]) < 1e-6, f"{parts}")
            report.check(all(f"{p['phase']} {p['duration_us']:.2f} µs" in done.stdout for p in parts), done.stdout)
        else:
            why = beat["borders"]["not_available"]
            report.check("samples" in why and why in done.stdout, f"{beat['borders']}")
        count = len(beat["length_ns"])
        report.check(count > 100, f"{kernel}: {count} samples")
        rows = list(csv.DictReader(io.StringIO(run(*of, "--heartbeat-csv", "-").stdout)))
        report.check(len(rows) == count, f"{kernel}: {len(rows)} rows of CSV for {count} samples")
        # The mean again, from the CSV: each sample by the time that it shares with a launch.
        shared = [sum(max(0, min(float(r["end_us"]), launch["end_us"]) - max(float(r["start_us"]), launch["start_us"]))
                      for launch in beat["launches"]) for r in rows]
        mean = sum(w * float(r["issue_pct"]) for w, r in zip(shared, rows)) / sum(shared)
        report.check(abs(mean - beat["means"]["issue"]) < 0.01 * mean, f"{kernel}: {mean}, {beat['means']}")

# ---- machine code of two kernels

for words, *arguments in [
    ("runs on the CPU", "cpu_flash", "naive"),
    ("name a kernel in it", "x.attn", "naive"),
    ("stages", "naive:stages=2", "naive"),
    ("sm_12", "naive", "naive", "--arch", "sm_12"),
]:
    done = run("sass", *arguments)
    report.check(done.returncode == 2, f"sass {arguments}: exit {done.returncode}, not 2: {done.stderr}")
    report.check(words in done.stderr, f"sass {arguments}: '{words}' is not in: {done.stderr}")

if SESSION.exists():
    done = run("sass", f"{SESSION}:naive", "naive")
    report.check(done.returncode == 2 and "contains no machine code for naive" in done.stderr, f"sass: {done.stderr}")

done = run("sass", "naive", "naive", "--d", 16)
if done.returncode == 3:  # no NVRTC or no nvdisasm, in words
    report.check("fetch-cuda" in done.stderr, f"sass: {done.stderr}")
else:
    report.check("The code is identical." in done.stdout, f"sass of one kernel: {done.stdout} {done.stderr}")
    done = run("sass", "naive", "naive", "--d", 16, "--all")
    report.check("\n    EXIT" in done.stdout and "\n-" not in done.stdout[3:], f"sass --all: {done.stdout[:400]}")
    done = run("sass", "flash_mma:stages=2", "flash_mma:stages=3")
    lines = done.stdout.splitlines()
    gone = sum(line.startswith("- ") for line in lines)
    come = sum(line.startswith("+ ") for line in lines)
    report.check(gone > 0 and come > 0, f"sass of two depths: {lines[:5]} {done.stderr}")
    words = lines[2].split(".")[0].split()
    told = {sign: sum(int(word[1:]) for word in words if word[0] == sign) for sign in "−+"}
    report.check(told == {"−": gone, "+": come}, f"sass: {lines[2]} is not {gone} and {come}")
    with tempfile.TemporaryDirectory() as folder:
        kept = pathlib.Path(folder) / "kept.attn"
        run("bench", "--kernels", "naive,tiled", "--axis", "L", "--values", "64,128", "--d", 16, "-o", kept)
        done = run("sass", f"{kept}:naive", "naive", "--d", 16)
        report.check("The code is identical." in done.stdout, f"sass of a session: {done.stdout[:400]} {done.stderr}")
        done = run("sass", f"{kept}:naive", f"{kept}:tiled")
        report.check("In common: " in done.stdout, f"sass of two rows: {done.stdout[:400]} {done.stderr}")

report.exit(least=17)
