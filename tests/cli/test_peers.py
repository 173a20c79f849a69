"""Peers from outside, with NumPy in place of torch: a file of the user's is spawned, gets the inputs, is judged by the
rule that judges ours and timed alternately with ours; what it breaks is its own row, and the sweep goes on.
"""

import csv
import importlib.util
import io
import json
import pathlib
import sys
import tempfile
import textwrap
import time

from program import Report, run

report = Report()

RIGHT = """
import numpy as np

def attention(q, k, v, scale, causal):
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    s = np.float32(scale) * (q.astype(np.float32) @ k.astype(np.float32).swapaxes(-1, -2))
    if causal:
        lq, lk = s.shape[-2:]
        s = np.where(np.tril(np.ones((lq, lk), bool), lk - lq), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return (p.astype(q.dtype).astype(np.float32) @ v.astype(np.float32)).astype(q.dtype)
"""
HEAD = "import os, signal, time\ndef attention(q, k, v, scale, causal):\n    "
# Each breaks in its own way, and its row says so in words: text, state, verdict, words of the reason.
BROKEN = {
    "wrong.py": (RIGHT.replace("    return (p", "    return np.float32(0.5) + (p"), "done", "fail", "off by"),
    "raises.py": (HEAD + "raise ValueError('no such head')\n", "failed", "unverified",
                  "ValueError: no such head (raises.py, line 3)"),
    "exits.py": (HEAD + "os._exit(7)\n", "failed", "unverified", "its process ended (exit code 7)"),
    "calls_exit.py": ("import sys\n" + HEAD + "sys.exit('enough')\n", "failed", "unverified",
                      "it called exit('enough') and returned nothing"),
    "exits_at_once.py": ("exit()\n", "failed", "unverified", "it called exit(0) and returned nothing"),
    "floods.py": (HEAD + "os.write(3, b'attnmsg1' + bytes(14 * [0] + [1, 0]) + b'x' * 9)\n"
                  "    while True: os.write(3, b'x' * 65536)\n", "failed", "unverified", "sent an invalid reply"),
    "trickles.py": (HEAD + "os.write(3, b'attnmsg1' + bytes([0, 4] + 14 * [0]))\n"
                    "    while True: os.write(3, b'x'); time.sleep(0.05)\n",
                    "failed", "unverified", "no answer within"),
    "crashes.py": (HEAD + "os.kill(os.getpid(), signal.SIGSEGV)\n", "failed", "unverified",
                   "its process ended (signal 11)"),
    "hangs.py": (HEAD + "time.sleep(600)\n", "failed", "unverified", "no answer within"),
    "garbage.py": (HEAD + "os.write(3, b'x' * 100); os._exit(0)\n", "failed", "unverified", "sent an invalid reply"),
    "shape.py": (HEAD + "return q[:, :1]\n", "failed", "unverified", "instead of"),
    "text.py": (HEAD + "return 'O'\n", "failed", "unverified", "returned a str"),
    "syntax.py": ("def attention(q, k, v, scale, causal\n", "failed", "unverified", "SyntaxError"),
    "empty.py": ("x = 1\n", "refused", "unverified", "has no function attention"),
    "prints.py": ("print('kernel,rung,order')\n" + RIGHT, "done", "pass", ""),
}


def sweep(folder, files, *arguments, code=0, shape=("--hq", "4", "--hkv", "2")):
    peers = [word for file in files for word in ("--peer", folder / file)]
    begin = time.monotonic()
    done = run("bench", "--kernels", "cpu_multicore,cpu_flash", "--values", "16,33", "--d", "8", *shape, "--time-limit",
               "0.02", "--peers-python", sys.executable, *peers, *arguments)
    report.check(done.returncode == code, f"{files}: exit {done.returncode}, not {code}: {done.stderr}")
    return done, time.monotonic() - begin


def table(done):
    return list(csv.DictReader(io.StringIO(done.stdout)))


