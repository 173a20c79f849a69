"""A kernel of the user's own from outside: the template as a new user takes it, each mistake as one readable line with
its exit code, its rows in a session, and a session that holds them opened without the file. What needs a GPU is tried
by tests/gpu/own_kernel.sh.
"""

import csv
import json
import pathlib
import re
import subprocess
import tempfile

from program import BINARY, Report, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEMPLATE = (ROOT / "assets/kernels/my_attention.cu").read_text(encoding="utf-8")
report = Report()


def one_line(what, done, code, words):
    """It ends with the code, and what it says on stderr is one line that has the words."""
    lines = [line for line in done.stderr.splitlines() if line]
    report.check(done.returncode == code, f"{what}: exit {done.returncode}, not {code}: {done.stderr}")
    report.check(len(lines) == 1 and words in lines[0], f"{what}: not one line with '{words}': {done.stderr}")


def write(folder, name, *changes):
    text = TEMPLATE
    for before, after in changes:
        report.check(before in text, f"{name}: the template has no {before}")
        text = text.replace(before, after)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def has_compiler(folder):
    probe = run("inspect", "naive", "--arch", "sm_80", "--no-cache", cwd=folder)
    return probe.returncode == 0


def template(folder):
    done = run("list", "--template")
    report.check(done.returncode == 0 and done.stdout == TEMPLATE,
                 "list --template is not assets/kernels/my_attention.cu")
    lines = TEMPLATE.count("\n")
    report.check(30 <= lines <= 60, f"the template has {lines} lines")
    for other in ("--metrics", "--peers", "--json"):
        one_line(f"--template {other}", run("list", "--template", other), 2, "use it without other options")
    report.check("my_attention" not in run("list").stdout, "the ladder lists the template")


def headers(folder):
    api = write(folder, "api.cu", ('"api": 1', '"api": 9'))
    one_line("api", run("inspect", api), 2, 'api.cu, line 1: "api" is 9; this version supports 1 and 2.')
    key = write(folder, "key.cu", ('"grouped"', '"gruppe"'))
    one_line("key", run("verify", key), 2, 'key.cu, line 6: "gruppe" is not a known key; use api, entries')
    one_line("key in bench", run("bench", "--kernels", key, "--values", "64"), 2, "key.cu, line 6:")
    one_line("key in profile", run("profile", key), 2, "key.cu, line 6:")
    name = write(folder, "name.cu", ("* B * Hq", "* B * H"))
    one_line("name", run("inspect", name), 2, "name.cu, line 2: \"entries[0].grid\" is invalid")
    (folder / "none.cu").write_text("int x;\n", encoding="utf-8")
    one_line("none", run("inspect", folder / "none.cu"), 2, "none.cu has no header")
    (folder / "bytes.cu").write_bytes(TEMPLATE.encode() + b"// \xff\n")
    one_line("bytes", run("inspect", folder / "bytes.cu"), 2, "it must be UTF-8")
    one_line("missing", run("inspect", folder / "missing.cu"), 3, "missing.cu")
    one_line("no ending", run("inspect", "my_attention"), 2, "for your own kernel, name a file that ends in .cu")


def page(folder):
    """docs/own_kernel.md has the keys that the program names, and its example is a header."""
    text = (ROOT / "docs/own_kernel.md").read_text(encoding="utf-8")
    tables = re.findall(r"\| key \| value \| if omitted \|\n\|[-|]+\|\n((?:\|.*\n)+)", text)
    # The first two are api 1's; what api 2 has besides, its own tests hold.
    report.check(len(tables) == 4, f"docs/own_kernel.md has {len(tables)} tables of keys")
    for table, before in zip(tables, ('"grouped"', '"grid"')):
        wrong = write(folder, "wrong.cu", (before, '"xyz"'))
        said = re.search(r"is not a known key; use ([^.]*)", run("inspect", wrong).stderr)
        described = re.findall(r"^\| `(\w+)` \|", table, re.M)
        report.check(said is not None and sorted(said.group(1).split(", ")) == sorted(described),
                     f"docs/own_kernel.md describes {described}, the program says {said and said.group(1)}")
    example = re.search(r"```\n(// attn:.*?)```", text, re.S).group(1)
    (folder / "example.cu").write_text(example + TEMPLATE.split("\n//\n", 1)[1], encoding="utf-8")
    one_line("the page's example", run("inspect", folder / "example.cu", "--head-dim", "32", "--arch", "sm_80"), 2,
             "supports D = 64 or 128, not 32")
    refused = "`" + "` `".join(["B", "Hq", "Hkv", "Lq", "Lk", "D", "Dv", "Br", "Bc", "threads", "stages"]) + "`"
    report.check(refused.replace("\n", " ") in text.replace("\n", " "),
                 "docs/own_kernel.md lacks a name of expressions")


