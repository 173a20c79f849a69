"""Attention of others as peer.py calls it: torch's kernels forced one by one, FlashAttention's packages, the function
of a user's file; and the gradients of each by torch's autograd.
"""
import contextlib
import importlib.metadata
import importlib.util
import inspect
import os
import traceback
import warnings

from attnscope_arrays import Refused, has_gradients

HERE = os.path.dirname(os.path.abspath(__file__))


class Backward:
    """The gradients of a peer's attention. Its forward runs once, before the clock starts."""

    def __init__(self, arrays, peer):
        self.peer, self.how = peer, peer.how
        if hasattr(peer, "package"):
            self.package = peer.package
        with arrays.torch.enable_grad():
            out = peer.out()
        if not getattr(out, "requires_grad", False):
            raise Refused("autograd has no gradient for its output")
        leaves, d_out = [peer.t[name] for name in "qkv"], peer.t["do"]
        self.call = lambda: arrays.torch.autograd.grad(out, leaves, d_out, retain_graph=True)

    def outs(self):
        try:
            return [self.peer.as_ours(x) for x in self.call()]
        except (AssertionError, NotImplementedError, TypeError, ValueError, RuntimeError) as error:
            if is_failure(error):
                raise
            raise Refused(f"its backward pass rejects this: {words_of(error)}") from error

    def times(self, arrays, turn):
        return arrays.times(self.call, turn)


class Training(Backward):
    """A training step of a peer's attention: its forward, then the gradients of what that returned, in one timing."""

    def __init__(self, arrays, peer):
        super().__init__(arrays, peer)
        self.arrays = arrays
        leaves, d_out = [peer.t[name] for name in "qkv"], peer.t["do"]
        self.gradients_of = lambda out: arrays.torch.autograd.grad(out, leaves, d_out, retain_graph=True)
        self.call = self.step

    def step(self):
        out = self.peer.output()
        return (out, *self.gradients_of(out))

    def outs(self):
        with self.arrays.torch.enable_grad(), self.peer.context():
            return [x.detach() for x in super().outs()]

    def times(self, arrays, turn):
        with arrays.torch.enable_grad(), self.peer.context():
            return arrays.times(self.call, turn)


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
            raise Refused("torch's attention does not support softcap")
        if p.get("slopes") is not None:
            raise Refused("torch's attention does not support ALiBi slopes; "
                          "a stored bias (--bias-shape) is a different problem")
        if self.name in ("torch-flash", "torch-cudnn") and p["dtype"] == "f32":
            raise Refused("it supports f16 and bf16; this problem is f32")
        if self.name == "torch-flash" and p["Dv"] != p["D"]:
            raise Refused(f"it supports only one head dimension for Q, K and V; here D = {p['D']} and Dv = {p['Dv']}")
        if self.name == "torch-flash" and (p["bias"] or self.has_window()):
            raise Refused("through torch, it supports no mask except causal, and no bias")

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
            with self.torch.enable_grad():
                self.k, self.v = (x.repeat_interleave(group, dim=1) for x in (self.k, self.v))
            copied = "KV heads copied to every query head before the clock starts"
            self.how.append(copied + (", their gradients summed within the timing" if has_gradients(self.p) else ""))

    def as_ours(self, x):
        return x

    def context(self):
        return self.forced() if self.forced else contextlib.nullcontext()

    def output(self):
        return self.call()

    def call(self):
        return self.torch.nn.functional.scaled_dot_product_attention(self.t["q"], self.k, self.v, **self.arguments)

    def call_once(self):
        with self.torch.enable_grad() if has_gradients(self.p) else self.torch.inference_mode():
            if self.forced is None:
                return self.call()
            with self.forced():
                return self.call()

    def outs(self):
        return [self.out()]

    def out(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                return self.call_once()
            except RuntimeError as error:
                if "No available kernel" not in str(error):
                    raise
                words = [" ".join(str(w.message).split("(Triggered")[0].split()) for w in told]
                raise Refused("torch has no such kernel for this problem: " + " ".join(words)[:600]) from error

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
        self.t = {x: tensors[x].detach().transpose(1, 2).contiguous() for x in tensors if x != "bias"}
        if has_gradients(problem):
            for x in "qkv":
                self.t[x].requires_grad_()
        self.arguments = {"softmax_scale": problem["scale"], "causal": problem["causal"]}
        self.set_extras(tensors["q"].device)

    def version(self, records):
        for record in records:
            try:
                return importlib.metadata.version(record)
            except importlib.metadata.PackageNotFoundError:
                pass
        return "(unknown version)"

    def refuse_known(self, takes):
        p = self.p
        if p["dtype"] == "f32":
            raise Refused("it supports f16 and bf16; this problem is f32")
        if self.name == "flash-attn" and p["Dv"] != p["D"]:
            raise Refused(f"it supports only one head dimension for Q, K and V; here D = {p['D']} and Dv = {p['Dv']}")
        for value, words in ((p["bias"], "it does not support a stored bias"),
                             (p["key_lengths"], "its function for batches of one length does not support key lengths")):
            if value:
                raise Refused(words)
        for extra, words in (("softcap", "softcap"), ("slopes", "ALiBi slopes")):
            if p.get(extra) is not None and extra not in takes:
                raise Refused(f"it does not support {words}")

    def set_extras(self, place):
        p = self.p
        if p["window_left"] >= 0 or p["window_right"] >= 0:
            sides = (p["window_left"], 0 if p["causal"] else p["window_right"])
            self.arguments["window_size"] = tuple(side if side >= 0 else self.open_side for side in sides)
        if p.get("softcap") is not None:
            self.arguments["softcap"] = p["softcap"]
        if p.get("slopes") is not None:
            self.arguments["alibi_slopes"] = self.torch.tensor(p["slopes"], dtype=self.torch.float32, device=place)

    def as_ours(self, x):
        return x.transpose(1, 2)

    def context(self):
        return contextlib.nullcontext()

    def output(self):
        got = self.call()
        return got[0] if isinstance(got, tuple) else got

    def call(self):
        return self.function(self.t["q"], self.t["k"], self.t["v"], **self.arguments)

    def outs(self):
        return [self.as_ours(self.out())]

    def out(self):
        try:
            with self.torch.enable_grad() if has_gradients(self.p) else self.torch.inference_mode():
                got = self.call()
        except (AssertionError, NotImplementedError, TypeError, ValueError, RuntimeError) as error:
            if is_failure(error):
                raise
            raise Refused(f"{self.module} rejects this: {words_of(error)}") from error
        return got[0] if isinstance(got, tuple) else got

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
        self.how, self.t = [], tensors
        self.call = lambda: function(tensors["q"], tensors["k"], tensors["v"], **given)

    def as_ours(self, x):
        return x

    def context(self):
        return contextlib.nullcontext()

    def outs(self):
        return [self.out()]

    def out(self):
        got = self.call()
        return got[0] if isinstance(got, tuple) else got

    output = out

    def times(self, arrays, turn):
        return arrays.times(self.call, turn)


def is_failure(error):
    """What the GPU fails at; what a library checks is refused."""
    return isinstance(error, RuntimeError) and ("CUDA error" in str(error) or "out of memory" in str(error))


def words_of(error):
    """The last line says what; of the user's file the place too."""
    where = [f for f in traceback.extract_tb(error.__traceback__) if os.path.dirname(f.filename) != HERE]
    place = f" ({os.path.basename(where[-1].filename)}, line {where[-1].lineno})" if where else ""
    text = " ".join(str(error).split())[:600]
    return f"{type(error).__name__}: {text}{place}" if text else f"{type(error).__name__}{place}"