def a_right_one(folder):
    for arguments in [[], ["--causal"], ["--dtype", "f16"]]:
        done, _ = sweep(folder, ["right.py"], *arguments)
        rows = table(done)
        report.check([r["kernel"] for r in rows] == ["cpu_multicore", "cpu_flash", "right.py"] * 2,
                     f"rows {[r['kernel'] for r in rows]}")
        for r in rows[2::3]:
            report.check(r["state"] == "done" and r["verdict"] == "pass",
                         f"{arguments}: {r['state']} {r['reason']} {r['verdict_reason']}")
            report.check(float(r["time_us_median"]) > 0 and float(r["error_abs"]) <= float(r["error_allowed_abs"]),
                         "no time or error")
            report.check(r["lse_error_abs"] == "" and "returns no LSE" in r["lse_error_abs_source"],
                         "an LSE nobody gave")
            report.check(r["peer"] == "right.py" and "NumPy" in r["peer_software"], f"peer {r['peer']}")
            beside = dict(part.split("=") for part in r["peer_beside_us"].split(";"))
            report.check(sorted(beside) == ["cpu_flash", "cpu_multicore"], f"in its turns: {beside}")
            report.check(all(float(us) > 0 for us in beside.values()), "a turn of no time")
            speedup = float(beside["cpu_multicore"]) / float(r["time_us_median"])
            report.check(abs(float(r["speedup_ratio"]) / speedup - 1) < 1e-9, "a speed-up over another clock")
            report.check(r["occupancy_achieved_pct"] == "" and "peer" in r["occupancy_achieved_pct_source"],
                         "a figure that nobody took")
        report.check(all(r["peer"] == "" for r in rows if r["kernel"].startswith("cpu_")), "ours as a peer")


def causal_is_bottom_right(folder):
    done = run("bench", "--kernels", "cpu_flash", "--axis", "D", "--values", "8", "--lq", "5", "--lk", "12", "--causal",
               "--time-limit", "0.02", "--peers-python", sys.executable, "--peer", folder / "right.py")
    report.check(done.returncode == 0, f"Lq != Lk: exit {done.returncode}: {done.stderr}")


def broken_ones(folder):
    files = list(BROKEN)
    done, seconds = sweep(folder, files, "--peers-timeout", "8", code=1)
    rows = {(r["kernel"], r["Lq"]): r for r in table(done)}
    for L in ("16", "33"):
        for file, (_, state, verdict, words) in BROKEN.items():
            r = rows[file, L]
            report.check((r["state"], r["verdict"]) == (state, verdict),
                         f"{file}: {r['state']}, {r['verdict']}, {r['reason']}")
            said = r["verdict_reason"] if state == "done" else r["reason"]
            report.check(words in said, f"{file} does not say '{words}': {said}")
            report.check("\n" not in said, f"{file}: a reason of several lines")
            report.check((r["time_us_median"] != "") == (state == "done"), f"{file}: time {r['time_us_median']}")
        # Theirs fall, ours stay, and those that work took their turns.
        report.check(rows["cpu_flash", L]["state"] == "done", "ours fell with it")
        report.check("cpu_flash=" in rows["prints.py", L]["peer_beside_us"], "no turns beside a broken one")
    report.check(seconds < 90, f"a hang held the sweep up for {seconds:.0f} s")


def no_torch(folder):
    done, _ = sweep(folder, [], "--peers")
    rows = [r for r in table(done) if r["peer"]]
    if importlib.util.find_spec("torch") is not None:
        report.check(all(r["state"] == "done" for r in rows), f"torch is here: {[r['reason'] for r in rows]}")
    else:
        report.check(len(rows) == 2 and all(r["state"] == "refused" and "has no torch" in r["reason"] for r in rows),
                     f"without torch: {[(r['state'], r['reason']) for r in rows]}")
    nowhere = folder / "no_python"
    done = run("bench", "--kernels", "cpu_flash", "--values", "8", "--d", "8", "--time-limit", "0.02", "--peers",
               "--peers-python", nowhere)
    rows = [r for r in table(done) if r["peer"]]
    report.check(len(rows) == 1 and str(nowhere) in rows[0]["reason"], f"a Python that is missing: {rows}")


