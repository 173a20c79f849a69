"""FlashAttention's packages as peers: assets/peers/peer.py is driven as the program drives it, with doubles of torch
and of the packages on PYTHONPATH; what it answers is held against fp64. And what `list --peers` says of them.
"""

import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

import numpy as np
from program import Report, attention, run

report = Report()
HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE.parents[1] / "assets" / "peers" / "peer.py"
DOUBLES = f"{HERE / 'torch_double'}:{HERE / 'flash_attn_double'}"
PACKAGES = {"flash-attn": "flash_attn", "flash-attn-3": "flash_attn_interface", "flash-attn-4": "flash_attn.cute"}


class Peer:
    """The process, and messages to it."""

    def __init__(self, path):
        ours, theirs = socket.socketpair()
        self.socket = ours
        ours.settimeout(60)

        def at_three():
            os.dup2(theirs.fileno(), 3)
            os.set_inheritable(3, True)

        environment = dict(os.environ, PYTHONPATH=path, TORCH_DOUBLE_HAS_CUDA="1")
        self.process = subprocess.Popen([sys.executable, "-B", SCRIPT, "", "0"], env=environment, preexec_fn=at_three,
                                        pass_fds=(3,), stderr=subprocess.DEVNULL)
        theirs.close()

    def read(self, size):
        data = b""
        while len(data) < size:
            got = self.socket.recv(size - len(data))
            if not got:
                raise EOFError("it ended")
            data += got
        return data

    def ask(self, request, data=b""):
        text = json.dumps(request).encode()
        self.socket.sendall(b"attnmsg1" + struct.pack("<QQ", len(text), len(data)) + text + data)
        _, size, more = struct.unpack("<8sQQ", self.read(24))
        return json.loads(self.read(size)), self.read(more)

    def close(self):
        self.socket.close()
        self.process.wait(30)


def problem(**changes):
    p = {"B": 2, "Hq": 4, "Hkv": 2, "Lq": 5, "Lk": 9, "D": 8, "Dv": 8, "dtype": "f16", "scale": 0.35, "causal": False,
         "window_left": -1, "window_right": -1, "key_lengths": [], "bias": []}
    return {**p, **changes}


def tensors(p):
    draw = np.random.default_rng(7)
    dtype = np.float32 if p["dtype"] == "f32" else np.float16
    shapes = [(p["B"], p["Hq"], p["Lq"], p["D"]), (p["B"], p["Hkv"], p["Lk"], p["D"]),
              (p["B"], p["Hkv"], p["Lk"], p["Dv"])]
    return [draw.standard_normal(shape).astype(dtype) for shape in shapes]


def opened(peer, p):
    q, k, v = tensors(p)
    bias = np.zeros(p["bias"], np.float32).tobytes() if p["bias"] else b""
    ready, _ = peer.ask({"do": "open", "problem": p}, q.tobytes() + k.tobytes() + v.tobytes() + bias)
    report.check(ready == {"is": "ready"}, f"open: {ready}")
    return q, k, v


# What each takes: the answer within f16 of fp64, in our layout.
RIGHT = [({}, PACKAGES), ({"causal": True}, PACKAGES), ({"Lq": 9, "Lk": 5, "causal": True}, PACKAGES),
         ({"Lq": 7, "Lk": 7, "causal": True}, PACKAGES), ({"window_left": 2, "window_right": 1}, PACKAGES),
         ({"window_left": 2, "causal": True}, PACKAGES), ({"window_right": 0}, PACKAGES), ({"softcap": 0.5}, PACKAGES),
         ({"slopes": [0.5, 0.25, 0.125, 0.0625]}, ["flash-attn"]),
         ({"slopes": [[0.5, 0.25, 0.125, 1], [2, 0.1, 0.2, 0.3]], "causal": True}, ["flash-attn"]),
         ({"Dv": 16}, ["flash-attn-3", "flash-attn-4"])]
# What it does not, in words.
REFUSED = [({"dtype": "f32"}, PACKAGES, "it supports f16 and bf16; this problem is f32"),
           ({"bias": [1, 4, 5, 1]}, PACKAGES, "not support a stored bias"),
           ({"key_lengths": [3, 4]}, PACKAGES, "not support key lengths"),
           ({"slopes": [1, 2, 3, 4]}, ["flash-attn-3", "flash-attn-4"], "not support ALiBi slopes"),
           ({"Dv": 16}, ["flash-attn"], "one head dimension"),
           ({"D": 264, "Dv": 264}, PACKAGES, "rejects this: RuntimeError: FlashAttention forward only supports")]


def answers_are_right(peer):
    for changes, takes in RIGHT:
        p = problem(**changes)
        q, k, v = opened(peer, p)
        wanted, _ = attention(q, k, v, scale=p["scale"], causal=p["causal"],
                              window=(p["window_left"], p["window_right"]), softcap=p.get("softcap"),
                              slopes=p.get("slopes"))
        for name in takes:
            answer, data = peer.ask({"do": "run", "peer": name})
            report.check(answer["is"] == "answer", f"{name}, {changes}: {answer}")
            if answer["is"] != "answer":
                continue
            got = np.frombuffer(data, np.float16).reshape(wanted.shape)
            off = np.abs(got - wanted).max()
            report.check(off <= 2e-3, f"{name}, {changes}: off by {off}")
            report.check("[B, L, H, D]" in answer["how"], f"{name}: {answer['how']}")
            report.check(answer["package"] == f"{PACKAGES[name]} (unknown version)", f"{name}: {answer}")


