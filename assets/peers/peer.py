"""Attention of others, run for AttnScope: torch's kernels forced one by one, FlashAttention's packages, or a Python
file of the user's.

    python3 peer.py [FILE.py] [THREADS] [FOLDER]

AttnScope starts it with a socket at descriptor 3 and sends messages, each "attnmsg1", two little-endian u64 (lengths of
text and bytes), a JSON text, bytes. It answers each with one message:

    hello   {"device": "cuda" or "cpu", "gpu", "threads"}  ->  software, the GPU's name and uuid
    open    the problem's fields + q, k, v, bias, dO       ->  ready
    run     {"peer"}                                       ->  what was done to mask and heads, one time, package + O,
                                                               or dQ, dK, dV, or O and these
    turn    {"peer", "warm_up", "repeats", "pause_us", "flushes", "flush_bytes"}  ->  microseconds of each repeat

A repeat: pause, read `flush_bytes` of other data `flushes` times, CUDA event, the call, CUDA event, wait. The first
reading fills the L2 cache; while the others go on the call is enqueued. Where the GPU came to the first event before
the call was enqueued, the repeat waited for the host: it is taken again with twice as many readings, which then stays.
On the CPU: pause, the call between two readings of a steady clock.

Where the problem's "pass" is "backward" the call is torch.autograd.grad() of an O that the peer computed before; where
it is "training" the call computes O and then its gradients.

It is started in its own folder, so that no file of the user's folder is taken for one of Python's. FILE.py, which the
user named, is run in FOLDER.

FILE.py has attention(q, k, v, scale, causal) with torch tensors [B, H, L, D] on the device (NumPy arrays where there is
no torch) and returns O; of a backward torch's autograd must know what it did. Where the problem has them and the
function names them, it gets window_left, window_right, key_lengths, bias, softcap and slopes (ALiBi's: a list of Hq, or
B lists) too. k and v have the problem's KV heads; causal is aligned bottom-right.
"""
import importlib.util
import json
import os
import signal
import socket
import struct
import sys

# Python leaves the script's folder out where it is told to be safe.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from attnscope_arrays import Numpy, Refused, Torch, has_gradients, is_training
from attnscope_callers import Backward, OwnPeer, PackagePeer, TorchPeer, Training, words_of

THREADS = sys.argv[2] if len(sys.argv) > 2 else "0"
FOLDER = sys.argv[3] if len(sys.argv) > 3 else ""
if THREADS != "0":  # read by the libraries when they are loaded
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = THREADS
MAGIC = b"attnmsg1"


class Connection:
    def __init__(self):
        self.socket = socket.socket(fileno=3)
        os.set_inheritable(3, False)
        os.dup2(2, 1)  # what a peer prints is no row of a table

    def receive(self):
        head = self.read(24)
        if head is None:
            return None
        text, size = struct.unpack("<QQ", head[8:])
        return json.loads(bytes(self.read(text))), self.read(size)

    def read(self, size):
        data = bytearray(size)
        view, at = memoryview(data), 0
        while at < size:
            got = self.socket.recv_into(view[at:], size - at)
            if got == 0:
                return None
            at += got
        return data

    def send(self, answer, data=b""):
        text = json.dumps(answer).encode()
        self.socket.sendall(MAGIC + struct.pack("<QQ", len(text), len(data)) + text)
        if data:
            self.socket.sendall(data)


