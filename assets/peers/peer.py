"""Attention of others, run for AttnScope: torch's kernels forced one by one, FlashAttention's packages, or a Python
file of the user's.

    python3 peer.py [FILE.py] [THREADS] [FOLDER]

AttnScope starts it with a socket at descriptor 3 and sends messages, each "attnmsg1", two little-endian u64 (lengths of
text and bytes), a JSON text, bytes. It answers each with one message:

    hello   {"device": "cuda" or "cpu", "gpu", "threads"}  ->  software, the GPU's name and uuid
    open    the problem's fields + q, k, v, bias           ->  ready
    run     {"peer"}                                       ->  what was done to mask and heads, one time, package + O
    turn    {"peer", "warm_up", "repeats", "pause_us", "flushes", "flush_bytes"}  ->  microseconds of each repeat

A repeat: pause, read `flush_bytes` of other data `flushes` times, CUDA event, the call, CUDA event, wait. The first
reading fills the L2 cache; while the others go on the call is enqueued. Where the GPU came to the first event before
the call was enqueued, the repeat waited for the host: it is taken again with twice as many readings, which then stays.
On the CPU: pause, the call between two readings of a steady clock.

It is started in its own folder, so that no file of the user's folder is taken for one of Python's. FILE.py, which the
user named, is run in FOLDER.

FILE.py has attention(q, k, v, scale, causal) with torch tensors [B, H, L, D] on the device (NumPy arrays where there is
no torch) and returns O. Where the problem has them and the function names them, it gets window_left, window_right,
key_lengths, bias, softcap and slopes (ALiBi's: a list of Hq, or B lists) too. k and v have the problem's key heads;
causal is aligned bottom-right.
"""
import importlib.metadata
import importlib.util
import inspect
import json
import os
import signal
import socket
import struct
import sys
import traceback
import warnings

# Python leaves the script's folder out where it is told to be safe.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from attnscope_arrays import Numpy, Refused, Torch

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