def refusals(folder):
    mine = write(folder, "mine.cu", ('"f32", "f16", "bf16"', '"f32"'),
                 ('"causal", ', ""), ('"max": 256}, "Dv"', '"max": 64}, "Dv"'))
    one_line("dtype", run("inspect", mine, "--dtype", "f16", "--arch", "sm_80"), 2, "supports f32, not f16")
    one_line("mask", run("inspect", mine, "--causal", "--arch", "sm_80"), 2,
             'does not declare "causal" among its masks')
    one_line("D", run("inspect", mine, "--head-dim", "128", "--arch", "sm_80"), 2, "supports D = 1 to 64, not 128")
    one_line("option", run("profile", mine, "--tile", "64x64"), 2, "--tile")
    one_line("threads", run("inspect", mine, "--threads", "48", "--arch", "sm_80"), 2, "in steps of 32, not 48")
    big = write(folder, "big.cu", ('"4 * Dv', '"4000 * Dv'))
    one_line("shared", run("inspect", big, "--arch", "sm_90a"), 2, "a block on sm_90a can have at most 232448")
    one_line("on the CPU", run("verify", mine, "--device", "cpu"), 2,
             "mine.cu runs on a GPU, but --device cpu was given")
    one_line("twice", run("bench", "--kernels", f"{mine},{mine}", "--values", "64"), 2, "twice")
    other = folder / "other"
    other.mkdir()
    (other / "mine.cu").write_bytes(mine.read_bytes())
    one_line("the same", run("bench", "--kernels", f"{mine},{other / 'mine.cu'}", "--values", "64"), 2,
             "the same kernel")
    one_line("no kernel's file", run("verify", folder), 2, "use a name that ends in .cu")
    one_line("hang limit", run("verify", mine, "--hang-limit", "-1"), 2, "--hang-limit -1")
    one_line("picture", run("profile", mine, "--png", folder / "x.png"), 2, "--png")


def compiled(folder):
    mine = write(folder, "my_attention.cu")
    done = run("inspect", mine, "--json", cwd=folder)
    rows = json.loads(done.stdout) if done.returncode == 0 else []
    report.check({row["arch"] for row in rows} >= {"sm_75", "sm_80", "sm_90a", "sm_120"}, f"inspect: {done.stderr}")
    for row in rows:
        report.check(row["kernel"].startswith("my_attention@") and row["entry"] == "my_attention", f"inspect: {row}")
        report.check(row["registers"] > 0 and row["spill_load_bytes"] == 0, f"inspect: {row}")
        report.check(row["kernel"].endswith(row["source_hash"][:8]), f"its name has not its hash: {row}")
    typo = write(folder, "typo.cu", ("last_key(a", "lst_key(a"))
    line = 1 + typo.read_text(encoding="utf-8").split("lst_key")[0].count("\n")
    done = run("inspect", typo, "--arch", "sm_80")
    report.check(done.returncode == 1 and f'typo.cu:{line}: identifier "lst_key" is undefined' in done.stderr,
                 f"a typing mistake: exit {done.returncode}: {done.stderr}")
    warned = write(folder, "warned.cu", ("  float m = minus", "  int unused;\n  float m = minus"))
    done = run("inspect", warned, "--arch", "sm_80", "--no-cache")
    report.check(done.returncode == 0 and "warned.cu(" in done.stderr and "never referenced" in done.stderr,
                 f"a warning: exit {done.returncode}: {done.stderr}")
    entry = write(folder, "entry.cu", ('"name": "my_attention"', '"name": "his_attention"'))
    one_line("entry", run("inspect", entry, "--arch", "sm_80"), 2, "the header names the entry his_attention")
    done = run("profile", mine, "--d", "64", "--json", "-")
    j = json.loads(done.stdout) if done.returncode == 0 else {}
    report.check(j.get("kernel", "").startswith("my_attention@") and j["entries"], f"profile: {done.stderr}")
    if j and not j["machine_code_not_available"]:
        phases = {row["phase"]: row["instructions"] for row in j["phases"]}
        report.check({"S", "m", "alpha", "P", "l", "O", "normalise", "store"} <= set(phases), f"phases: {phases}")
        whole = sum(phases.values())
        report.check(phases.get("untagged", 0) <= 0.02 * whole, f"untagged: {phases}")


