"""attnscope.attention against the definition in fp64 by NumPy: dtypes, shapes, strides, masks, libraries, errors."""

import array
import ctypes
import itertools
import sys
import types
import warnings

import package

np = package.wanted("numpy")
attnscope = package.wanted("attnscope")
report_of = package.wanted("program")
report = report_of.Report()
# The largest error in units of the largest |v|, of values of N(0, 1) and up to 100 keys.
ALLOWED = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}
random = np.random.default_rng(1)


warnings.simplefilter("ignore", attnscope.CopyWarning)


def numbers(*shape, dtype="float32"):
    return random.standard_normal(shape).astype(dtype)


def held(words, q, k, v, dtype="float32", **given):
    """O and LSE are those of the definition on the numbers as stored."""
    named = {
        name: value for name, value in given.items() if name in ("causal", "scale", "softcap", "key_lengths", "bias")
    }
    window = tuple(-1 if side is None else side for side in given.get("window") or (-1, -1))
    slopes = given.get("alibi")
    if slopes is True:
        slopes = 2.0 ** (-8.0 * (np.arange(q.shape[1]) + 1) / q.shape[1])
    right, right_lse = report_of.attention(q, k, v, window=window, slopes=slopes, **named)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", attnscope.CopyWarning)
        out, lse = attnscope.attention(q, k, v, return_lse=True, **given)
    report.check(out.shape == right.shape and out.dtype == q.dtype, f"{words}: {out.shape} {out.dtype}")
    error = np.abs(out.astype(np.float64) - right).max(initial=0)
    report.check(
        error <= ALLOWED[dtype] * max(1, np.abs(v.astype(np.float64)).max(initial=0)), f"{words}: O off by {error}"
    )
    same = np.isneginf(lse) == np.isneginf(right_lse)
    finite = np.isfinite(right_lse)
    off = np.abs(lse[finite] - right_lse[finite]).max(initial=0)
    report.check(same.all() and off <= 1e-2, f"{words}: LSE off by {off}")


def dtypes_and_shapes():
    for dtype, kernel in itertools.product(
        ("float32", "float16"),
        [k["id"] for k in attnscope.kernels() if k["device"] == "cpu" and k["pass"] == "forward"],
    ):
        q, k, v = (
            numbers(2, 4, 33, 20, dtype=dtype),
            numbers(2, 2, 41, 20, dtype=dtype),
            numbers(2, 2, 41, 12, dtype=dtype),
        )
        held(f"{kernel} {dtype}", q, k, v, dtype, kernel=kernel)
        report.check(attnscope.last_call().kernel == kernel, f"{kernel} is what ran: {attnscope.last_call()}")
    for extents in (
        (1, 1, 1, 1, 1, 1, 1),
        (1, 3, 1, 70, 64, 64, 3),
        (3, 2, 100, 7, 5, 9, 1),
        (1, 1, 257, 65, 256, 256, 1),
    ):
        b, hq, lq, lk, d, dv, hkv = extents
        held(str(extents), numbers(b, hq, lq, d), numbers(b, hkv, lk, d), numbers(b, hkv, lk, dv))
    q = numbers(7, 5)
    for axes in (2, 3):
        shape = (1,) * (axes - 2) + (7, 5)
        out, lse = attnscope.attention(q.reshape(shape), q.reshape(shape), q.reshape(shape), return_lse=True)
        report.check(out.shape == shape and lse.shape == shape[:-1], f"{axes} axes give {out.shape} and {lse.shape}")
        report.check(
            np.array_equal(out.reshape(7, 5), attnscope.attention(q[None, None], q[None, None], q[None, None])[0, 0]),
            f"{axes} axes give the bits of 4",
        )


def what_changes_scores():
    q, k, v = numbers(2, 4, 30, 16), numbers(2, 2, 45, 16), numbers(2, 2, 45, 8)
    minus = numbers(1, 4, 1, 45)
    minus[..., ::3] = -np.inf
    for given in (
        {"causal": True},
        {"window": (5, 2)},
        {"window": (None, 0)},
        {"window": (3, None), "causal": True},
        {"scale": 0.3},
        {"softcap": 2.0},
        {"alibi": True},
        {"alibi": numbers(4)},
        {"alibi": numbers(2, 4)},
        {"key_lengths": [45, 0]},
        {"key_lengths": np.array([3, 44])},
        {"bias": numbers(2, 4, 30, 45)},
        {"bias": minus},
        {"bias": numbers(30, 45)},
        {"softcap": 5, "alibi": True, "causal": True, "scale": 1},
    ):
        held(str(list(given)), q, k, v, **given)
    repeated = np.broadcast_to(numbers(1, 1, 1, 45), (2, 4, 30, 45))
    attnscope.attention(q, k, v, bias=repeated)
    report.check("bias" not in attnscope.last_call().copied, "an axis of the bias that repeats needs no copy")


