"""What files of strangers may not do, from outside: escapes in names reach no terminal and no report, a text that eats
memory or asks for files ends by itself, an output that is a link to another is refused, and what is wrong with a file
is said as it is.
"""

import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy as np
from program import BINARY, Report, run

report = Report()
LONG = bool(os.environ.get("ATTNSCOPE_LONG_TESTS"))
HEADER = """// attn: {"api": 1, "entries": [{"name": "mine", "grid": "Lq * B * Hq", "block": 64}],
// attn:  "dtypes": ["f32"], "D": {"min": 1, "max": 256}, "masks": []}
"""
CODE = 'extern "C" __global__ void mine() {}\n'
EVIL = "a\x1b]0;owned\x07\x1b[2J\u202eb\u009b31m\u2066c.cu"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def clean(words, what):
    found = OBEYED.search(words.replace("\r\x1b[K", ""))
    report.check(found is None, f"{what}: {found and hex(ord(found[0]))} in {words!r}")


def escapes(folder):
    folder.mkdir()
    (folder / EVIL).write_text(HEADER + "#error no\n", encoding="utf-8")
    evil_peer = folder / EVIL.replace(".cu", ".py")
    evil_peer.write_text("def attention(q, k, v, scale, causal):\n"
                         "    raise ValueError('<b>\\x1b[31m\\u202e `x` | y')\n", encoding="utf-8")
    commands = (("inspect", folder / EVIL), ("step", "--preset", EVIL), ("bench", EVIL), (EVIL,), ("--" + EVIL,),
                    ("run", "--kernel", "cpu_flash", "--q", EVIL, "--k", EVIL, "--v", EVIL, "--out", "o.npy"),
                    ("lesson", "check", EVIL), ("shot", "--session", EVIL, "--png", "a.png"),
                    ("bench", "--kernels", "cpu_flash", "--values", "8", "--csv", folder / EVIL / "x"))
    for command in commands if LONG else commands[:3]:
        done = run(*command, cwd=folder)
        report.check(done.returncode != 0 and done.stderr, f"{command} is taken")
        clean(done.stderr, command)
    session = folder / "s.attn"
    done = run("bench", "--kernels", "cpu_flash", "--values", "8,16", "--d", "8", "--time-limit", "0.02",
               "--peers-python", sys.executable, "--peer", evil_peer, "-o", session, "--csv", folder / "rows.csv")
    clean(done.stderr, "bench")
    rows = (folder / "rows.csv").read_text(encoding="utf-8")
    clean(rows, "--csv")
    report.check(any("ValueError" in r["reason"] for r in csv.DictReader(io.StringIO(rows))), "no reason of the peer")
    done = run("report", session, "--out", folder / "report")
    if not (folder / "report" / "summary.md").exists():
        report.check(False, f"no report: {done.stderr}")
        return
    for name in ("summary.md", "rows.csv"):
        clean((folder / "report" / name).read_text(encoding="utf-8"), name)
    summary = (folder / "report" / "summary.md").read_text(encoding="utf-8")
    report.check("<b>" not in summary and "&lt;b>" in summary and "\\`x\\`" in summary, f"markup: {summary[-900:]}")


def tables(folder):
    """Words on stdout go to a terminal too: titles of a lesson, reasons and devices of a session."""
    folder.mkdir()
    shipped = pathlib.Path(__file__).resolve().parent.parent.parent / "assets" / "lessons"
    lesson = json.loads((shipped / "01_weighted_average.json").read_text(encoding="utf-8"))
    lesson["text"]["title"] = EVIL
    (folder / "01_evil.json").write_text(json.dumps(lesson), encoding="utf-8")
    done = run("lesson", "list", folder / "01_evil.json")
    report.check(done.returncode == 0 and "owned" in done.stdout, f"lesson list: {done.stdout} {done.stderr}")
    clean(done.stdout, "lesson list")
    done = run("lesson", "print", folder / "01_evil.json")
    report.check(done.returncode == 0 and "owned" in done.stdout, f"lesson print: {done.stderr}")
    clean(done.stdout, "lesson print")
    # Data is what it is: JSON escapes what must not stand in it, and no letter is lost.
    done = run("list", "--json")
    report.check(done.returncode == 0 and json.loads(done.stdout), f"list --json: {done.stderr}")


