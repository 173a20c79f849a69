"""Attention of others, run for AttnScope: torch's kernels forced one by one, FlashAttention's packages, or a Python
file of the user's.

    python3 peer.py [FILE.py] [THREADS]

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
import socket
import struct
import sys
import time
import traceback
import warnings

THREADS = sys.argv[2] if len(sys.argv) > 2 else "0"
if THREADS != "0":  # read by the libraries when they are loaded
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = THREADS
MAGIC = b"attnmsg1"
MOST_FLUSHES = 256  # some 15 ms: who enqueues for longer is timed with its host


class Refused(Exception):
    """What this peer does not take, in words."""


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


def split(problem, data):
    """The bytes of q, k, v and the bias, with their shapes."""
    p = problem
    width = {"f32": 4, "f16": 2, "bf16": 2}[p["dtype"]]
    shapes = [("q", (p["B"], p["Hq"], p["Lq"], p["D"]), width), ("k", (p["B"], p["Hkv"], p["Lk"], p["D"]), width),
              ("v", (p["B"], p["Hkv"], p["Lk"], p["Dv"]), width)]
    if p["bias"]:
        shapes.append(("bias", tuple(p["bias"]), 4))
    at = 0
    for name, shape, each in shapes:
        size = each
        for extent in shape:
            size *= extent
        yield name, shape, memoryview(data)[at:at + size]
        at += size
    if at != len(data):
        raise ValueError(f"{len(data)} bytes came for tensors of {at}")


class Numpy:
    """Arrays where there is no torch: the CPU alone."""

    def __init__(self):
        import numpy
        self.np = numpy
        self.software = f"NumPy {numpy.__version__}"
        self.device = {}

    def tensors(self, problem, data):
        if problem["dtype"] == "bf16":
            raise Refused("NumPy has no bf16, and this Python has no torch")
        dtype = {"f32": self.np.float32, "f16": self.np.float16}[problem["dtype"]]
        return {name: self.np.frombuffer(part, dtype=self.np.float32 if name == "bias" else dtype).reshape(shape)
                for name, shape, part in split(problem, data)}

    def shape_and_dtype(self, out):
        if not isinstance(out, self.np.ndarray):
            raise ValueError(f"attention() gave a {type(out).__name__}, a NumPy array was asked for")
        return tuple(out.shape), {"float32": "f32", "float16": "f16"}.get(str(out.dtype), str(out.dtype))

    def bytes_of(self, out):
        return self.np.ascontiguousarray(out).tobytes()

    def wait(self):
        pass

    def give_back(self):
        pass

    def times(self, call, turn):
        return times_on_cpu(call, turn)


class Torch:
    def __init__(self, ask):
        import torch
        self.torch = torch
        self.cuda = ask["device"] == "cuda"
        self.software = f"torch {torch.__version__}"
        self.device = {}
        self.flushed, self.flushes = None, 0
        if not self.cuda:
            if ask["threads"] > 0:
                torch.set_num_threads(ask["threads"])
            self.place = torch.device("cpu")
            self.software += f", {torch.get_num_threads()} threads"
            return
        if not torch.cuda.is_available():
            raise Refused("its torch sees no GPU")
        self.place = torch.device("cuda", ask["gpu"])
        torch.cuda.set_device(self.place)
        torch.backends.cuda.matmul.allow_tf32 = False
        if torch.version.cuda:
            self.software += f", CUDA {torch.version.cuda}"
        number = torch.backends.cudnn.version()
        if number:
            self.software += f", cuDNN {number // 10000}.{number // 100 % 100}.{number % 100}"
        about = torch.cuda.get_device_properties(self.place)
        self.device = {"name": about.name, "uuid": str(getattr(about, "uuid", ""))}

    def dtype(self, name):
        return {"f32": self.torch.float32, "f16": self.torch.float16, "bf16": self.torch.bfloat16}[name]

    def tensors(self, problem, data):
        made = {}
        for name, shape, part in split(problem, data):
            dtype = self.torch.float32 if name == "bias" else self.dtype(problem["dtype"])
            made[name] = self.torch.frombuffer(part, dtype=dtype).reshape(shape).to(self.place)
        return made

    def shape_and_dtype(self, out):
        if not self.torch.is_tensor(out):
            out = self.torch.from_dlpack(out)
        names = {self.torch.float32: "f32", self.torch.float16: "f16", self.torch.bfloat16: "bf16"}
        return tuple(out.shape), names.get(out.dtype, str(out.dtype))

    def bytes_of(self, out):
        if not self.torch.is_tensor(out):
            out = self.torch.from_dlpack(out)
        return out.detach().cpu().contiguous().view(self.torch.uint8).numpy().tobytes()

    def wait(self):
        if self.cuda:
            self.torch.cuda.synchronize()

    def give_back(self):
        """Memory that torch keeps for later: ours may need it in their turn."""
        if self.cuda and self.torch.cuda.memory_reserved() - self.torch.cuda.memory_allocated() > 1 << 30:
            self.torch.cuda.empty_cache()

    def times(self, call, turn):
        return self.times_by_events(call, turn) if self.cuda else times_on_cpu(call, turn)

    def flush(self, size):
        if size <= 0:
            return
        if self.flushed is None or self.flushed.numel() * 4 < size:
            self.flushed = self.torch.zeros(size // 4, dtype=self.torch.float32, device=self.place)
            self.sum = self.torch.zeros((), dtype=self.torch.float32, device=self.place)
        self.torch.sum(self.flushed, dim=0, out=self.sum)

    def times_by_events(self, call, turn):
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        cold, left = turn["flush_bytes"] > 0, turn["warm_up"]
        taken = []
        while len(taken) < turn["repeats"]:
            if left <= 0:
                time.sleep(turn["pause_us"] * 1e-6)
            for _ in range(max(turn["flushes"], self.flushes) if cold else 0):
                self.flush(turn["flush_bytes"])
            begin.record()
            call()
            late = begin.query()
            end.record()
            end.synchronize()
            if left > 0:
                left -= 1
            elif cold and late and self.flushes < MOST_FLUSHES:
                self.flushes = 2 * max(turn["flushes"], self.flushes)
            else:
                taken.append(begin.elapsed_time(end) * 1000)
        return taken


def times_on_cpu(call, turn):
    taken = []
    for n in range(turn["warm_up"] + turn["repeats"]):
        if n >= turn["warm_up"]:
            time.sleep(turn["pause_us"] * 1e-6)
        begin = time.perf_counter()
        call()
        if n >= turn["warm_up"]:
            taken.append((time.perf_counter() - begin) * 1e6)
    return taken


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

    def __init__(self, arrays, name, problem, tensors):
        self.torch, self.p, self.name = arrays.torch, problem, name
        self.module, records, takes, self.open_side = self.PACKAGES[name]
        self.refuse_known(takes)
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


def load_libraries():
    """Takes seconds, and can go on while AttnScope measures its own. What fails is told when it is asked for."""
    try:
        import torch  # noqa: F401
    except Exception:
        pass


def main():
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
        except Exception as error:  # whatever a peer raises is its row's reason
            memory = type(error).__name__ == "OutOfMemoryError" or isinstance(error, MemoryError)
            answer, data = {"is": "error", "refused": memory, "words": words_of(error),
                            "lost": peers.gpu_is_lost()}, b""
        connection.send(answer, data)


if __name__ == "__main__":
    main()
