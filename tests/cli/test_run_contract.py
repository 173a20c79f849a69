"""`attnscope run` against NumPy in fp64: layouts, dtypes, masks, bias, scale, LSE, for every kernel of the ladder."""

import json
import pathlib
import re
import tempfile

import numpy as np
from program import Report, attention, bf16, run

# Largest error allowed against fp64 on the stored inputs, as a share of max|V|: rounding of P and O, and some room.
ERROR = {"f32": 2e-6, "f16": 2e-3, "bf16": 1.6e-2}
LSE_ERROR = {"f32": 1e-5, "f16": 1e-3, "bf16": 1e-3}
STORED = {"f32": np.float32, "f16": np.float16, "bf16": np.float32}

report = Report()


def four_axes(x):
    return x.reshape((1,) * (4 - x.ndim) + x.shape)


def stored_as(x, dtype):
    return bf16(x) if dtype == "bf16" else x.astype(STORED[dtype])


def check(folder, name, q, k, v, dtype="f32", arguments=(), bias=None, kernel="cpu_flash", given=None, **meaning):
    """Runs the program on the files and compares O and LSE. `given`: the dtype of the files, where it is another."""
    files = {}
    for letter, x in (("q", q), ("k", k), ("v", v)):
        files[letter] = folder / f"{letter}.npy"
        np.save(files[letter], x.astype(given or STORED[dtype]))
    command = ["run", "--kernel", kernel, "--out", folder / "o.npy", "--lse", folder / "lse.npy", *arguments]
    for letter, file in files.items():
        command += [f"--{letter}", file]
    if dtype == "bf16" or given is not None:
        command += ["--dtype", dtype]
    if bias is not None:
        np.save(folder / "bias.npy", bias.astype(np.float32))
        command += ["--bias", folder / "bias.npy"]
        meaning["bias"] = bias
    for old in ("o.npy", "lse.npy"):
        (folder / old).unlink(missing_ok=True)
    done = run(*command)
    label = f"{name} ({kernel}, {dtype})"
    report.check(done.returncode == 0, f"{label}: exit {done.returncode}: {done.stderr}")
    if done.returncode != 0:
        return
    report.check(done.stdout == "", f"{label}: words on stdout: {done.stdout[:80]}")
    o, lse = np.load(folder / "o.npy"), np.load(folder / "lse.npy")
    report.check(o.dtype == (np.float16 if dtype == "f16" else np.float32), f"{label}: O is {o.dtype}")
    report.check(lse.dtype == np.float32, f"{label}: LSE is {lse.dtype}")
    report.check(o.shape == q.shape[:-1] + v.shape[-1:], f"{label}: O has shape {o.shape}")
    report.check(lse.shape == q.shape[:-1], f"{label}: LSE has shape {lse.shape}")
    want_o, want_lse = attention(*(four_axes(stored_as(x, dtype)) for x in (q, k, v)), **meaning)
    want_o, want_lse = want_o.reshape(o.shape), want_lse.reshape(lse.shape)
    error = np.abs(o.astype(np.float64) - want_o).max()
    allowed = ERROR[dtype] * max(1.0, np.abs(v).max())
    report.check(error <= allowed, f"{label}: O is off by {error:.3g}, allowed {allowed:.3g}")
    empty = np.isneginf(want_lse)
    report.check(np.array_equal(np.isneginf(lse), empty), f"{label}: rows without keys differ")
    report.check(not o[empty].any(), f"{label}: a row without keys is not 0")
    lse_error = np.abs(lse[~empty] - want_lse[~empty]).max(initial=0)
    report.check(lse_error <= LSE_ERROR[dtype] * max(1.0, np.abs(want_lse[~empty]).max(initial=0)),
                 f"{label}: LSE is off by {lse_error:.3g}")


def numbers(seed, *shapes):
    source = np.random.default_rng(seed)
    return [source.standard_normal(shape) for shape in shapes]


