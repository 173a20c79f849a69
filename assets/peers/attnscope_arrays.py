"""The arrays that peer.py gives to attention of others, and how calls on them are timed: torch's, or NumPy's where
there is no torch.
"""
import time

MOST_FLUSHES = 256  # some 15 ms: who enqueues for longer is timed with its host


class Refused(Exception):
    """What this peer does not take, in words."""


def has_gradients(problem):
    return problem.get("pass") in ("backward", "training")


def is_training(problem):
    return problem.get("pass") == "training"


def split(problem, data):
    """The bytes of q, k, v, the bias and dO, as far as the problem has them, with their shapes."""
    p = problem
    width = {"f32": 4, "f16": 2, "bf16": 2}[p["dtype"]]
    shapes = [("q", (p["B"], p["Hq"], p["Lq"], p["D"]), width), ("k", (p["B"], p["Hkv"], p["Lk"], p["D"]), width),
              ("v", (p["B"], p["Hkv"], p["Lk"], p["Dv"]), width)]
    if p["bias"]:
        shapes.append(("bias", tuple(p["bias"]), 4))
    if has_gradients(p):
        shapes.append(("do", (p["B"], p["Hq"], p["Lq"], p["Dv"]), width))
    at = 0
    for name, shape, each in shapes:
        size = each
        for extent in shape:
            size *= extent
        yield name, shape, memoryview(data)[at:at + size]
        at += size
    if at != len(data):
        raise ValueError(f"{len(data)} bytes received for tensors of {at}")


class Numpy:
    """Arrays where there is no torch: the CPU alone."""

    def __init__(self):
        import numpy
        self.np = numpy
        self.software = f"NumPy {numpy.__version__}"
        self.device = {}

    def tensors(self, problem, data):
        if has_gradients(problem):
            raise Refused("a backward pass needs torch's autograd, but this Python has no torch")
        if problem["dtype"] == "bf16":
            raise Refused("NumPy has no bf16, and this Python has no torch")
        dtype = {"f32": self.np.float32, "f16": self.np.float16}[problem["dtype"]]
        return {name: self.np.frombuffer(part, dtype=self.np.float32 if name == "bias" else dtype).reshape(shape)
                for name, shape, part in split(problem, data)}

    def shape_and_dtype(self, out):
        if not isinstance(out, self.np.ndarray):
            raise ValueError(f"attention() returned a {type(out).__name__}, but a NumPy array is needed")
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
            raise Refused("its torch does not see a GPU")
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
