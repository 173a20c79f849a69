"""Where an answer lives: with the library that the question came from.

A home allocates arrays as its library does, so that they are freed, cached and streamed by its rules. The module asks
it (app/python/module/gpu_run.h), and so never imports a library that its caller has not.

How a kernel reads an array that does not lie so, as dense() and copy() take it: "same", "swapped" (heads and rows),
"bias", "float32", ("lengths", the longest, 1) or ("pages", the last page, columns).
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

    not_on_gpu, waits = None, False

    @staticmethod
    def empty(shape, like, kind):
        if kind == "out":
            return like.new_empty(shape)
        torch = sys.modules["torch"]
        return like.new_empty(shape, dtype=torch.float32 if kind == "float32" else torch.uint8)

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
        if how == "float32":
            return array.float()
        if type(how) is tuple:
            what, most, columns = how
            return (array.reshape(-1).long() if what == "lengths" else array[:, :columns]).clamp(0, most)
        return array

    @classmethod
    def dense(cls, array, how):
        return cls._as_kernel_reads(array, how).contiguous()

    @classmethod
    def copy(cls, array, dense, how):
        dense.copy_(cls._as_kernel_reads(array, how))

    @classmethod
    def copy_back(cls, dense, array, how):
        cls._as_kernel_reads(array, how).copy_(dense)


class CuPy:
    """CuPy's arrays, from its memory pool, on its current stream."""

    not_on_gpu, waits = None, False

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
        if type(how) is tuple:
            what, most, columns = how
            return (array.ravel().astype("int64") if what == "lengths" else array[:, :columns]).clip(0, most)
        return array

    @classmethod
    def dense(cls, array, how):
        return sys.modules["cupy"].array(
            cls._as_kernel_reads(array, how), order="C", dtype="float32" if how in ("bias", "float32") else None
        )

    @classmethod
    def copy(cls, array, dense, how):
        dense[...] = cls._as_kernel_reads(array, how)

    @classmethod
    def copy_back(cls, dense, array, how):
        cls._as_kernel_reads(array, how)[...] = dense


class Jax:
    """JAX's arrays. They cannot be written: an answer is memory that becomes one of them, or is one that only we have.

    JAX waits for no stream but its own, and frees memory without asking who still reads it. So on a GPU a call waits
    until its arrays are computed, and then until its own kernels are done.
    """

    not_on_gpu, waits = None, True

    @staticmethod
    def wait_for(*arrays):
        for array in arrays:
            if hasattr(array, "block_until_ready"):
                array.block_until_ready()

    @staticmethod
    def empty(shape, like, kind):
        device = next(iter(like.devices()))
        if device.platform == "cpu":
            names = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
            return _core.empty(list(shape), names.get(str(like.dtype) if kind == "out" else kind, "f32"))
        made = sys.modules["jax"].numpy.empty(tuple(shape), like.dtype if kind == "out" else kind, device=device)
        return _OnGpu(made.block_until_ready())

    @staticmethod
    def finished(array):
        return array.array if isinstance(array, _OnGpu) else sys.modules["jax"].dlpack.from_dlpack(array)

    @staticmethod
    def stream(_):
        return 0

    @staticmethod
    def address(array):
        return array.array.unsafe_buffer_pointer()

    @staticmethod
    def dense(array, how):
        jax = sys.modules["jax"]
        if how == "swapped":
            array = array.swapaxes(-3, -2)
        elif how in ("bias", "float32"):
            array = array.astype("float32")
        elif type(how) is tuple:
            what, most, columns = how
            # Of 32 bits, as JAX's numbers are: each is followed by the upper half of 64.
            if what == "lengths":
                array = jax.numpy.stack([array.ravel().clip(0, most).astype("int32")] * 2, -1).at[:, 1].set(0)
            else:
                array = array[:, :columns].clip(0, most)
        return _OnGpu(array.block_until_ready())

    @staticmethod
    def copy(array, dense, how):
        """Nothing: what cannot be written is as it was."""

    @staticmethod
    def copy_back(dense, array, how):
        raise TypeError("out: JAX's arrays cannot be written; omit out")


class _OnGpu:
    """Memory of JAX's on a GPU, to be written as long as nobody has seen the array."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **_):
        return self.array.__dlpack__()


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