def layouts(folder):
    for dtype in ("f32", "f16", "bf16"):
        check(folder, "[L,D]", *numbers(1, (17, 24), (29, 24), (29, 16)), dtype=dtype)
        check(folder, "[H,L,D]", *numbers(2, (4, 17, 24), (2, 29, 24), (2, 29, 16)), dtype=dtype)
        check(folder, "[B,H,L,D]", *numbers(3, (2, 4, 17, 24), (2, 1, 29, 24), (2, 1, 29, 40)), dtype=dtype)
        check(folder, "one of each", *numbers(4, (1, 1), (1, 1), (1, 1)), dtype=dtype)
    q, k, v = numbers(5, (2, 9, 8), (2, 7, 8), (2, 7, 8))
    check(folder, "f8 becomes f32", q, k, v, dtype="f32", given=np.float64)
    for given in (np.float64, np.float16, np.dtype(">f4")):
        for dtype in ("f32", "f16", "bf16"):
            # f2 files hold f16 numbers: those are what is converted.
            x = [a.astype(given).astype(np.float64) for a in (q, k, v)]
            check(folder, f"{np.dtype(given).str} with --dtype", *x, dtype=dtype, given=given)


def masks(folder, kernel):
    q, k, v = numbers(6, (2, 4, 23, 16), (2, 2, 31, 16), (2, 2, 31, 8))
    rows_first = numbers(7, (2, 2, 31, 16), (2, 2, 23, 16), (2, 2, 23, 8))  # rows that see nothing under causal
    bias = numbers(8, (2, 4, 23, 31))[0]
    bias[bias < -0.8] = -np.inf
    bias[0, 1, 5, :] = -np.inf
    for dtype in ("f32", "f16", "bf16"):
        for name, arguments, meaning in (
            ("no mask", [], {}),
            ("causal", ["--causal"], {"causal": True}),
            ("window 5,2", ["--window", "5,2"], {"window": (5, 2)}),
            ("window -1,0", ["--window", "-1,0"], {"window": (-1, 0)}),
            ("window 3,-1", ["--window", "3,-1"], {"window": (3, -1)}),
            ("window 0,0", ["--window", "0,0"], {"window": (0, 0)}),
            ("causal window", ["--causal", "--window", "4,9"], {"causal": True, "window": (4, 9)}),
            ("key lengths", ["--key-lengths", "31,12"], {"key_lengths": [31, 12]}),
            ("no keys in a batch", ["--key-lengths", "0,31"], {"key_lengths": [0, 31]}),
            ("scale", ["--scale", "0.125"], {"scale": 0.125}),
            ("scale -1", ["--scale", "-1"], {"scale": -1.0}),
            ("tile 5x7", ["--tile", "5x7", "--causal"], {"causal": True}),
            ("tile 64x128", ["--tile", "64x128"], {}),
        ):
            check(folder, name, q, k, v, dtype, arguments, kernel=kernel, **meaning)
        check(folder, "causal, more queries than keys", *rows_first, dtype, ["--causal"], kernel=kernel, causal=True)
        check(folder, "bias with -inf", q, k, v, dtype, bias=bias, kernel=kernel)
        for shape in ((1, 1, 1, 31), (1, 4, 23, 1), (2, 1, 23, 31), (1, 1, 1, 1)):
            small = numbers(9, shape)[0]
            check(folder, f"bias {shape}", q, k, v, dtype, ["--causal"], bias=small, kernel=kernel, causal=True)


def softcap_and_alibi(folder, kernel):
    q, k, v = numbers(12, (2, 4, 23, 16), (2, 2, 31, 16), (2, 2, 31, 8))
    bias = numbers(13, (1, 4, 1, 31))[0]
    usual = 2.0 ** (-8.0 * (np.arange(4) + 1) / 4)
    own = numbers(14, (2, 4))[0].astype(np.float32)
    for name, slopes in (("slopes.npy", own[0]), ("each.npy", own)):
        np.save(folder / name, slopes)
    capped, sloped = ["--softcap", "0.75"], ["--alibi"]
    for dtype in ("f32", "f16", "bf16"):
        check(folder, "softcap", q, k, v, dtype, capped, kernel=kernel, softcap=0.75)
        check(folder, "ALiBi", q, k, v, dtype, [*sloped, "--causal"], kernel=kernel, slopes=usual, causal=True)
        check(folder, "softcap, bias, ALiBi", q, k, v, dtype, [*capped, *sloped, "--window", "9,4"], bias=bias,
              kernel=kernel, softcap=0.75, slopes=usual, window=(9, 4))
        check(folder, "own slopes", q, k, v, dtype, ["--slopes", folder / "slopes.npy"], kernel=kernel, slopes=own[0])
        check(folder, "slopes of each batch", q, k, v, dtype, ["--slopes", folder / "each.npy"], kernel=kernel,
              slopes=own)
    for name in ("slopes.npy", "each.npy"):
        (folder / name).unlink()