# torch's arguments for each mask, dtype and number of KV heads: right answers, whatever torch is asked.
def torch_by_a_double():
    double = pathlib.Path(__file__).resolve().parent / "torch_double"
    for environment in ("", "export TORCH_DOUBLE_HAS_NO_GQA=1; "):
        for arguments, how in [([], ""), (["--causal"], ""),
                               (["--dtype", "f16"], ""), (["--lk", "12", "--causal"], "mask stored"),
                               (["--window", "2,1"], "mask stored"), (["--key-lengths", "3"], "mask stored"),
                               (["--bias-shape", "1,4,7,1"], "mask stored")]:
            done = run("bench", "--kernels", "cpu_flash", "--axis", "D", "--values", "8", "--lq", "7", "--hq", "4",
                       "--hkv", "2", "--time-limit", "0.02", "--peers", "--peers-python", sys.executable, *arguments,
                       prefix=f"{environment}export PYTHONPATH={double}")
            rows = [r for r in table(done) if r["peer"]]
            report.check([(r["kernel"], r["state"], r["verdict"]) for r in rows] == [("torch-cpu", "done", "pass")],
                         f"{arguments}: {[(r['state'], r['reason'], r['verdict_reason']) for r in rows]} {done.stderr}")
            heads = "KV heads copied" if environment else "enable_gqa"
            report.check(all(how in r["peer_how"] and heads in r["peer_how"] for r in rows), f"{arguments}: {rows}")
            report.check(all("torch 0.0-double, " in r["peer_software"] for r in rows), "whose torch it is")


def softcap_and_alibi(folder):
    double = pathlib.Path(__file__).resolve().parent / "torch_double"
    for arguments, why in ((["--softcap", "2"], "does not support softcap"), (["--alibi"], "not support ALiBi slopes")):
        done = run("bench", "--kernels", "cpu_flash", "--axis", "D", "--values", "8", "--lq", "7", "--hq", "4",
                   "--time-limit", "0.02", "--peers", "--peers-python", sys.executable, *arguments,
                   prefix=f"export PYTHONPATH={double}")
        rows = [r for r in table(done) if r["peer"]]
        report.check([r["state"] for r in rows] == ["refused"] and why in rows[0]["reason"], f"{arguments}: {rows}")
    # A function of one's own that names them gets them, and is judged.
    (folder / "capped.py").write_text('''
import numpy as np


def attention(q, k, v, scale, causal, softcap=None, slopes=None):
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, q.shape[1] // k.shape[1], 1) for x in (k, v))
    s = np.einsum("bhrd,bhcd->bhrc", q, k) * scale
    if softcap is not None:
        s = softcap * np.tanh(s / softcap)
    own, keys = np.arange(q.shape[2])[:, None] + k.shape[2] - q.shape[2], np.arange(k.shape[2])
    if slopes is not None:
        s = s - np.asarray(slopes)[..., None, None] * np.abs(own - keys)
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("bhrc,bhcd->bhrd", p / p.sum(-1, keepdims=True), v).astype(np.float32)
''', encoding="utf-8")
    done, _ = sweep(folder, ["capped.py"], "--softcap", "1.5", "--alibi")
    rows = [r for r in table(done) if r["peer"]]
    report.check(rows and all(r["verdict"] == "pass" for r in rows), f"own softcap and slopes: {rows} {done.stderr}")
    done, _ = sweep(folder, ["right.py"], "--softcap", "1.5")
    rows = [r for r in table(done) if r["peer"]]
    report.check(all(r["state"] == "refused" and "no parameter softcap" in r["reason"] for r in rows), f"{rows}")


