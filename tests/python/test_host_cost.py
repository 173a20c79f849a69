"""What a call costs the host: after the first of its problem it plans, compiles, loads, uploads and waits for nothing.

The driver is a double that counts (no_gpu/fake_cuda.cpp), so this runs where there is no GPU; NVRTC is the real one.
"""

import ctypes
import os
import statistics
import sys
import threading
import time
import warnings

import package

double = os.environ.get("ATTNSCOPE_FAKE_CUDA", "")
if not os.path.exists(double):
    print("SKIPPED: ATTNSCOPE_FAKE_CUDA names no libcuda.so.1")
    sys.exit(77)
fake = ctypes.CDLL(double, mode=ctypes.RTLD_GLOBAL)  # before the package asks for a library of this name
for name in ("calls", "launches", "stream", "word", "current_context"):
    getattr(fake, f"fake_{name}").restype = ctypes.c_uint64
fake.fake_entry.restype = ctypes.c_char_p
np = package.wanted("numpy")
attnscope = package.wanted("attnscope")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "no_gpu"))
import cupy_double  # noqa: E402

cupy, core = cupy_double.installed(), attnscope._core
report = package.wanted("program").Report()
warnings.simplefilter("ignore", attnscope.CopyWarning)
random = np.random.default_rng(1)
# Of the driver, and of no call but a problem's first.
COSTLY = (
    "cuModuleLoadData", "cuModuleGetFunction", "cuFuncSetAttribute", "cuMemAlloc", "cuMemFree", "cuMemcpyHtoDAsync",
    "cuStreamSynchronize", "cuDeviceGetAttribute", "cuDeviceGetName",
)  # fmt: skip


def arrays(*shape, dtype=np.float16):
    return [cupy_double.ndarray(random.standard_normal(shape, np.float32).astype(dtype)) for _ in range(3)]


def calls(name=""):
    return fake.fake_calls(name.encode())


def word(launch, n):
    return fake.fake_word(ctypes.c_uint64(launch), ctypes.c_uint64(n))


def stream_of(launch):
    return fake.fake_stream(ctypes.c_uint64(launch))


def addresses(*all_of):
    return [x.data.ptr for x in all_of]


try:
    attnscope.attention(*arrays(1, 1, 16, 64))
except RuntimeError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)


def nothing_again():
    for words, shape, given in (
        ("flash_splitkv", (1, 2, 16, 64), {}),
        ("flash_hopper", (1, 2, 256, 64), {"causal": True}),
        ("naive", (1, 2, 24, 16), {"kernel": "naive", "alibi": True, "key_lengths": [20]}),
        ("flash_splitkv", (1, 2, 8, 64), {"key_lengths": [5], "softcap": 2.0, "window": (4, 0)}),
    ):
        q, k, v = arrays(*shape)
        before = core.plans()[0]
        attnscope.attention(q, k, v, **given)
        report.check(core.plans()[0] == before + 1, f"{words} {given}: the first call plans")
        report.check(attnscope.last_call().kernel == words, f"{words}: {attnscope.last_call()}")
        launches = calls("cuLaunchKernelEx")
        fake.fake_forget()
        for _ in range(50):
            attnscope.attention(*arrays(*shape), **given)
        report.check(core.plans()[0] == before + 1, f"{words} {given}: no later call plans")
        for name in COSTLY:
            report.check(calls(name) == 0, f"{words} {given}: {calls(name)} calls of {name} in 50")
        report.check(calls() <= 50 * 14, f"{words} {given}: {calls() / 50} calls of the driver each")
        report.check(calls("cuLaunchKernelEx") % 50 == 0 < launches, f"{words} {given}: the same launches each")
        times = []
        for _ in range(100):
            start = time.perf_counter()
            attnscope.attention(q, k, v, **given)
            times.append((time.perf_counter() - start) * 1e6)
        print(f"{words} {sorted(given)}: {statistics.median(times):.1f} us a call, without a GPU's driver")
        report.check(statistics.median(times) < 2000, f"{words}: {statistics.median(times)} us a call")


def its_own_addresses():
    for _ in range(5):
        q, k, v = arrays(1, 2, 24, 16)
        fake.fake_forget()
        out, lse = attnscope.attention(q, k, v, kernel="naive", return_lse=True)
        report.check(fake.fake_launches() == 3, f"naive launches {fake.fake_launches()} kernels")
        for n in range(3):
            seen = [word(n, at) for at in (0, 1, 2, 4, 5)]
            report.check(seen == addresses(q, k, v, out, lse), f"launch {n} reads and writes the call's own arrays")
        q, k, v = arrays(1, 2, 256, 64)
        fake.fake_forget()
        attnscope.attention(q, k, v)
        report.check(word(0, 0) == q.data.ptr, "flash_hopper's map is of the call's own Q")
    q, k, v = arrays(1, 2, 24, 16)
    odd = cupy_double.ndarray(np.zeros(1 * 2 * 24 * 16 + 1, np.float16)[1:].reshape(1, 2, 24, 16))
    before, loads = core.plans()[0], calls("cuModuleLoadData")
    attnscope.attention(odd, k, v, kernel="naive")
    report.check(core.plans()[0] == before, "an array at an odd address has the same plan")
    report.check(calls("cuModuleLoadData") == loads + 1, "but is read by a kernel compiled for it")