class Peers:
    def __init__(self, file):
        self.file = file
        self.arrays = self.function = self.problem = self.tensors = self.peer = None
        self.made = ""

    def hello(self, ask):
        self.arrays = self.open_arrays(ask)
        if self.file:
            enter_folder_of_user()
            spec = importlib.util.spec_from_file_location("peer_of_the_user", self.file)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self.function = getattr(module, "attention", None)
            if not callable(self.function):
                raise Refused(f"{self.file} has no function attention(q, k, v, scale, causal)")
        return {"is": "hello", "software": f"Python {sys.version.split()[0]}, {self.arrays.software}",
                "device": self.arrays.device}, b""

    def open_arrays(self, ask):
        if importlib.util.find_spec("torch") is not None:
            return Torch(ask)
        if not self.file or ask["device"] == "cuda":
            raise Refused(f"{sys.executable} has no torch")
        if importlib.util.find_spec("numpy") is None:
            raise Refused(f"{sys.executable} has neither torch nor NumPy")
        return Numpy()

    def open(self, ask, data):
        self.tensors = self.peer = None
        self.made = ""
        if isinstance(self.arrays, Torch) and self.arrays.cuda:
            self.arrays.torch.cuda.empty_cache()
        self.problem = ask["problem"]
        self.tensors = self.arrays.tensors(self.problem, data)
        if has_gradients(self.problem):
            for name in "qkv":
                self.tensors[name].requires_grad_()
        return {"is": "ready"}, b""

    def make(self, name):
        if self.file:
            return OwnPeer(self.function, self.problem, self.tensors)
        kind = PackagePeer if name in PackagePeer.PACKAGES else TorchPeer
        return kind(self.arrays, name, self.problem, self.tensors)

    def choose(self, name):
        if self.made != name:
            self.peer, self.made = None, ""  # what it stored is freed before the next needs room
            peer = self.make(name)
            if is_training(self.problem):
                peer = Training(self.arrays, peer)
            elif has_gradients(self.problem):
                peer = Backward(self.arrays, peer)
            self.peer = peer
            self.made = name
        return self.peer

    def run(self, ask):
        p = self.problem
        peer = self.choose(ask["peer"])
        outs = peer.outs()
        self.arrays.wait()
        o = (p["B"], p["Hq"], p["Lq"], p["Dv"])
        keys = (p["B"], p["Hkv"], p["Lk"])
        shapes = [(*o[:3], p["D"]), (*keys, p["D"]), (*keys, p["Dv"])] if has_gradients(p) else [o]
        if is_training(p):
            shapes.insert(0, o)
        for out, wanted in zip(outs, shapes):
            shape, dtype = self.arrays.shape_and_dtype(out)
            if shape != wanted or dtype != p["dtype"]:
                raise ValueError(f"it returned {dtype} {list(shape)} instead of {p['dtype']} {list(wanted)}")
        data = b"".join(self.arrays.bytes_of(out) for out in outs)
        del outs, out
        one = peer.times(self.arrays, {"warm_up": 1, "repeats": 1, "pause_us": 0, "flushes": 0, "flush_bytes": 0})
        self.arrays.give_back()
        answer = {"is": "answer", "how": "; ".join(peer.how), "us": one[0]}
        if hasattr(peer, "package"):
            answer["package"] = peer.package
        return answer, data

    def turn(self, ask):
        times = self.choose(ask["peer"]).times(self.arrays, ask)
        self.arrays.give_back()
        return {"is": "times", "us": times}, b""

    def answer(self, ask, data):
        if ask["do"] == "hello":
            return self.hello(ask)
        if ask["do"] == "open":
            return self.open(ask, data)
        if ask["do"] == "run":
            return self.run(ask)
        return self.turn(ask)

    def gpu_is_lost(self):
        try:
            if self.arrays is not None:
                self.arrays.wait()
            return False
        except RuntimeError:
            return True


def enter_folder_of_user():
    sys.path[:] = [os.path.abspath(place) for place in sys.path]  # before: what is no whole path stays in ours
    try:
        os.chdir(FOLDER or ".")
    except OSError:
        pass  # it is gone: its file may not need it


def load_libraries():
    """Takes seconds, and can go on while AttnScope measures its own. What fails is told when it is asked for."""
    try:
        import torch  # noqa: F401
    except Exception:
        pass


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is AttnScope's to answer: it ends this process
    connection = Connection()
    if THREADS == "0":  # peers of a GPU: nobody is timed on the CPU meanwhile
        load_libraries()
    peers = Peers(sys.argv[1] if len(sys.argv) > 1 else "")
    while True:
        message = connection.receive()
        if message is None:
            return
        try:
            answer, data = peers.answer(*message)
        except Refused as why:
            answer, data = {"is": "error", "refused": True, "words": str(why), "lost": False}, b""
        except SystemExit as error:  # it would end this process without a word
            code = 0 if error.code is None else error.code
            answer, data = {"is": "error", "refused": False, "lost": False,
                            "words": f"it called exit({code!r}) and returned nothing"}, b""
        except Exception as error:  # whatever a peer raises is its row's reason
            memory = type(error).__name__ == "OutOfMemoryError" or isinstance(error, MemoryError)
            answer, data = {"is": "error", "refused": memory, "words": words_of(error),
                            "lost": peers.gpu_is_lost()}, b""
        connection.send(answer, data)


if __name__ == "__main__":
    main()