def no_python_that_answers(folder):
    fake = folder / "liar"
    fake.write_text("#!/bin/sh\necho I am no Python\n", encoding="utf-8")
    fake.chmod(0o755)
    done = run("bench", "--kernels", "cpu_flash", "--values", "8", "--d", "8", "--time-limit", "0.02", "--peers",
               "--peers-python", fake)
    rows = [r for r in table(done) if r["peer"]]
    report.check(len(rows) == 1 and "does not respond like Python" in rows[0]["reason"], f"a liar: {rows}")


def what_it_does_not_take(folder):
    done, _ = sweep(folder, ["right.py"], "--window", "4,4")
    rows = [r for r in table(done) if r["peer"]]
    report.check(all(r["state"] == "refused" and "no parameter window_left" in r["reason"] for r in rows),
                 f"a window: {[(r['state'], r['reason']) for r in rows]}")
    done, _ = sweep(folder, ["right.py"], "--dtype", "bf16")
    rows = [r for r in table(done) if r["peer"]]
    report.check(all(r["state"] == "refused" and "bf16" in r["reason"] for r in rows), "bf16 without torch")


def in_a_session(folder):
    file = folder / "peers.attn"
    sweep(folder, ["right.py"], "-o", file, "--json", folder / "first.json")
    first = json.loads((folder / "first.json").read_text(encoding="utf-8"))
    peers = [m for m in first["measurements"] if "peer" in m]
    report.check(len(peers) == 2 and all(m["peer"]["title"] == "right.py" for m in peers), "no peers in the JSON")
    report.check(all([b["time"]["n"] >= 5 for b in m["peer"]["beside"]] == [True, True] for m in peers), "no turns")
    # Measured again: the same rows, none of them new.
    sweep(folder, ["right.py"], "-o", file, "--resume", "--json", folder / "second.json")
    second = json.loads((folder / "second.json").read_text(encoding="utf-8"))
    times = [[m["time"]["median"] for m in j["measurements"]] for j in (first, second)]
    report.check(times[0] == times[1], f"a finished peer was measured again: {times}")
    # A kernel that was in none of its turns: it takes new ones.
    done = run("bench", "--kernels", "cpu_multicore,cpu_flash,cpu_tiled", "--values", "16,33", "--d", "8", "--hq", "4",
               "--hkv", "2", "--time-limit", "0.02", "--peers-python", sys.executable, "--peer", folder / "right.py",
               "-o", file, "--resume")
    report.check(done.returncode == 0, f"resumed: {done.stderr}")
    report.check(done.stderr.count("cpu_tiled in its turns") == 2, f"no new turns: {done.stderr}")


def refusals(folder):
    for arguments, words in [(["--peers=torch-flush"], "Unknown peer in --peers: torch-flush"),
                             (["--peers=torch-flash"], "runs on a GPU"),
                             (["--peers=torch-cpu,torch-cpu"], "torch-cpu"),
                             (["--peer", folder / "not_there.py"], "file not found"),
                             (["--peer", "/dev/null"], "not a regular file"),
                             (["--peers", "--peers-timeout", "0"], "above 0")]:
        done = run("bench", "--kernels", "cpu_flash", "--values", "8", "--d", "8", *arguments)
        report.check(done.returncode == 2 and words in done.stderr, f"{arguments}: {done.returncode}: {done.stderr}")


with tempfile.TemporaryDirectory() as name:
    where = pathlib.Path(name)
    (where / "right.py").write_text(textwrap.dedent(RIGHT), encoding="utf-8")
    for file, (text, *_) in BROKEN.items():
        (where / file).write_text(text, encoding="utf-8")
    a_right_one(where)
    causal_is_bottom_right(where)
    broken_ones(where)
    no_torch(where)
    torch_by_a_double()
    softcap_and_alibi(where)
    no_python_that_answers(where)
    what_it_does_not_take(where)
    in_a_session(where)
    refusals(where)
sys.stdout.flush()
report.exit(least=120)