def turns_give_times(peer):
    opened(peer, problem())
    for name in PACKAGES:
        turn = {"do": "turn", "peer": name, "warm_up": 1, "repeats": 4, "pause_us": 0, "flushes": 2, "flush_bytes": 64}
        answer, _ = peer.ask(turn)
        report.check(answer["is"] == "times" and len(answer["us"]) == 4 and min(answer["us"]) > 0, f"{name}: {answer}")


# One that refuses comes between the run and the turn of one that answers.
def a_refusal_costs_the_others_nothing(peer):
    opened(peer, problem(slopes=[1, 2, 3, 4]))
    turn = {"do": "turn", "peer": "flash-attn", "warm_up": 1, "repeats": 2, "pause_us": 0, "flushes": 0,
            "flush_bytes": 0}
    wanted = [({"do": "run", "peer": "flash-attn"}, "answer"), ({"do": "run", "peer": "flash-attn-3"}, "error"),
              (turn, "times")]
    for request, kind in wanted:
        answer, _ = peer.ask(request)
        report.check(answer["is"] == kind, f"{request}: {answer}")


def refusals_are_words(peer):
    for changes, by, words in REFUSED:
        opened(peer, problem(**changes))
        for name in by:
            answer, _ = peer.ask({"do": "run", "peer": name})
            report.check(answer["is"] == "error" and answer["refused"] and words in answer["words"],
                         f"{name}, {changes}: {answer}")


def a_package_that_does_not_load(folder):
    (folder / "flash_attn_interface.py").write_text("raise OSError('undefined symbol: of another torch')\n",
                                                    encoding="utf-8")
    peer = Peer(f"{HERE / 'torch_double'}:{folder}")
    peer.ask({"do": "hello", "device": "cuda", "gpu": 0, "threads": 0})
    opened(peer, problem())
    answer, _ = peer.ask({"do": "run", "peer": "flash-attn-3"})
    report.check(answer["is"] == "error" and answer["refused"] and "undefined symbol" in answer["words"], f"{answer}")
    peer.close()


# FlashAttention-3 under its other name, which is built for bf16 alone.
def another_build(folder):
    folder = folder / "another"
    folder.mkdir()
    shutil.copy(HERE / "flash_attn_double" / "flash_attn_interface.py", folder / "fa3_fwd_interface.py")
    peer = Peer(f"{HERE / 'torch_double'}:{folder}")
    peer.ask({"do": "hello", "device": "cuda", "gpu": 0, "threads": 0})
    opened(peer, problem())
    answer, _ = peer.ask({"do": "run", "peer": "flash-attn-3"})
    words = "fa3_fwd_interface is built for bf16; this problem is f16"
    report.check(answer["is"] == "error" and answer["refused"] and answer["words"] == words, f"{answer}")
    peer.close()


# The package of each alone, all of them, none: nothing of them is imported to find out.
def listed(folder):
    parts = {"flash-attn": ["flash_attn/__init__.py", "flash_attn/flash_attn_interface.py"],
             "flash-attn-3": ["flash_attn_interface.py"], "flash-attn-4": ["flash_attn/cute/interface.py"],
             "flash-attn-3 by its other name": ["fa3_fwd_interface.py"]}
    python = folder / "python3"
    python.symlink_to(sys.executable)
    for number, there in enumerate([[], *([name] for name in parts), list(parts)]):
        place = folder / f"packages{number}"
        for file in [file for name in there for file in parts[name]]:
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (place / file).write_text("raise RuntimeError('it was imported')\n", encoding="utf-8")
        prefix = f"export PYTHONPATH={HERE / 'torch_double'}:{place} PATH={folder}:$PATH XDG_CONFIG_HOME={folder}"
        done = run("list", "--peers", "--json", prefix=prefix)
        missing = {row["id"]: row["missing"] for row in json.loads(done.stdout)["peers"]}
        for name, package in PACKAGES.items():
            has = any(part.split(" ")[0] == name for part in there)
            package += " and no fa3_fwd_interface" if name == "flash-attn-3" else ""
            wanted = "" if has else f"not found: {python} has no {package}"
            report.check(missing[name] == wanted, f"{there}: {name}: '{missing[name]}'")
        report.check(missing["torch-flash"] == "", f"{there}: torch's own: {missing}")
        text = run("list", "--peers", prefix=prefix).stdout
        found = len({part.split(" ")[0] for part in there})
        report.check(text.count("has no flash_attn") == 3 - found, f"{there}: {text}")
        shutil.rmtree(place, ignore_errors=True)


with tempfile.TemporaryDirectory() as name:
    where = pathlib.Path(name)
    its = Peer(DOUBLES)
    hello, _ = its.ask({"do": "hello", "device": "cuda", "gpu": 0, "threads": 0})
    report.check(hello["is"] == "hello" and hello["device"]["name"] == "a double", f"hello: {hello}")
    answers_are_right(its)
    turns_give_times(its)
    a_refusal_costs_the_others_nothing(its)
    refusals_are_words(its)
    its.close()
    another_build(where)
    a_package_that_does_not_load(where)
    listed(where)
sys.stdout.flush()
report.exit(least=100)
