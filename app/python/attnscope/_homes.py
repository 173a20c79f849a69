"""Where an answer lives: with the library that the question came from.

A home allocates arrays as its library does, so that they are freed, cached and streamed by its rules. The module asks
it (app/python/module/gpu_run.h), and so never imports a library that its caller has not.
"""

import sys

from . import _core


class NumPy:
    """NumPy's arrays, and whatever speaks the buffer protocol or DLPack on the CPU and has no library known here."""

    not_on_gpu = "is on a GPU, but the allocator and stream of its library are unknown; use torch or CuPy"

    @staticmethod
    def empty(shape, like, kind):
        import numpy as np

        if kind == "float32":
            return np.empty(shape, np.float32)
        dtype = getattr(like, "dtype", None)
        if isinstance(dtype, np.dtype):
            return np.empty(shape, dtype)
        name = getattr(like, "format", None) or getattr(like, "typecode", None)
        if name is None:  # an array of no library that is known: DLPack says its type
            dtype = np.from_dlpack(like).dtype
            return np.empty(shape, dtype)
        return np.empty(shape, np.dtype(name))

    @staticmethod
    def finished(array):
        return array


class Torch:
    """torch's tensors, by its caching allocator, on its current stream."""

    not_on_gpu = None

    @staticmethod
    def empty(shape, like, kind):
        torch = sys.modules["torch"]
        if kind == "out":
            return torch.empty(shape, dtype=like.dtype, device=like.device)
        return torch.empty(shape, dtype=torch.float32 if kind == "float32" else torch.uint8, device=like.device)

    @staticmethod
    def finished(array):
        return array

    @staticmethod
    def stream(device):
        torch = sys.modules["torch"]
        # What torch's own compiler asks: a tenth of the time that an object of the stream takes.
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        return torch.cuda.current_stream(device).cuda_stream if raw is None else raw(device)

    @staticmethod
    def address(array):
        return array.data_ptr()

    @staticmethod
    def _as_kernel_reads(array, how):
        if how == "swapped":
            return array.transpose(-3, -2)
        if how == "bias":
            return array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.stride())].float()
        return array

    @classmethod
    def dense(cls, array, how):
        return cls._as_kernel_reads(array, how).contiguous().clone()

    @classmethod
    def copy(cls, array, dense, how):
        dense.copy_(cls._as_kernel_reads(array, how))

    @classmethod
    def copy_back(cls, dense, array, how):
        cls._as_kernel_reads(array, how).copy_(dense)


class CuPy:
    """CuPy's arrays, from its memory pool, on its current stream."""

    not_on_gpu = None

    @staticmethod
    def empty(shape, like, kind):
        cupy = sys.modules["cupy"]
        return cupy.empty(shape, like.dtype if kind == "out" else kind)

    @staticmethod
    def finished(array):
        return array

    @staticmethod
    def stream(device):
        return sys.modules["cupy"].cuda.get_current_stream(device).ptr

    @staticmethod
    def address(array):
        return array.data.ptr

    @staticmethod
    def _as_kernel_reads(array, how):
        if how == "swapped":
            return array.swapaxes(-3, -2)
        if how == "bias":
            return array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides)]
        return array

    @classmethod
    def dense(cls, array, how):
        return sys.modules["cupy"].array(
            cls._as_kernel_reads(array, how), order="C", dtype="float32" if how == "bias" else None
        )

    @classmethod
    def copy(cls, array, dense, how):
        dense[...] = cls._as_kernel_reads(array, how)

    @classmethod
    def copy_back(cls, dense, array, how):
        cls._as_kernel_reads(array, how)[...] = dense


class Jax:
    """JAX's arrays on the CPU. They cannot be written: the answer is memory of ours that becomes one of them."""

    not_on_gpu = "is on a GPU, and JAX names no stream to join; use torch or CuPy there, or JAX on the CPU"

    @staticmethod
    def empty(shape, like, kind):
        names = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
        return _core.empty(list(shape), names.get(str(like.dtype) if kind == "out" else kind, "f32"))

    @staticmethod
    def finished(array):
        return sys.modules["jax"].dlpack.from_dlpack(array)


_BY_MODULE = {
    "torch": Torch,
    "torch.nn.parameter": Torch,
    "cupy": CuPy,
    "jaxlib._jax": Jax,
    "jaxlib.xla_extension": Jax,
}


def home_of(array):
    """The home of an array, by the module that its type is of."""
    module = type(array).__module__
    known = _BY_MODULE.get(module)
    if known is not None:
        return known
    for start, home in (("torch", Torch), ("cupy", CuPy), ("jax", Jax)):
        if module.partition(".")[0].startswith(start) and start in sys.modules:
            return home
    return NumPy