def bias_of_fewer_axes(folder):
    q, k, v = numbers(10, (2, 9, 8), (2, 11, 8), (2, 11, 8))
    for shape in ((9, 11), (2, 9, 11), (1, 11)):
        bias = numbers(11, shape)[0]
        check(folder, f"bias {shape} of [H,L,D]", q, k, v, bias=bias)


def not_finite(folder):
    """Numbers beyond the dtype, and an answer of NaN: the files are written, and stderr says so, with both counts."""
    for kernel in ("cpu_flash", "cpu_tiled"):
        for given in (np.float32, np.float64):
            for beyond in (0, 1, 5):
                for dtype, most in (("f16", 65504.0), ("bf16", 3.3e38), ("f32", 3.4e38)):
                    large = 2 * most if given == np.float64 else min(2 * most, 3.402e38)
                    q, k, v = numbers(12, (9, 8), (11, 8), (11, 8))
                    v.flat[:beyond] = large
                    expected = beyond if large > most * 1.01 and (dtype != "f32" or given == np.float64) else 0
                    if dtype == "bf16" and given == np.float32:
                        expected = beyond  # 3.402e38 rounds to infinity
                    for letter, x in (("q", q), ("k", k), ("v", v)):
                        np.save(folder / f"{letter}.npy", x.astype(given))
                    done = run("run", "--kernel", kernel, "--dtype", dtype, "--out", folder / "o.npy", "--lse",
                               folder / "lse.npy", *(part for x in "qkv" for part in (f"--{x}", folder / f"{x}.npy")))
                    label = f"{kernel} {dtype} {given.__name__} {beyond}"
                    report.check(done.returncode == 0, f"{label}: exit {done.returncode}: {done.stderr}")
                    said = re.search(r"(\d+) numbers? in the files exceeds? " + dtype, done.stderr)
                    report.check((int(said[1]) if said else 0) == expected, f"{label}: {done.stderr}")
                    o = np.load(folder / "o.npy")
                    counts = re.search(r"of (\d+) numbers in O, (\d+) are NaN and (\d+) are infinite", done.stderr)
                    bad = (int(np.isnan(o).sum()), int(np.isinf(o).sum()))
                    report.check((tuple(map(int, counts.groups()[1:])) if counts else (0, 0)) == bad,
                                 f"{label}: {bad}, {done.stderr}")


def saved(folder, arrays):
    """Arrays as files by their letters, and the arguments that name them."""
    for letter, x in arrays.items():
        np.save(folder / f"{letter}.npy", x)
    return [part for letter in arrays for part in (f"--{letter}", folder / f"{letter}.npy")]


def sums_as_they_are(folder):
    """--out-dtype f32: O of f16 files before it is rounded; rounded it is the plain answer."""
    files = saved(folder, dict(zip("qkv", (x.astype(np.float16) for x in numbers(9, (2, 4, 17, 24), (2, 2, 29, 24),
                                                                                 (2, 2, 29, 16))))))
    answers = []
    for more in ([], ["--out-dtype", "f32"], ["--out-dtype", "f16"]):
        done = run("run", "--kernel", "cpu_flash", "--causal", "--out", folder / "o.npy", *more, *files)
        report.check(done.returncode == 0, f"cpu_flash {more}: {done.stderr}")
        answers.append(np.load(folder / "o.npy"))
    plain, sums, named = answers
    report.check(sums.dtype == np.float32 and np.array_equal(sums.astype(np.float16), plain), "O in f32 differs")
    report.check(not np.array_equal(sums, plain.astype(np.float32)), "O in f32 was rounded")
    report.check(named.dtype == np.float16 and np.array_equal(named, plain), "--out-dtype f16 is what f16 does")
    done = run("run", "--kernel", "cpu_tiled", "--out-dtype", "f32", "--out", folder / "o.npy", *files)
    report.check(done.returncode != 0 and "cpu_tiled stores O only in the dtype of Q, K and V" in done.stderr,
                 f"cpu_tiled: {done.stderr}")
    done = run("run", "--kernel", "cpu_flash", "--out-dtype", "bf16", "--out", folder / "o.npy", *files)
    report.check(done.returncode == 2 and "here f16" in done.stderr, f"--out-dtype bf16: {done.stderr}")
    done = run("bench", "--kernels", "cpu_flash", "--dtype", "f16", "--out-dtype", "f32", "--peers", "torch-cpu",
               "--values", "16", "--csv", "/dev/null")
    report.check(done.returncode == 2 and "omit --out-dtype" in done.stderr, f"peers: {done.stderr}")


