"""CuPy for a machine without a GPU: arrays of NumPy's that say by DLPack that they are a GPU's."""

import ctypes
import sys
import types

import numpy as np

_address = ctypes.pythonapi.PyCapsule_GetPointer
_address.restype, _address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_CUDA = 2  # of DLPack's devices; it stands behind the address
asked = set()  # streams that were named where an array was handed out; None: the legacy default stream


class ndarray:
    def __init__(self, array):
        self.array, self.dtype, self.shape, self.strides = array, array.dtype, array.shape, array.strides
        self.data = types.SimpleNamespace(ptr=array.ctypes.data)

    def __dlpack__(self, stream=None, **_):
        asked.add(stream)
        capsule = self.array.__dlpack__()
        ctypes.c_int32.from_address(_address(capsule, b"dltensor") + 8).value = _CUDA
        return capsule

    def __dlpack_device__(self):
        return _CUDA, 0

    def __getitem__(self, at):
        return ndarray(self.array[at])

    def __setitem__(self, at, value):
        self.array[at] = value.array

    def swapaxes(self, a, b):
        return ndarray(self.array.swapaxes(a, b))

    def ravel(self):
        return ndarray(self.array.ravel())

    def astype(self, dtype):
        return ndarray(self.array.astype(dtype))

    def clip(self, low, high):
        return ndarray(self.array.clip(low, high))


ndarray.__module__ = "cupy"


class Stream:
    """The current stream, of which `ptr` is the handle: any number."""

    ptr = 0


def installed():
    """sys.modules["cupy"] from now on; `allocated` keeps every array that was asked for, with the stream's handle."""
    double = types.ModuleType("cupy")
    double.allocated = []

    def empty(shape, dtype):
        made = ndarray(np.empty(shape, dtype))
        double.allocated.append((Stream.ptr, made))
        return made

    double.ndarray, double.empty = ndarray, empty
    double.array = lambda a, order, dtype=None: ndarray(np.array(a.array, order=order, dtype=dtype))
    double.cuda = types.SimpleNamespace(get_current_stream=lambda device: Stream)
    sys.modules["cupy"] = double
    return double
