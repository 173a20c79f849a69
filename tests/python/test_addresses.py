"""On a GPU: kernels read and write where the arrays of torch, CuPy and JAX lie. A call is captured into a CUDA graph,
and the driver says which words its kernels were given. Skipped where there is no GPU.
"""

import contextlib
import ctypes
import os
import sys

import package

torch = package.wanted("torch")
attnscope = package.wanted("attnscope")
if not torch.cuda.is_available():
    print("SKIPPED: torch finds no CUDA GPU")
    sys.exit(77)
report = package.wanted("program").Report()
cuda = ctypes.CDLL("libcuda.so.1")
ANY_THREAD_MAY_DO_ANYTHING = 2  # CU_STREAM_CAPTURE_MODE_RELAXED: the libraries go on with their own work meanwhile
KERNEL, COPY = 0, 1  # CU_GRAPH_NODE_TYPE_KERNEL and _MEMCPY


class KernelNode(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2."""

    _fields_ = [
        ("function", ctypes.c_void_p),
        ("shape", ctypes.c_uint * 7),
        ("parameters", ctypes.POINTER(ctypes.c_void_p)),
        ("extra", ctypes.c_void_p),
        ("kernel", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    ]


def good(status, what):
    if status != 0:
        raise RuntimeError(f"{what}: CUDA error {status}")


def words_of(node):
    """The 64-bit words of all parameters of a kernel in a graph; a tensor map holds its address as a word, too."""
    given, found = KernelNode(), []
    good(cuda.cuGraphKernelNodeGetParams_v2(node, ctypes.byref(given)), "cuGraphKernelNodeGetParams")
    offset, size, n = ctypes.c_size_t(), ctypes.c_size_t(), 0
    while cuda.cuFuncGetParamInfo(ctypes.c_void_p(given.function), ctypes.c_size_t(n), ctypes.byref(offset),
                                  ctypes.byref(size)) == 0:  # fmt: skip
        held = ctypes.string_at(given.parameters[n], size.value)
        found += [int.from_bytes(held[at : at + 8], "little") for at in range(0, size.value - 7, 8)]
        n += 1
    return found


def words_given(call, stream):
    """The words that the kernels of a call on this stream are given, and what it returned. Nothing is computed."""
    graph, count = ctypes.c_void_p(), ctypes.c_size_t()
    at = ctypes.c_void_p(stream)
    good(cuda.cuStreamBeginCapture_v2(at, ANY_THREAD_MAY_DO_ANYTHING), "cuStreamBeginCapture")
    try:
        out = call()
    finally:
        good(cuda.cuStreamEndCapture(at, ctypes.byref(graph)), "cuStreamEndCapture")
    good(cuda.cuGraphGetNodes(graph, None, ctypes.byref(count)), "cuGraphGetNodes")
    nodes, kind, words = (ctypes.c_void_p * count.value)(), ctypes.c_int(), set()
    good(cuda.cuGraphGetNodes(graph, nodes, ctypes.byref(count)), "cuGraphGetNodes")
    for node in map(ctypes.c_void_p, nodes):
        good(cuda.cuGraphNodeGetType(node, ctypes.byref(kind)), "cuGraphNodeGetType")
        report.check(kind.value != COPY, "nothing is copied on the way")
        if kind.value == KERNEL:
            words |= set(words_of(node))
    cuda.cuGraphDestroy(graph)
    return words, out


def equal(library, address_of, arrays, stream, on=contextlib.nullcontext, **given):
    for kernel in ("flash_mma", "flash_hopper"):
        def call():
            return attnscope.attention(*arrays, kernel=kernel, **given)

        try:
            with on():
                call()  # a problem that is known may be captured
                torch.cuda.synchronize()
                words, out = words_given(call, stream)
        except ValueError as error:
            print(f"{library}, {kernel}: {error}")
            continue
        report.check(attnscope.last_call().copied == (), f"{library}, {kernel}: {attnscope.last_call().copied} copied")
        for name, array in zip(("q", "k", "v", "out"), (*arrays, out)):
            address = address_of(array)
            report.check(address in words, f"{library}, {kernel}: {name} lies at {address:#x}, given were "
                         f"{[hex(word) for word in sorted(words) if word >> 32]}")  # fmt: skip
        print(f"{library}, {kernel}: the addresses of q, k, v and out are equal")


def of_torch():
    stream = torch.cuda.Stream()
    packed = torch.randn(2, 256, 3, 4, 64, device="cuda", dtype=torch.float16)
    views = [packed[:, :, n].transpose(1, 2) for n in range(3)]
    torch.cuda.synchronize()
    for words, arrays in (("torch", [x.contiguous() for x in views]), ("torch's views", views)):
        if words == "torch":
            equal(words, torch.Tensor.data_ptr, arrays, stream.cuda_stream, lambda: torch.cuda.stream(stream))
            continue
        with torch.cuda.stream(stream):
            attnscope.attention(*arrays)
            torch.cuda.synchronize()
            given, _ = words_given(lambda: attnscope.attention(*arrays), stream.cuda_stream)
        if attnscope.last_call().kernel == "flash_hopper":
            same = all(x.data_ptr() in given for x in arrays)
            report.check(same and attnscope.last_call().copied == (), "views of one tensor are read where they lie")
            print("torch: transposed views are read where they lie")


def of_cupy():
    try:
        import cupy
    except ImportError as error:
        print(f"no CuPy: {error}")
        return
    arrays = [cupy.random.standard_normal((2, 4, 256, 64), cupy.float32).astype(cupy.float16) for _ in range(3)]
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    equal("CuPy", lambda x: x.data.ptr, arrays, stream.ptr, lambda: stream)


def of_jax():
    """JAX has no stream to join, so its calls wait; here they join one and wait for nothing, but nothing else."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    try:
        import jax

        gpu = jax.devices("gpu")[0]
    except (ImportError, RuntimeError) as error:
        print(f"no JAX on a GPU: {error}")
        return
    from attnscope._homes import Jax

    keys = jax.random.split(jax.random.key(1), 3)
    arrays = [jax.device_put(jax.random.normal(key, (2, 4, 256, 64), jax.numpy.float16), gpu) for key in keys]
    jax.block_until_ready(arrays)
    stream = torch.cuda.Stream()
    known = Jax.stream, Jax.waits
    Jax.stream, Jax.waits = staticmethod(lambda _: stream.cuda_stream), False
    try:
        equal("JAX", lambda x: x.unsafe_buffer_pointer(), arrays, stream.cuda_stream)
    finally:
        Jax.stream, Jax.waits = staticmethod(known[0]), known[1]


for part in (of_torch, of_cupy, of_jax):
    part()
report.exit(20)