def strides_and_layouts():
    base = numbers(2, 4, 60, 32)
    for words, view in (
        ("every other row", base[:, :, ::2]),
        ("backwards", base[:, :, ::-1]),
        ("columns", base[..., ::2]),
        ("heads inside", base.transpose(0, 2, 1, 3)),
        ("Fortran", np.asfortranarray(base)),
        ("repeated", np.broadcast_to(base[:1], base.shape)),
        ("inner", base[:, 1:3, 5:40, 3:20]),
    ):
        held(words, view, view, view)
        report.check(set(attnscope.last_call().copied) >= {"q", "k", "v"}, f"{words}: says what it copied")
    inside = numbers(2, 30, 4, 16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", attnscope.CopyWarning)
        out = attnscope.attention(inside, inside, inside, layout="blhd")
        apart = np.ascontiguousarray(inside.transpose(0, 2, 1, 3))
        report.check(
            np.array_equal(out.transpose(0, 2, 1, 3), attnscope.attention(apart, apart, apart)),
            "blhd gives the bits of bhld",
        )
    for rows in (numbers(9, 4), numbers(9, 3, 4)):
        out = attnscope.attention(rows, rows, rows, layout="blhd")
        as_four = rows.reshape(1, 9, -1, 4).transpose(0, 2, 1, 3)
        report.check(
            np.array_equal(
                out.reshape(1, 9, -1, 4).transpose(0, 2, 1, 3),
                attnscope.attention(*[np.ascontiguousarray(as_four)] * 3),
            ),
            f"blhd of {rows.ndim} axes",
        )
    attnscope.attention(apart, apart, apart)
    report.check(attnscope.last_call().copied == (), "a dense array is not copied")
    odd = np.frombuffer(bytearray(4 * 64 + 1), np.uint8)[1:].view(np.float32).reshape(8, 8)
    report.check(not attnscope.attention(odd, odd, odd).any(), "an address off its alignment is read")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(3):
            attnscope.attention(base[..., ::2], base[..., ::2], base[..., ::2], kernel="cpu_flash1")
        report.check(
            [w.category for w in said] == [attnscope.CopyWarning],
            f"a copy is said once: {[str(w.message) for w in said]}",
        )


def answers_of_others():
    q = numbers(2, 3, 17, 8)
    right = attnscope.attention(q, q, q)
    out = np.empty_like(right)
    report.check(
        attnscope.attention(q, q, q, out=out) is out and np.array_equal(out, right), "out is filled and returned"
    )
    wide = np.zeros((2, 3, 17, 16), np.float32)
    attnscope.attention(q, q, q, out=wide[..., ::2])
    report.check(
        np.array_equal(wide[..., ::2], right) and not wide[..., 1::2].any(), "out with strides is filled, and no more"
    )
    frozen = np.empty_like(right)
    frozen.flags.writeable = False
    package.refused(report, "out:", lambda: attnscope.attention(q, q, q, out=frozen))
    package.refused(report, "out:", lambda: attnscope.attention(q, q, q, out=q))
    package.refused(
        report, "out:", lambda: attnscope.attention(q[:, :, :8], q[:, :, 8:16], q[:, :, 8:16], out=q[:, :, 1:9])
    )
    package.refused(
        report,
        "out:",
        lambda: attnscope.attention(q, q, q, out=np.broadcast_to(np.zeros((1, 3, 17, 8), np.float32), q.shape)),
    )
    package.refused(report, "out:", lambda: attnscope.attention(q, q, q, out=np.empty((2, 3, 17, 9), np.float32)))
    package.refused(report, "out:", lambda: attnscope.attention(q, q, q, out=np.empty(q.shape, np.float16)))
    ready = attnscope.prepare(q, q, q)
    report.check(np.array_equal(ready(), right) and ready() is ready.out, "what was prepared gives the same bits")


def libraries():
    flat = array.array("f", range(24))
    view = memoryview(flat).cast("B").cast("f", (6, 4))
    x = np.arange(24, dtype=np.float32).reshape(6, 4)
    report.check(
        np.array_equal(attnscope.attention(view, view, view), attnscope.attention(x, x, x)), "a memoryview is taken"
    )
    half = memoryview(bytes(2 * 8)).cast("e", (2, 4)) if sys.version_info >= (3, 12) else None
    if half is not None:
        report.check(attnscope.attention(half, half, half).dtype == np.float16, "a memoryview of halves is taken")

    class Foreign:  # a library of which nothing is known but DLPack
        def __init__(self, held_array):
            self.held = held_array

        def __dlpack__(self, **given):
            return self.held.__dlpack__(**given)

        def __dlpack_device__(self):
            return self.held.__dlpack_device__()

    given = Foreign(x)
    report.check(
        np.array_equal(attnscope.attention(given, given, given), attnscope.attention(x, x, x)), "DLPack alone is taken"
    )
    try:
        import ml_dtypes
    except ImportError:
        print("left out: ml_dtypes is not installed, NumPy has no bfloat16")
        return
    b = numbers(1, 2, 20, 16).astype(ml_dtypes.bfloat16)
    held("bfloat16 of NumPy", b, b, b, "bfloat16")


def nothing_to_compute():
    for shape in ((0, 2, 3, 4), (2, 0, 3, 4), (2, 2, 0, 4)):
        q = np.zeros(shape, np.float32)
        k = np.zeros(shape[:2] + (5, 4), np.float32)
        out, lse = attnscope.attention(q, k, k, return_lse=True)
        report.check(out.shape == shape and lse.shape == shape[:3], f"{shape} gives {out.shape}")
    q, none = numbers(2, 2, 3, 4), np.zeros((2, 2, 0, 4), np.float32)
    out, lse = attnscope.attention(q, none, none, return_lse=True)
    report.check(not out.any() and np.isneginf(lse).all(), "without keys O is 0 and LSE -inf")
    report.check(attnscope.last_call().kernel == "none", "and no kernel ran")
    package.refused(report, "q: D is 0", lambda: attnscope.attention(q[..., :0], q[..., :0], q))


def errors():
    q = numbers(1, 2, 8, 4)
    call = attnscope.attention
    for words, given in (
        ("q: float64", ((q.astype(np.float64), q, q), {})),
        ("k: is float16, but q", ((q, q.astype(np.float16), q), {})),
        ("v: has 3 axes", ((q, q, q[0]), {})),
        ("k: has 5 batches", ((q, np.zeros((5, 2, 8, 4), np.float32), q), {})),
        ("k: has 3 heads", ((q, np.zeros((1, 3, 8, 4), np.float32), np.zeros((1, 3, 8, 4), np.float32)), {})),
        ("v: has 7 keys", ((q, q, q[:, :, :7]), {})),
        ("q: int32", ((q.astype(np.int32), q, q), {})),
        ("q: a list", (([1.0], q, q), {})),
        ("q: complex64", ((q.astype(np.complex64), q, q), {})),
        ("q: has shape [4]", ((q[0, 0, 0], q, q), {})),
        ("kernel:", ((q, q, q), {"kernel": "flash"})),
        ("kernel:", ((q, q, q), {"kernel": 3})),
        ("kernel:", ((q, q, q), {"kernel": "cpu_flash_bwd"})),
        ("kernel: naive runs on the GPU", ((q, q, q), {"kernel": "naive"})),
        ("causal:", ((q, q, q), {"causal": "yes"})),
        ("window:", ((q, q, q), {"window": (1, 2, 3)})),
        ("window:", ((q, q, q), {"window": (-2, 1)})),
        ("scale:", ((q, q, q), {"scale": "1"})),
        ("scale: The scale is nan", ((q, q, q), {"scale": float("nan")})),
        ("softcap: Invalid softcap -1", ((q, q, q), {"softcap": -1})),
        ("alibi:", ((q, q, q), {"alibi": [1, 2, 3]})),
        ("key_lengths:", ((q, q, q), {"key_lengths": [1.5]})),
        ("key_lengths:", ((q, q, q), {"key_lengths": [1, 2]})),
        ("bias:", ((q, q, q), {"bias": np.zeros((3, 8), np.float32)})),
        ("layout:", ((q, q, q), {"layout": "LBHD"})),
        ("options:", ((q, q, q), {"options": {"warp": 1}})),
        ("options: br must be", ((q, q, q), {"options": {"br": "wide"}})),
        ("tile:", ((q, q, q), {"tile": 64})),
        ("tile: (4.0, 4) is not", ((q, q, q), {"tile": (4.0, 4)})),
        ("tile: (0, 4) is out of range", ((q, q, q), {"tile": (0, 4)})),
        ("threads:", ((q, q, q), {"threads": 0})),
        ("dropout_p:", ((q, q, q), {"dropout_p": 0.1})),
        ("sink: no kernel supports a sink", ((q, q, q), {"sink": [0.0, 0.0]})),
        ("cu_seqlens: no kernel supports packed sequences", ((q, q, q), {"cu_seqlens": [0, 8]})),
    ):
        arguments, named = given
        package.refused(report, words, lambda: call(*arguments, **named))
    big = np.zeros((1, 1, 4, 300), np.float32)
    package.refused(report, "q: D is 300", lambda: call(big, big, big))


def pages():
    """A pool of pages in an order of which nothing follows: the bits of the same keys side by side; what lies beyond a
    length is never read."""
    generator = np.random.default_rng(8)
    heads, key_heads, dims, page = 4, 2, 16, 8
    for lengths in ([37], [37, 5, 24], [16, 0]):
        batches, longest = len(lengths), max(lengths)
        q = generator.standard_normal((batches, heads, 3, dims)).astype(np.float32)
        k, v = (generator.standard_normal((batches, key_heads, longest, dims)).astype(np.float32) for _ in range(2))
        columns = -(-longest // page)
        order = generator.permutation(batches * columns + 2).astype(np.int32)
        pool_k, pool_v = (np.full((len(order), key_heads, page, dims), np.nan, np.float32) for _ in range(2))
        table = np.full((batches, columns), -1, np.int32)
        for b, length in enumerate(lengths):
            for c in range(length):
                at = order[b * columns + c // page]
                table[b, c // page] = at
                pool_k[at, :, c % page], pool_v[at, :, c % page] = k[b, :, c], v[b, :, c]
        dense, dense_lse = attnscope.attention(q, k, v, key_lengths=lengths, causal=True, return_lse=True)
        for wide in (table, np.concatenate([table, np.full((batches, 3), -1, np.int32)], axis=1)):
            paged, lse = attnscope.attention(
                q, pool_k, pool_v, page_table=wide, key_lengths=lengths, causal=True, return_lse=True
            )
            report.check(np.array_equal(paged, dense) and np.array_equal(lse, dense_lse), f"pages of {lengths}")
            report.check(attnscope.last_call().copied == (), f"{attnscope.last_call()}")
        ready = attnscope.prepare(q, pool_k, pool_v, page_table=table, key_lengths=lengths, causal=True)
        report.check(np.array_equal(ready(), dense), f"prepared pages of {lengths}")
    rows = np.ascontiguousarray(np.swapaxes(pool_k, 1, 2)), np.ascontiguousarray(np.swapaxes(pool_v, 1, 2))
    got = attnscope.attention(
        np.ascontiguousarray(np.swapaxes(q, 1, 2)), *rows, page_table=table, key_lengths=lengths, causal=True,
        layout="blhd",
    )
    report.check(np.array_equal(np.swapaxes(got, 1, 2), dense), "pages with heads inside")
    # Every entry counts where no length is given.
    whole = np.nan_to_num(pool_k), np.nan_to_num(pool_v)
    full = np.array([[1, 0], [2, 1]], np.int32)
    side_by_side = [np.concatenate([x[full[:, 0]], x[full[:, 1]]], axis=2) for x in whole]
    report.check(
        np.array_equal(attnscope.attention(q, *whole, page_table=full), attnscope.attention(q, *side_by_side)),
        "a table without lengths",
    )
    call = attnscope.attention
    for words, named in (
        ("page_table: is int64; use int32", {"page_table": full.astype(np.int64)}),
        ("page_table: has shape [4]", {"page_table": full.ravel()}),
        ("page_table: has shape [1, 2]", {"page_table": full[:1]}),
        ("page_table: the numbers: entry 0 of batch 1 in the page table is 99", {"page_table": full + [[0], [97]]}),
        ("key_lengths: 17", {"page_table": full, "key_lengths": [17, 1]}),
        ("kernel:", {"page_table": full, "kernel": "cpu_tiled"}),
    ):
        named["page_table"] = named["page_table"].astype(np.int64 if "int64" in words else np.int32)
        package.refused(report, words, lambda named=named: call(q, *whole, **named))


class OnGpu:
    """An array of 8 x 4 floats that says by DLPack that it is on a GPU. Its memory is never looked at."""

    class Tensor(ctypes.Structure):
        _fields_ = [
            *[("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32)],
            *[("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)],
            *[(name, ctypes.c_void_p) for name in ("shape", "strides")],
            ("byte_offset", ctypes.c_uint64),
            *[(name, ctypes.c_void_p) for name in ("manager", "deleter")],
        ]

    addresses = itertools.count(1 << 20, 1 << 12)

    def __init__(self, extents=(8, 4)):
        self.address = next(self.addresses)
        self.shape, self.dtype = tuple(extents), np.dtype(np.float32)
        self.extents = (ctypes.c_int64 * len(extents))(*extents)
        self.kept = []

    def __dlpack__(self, **given):
        tensor = self.Tensor(self.address, (2, 0), len(self.shape), 2, 32, 1, ctypes.addressof(self.extents))
        self.kept.append(tensor)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(tensor), b"dltensor", None)

    def __dlpack_device__(self):
        return (2, 0)


def on_a_gpu():
    """What can be seen where there is none: whose allocator is asked, and the words."""
    x = OnGpu()
    package.refused(report, "q: is on a GPU, but the allocator", lambda: attnscope.attention(x, x, x))
    package.refused(report, "k: is on GPU 0, but q is on the CPU", lambda: attnscope.attention(numbers(8, 4), x, x))
    package.refused(report, "q: is on a GPU", lambda: attnscope.record(x, x, x))
    asked = []

    cupy = types.ModuleType("cupy")
    cupy.empty = lambda shape, dtype: asked.append((tuple(shape), str(np.dtype(dtype)))) or OnGpu(shape)
    cupys = type("ndarray", (OnGpu,), {"__module__": "cupy"})()
    sys.modules["cupy"] = cupy
    try:
        attnscope.attention(cupys, cupys, cupys)
        report.check(False, "a GPU that is not there computes")
    except (RuntimeError, ValueError) as error:
        report.check("driver" in str(error) or "CUDA" in str(error), f"the words name the driver: {error}")
    finally:
        del sys.modules["cupy"]
    # The stream is asked for once there is a driver: test_host_cost.py has a double of one.
    report.check(asked == [((8, 4), "float32"), ((8,), "float32")], f"the allocator is CuPy's: {asked}")


def calls_of_the_seeds():
    x = numbers(50, 16)
    report.check(
        np.array_equal(attnscope.run_flash(x, x, x), attnscope.attention(x, x, x)), "run_flash(Q, K, V) on (N, d)"
    )
    package.refused(report, "Q:", lambda: attnscope.run_flash(x[None], x, x))
    q = numbers(2, 3, 40, 16)
    out = np.full_like(q, np.nan)
    attnscope.flash_attention(q, q, q, out)
    right = report_of.attention(q, q, q)[0]
    report.check(np.abs(out - right).max() < 1e-5, "flash_attention(q, k, v, out) fills out")
    for function in (attnscope.attention_naive, attnscope.attention_tiled, attnscope.attention_flash):
        report.check(np.abs(function(q, q, q) - right).max() < 1e-5, function.__name__)
        causal = report_of.attention(q, q, q, causal=True)[0]
        report.check(np.abs(function(q, q, q, causal=True) - causal).max() < 1e-5, f"{function.__name__}, causal")


report.check(not {"torch", "cupy", "jax", "cuda"} & set(sys.modules), "the import brings no other library")
for part in (
    dtypes_and_shapes,
    what_changes_scores,
    strides_and_layouts,
    answers_of_others,
    libraries,
    pages,
    nothing_to_compute,
    errors,
    calls_of_the_seeds,
    on_a_gpu,
):
    part()
report.exit(190)