def compiled(folder):
    folder.mkdir()
    file = folder / "mine.cu"
    cache = f"export XDG_CACHE_HOME={folder / 'cache'}"

    def inspect(text, timeout=150):
        file.write_text(HEADER + text + CODE, encoding="utf-8")
        begin = time.monotonic()
        done = run("inspect", file, "--arch", "sm_90a", prefix=cache, timeout=timeout)
        return done, time.monotonic() - begin

    done, _ = inspect("")
    if "libnvrtc" in done.stderr or "NVRTC" in done.stderr:
        print("compilation is left out: there is no NVRTC")
        return
    report.check(done.returncode == 0 and "mine" in done.stdout, f"a right one: {done.stderr}")
    fifo = folder / "pipe"
    os.mkfifo(fifo)
    secret = folder / "secret.h"
    secret.write_text("#error the secret\n", encoding="utf-8")
    for text in (f'#include "{secret}"\n', "#include </etc/passwd>\n", f'#include "{fifo}"\n', '#include "secret.h"\n',
                 f'#define H "{secret}"\n#include H\n', f'#if __has_include("{secret}")\n#error there\n#endif\n',
                 f'#inc\\\nlude "{secret}"\n', "#include <cuda/../../../../../../etc/passwd>\n")[:8 if LONG else 3]:
        done, seconds = inspect(text)
        report.check(done.returncode == 2 and ", line " in done.stderr, f"{text}: {done.returncode} {done.stderr}")
        report.check("secret\n" not in done.stderr and "root:" not in done.stderr, f"{text} shows {done.stderr}")
        report.check(seconds < 20, f"{text} took {seconds:.0f} s")
    # What no look at the text sees, the process that compiles cannot open.
    paste = f'#define P(a, b) a##b\n#if P(__ha, s_include)("{secret}")\n#error it sees it\n#endif\n'
    done, _ = inspect(paste)
    report.check("it sees it" not in done.stderr, f"a pasted __has_include: {done.stderr}")
    done, _ = inspect("#include <cuda_fp16.h>\n")
    report.check(done.returncode == 0, f"CUDA's own header: {done.stderr}")
    if not LONG:
        return
    # Three lines of macros: more memory than there is.
    eats = "#define A(...) " + 16 * "__VA_ARGS__ " + "\n#define B(...) A(A(A(A(__VA_ARGS__))))\n" \
           "__device__ int n[] = {B(B(1,))};\n"
    done, seconds = inspect(eats)
    report.check(done.returncode != 0 and seconds < 120, f"macros: {done.returncode} after {seconds:.0f} s")
    report.check("memory" in done.stderr or "compil" in done.stderr, f"macros: {done.stderr[-300:]}")
    process = subprocess.Popen([BINARY, "inspect", file, "--arch", "sm_90a"], stderr=subprocess.PIPE, text=True,
                               env=dict(os.environ, XDG_CACHE_HOME=str(folder / "cache")))
    time.sleep(1.5)
    process.terminate()
    begin = time.monotonic()
    process.communicate(timeout=60)
    report.check(time.monotonic() - begin < 5, "TERM is not heard while a text is compiled")
    done, _ = inspect("// again\n")
    report.check(done.returncode == 0, f"after a lost one: {done.stderr}")