def what_was_asked():
    """Whatever changes the plan is part of what it is found by."""
    q, k, v = arrays(2, 4, 40, 32)
    others = [
        {}, {"causal": True}, {"window": (3, 1)}, {"scale": 0.5}, {"softcap": 5.0}, {"alibi": True},
        {"alibi": [1, 2, 3, 4]}, {"key_lengths": [3, 40]}, {"key_lengths": [40, 3]}, {"tile": (32, 32)},
        {"bias": cupy_double.ndarray(np.zeros((40, 40), np.float32))},
        {"bias": cupy_double.ndarray(np.zeros((4, 1, 40), np.float32))},
    ]  # fmt: skip
    for given in others:
        before = core.plans()[0]
        for _ in range(3):
            attnscope.attention(q, k, v, kernel="tiled", **given)
        report.check(core.plans()[0] == before + 1, f"{list(given)}: {core.plans()[0] - before} plans")
    before = core.plans()[0]
    attnscope.attention(q, k, v, kernel="naive")
    attnscope.attention(*arrays(2, 4, 40, 32, dtype=np.float32), kernel="tiled")
    attnscope.attention(q, *arrays(2, 2, 40, 32)[:2], kernel="tiled")
    inside = arrays(2, 40, 4, 32)
    attnscope.attention(*inside, kernel="tiled", layout="blhd")
    report.check(core.plans()[0] == before + 4, "kernel, dtype, heads and layout")


def lengths_on_the_device():
    q, k, v = arrays(3, 2, 24, 16)
    for lengths in ([1, 2, 3], [24, 0, 7]):
        for _ in range(2):
            fake.fake_forget()
            attnscope.attention(q, k, v, kernel="naive", key_lengths=lengths)
            at = word(0, 6)
            kept = list((ctypes.c_int64 * 3).from_address(at))
            report.check(kept == lengths, f"the kernel finds the lengths {kept}, not {lengths}")


def numbers_of_the_gpu():
    """Lengths, slopes and pages in arrays of the GPU: the host never sees them, and the plan is the same for all."""
    q, k, v = arrays(3, 2, 24, 16)
    made = []
    for dtype in (np.int64, np.int32):
        for lengths in ([1, 2, 3], [24, 0, 7], [-5, 99, 24]):
            given = {"kernel": "naive", "key_lengths": cupy_double.ndarray(np.array(lengths, dtype))}
            fake.fake_forget()
            attnscope.attention(q, k, v, **given)
            kept = list((ctypes.c_int64 * 3).from_address(word(0, 6)))
            report.check(kept == [min(max(n, 0), 24) for n in lengths], f"{lengths}: the kernel finds {kept}")
            made.append(core.plans()[0])
            if len(made) > 1:
                report.check(all(calls(name) == 0 for name in COSTLY), f"{lengths}: {calls()} calls of the driver")
    report.check(len(set(made)) == 1, f"lengths on the GPU are no part of the plan: {made}")
    ready = attnscope.prepare(q, k, v, **given)
    given["key_lengths"].array[:] = [4, 5, 6]
    fake.fake_forget()
    ready()
    kept = list((ctypes.c_int64 * 3).from_address(word(0, 6)))
    report.check(kept == [4, 5, 6], f"a prepared call reads the lengths anew: {kept}")
    report.check(ready.call.copied == (), f"which is no copy that one could mend: {ready.call}")
    slopes = cupy_double.ndarray(np.array([[0.5, 0.25]], np.float32))
    attnscope.attention(q, k, v, kernel="naive", alibi=slopes)
    before = core.plans()[0]
    attnscope.attention(q, k, v, kernel="naive", alibi=cupy_double.ndarray(np.array([1, 2], np.float32)))
    report.check(core.plans()[0] == before, "nor are slopes")
    pool = arrays(6, 2, 16, 64)
    one = arrays(2, 2, 1, 64)[0]
    table = cupy_double.ndarray(np.array([[4, 0, 2, 9], [5, -1, 77, 9]], np.int32))
    for lengths in ([40, 20], cupy_double.ndarray(np.array([40, 20]))):
        out = attnscope.attention(one, *pool[:2], page_table=table, key_lengths=lengths)
        report.check(out.shape == (2, 2, 1, 64), f"a table on the GPU is not read by the host: {out.shape}")
    for words, call in (
        ("key_lengths: has 2 lengths", {"key_lengths": cupy_double.ndarray(np.array([1, 2]))}),
        ("key_lengths: is float32", {"key_lengths": cupy_double.ndarray(np.ones(3, np.float32))}),
        ("alibi: is int64", {"alibi": cupy_double.ndarray(np.array([1, 2]))}),
        ("alibi: has 3 slopes", {"alibi": cupy_double.ndarray(np.ones(3, np.float32))}),
    ):
        package.refused(report, words, lambda: attnscope.attention(q, k, v, **call))