def sessions(folder, gpu):
    """Rows of a file's text stay rows of that text."""
    mine = write(folder, "session.cu")
    done = run("bench", "--kernels", f"{mine},cpu_flash", "--values", "16,32", "--d", "8", "--time-limit", "0.02", "-o",
               folder / "s.attn", "--csv", folder / "s.csv", cwd=folder)
    report.check(done.returncode == 0, f"bench: exit {done.returncode}: {done.stderr}")
    rows = list(csv.DictReader((folder / "s.csv").read_text(encoding="utf-8").splitlines()))
    own = [row for row in rows if row["kernel"].startswith("session@")]
    report.check(len(rows) == 4 and len(own) == 2, f"rows: {[row['kernel'] for row in rows]}")
    for row in own:
        report.check(row["state"] == ("done" if gpu else "refused"),
                     f"{row['kernel']}: {row['state']}: {row['reason']}")
        report.check(row["rung"] == "" and row["compulsory_bytes"] == "",
                     f"{row['kernel']} is taken for one of the ladder")
    one_line("alone", run("bench", "--kernels", mine, "--values", "16", "-o", folder / "s.attn"), 2, "already exists")
    again = run("bench", "--kernels", f"{mine},cpu_flash", "--values", "16,32", "--d", "8", "--time-limit", "0.02",
                "-o", folder / "s.attn", "--resume", "--csv", folder / "again.csv", cwd=folder)
    report.check(again.returncode == 0, f"--resume: exit {again.returncode}: {again.stderr}")
    before = (folder / "s.attn").read_bytes()
    write(folder, "session.cu", ("1.0f);", "1.00f);"))
    changed = run("bench", "--kernels", mine, "--values", "16", "-o", folder / "s.attn", "--resume")
    one_line("changed", changed, 2, "session.cu has changed since then and is now session@")
    report.check((folder / "s.attn").read_bytes() == before, "a refused --resume changed the session")
    # Opened by everything that opens sessions, with the file gone: nothing asks for it.
    mine.unlink()
    for command in (("report", folder / "s.attn", "-o", folder / "report"),
                    ("shot", "--view", "bench", "--session", folder / "s.attn", "-o", folder / "s.png"),
                    ("shot", "--view", "profile", "--session", folder / "s.attn", "-o", folder / "p.png")):
        done = run(*command, cwd=folder)
        report.check(done.returncode == 0, f"{command[0]}: exit {done.returncode}: {done.stderr}")
    one_line("profile of its rows", run("profile", own[0]["kernel"], "--session", folder / "s.attn"), 2,
             "unknown kernel")


def main():
    gpu = subprocess.run([BINARY, "worker", "--check"], capture_output=True, check=False).returncode == 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        template(folder)
        headers(folder)
        page(folder)
        refusals(folder)
        if has_compiler(folder):
            compiled(folder)
        else:
            print("no NVRTC here: nothing is compiled")
        sessions(folder, gpu)
    report.exit(60)


if __name__ == "__main__":
    main()
