"""tests/gpu/run_on_gpu.sh checks every GPU rung of the table in every dtype that it takes."""

import json
import pathlib
import re
import subprocess

from program import BINARY, Report, run

report = Report()
script = pathlib.Path(__file__).resolve().parents[1] / "gpu" / "run_on_gpu.sh"

rungs = [k for k in json.loads(run("list", "--json").stdout) if k["place"] == "gpu"]
report.check(len(rungs) >= 3, f"list --json names {len(rungs)} GPU rungs")

done = subprocess.run(["bash", str(script), BINARY, "--kernels"], capture_output=True, text=True, check=False,
                      timeout=60)
report.check(done.returncode == 0, f"exit {done.returncode}: {done.stdout}{done.stderr}")
wanted = [" ".join([k["id"], *k["dtypes"]]) for k in rungs]
report.check(done.stdout.split("\n")[:-1] == wanted, f"it would check {done.stdout!r}, the table has {wanted}")

# Where a rung was never run the table says so.
shown = run("list").stdout
for k in rungs:
    others = ", ".join(a for a in k["architectures"] if a != "sm_90a")
    words = f"run on sm_90a; compiled only: {others}\n" if others else "run on sm_90a\n"
    report.check(words in shown, f"list does not say where {k['id']} was run")

# A loop or list that names rungs is one that misses the next.
code = "\n".join(line for line in script.read_text().splitlines() if not line.lstrip().startswith("#"))
for loop in re.findall(r"for kernel in (.*?);", code):
    report.check(loop == '"${kernels[@]}"', f"a loop over kernels that does not read the table: {loop}")
names = "|".join(re.escape(k["id"]) for k in rungs)
for listed in re.findall(rf"\b(?:{names})(?:,(?:{names}))+\b", code):
    report.check(False, f"a list of kernels that does not come from the table: {listed}")

# The program holds the rungs and what measures peaks: kernels that break on purpose are the tests' (survive.sh).
root = script.parents[2]
# In a source a kernel may be a plain literal, whose quotes are escaped.
entry = re.compile(rb'extern \\?"C\\?" __global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(')
written = set()
for source in [path for kind in ("kernels/**/*.cu", "kernels/**/*.cuh", "kernels/gpu/ring/*.cpp", "profiling/**/*.cpp",
                                 "profiling/**/*.h", "app/worker/*.cpp") for path in root.glob(kind)]:
    written.update(entry.findall(source.read_bytes()))
held = set(entry.findall(pathlib.Path(BINARY).read_bytes()))
report.check(b"naive_scores" in held, f"naive_scores is not among the {len(held)} kernels found in the program")
report.check(held <= written, f"kernels in the program that no source has: {sorted(held - written)}")

# The compiler's figures of each: a column that stays empty is one that `inspect` cannot fill. Needs NVRTC.
for k in rungs:
    done = run("inspect", k["id"], "--arch", k["architectures"][-1], "--json", "--no-cache", timeout=300)
    if done.returncode == 3:
        print("no NVRTC here:", done.stderr.strip())
        break
    report.check(done.returncode == 0, f"inspect {k['id']}: exit {done.returncode}: {done.stderr}")
    entries = json.loads(done.stdout or "[]")
    report.check(len(entries) > 0, f"inspect {k['id']} has no entry")
    for entry in entries:
        report.check(entry["kernel"] == k["id"] and entry["registers"] > 0 and entry["blocks_per_sm"] > 0,
                     f"inspect {k['id']}: {entry}")

report.exit(least=3)