def contexts():
    """What is loaded belongs to a context: another one loads it anew, and the first finds its own again."""
    shape = (1, 2, 40, 16)
    attnscope.attention(*arrays(*shape), kernel="naive", key_lengths=[7])
    before, seen = core.plans()[0], []
    for context in (7, 1, 7, 1):
        fake.fake_context(context)
        fake.fake_forget()
        attnscope.attention(*arrays(*shape), kernel="naive", key_lengths=[7])
        seen.append((calls("cuModuleLoadData"), calls("cuMemAlloc")))
    report.check(seen == [(1, 1), (0, 0), (0, 0), (0, 0)], f"modules and memory that each call loads: {seen}")
    report.check(core.plans()[0] == before, "the plan is one of both")
    fake.fake_context(0)
    attnscope.attention(*arrays(*shape), kernel="naive", key_lengths=[7])
    report.check(fake.fake_current_context() == 1, "a thread without a context gets the primary one")


def on_two_streams():
    q, k, v = arrays(1, 1, 1, 64)
    pool = arrays(1, 1, 8192, 64)[:2]
    attnscope.attention(q, *pool, options={"splits": 4})
    seen = {}
    for stream in (17, 18, 17, 18):
        cupy_double.Stream.ptr = stream
        del cupy.allocated[:]
        fake.fake_forget()
        attnscope.attention(q, *pool, options={"splits": 4})
        streams = {stream_of(n) for n in range(fake.fake_launches())}
        report.check(streams == {stream}, f"its launches go to stream {stream}, not to {streams}")
        of_bytes = [(s, a) for s, a in cupy.allocated if a.dtype == np.uint8]
        report.check(len(of_bytes) == 1 and of_bytes[0][0] == stream, "its workspace is of that stream")
        start = of_bytes[0][1].data.ptr
        inside = start <= word(0, 14) < start + of_bytes[0][1].array.nbytes
        report.check(inside, "and its partial sums lie there")
        seen.setdefault(stream, []).append(of_bytes[0][1])
    cupy_double.Stream.ptr = 0


def captured():
    q, k, v = arrays(1, 2, 20, 16)
    given = {"kernel": "naive", "key_lengths": [11]}
    fake.fake_capture(1)
    try:
        package.refused(report, "naive", lambda: attnscope.attention(q, k, v, **given))
    finally:
        fake.fake_capture(0)
    attnscope.attention(q, k, v, **given)
    fake.fake_forget()
    fake.fake_capture(1)
    try:
        attnscope.attention(q, k, v, **given)
    finally:
        fake.fake_capture(0)
    report.check(fake.fake_launches() == 3, "a problem that is known may be captured")
    report.check(all(calls(name) == 0 for name in COSTLY), "and touches nothing that a capture refuses")
    lengths = word(0, 6)
    for length in range(1, 200):
        attnscope.attention(*arrays(1, 1, length, 8), kernel="naive", key_lengths=[length])
    report.check(ctypes.c_int64.from_address(lengths).value == 11, "memory that a graph reads outlives its plan")
    report.check(core.plans()[1] <= 128, f"{core.plans()[1]} plans are kept")
    report.check(calls("cuMemFree") > 0, "memory of plans that have no room is freed")
    before = core.plans()[0]
    fake.fake_forget()
    attnscope.attention(q, k, v, **given)
    report.check(core.plans()[0] == before + 1 and word(0, 6) != lengths, "such a problem is planned anew")