def heads_inside_rows(folder):
    """Files [B, L, H, D] give the bits of the same numbers in [B, H, L, D]; LSE keeps its axes."""
    shapes = [((2, 4, 17, 24), (2, 2, 29, 24), (2, 2, 29, 16)), ((4, 9, 8), (1, 9, 8), (1, 9, 8)),
              ((7, 8), (5, 8), (5, 8))]
    swap = lambda x: np.ascontiguousarray(np.swapaxes(x, -3, -2)) if x.ndim > 2 else x
    for kernel in ("cpu_flash", "cpu_tiled"):
        for dtype in (np.float32, np.float16):
            for shape in shapes:
                arrays = dict(zip("qkv", (x.astype(dtype) for x in numbers(7, *shape))))
                answers = []
                for order in ("bhld", "blhd"):
                    files = saved(folder, {n: swap(x) if order == "blhd" else x for n, x in arrays.items()})
                    done = run("run", "--kernel", kernel, "--layout", order, "--causal", "--out", folder / "o.npy",
                               "--lse", folder / "lse.npy", *files)
                    report.check(done.returncode == 0, f"{kernel} {order} {shape}: {done.stderr}")
                    answers.append((np.load(folder / "o.npy"), np.load(folder / "lse.npy")))
                (o, lse), (o_rows, lse_rows) = answers
                report.check(o_rows.shape == swap(o).shape and np.array_equal(o_rows, swap(o)),
                             f"{kernel} {shape}: O differs")
                report.check(np.array_equal(lse, lse_rows), f"{kernel} {shape}: LSE differs")
    done = run("run", "--kernel", "cpu_flash", "--layout", "bldh", "--out", folder / "o.npy", *files)
    report.check(done.returncode == 2 and "use bhld or blhd" in done.stderr, f"--layout bldh: {done.stderr}")
    files = saved(folder, dict(zip("qkv", numbers(8, (2, 6, 4, 8), (2, 7, 2, 8), (2, 9, 2, 8)))))
    done = run("run", "--kernel", "cpu_flash", "--layout", "blhd", "--out", folder / "o.npy", *files)
    report.check(done.returncode == 2 and "Lk is 7" in done.stderr, f"two lengths: {done.stderr}")
    done = run("bench", "--kernels", "cpu_flash", "--layout", "blhd", "--values", "16", "--csv", "/dev/null")
    report.check(done.returncode == 3 and "not blhd" in done.stderr, f"bench: {done.returncode} {done.stderr}")


def gradients_with_heads_inside_rows(folder):
    shapes = (2, 4, 9, 8), (2, 2, 11, 8), (2, 2, 11, 16), (2, 4, 9, 16)
    arrays = dict(zip(("q", "k", "v", "dout"), (x.astype(np.float32) for x in numbers(9, *shapes))))
    answers = []
    for order in ("bhld", "blhd"):
        files = saved(folder, {n: np.ascontiguousarray(np.swapaxes(x, 1, 2)) if order == "blhd" else x
                               for n, x in arrays.items()})
        outputs = [part for n in ("dq", "dk", "dv") for part in (f"--{n}", folder / f"{n}.npy")]
        done = run("run", "--pass", "backward", "--kernel", "cpu_flash_bwd", "--layout", order, *files, *outputs)
        report.check(done.returncode == 0, f"backward {order}: {done.stderr}")
        answers.append([np.load(folder / f"{n}.npy") for n in ("dq", "dk", "dv")])
    for name, plain, rows in zip(("dQ", "dK", "dV"), *answers):
        report.check(np.array_equal(np.swapaxes(plain, 1, 2), rows), f"{name} differs")
    for name in ("dout", "dq", "dk", "dv"):
        (folder / f"{name}.npy").unlink()


def main():
    kernels = [row["id"] for row in json.loads(run("list", "--json").stdout) 
               if row["place"] == "cpu" and "forward" in row["passes"]]
    report.check("cpu_flash" in kernels and len(kernels) >= 5, f"list names {kernels}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        layouts(folder)
        for kernel in kernels:
            masks(folder, kernel)
            softcap_and_alibi(folder, kernel)
        bias_of_fewer_axes(folder)
        not_finite(folder)
        sums_as_they_are(folder)
        heads_inside_rows(folder)
        gradients_with_heads_inside_rows(folder)
        left = sorted(p.name for p in folder.iterdir())
        report.check(left == ["bias.npy", "k.npy", "lse.npy", "o.npy", "q.npy", "v.npy"], f"files left: {left}")
    report.exit(least=1000)


main()