def link_to_out(folder):
    folder.mkdir()
    x = np.random.default_rng(1).standard_normal((1, 1, 4, 8)).astype(np.float32)
    for name in "qkv":
        np.save(folder / f"{name}.npy", x)
    given = ("run", "--kernel", "cpu_flash", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy")
    (folder / "lse.npy").symlink_to("o.npy")
    (folder / "chain.npy").symlink_to("lse.npy")
    (folder / "sub").mkdir()
    (folder / "sub" / "up.npy").symlink_to("../o.npy")
    for lse in ("lse.npy", "chain.npy", "sub/up.npy", "./lse.npy"):
        done = run(*given, "--out", "o.npy", "--lse", lse, cwd=folder)
        report.check(done.returncode == 2 and "same file" in done.stderr, f"{lse}: {done.returncode} {done.stderr}")
        report.check(not (folder / "o.npy").exists(), f"{lse}: something was written")
    (folder / "other.npy").symlink_to("elsewhere.npy")
    done = run(*given, "--out", "o.npy", "--lse", "other.npy", cwd=folder)
    report.check(done.returncode == 0 and np.load(folder / "o.npy").shape == x.shape, f"another link: {done.stderr}")


def what_it_is(folder):
    folder.mkdir()
    x = np.zeros((4, 8), np.float32)
    np.save(folder / "k.npy", x)
    np.savez(folder / "q.npz", q=x)
    np.save(folder / "u2.npy", x.astype(np.uint16))
    with zipfile.ZipFile(folder / "q.pt", "w") as z:
        z.writestr("archive/data.pkl", b"\x80\x02}.")
    (folder / "q.safetensors").write_bytes((16).to_bytes(8, "little") + b'{"q":{"a":"b"}} ')
    (folder / "lfs.npy").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", encoding="utf-8")
    for name, words in (("q.npz", "np.load"), ("q.pt", "torch.load"), ("q.safetensors", "load_file"),
                        ("lfs.npy", "git lfs pull"), ("u2.npy", "<< 16"), ("none.npy", "No such file")):
        done = run("run", "--kernel", "cpu_flash", "--q", name, "--k", "k.npy", "--v", "k.npy", "--out", "o.npy",
                   cwd=folder)
        report.check(done.returncode in (2, 3) and words in done.stderr, f"{name}: {done.returncode} {done.stderr}")
    # What is said of bits of bf16 does what it says.
    bits = (np.float32(1.5).view(np.uint32) >> 16).astype(np.uint16)
    report.check((np.array([bits]).view(np.uint16).astype(np.uint32) << 16).view(np.float32)[0] == 1.5, "u2 to bf16")


def outputs(folder):
    folder.mkdir()
    for closed, words in ((">&-", "stdout is closed"), (">/dev/full", "is the disk full")):
        for command in (["list"], ["bench", "--kernels", "cpu_flash", "--values", "8", "--d", "8", "--time-limit",
                                   "0.02", "--csv", "-", "-o", str(folder / f"s{len(closed)}.attn")], ["--version"]):
            done = subprocess.run(["bash", "-c", f'exec "$0" "$@" {closed}', BINARY, *command], capture_output=True,
                                  text=True, check=False, timeout=60)
            report.check(done.returncode == 3 and words in done.stderr, f"{closed}, {command}: {done.stderr}")
    report.check(zipfile.is_zipfile(folder / "s3.attn"), "what is said went into the session")


def many_points(folder):
    folder.mkdir()
    values = ",".join(str(n) for n in range(4, 204))
    command = ("bench", "--kernels", "cpu_flash", "--values", values, "--d", "4", "--time-limit", "0.001", "--verify",
               "none")
    begin = time.monotonic()
    alone = run(*command)
    without = time.monotonic() - begin
    begin = time.monotonic()
    kept = run(*command, "-o", folder / "s.attn")
    with_file = time.monotonic() - begin
    begin = time.monotonic()
    again = run(*command, "-o", folder / "s.attn", "--resume")
    resumed = time.monotonic() - begin
    report.check(alone.returncode == kept.returncode == again.returncode == 0, f"{kept.stderr[-300:]}")
    report.check(kept.stderr.count(" L=") >= 200 and again.stderr.count("200 of 200") == 1, "rows are not told")
    slower = 1.5 if os.environ.get("ATTNSCOPE_SANITIZED") else 1.0
    report.check(with_file < 1.5 * without + 1.5 * slower, f"{without:.1f} s, with a file {with_file:.1f} s")
    report.check(resumed < without / 2 + 2 * slower, f"--resume: {resumed:.1f} s of {without:.1f} s")
    print(f"200 points: {without:.2f} s, with -o {with_file:.2f} s, --resume {resumed:.2f} s")


with tempfile.TemporaryDirectory() as name:
    for part in (escapes, tables, compiled, link_to_out, what_it_is, outputs, *((many_points,) if LONG else ())):
        part(pathlib.Path(name) / part.__name__)
report.exit(least=60 if LONG else 30)