def where_they_lie():
    for kernel, length in (("flash_hopper", 256), ("flash_splitkv", 16)):
        apart = [cupy_double.ndarray(x.array.swapaxes(1, 2)) for x in arrays(2, length, 4, 64)]
        packed = random.standard_normal((2, length, 3, 4, 64), np.float32).astype(np.float16)
        of_one = [cupy_double.ndarray(packed[:, :, n].swapaxes(1, 2)) for n in range(3)]
        for words, (q, k, v), row in (("transposed", apart, 4 * 64), ("of one tensor", of_one, 3 * 4 * 64)):
            fake.fake_forget()
            out = attnscope.attention(q, k, v, kernel=kernel)
            report.check(attnscope.last_call().copied == (), f"{kernel} {words}: {attnscope.last_call().copied}")
            if kernel == "flash_splitkv":
                seen = [word(0, n) for n in range(12)]
                expected = [length * row, 64, row] * 3 + [4 * length * 64, length * 64, 64]
                report.check(seen == expected, f"{kernel} {words}: strides {seen}, not {expected}")
            else:
                seen = [word(0, n) for n in range(3)]
                report.check(seen == [q.data.ptr, 64 * 2, row * 2], f"{kernel} {words}: its map has {seen}")
            report.check(out.array.flags.c_contiguous, f"{kernel} {words}: the answer is dense")
        ready = attnscope.prepare(*of_one, kernel=kernel)
        report.check(ready.call.copied == (), f"{kernel}: prepared without a copy as well")
        out, lse = attnscope.attention(*of_one, kernel=kernel, return_lse=True)
        fake.fake_forget()
        asked = (*of_one, "auto", False, *[None] * 6, "bhld", None, out, lse, apart[0], attnscope._homes.CuPy)
        *gradients, account = core.backward(*asked)
        report.check(account[0] == "flash_bwd_hopper" and account[3] == [], f"a backward of views: {account}")
        seen = [word(0, n) for n in range(4)]
        expected = [of_one[0].data.ptr, 3 * 4 * 64 * 2, 64 * 2, length * 3 * 4 * 64 * 2]
        report.check(seen == expected, f"a backward of views: its map has {seen}, not {expected}")
        report.check(all(x.array.flags.c_contiguous for x in gradients), "the gradients are dense")
        # 2 bytes off the 16 that are moved at once, and a row that has gaps.
        wide = random.standard_normal((2, 4, length, 72), np.float32).astype(np.float16)
        attnscope.attention(cupy_double.ndarray(wide[..., 1:65]), *apart[1:], kernel=kernel)
        report.check(attnscope.last_call().copied == ("q",), f"{kernel}: an odd address: {attnscope.last_call()}")
        wide = random.standard_normal((2, 4, length, 128), np.float32).astype(np.float16)
        attnscope.attention(cupy_double.ndarray(wide[..., ::2]), *apart[1:], kernel=kernel)
        report.check(attnscope.last_call().copied == ("q",), f"{kernel}: a row with gaps: {attnscope.last_call()}")
    packed = random.standard_normal((2, 256, 3, 4, 64), np.float32).astype(np.float16)
    attnscope.attention(*[cupy_double.ndarray(packed[:, :, n]) for n in range(3)], layout="blhd")
    report.check(attnscope.last_call().copied == (), f"blhd of one tensor: {attnscope.last_call()}")


def of_many_threads():
    shape = (1, 2, 24, 16)
    attnscope.attention(*arrays(*shape), kernel="naive")
    before = core.plans()[0]
    fake.fake_forget()
    expected, lock = set(), threading.Lock()

    def work():
        for _ in range(30):
            q, k, v = arrays(*shape)
            out = attnscope.attention(q, k, v, kernel="naive")
            with lock:
                expected.add((q, k, v, out))  # alive, so that no other call has the addresses

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    of_calls = {tuple(addresses(*call)) for call in expected}
    of_launches = {tuple(word(n, at) for at in (0, 1, 2, 4)) for n in range(fake.fake_launches())}
    report.check(fake.fake_launches() == 8 * 30 * 3, f"{fake.fake_launches()} launches")
    report.check(of_launches == of_calls, "every launch has the arrays of one call")
    report.check(core.plans()[0] == before, "and none of them plans")


def on_the_cpu():
    q, k, v = (random.standard_normal((1, 1, 16, 64), np.float32) for _ in range(3))
    first = attnscope.attention(q, k, v)
    before = core.plans()[0]
    fake.fake_forget()
    for _ in range(50):
        again = attnscope.attention(q.copy(), k.copy(), v.copy())
        report.check(np.array_equal(first, again), "a known plan computes the same")
    report.check(core.plans()[0] == before and calls() == 0, "on the CPU, too, one plan does")


for part in (nothing_again, its_own_addresses, what_was_asked, lengths_on_the_device, numbers_of_the_gpu, contexts,
             on_two_streams, captured, where_they_lie, of_many_threads, on_the_cpu):  # fmt: skip
    part()
report.check(cupy_double.asked == {-1}, f"an array lets no stream wait when it is handed out: {cupy_double.asked}")
report.exit(150)