class TorchPeer:
    """torch's scaled_dot_product_attention with one implementation forced."""

    BACKENDS = {"torch-flash": "FLASH_ATTENTION", "torch-cudnn": "CUDNN_ATTENTION",
                "torch-efficient": "EFFICIENT_ATTENTION", "torch-math": "MATH", "torch-cpu": None}

    def __init__(self, arrays, name, problem, tensors):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        self.torch, self.name, self.p, self.t = arrays.torch, name, problem, tensors
        backend = self.BACKENDS[name]
        if backend is not None and not hasattr(SDPBackend, backend):
            raise Refused(f"{arrays.software} has no {backend}")
        self.forced = (lambda: sdpa_kernel(getattr(SDPBackend, backend))) if backend else None
        self.how = []
        self.arguments = {"scale": problem["scale"]}
        self.refuse_known()
        self.set_mask()
        self.set_heads()

    def refuse_known(self):
        p = self.p
        if p.get("softcap") is not None:
            raise Refused("torch's attention takes no softcap")
        if p.get("slopes") is not None:
            raise Refused("torch's attention takes no ALiBi slopes; a stored bias (--bias-shape) is another problem")
        if self.name in ("torch-flash", "torch-cudnn") and p["dtype"] == "f32":
            raise Refused("it takes f16 and bf16; this problem is f32")
        if self.name == "torch-flash" and p["Dv"] != p["D"]:
            raise Refused(f"it takes one head dimension for Q, K and V; here D = {p['D']} and Dv = {p['Dv']}")
        if self.name == "torch-flash" and (p["bias"] or self.has_window()):
            raise Refused("through torch it takes no mask but causal, and no bias")

    def has_window(self):
        return self.p["window_left"] >= 0 or self.p["window_right"] >= 0 or bool(self.p["key_lengths"])

    def set_mask(self):
        p = self.p
        if not p["bias"] and not self.has_window():
            if not p["causal"]:
                return
            if p["Lq"] == p["Lk"]:
                self.arguments["is_causal"] = True
                return
            if self.name in ("torch-flash", "torch-efficient"):
                # is_causal is aligned top-left; ours is aligned bottom-right.
                from torch.nn.attention.bias import causal_lower_right
                self.arguments["attn_mask"] = causal_lower_right(p["Lq"], p["Lk"])
                self.how.append("lower-right causal bias")
                return
        self.arguments["attn_mask"] = self.stored_mask()
        self.how.append("mask stored as [.., Lq, Lk]")

    def stored_mask(self):
        p, torch, place = self.p, self.torch, self.t["q"].device
        row = torch.arange(p["Lq"], device=place)[:, None] + p["Lk"] - p["Lq"]
        key = torch.arange(p["Lk"], device=place)[None, :]
        seen = torch.ones(p["Lq"], p["Lk"], dtype=torch.bool, device=place)
        right = 0 if p["causal"] else p["window_right"]
        if right >= 0:
            seen &= key <= row + right
        if p["window_left"] >= 0:
            seen &= key >= row - p["window_left"]
        seen = seen[None, None]
        if p["key_lengths"]:
            lengths = torch.tensor(p["key_lengths"], device=place)[:, None, None, None]
            seen = seen & (key[None, None] < lengths)
        if not p["bias"]:
            return seen
        bias = self.t["bias"].to(self.t["q"].dtype)
        if p["dtype"] != "f32":
            self.how.append(f"bias rounded to {p['dtype']}")
        return bias.masked_fill(~seen, float("-inf"))

    def set_heads(self):
        self.k, self.v = self.t["k"], self.t["v"]
        group = self.p["Hq"] // self.p["Hkv"]
        if group == 1:
            return
        self.arguments["enable_gqa"] = True
        try:
            self.call_once()
            self.how.append("enable_gqa")
        except (RuntimeError, TypeError):
            del self.arguments["enable_gqa"]
            self.k, self.v = (x.repeat_interleave(group, dim=1) for x in (self.k, self.v))
            self.how.append("key heads copied to every query head before the clock starts")

    def call(self):
        return self.torch.nn.functional.scaled_dot_product_attention(self.t["q"], self.k, self.v, **self.arguments)

    def call_once(self):
        with self.torch.inference_mode():
            if self.forced is None:
                return self.call()
            with self.forced():
                return self.call()

    def out(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                return self.call_once()
            except RuntimeError as error:
                if "No available kernel" not in str(error):
                    raise
                words = [" ".join(str(w.message).split("(Triggered")[0].split()) for w in told]
                raise Refused("torch has no kernel of this kind for it: " + " ".join(words)[:600]) from error

    def times(self, arrays, turn):
        with self.torch.inference_mode():
            if self.forced is None:
                return arrays.times(self.call, turn)
            with self.forced():
                return arrays.times(self.call, turn)


class PackagePeer:
    """A FlashAttention package by its own flash_attn_func, on tensors [B, L, H, D]; causal is aligned bottom-right."""

    # Its module, the names under which its version may be recorded, what it takes beside causal and a window, and how a
    # side of a window that is open is called.
    PACKAGES = {"flash-attn": ("flash_attn", ("flash_attn",), ("softcap", "slopes"), -1),
                "flash-attn-3": ("flash_attn_interface", ("flash_attn_3", "flash_attn_interface"), ("softcap",), -1),
                "flash-attn-4": ("flash_attn.cute", ("flash-attn-4", "fa4", "flash_attn_cute"), ("softcap",), None)}
    # Another build of it: its module, its version's name, and the types that it was built for.
    BUILDS = {"flash-attn-3": ("fa3_fwd_interface", ("fa3-fwd",), ("bf16",))}

    def __init__(self, arrays, name, problem, tensors):
        self.torch, self.p, self.name = arrays.torch, problem, name
        self.module, records, takes, self.open_side = self.PACKAGES[name]
        self.refuse_known(takes)
        if name in self.BUILDS and importlib.util.find_spec(self.module) is None:
            self.module, records, dtypes = self.BUILDS[name]
            if problem["dtype"] not in dtypes:
                raise Refused(f"{self.module} is built for {' and '.join(dtypes)}; this problem is {problem['dtype']}")
        try:
            self.function = importlib.import_module(self.module).flash_attn_func
        except Exception as error:  # a package for another torch fails in ways of its own
            raise Refused(f"{self.module} cannot be imported: {words_of(error)}") from error
        self.package = f"{self.module} {self.version(records)}"
        self.how = ["laid out as [B, L, H, D] before the clock starts"]
        self.t = {x: tensors[x].transpose(1, 2).contiguous() for x in ("q", "k", "v")}
        self.arguments = {"softmax_scale": problem["scale"], "causal": problem["causal"]}
        self.set_extras(tensors["q"].device)

    def version(self, records):
        for record in records:
            try:
                return importlib.metadata.version(record)
            except importlib.metadata.PackageNotFoundError:
                pass
        return "of an unknown version"

    def refuse_known(self, takes):
        p = self.p
        if p["dtype"] == "f32":
            raise Refused("it takes f16 and bf16; this problem is f32")
        if self.name == "flash-attn" and p["Dv"] != p["D"]:
            raise Refused(f"it takes one head dimension for Q, K and V; here D = {p['D']} and Dv = {p['Dv']}")
        for value, words in ((p["bias"], "it takes no stored bias"),
                             (p["key_lengths"], "its function for a batch of one length takes no key lengths")):
            if value:
                raise Refused(words)
        for extra, words in (("softcap", "softcap"), ("slopes", "ALiBi slopes")):
            if p.get(extra) is not None and extra not in takes:
                raise Refused(f"it takes no {words}")

    def set_extras(self, place):
        p = self.p
        if p["window_left"] >= 0 or p["window_right"] >= 0:
            sides = (p["window_left"], 0 if p["causal"] else p["window_right"])
            self.arguments["window_size"] = tuple(side if side >= 0 else self.open_side for side in sides)
        if p.get("softcap") is not None:
            self.arguments["softcap"] = p["softcap"]
        if p.get("slopes") is not None:
            self.arguments["alibi_slopes"] = self.torch.tensor(p["slopes"], dtype=self.torch.float32, device=place)

    def call(self):
        return self.function(self.t["q"], self.t["k"], self.t["v"], **self.arguments)

    def out(self):
        try:
            with self.torch.inference_mode():
                got = self.call()
        except (AssertionError, NotImplementedError, TypeError, ValueError, RuntimeError) as error:
            # What it checks is refused; what the GPU fails at is a failure.
            if isinstance(error, RuntimeError) and ("CUDA error" in str(error) or "out of memory" in str(error)):
                raise
            raise Refused(f"{self.module} does not take it: {words_of(error)}") from error
        return (got[0] if isinstance(got, tuple) else got).transpose(1, 2)

    def times(self, arrays, turn):
        with self.torch.inference_mode():
            return arrays.times(self.call, turn)


class OwnPeer:
    """attention() of the user's file."""

    def __init__(self, function, problem, tensors):
        p = problem
        given = {"scale": p["scale"], "causal": p["causal"]}
        extras = {"window_left": p["window_left"] if p["window_left"] >= 0 else None,
                  "window_right": p["window_right"] if p["window_right"] >= 0 else None,
                  "key_lengths": p["key_lengths"] or None, "bias": tensors.get("bias"),
                  "softcap": p.get("softcap"), "slopes": p.get("slopes")}
        parameters = inspect.signature(function).parameters
        takes_all = any(x.kind == x.VAR_KEYWORD for x in parameters.values())
        for name, value in extras.items():
            if value is None:
                continue
            if name not in parameters and not takes_all:
                raise Refused(f"its attention() has no parameter {name}, which this problem has")
            given[name] = value
        self.how = []
        self.call = lambda: function(tensors["q"], tensors["k"], tensors["v"], **given)

    def out(self):
        got = self.call()
        return got[0] if isinstance(got, tuple) else got

    def times(self, arrays, turn):
        return arrays.times(self.call, turn)


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
        return {"is": "ready"}, b""

    def make(self, name):
        if self.file:
            return OwnPeer(self.function, self.problem, self.tensors)
        kind = PackagePeer if name in PackagePeer.PACKAGES else TorchPeer
        return kind(self.arrays, name, self.problem, self.tensors)

    def choose(self, name):
        if self.made != name:
            self.peer = None  # what it stored is freed before the next needs room
            self.peer = self.make(name)
            self.made = name
        return self.peer

    def run(self, ask):
        p = self.problem
        peer = self.choose(ask["peer"])
        out = peer.out()
        self.arrays.wait()
        shape, dtype = self.arrays.shape_and_dtype(out)
        wanted = (p["B"], p["Hq"], p["Lq"], p["Dv"])
        if shape != wanted or dtype != p["dtype"]:
            raise ValueError(f"it gave {dtype} {list(shape)}, {p['dtype']} {list(wanted)} was asked for")
        data = self.arrays.bytes_of(out)
        del out
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


def words_of(error):
    """The last line says what; of the user's file the place too."""
    where = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != os.path.abspath(__file__)]
    place = f" ({os.path.basename(where[-1].filename)}, line {where[-1].lineno})" if where else ""
    text = " ".join(str(error).split())[:600]
    return f"{type(error).__name__}: {text}{place}" if text else f"{type(error).__name__}{place}"


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
