"""As much of torch as assets/peers/peer.py asks for on the CPU, made of NumPy: a double for tests without torch."""

import contextlib

import numpy as np

__version__ = "0.0-double"
float32, float16, uint8 = np.dtype("float32"), np.dtype("float16"), np.dtype("uint8")
bool = np.dtype("bool")  # noqa: A001
bfloat16 = "bf16"
threads = 1


class Tensor(np.ndarray):
    device = "cpu"

    def to(self, what):
        return self.astype(what).view(Tensor) if isinstance(what, np.dtype) else self

    def detach(self):
        return self

    def cpu(self):
        return self

    def contiguous(self):
        return np.ascontiguousarray(self).view(Tensor)

    def numpy(self):
        return np.asarray(self)

    def repeat_interleave(self, times, dim):
        return np.repeat(self, times, axis=dim).view(Tensor)

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


def tensor(values, device=None):
    return as_tensor(np.array(values))


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


from . import nn  # noqa: E402
