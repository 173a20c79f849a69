"""As much of torch as assets/peers/peer.py asks for, made of NumPy: a double for tests without torch."""

import contextlib
import types

import numpy as np

__version__ = "0.0-double"
float32, float16, uint8 = np.dtype("float32"), np.dtype("float16"), np.dtype("uint8")
bool = np.dtype("bool")  # noqa: A001
bfloat16 = "bf16"
threads = 1


class Tensor(np.ndarray):
    device = "cpu"
    requires_grad = False
    gradients = None  # of an answer: dO -> {id of a leaf: its gradient}

    def requires_grad_(self):
        self.requires_grad = True
        return self

    def to(self, what):
        return self.astype(what).view(Tensor) if isinstance(what, np.dtype) else self

    def detach(self):
        return self

    def cpu(self):
        return self

    def contiguous(self):
        return np.ascontiguousarray(self).view(Tensor)

    def transpose(self, one, other):  # torch's: two axes change places
        return np.swapaxes(self, one, other)

    def view(self, what=None, **more):  # a dtype, or NumPy's own
        return super().view(**more) if what is None else super().view(what, **more)

    def numel(self):
        return self.size

    def numpy(self):
        return np.asarray(self)

    def repeat_interleave(self, times, dim):
        copy = np.repeat(self, times, axis=dim).view(Tensor)
        copy.copies_of = self
        return copy

    def masked_fill(self, where, value):
        return np.where(where, value, self).astype(self.dtype).view(Tensor)


def as_tensor(array):
    return np.asarray(array).view(Tensor)


def is_tensor(x):
    return isinstance(x, Tensor)


def frombuffer(data, dtype):
    return as_tensor(np.frombuffer(data, dtype=dtype))


def arange(n, device=None):
    return as_tensor(np.arange(n))


def ones(*shape, dtype=None, device=None):
    return as_tensor(np.ones(shape, dtype))


def zeros(*shape, dtype=None, device=None):
    return as_tensor(np.zeros(shape[0] if shape and isinstance(shape[0], tuple) else shape, dtype))


def sum(x, dim, out):  # noqa: A001
    out[...] = np.sum(np.asarray(x), axis=dim)


def tensor(values, dtype=None, device=None):
    return as_tensor(np.array(values, dtype))


def device(*words):
    return words[0]


def set_num_threads(n):
    global threads
    threads = n


def get_num_threads():
    return threads


@contextlib.contextmanager
def inference_mode():
    yield


@contextlib.contextmanager
def enable_grad():
    yield


def grad(out, leaves, d_out, retain_graph=False):
    found = out.gradients(d_out)
    return [found[id(leaf)] for leaf in leaves]


autograd = types.SimpleNamespace(grad=grad)
version = types.SimpleNamespace(cuda="0.0")
backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=True)),
                                 cudnn=types.SimpleNamespace(version=lambda: None))

from . import cuda, nn  # noqa: E402, F401
