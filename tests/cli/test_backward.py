"""`attnscope run --pass backward` against NumPy in fp64, and torch's autograd where torch is installed; what is refused
leaves no file; the other commands take the pass."""

import csv
import io
import json
import pathlib
import sys
import tempfile

import numpy as np
from program import Report, attention, bf16, run

try:
    import torch
except ImportError:
    torch = None

# Largest error allowed against fp64 on the stored inputs, as a share of the largest gradient.
ERROR = {"f32": 1e-5, "f16": 5e-3, "bf16": 4e-2}
STORED = {"f32": np.float32, "f16": np.float16, "bf16": np.float32}
ROWS = [row for row in json.loads(run("list", "--json").stdout) if "backward" in row["passes"]]
KERNELS = [row["id"] for row in ROWS if row["place"] == "cpu"]

report = Report()


def stored_as(x, dtype):
    return bf16(x) if dtype == "bf16" else x.astype(STORED[dtype])


def gradients(q, k, v, d_o, scale=None, softcap=None, **meaning):
    """dQ, dK and dV of [B,H,L,D] arrays in fp64, from the definition."""
    q, k, v, d_o = (np.asarray(x, np.float64) for x in (q, k, v, d_o))
    scale = 1 / np.sqrt(q.shape[3]) if scale is None else scale
    group = q.shape[1] // k.shape[1]
    wide_k, wide_v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    o, lse = attention(q, k, v, scale=scale, softcap=softcap, **meaning)
    # P by attention itself: with V the identity, O is P.
    keys = k.shape[2]
    p = attention(q, k, np.broadcast_to(np.eye(keys), (*k.shape[:2], keys, keys)), scale=scale, softcap=softcap,
                  **meaning)[0]
    delta = (d_o * o).sum(-1, keepdims=True)
    d_s = p * (np.einsum("bhrd,bhcd->bhrc", d_o, wide_v) - delta)
    if softcap is not None:
        d_s *= 1 - np.tanh(scale * np.einsum("bhrd,bhcd->bhrc", q, wide_k) / softcap) ** 2

    def of_keys(x):
        return x.reshape(k.shape[0], k.shape[1], group, *x.shape[2:]).sum(2)

    d_q = scale * np.einsum("bhrc,bhcd->bhrd", d_s, wide_k)
    d_k = of_keys(scale * np.einsum("bhrc,bhrd->bhcd", d_s, q))
    d_v = of_keys(np.einsum("bhrc,bhrd->bhcd", p, d_o))
    return d_q, d_k, d_v, o, lse


def four_axes(x):
    return x.reshape((1,) * (4 - x.ndim) + x.shape)


def files_of(folder, dtype, **arrays):
    arguments = []
    for name, x in arrays.items():
        np.save(folder / f"{name}.npy", x.astype(STORED[dtype]))
        arguments += [f"--{name}", folder / f"{name}.npy"]
    return arguments + (["--dtype", "bf16"] if dtype == "bf16" else [])


def written(folder):
    return [argument for name in ("dq", "dk", "dv") for argument in (f"--{name}", folder / f"{name}.npy")]


def check(folder, name, q, k, v, d_o, dtype="f32", arguments=(), kernel="cpu_flash_bwd", **meaning):
    command = files_of(folder, dtype, q=q, k=k, v=v, dout=d_o)
    if "bias" in meaning:
        np.save(folder / "bias.npy", meaning["bias"].astype(np.float32))
        command += ["--bias", folder / "bias.npy"]
    for old in ("dq", "dk", "dv"):
        (folder / f"{old}.npy").unlink(missing_ok=True)
    done = run("run", "--pass", "backward", "--kernel", kernel, *command, *written(folder), *arguments)
    label = f"{name} ({kernel}, {dtype})"
    report.check(done.returncode == 0, f"{label}: exit {done.returncode}: {done.stderr}")
    if done.returncode != 0:
        return
    report.check(done.stdout == "", f"{label}: words on stdout: {done.stdout[:80]}")
    wanted = gradients(*(four_axes(stored_as(x, dtype)) for x in (q, k, v, d_o)), **meaning)
    for letter, like, want in zip("qkv", (q, k, v), wanted):
        got = np.load(folder / f"d{letter}.npy")
        report.check(got.dtype == (np.float16 if dtype == "f16" else np.float32), f"{label}: d{letter} is {got.dtype}")
        report.check(got.shape == like.shape, f"{label}: d{letter} has shape {got.shape}")
        error = np.abs(got.astype(np.float64) - want.reshape(got.shape)).max()
        allowed = ERROR[dtype] * max(1.0, np.abs(want).max())
        report.check(error <= allowed, f"{label}: d{letter} is off by {error:.3g}, allowed {allowed:.3g}")


def numbers(seed, *shapes):
    source = np.random.default_rng(seed)
    return [source.standard_normal(shape) for shape in shapes]


def problems(folder, kernel):
    for dtype in ("f32", "f16", "bf16"):
        check(folder, "[L,D]", *numbers(1, (17, 24), (29, 24), (29, 16), (17, 16)), dtype=dtype, kernel=kernel)
        check(folder, "[H,L,D]", *numbers(2, (4, 17, 24), (2, 29, 24), (2, 29, 16), (4, 17, 16)), dtype=dtype,
              kernel=kernel)
        check(folder, "[B,H,L,D]", *numbers(3, (2, 4, 17, 24), (2, 1, 29, 24), (2, 1, 29, 40), (2, 4, 17, 40)),
              dtype=dtype, kernel=kernel)
        check(folder, "one of each", *numbers(4, (1, 1), (1, 1), (1, 1), (1, 1)), dtype=dtype, kernel=kernel)
    shapes = (2, 4, 70, 32), (2, 2, 90, 32), (2, 2, 90, 20), (2, 4, 70, 20)
    for name, arguments, meaning in (
        ("causal", ["--causal"], {"causal": True}),
        ("window", ["--window", "9,4"], {"window": (9, 4)}),
        ("key lengths", ["--key-lengths", "90,33"], {"key_lengths": [90, 33]}),
        ("no key at all", ["--key-lengths", "0,5"], {"key_lengths": [0, 5]}),
        ("scale", ["--scale", "-0.3"], {"scale": -0.3}),
        ("softcap", ["--softcap", "1.5"], {"softcap": 1.5}),
        ("ALiBi", ["--alibi"], {"slopes": [2.0 ** (-8 * (h + 1) / 4) for h in range(4)]}),
        ("tile", ["--tile", "13x37", "--threads", "3"], {}),
        ("bias", [], {"bias": numbers(9, (1, 4, 70, 90))[0]}),
        ("all", ["--causal", "--key-lengths", "90,60", "--softcap", "2", "--tile", "16x16"],
         {"causal": True, "key_lengths": [90, 60], "softcap": 2.0, "bias": numbers(8, (2, 1, 1, 90))[0]}),
    ):
        check(folder, name, *numbers(5, *shapes), arguments=arguments, kernel=kernel, **meaning)
    check(folder, "rows without keys", *numbers(6, (40, 8), (16, 8), (16, 8), (40, 8)), arguments=["--causal"],
          kernel=kernel, causal=True)


def given_forward(folder):
    """O and LSE of our own run and of NumPy give what a left-out --lse gives."""
    q, k, v, d_o = numbers(7, (2, 33, 16), (2, 41, 16), (2, 41, 16), (2, 33, 16))
    common = files_of(folder, "f32", q=q, k=k, v=v)
    run("run", "--kernel", "cpu_flash", *common, "--out", folder / "o.npy", "--lse", folder / "lse.npy")
    common += files_of(folder, "f32", dout=d_o)
    backward = ["run", "--pass", "backward", "--kernel", "cpu_flash_bwd", *common, *written(folder)]
    answers = []
    for given in ([], ["--lse", folder / "lse.npy"], ["--o", folder / "o.npy", "--lse", folder / "lse.npy"]):
        done = run(*backward, *given)
        report.check(done.returncode == 0, f"given {given}: {done.stderr}")
        answers.append([np.load(folder / f"d{letter}.npy").tobytes() for letter in "qkv"])
    report.check(answers[0] == answers[1] == answers[2], "O and LSE that are given change the bits")
    lse = np.load(folder / "lse.npy")
    np.save(folder / "lse.npy", lse + 1)
    run(*backward, "--lse", folder / "lse.npy")
    report.check(np.load(folder / "dv.npy").tobytes() != answers[0][2], "the LSE that is given is not read")
    report.check(np.array_equal(np.load(folder / "lse.npy"), lse + 1), "the LSE that is read was written")


def autograd(folder):
    if torch is None:
        return
    q, k, v, d_o = numbers(10, (2, 4, 65, 32), (2, 4, 81, 32), (2, 4, 81, 32), (2, 4, 65, 32))
    leaves = [torch.tensor(x.astype(np.float32), dtype=torch.float64, requires_grad=True) for x in (q, k, v)]
    torch.nn.functional.scaled_dot_product_attention(*leaves).backward(
        torch.tensor(d_o.astype(np.float32), dtype=torch.float64))
    wanted = gradients(*(x.astype(np.float32) for x in (q, k, v, d_o)))
    for letter, leaf, want in zip("qkv", leaves, wanted):
        report.check(np.abs(leaf.grad.numpy() - want).max() < 1e-12, f"NumPy's d{letter} is not torch's")
    check(folder, "beside autograd", q, k, v, d_o)


def refused(folder, name, words, *arguments, code=2):
    before = sorted(p.name for p in folder.rglob("*"))
    done = run("run", *arguments, cwd=folder)
    report.check(done.returncode == code, f"{name}: exit {done.returncode}, not {code}: {done.stderr}")
    for word in words:
        report.check(word in done.stderr, f"{name}: '{word}' is not in: {done.stderr}")
    after = sorted(p.name for p in folder.rglob("*"))
    report.check(before == after, f"{name}: files left behind: {set(after) - set(before)}")


def refusals(folder):
    q, k, v, d_o = numbers(11, (2, 8, 16), (2, 9, 16), (2, 9, 12), (2, 8, 12))
    forward = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"]
    files_of(folder, "f32", q=q, k=k, v=v, dout=d_o)
    np.save(folder / "lse.npy", np.zeros((2, 8), np.float32))
    np.save(folder / "short.npy", np.zeros((2, 8, 11), np.float32))
    outputs = ["--dq", "dq.npy", "--dk", "dk.npy", "--dv", "dv.npy"]
    whole = ["--pass", "backward", "--kernel", "cpu_flash_bwd", *forward, "--dout", "dout.npy", *outputs]
    for name, words, change in (
        ("dropout", ["--dropout 0.1", "no kernel"], ["--dropout", "0.1"]),
        ("gradient of a bias", ["--dbias", "not supported"], ["--dbias", "db.npy"]),
        ("gradient of slopes", ["--dslopes", "not supported"], ["--dslopes", "ds.npy"]),
        ("O written", ["--out", "--o"], ["--out", "o.npy"]),
        ("O of another shape", ["short.npy", "O of this problem", "[1, 2, 8, 12]"], ["--o", "short.npy"]),
        ("LSE of another shape", ["dout.npy", "LSE of this problem"], ["--lse", "dout.npy"]),
        ("LSE that is not there", ["nowhere.npy"], ["--lse", "nowhere.npy"]),
        ("tile 0", ["0x0"], ["--tile", "0x0"]),
        ("an option of a GPU", ["--stages", "does not apply to cpu_flash_bwd"], ["--stages", "2"]),
    ):
        refused(folder, name, words, *whole, *change)

    def without(option):
        at = whole.index(option)
        return whole[:at] + whole[at + 2:]

    def with_value(option, value):
        at = whole.index(option)
        return [*whole[:at + 1], value, *whole[at + 2:]]

    for option in ("--dout", "--dq", "--dk", "--dv"):
        refused(folder, f"without {option}", [option], *without(option))
    refused(folder, "dO of another shape", ["short.npy", "dO of this problem", "[1, 2, 8, 12]"],
            *with_value("--dout", "short.npy"))
    refused(folder, "an unknown pass", ["sideways", "forward or backward"], *with_value("--pass", "sideways"))
    refused(folder, "a forward's kernel", ["supports the pass forward, not backward"],
            *with_value("--kernel", "cpu_flash"))
    refused(folder, "stdout", ["--dq -"], *with_value("--dq", "-"))
    refused(folder, "one file twice", ["--dq and --dk name the same file"], *with_value("--dk", "dq.npy"))
    refused(folder, "an input as output", ["q.npy"], *with_value("--dq", "q.npy"))
    refused(folder, "a folder that is not there", ["nowhere"], *with_value("--dv", "nowhere/dv.npy"))
    refused(folder, "too little memory", ["memory limit", "L that fits"], *whole, "--memory-limit", "12000", code=3)
    refused(folder, "a backward's kernel in a forward", ["supports the pass backward, not forward"], "--kernel",
            "cpu_flash_bwd", *forward, "--out", "o.npy")
    refused(folder, "a gradient in a forward", ["--pass backward"], "--kernel", "cpu_flash", *forward, "--out", "o.npy",
            "--dq", "dq.npy")


def other_commands(folder):
    done = run("verify", "--pass", "backward", "--dtype", "f16", "--longest", "120")
    report.check(done.returncode == 0, f"verify: {done.stdout}{done.stderr}")
    for word in (*KERNELS, "dq", "dk", "dv", "delta", "lse"):
        report.check(word in done.stdout, f"verify does not show {word}: {done.stdout}")
    report.check("cpu_flash " not in done.stdout, "verify tries a forward's kernels")
    report.check("bwd" not in run("verify", "--longest", "8").stdout, "verify tries a backward's kernels by itself")
    session = folder / "b.json"
    done = run("bench", "--pass", "backward", "--device", "cpu", "--values", "64,96", "--d", "16", "--hq", "2",
               "--time-limit", "0.05", "--json", session)
    report.check(done.returncode == 0, f"bench: {done.stderr}")
    rows = [row for one in json.loads(session.read_text())["runs"] for row in one["measurements"]]
    report.check({row["kernel"] for row in rows} == set(KERNELS), f"bench measures {[row['kernel'] for row in rows]}")
    for row in rows:
        outputs = row["verdict"]["outputs"]
        report.check(row["problem"]["pass"] == "backward" and row["verdict"]["pass"], f"{row['verdict']}")
        report.check(sorted(outputs) == ["delta", "dk", "dq", "dv", "lse"], f"outputs of a row: {list(outputs)}")
        report.check(all(x["error"] <= x["allowed"] for x in outputs.values()), f"{outputs}")
    report.check("dK" in done.stderr and "dV" in done.stderr, f"bench names no gradients: {done.stderr}")
    for command, words in ((["inspect", "naive", "--pass", "backward"], "supports the pass forward, not backward"),
                           (["step", "--pass", "backward", "--kernel", "cpu_flash"],
                            "cpu_flash supports the pass forward, not backward"),
                           (["step", "--pass", "forward", "--kernel", "cpu_flash_bwd"],
                            "cpu_flash_bwd supports the pass backward, not forward"),
                           (["step", "--pass", "backward", "--accumulate", "f16"], "does not apply to cpu_flash_bwd"),
                           (["step", "--kernel", "cpu_naive_bwd"], "cpu_naive_bwd")):
        done = run(*command)
        report.check(done.returncode == 2 and words in done.stderr, f"{command}: {done.returncode} {done.stderr}")


def peers(folder):
    """torch's backward by a double that computes what torch documents, and a file of the user's that has none."""
    double = pathlib.Path(__file__).resolve().parent / "torch_double"
    (folder / "mine.py").write_text("def attention(q, k, v, scale, causal):\n    return q + 0\n", encoding="utf-8")
    bench = ["bench", "--pass", "backward", "--kernels", "cpu_flash_bwd", "--values", "9", "--d", "8", "--hq", "4",
             "--time-limit", "0.02", "--peers-python", sys.executable]
    for environment in ("", "export TORCH_DOUBLE_HAS_NO_GQA=1; "):
        for arguments in ([], ["--causal"], ["--hkv", "2"], ["--dtype", "f16", "--hkv", "1"], ["--window", "2,1"]):
            csv_file = folder / "peers.csv"
            done = run(*bench, *arguments, "--peers", "--csv", csv_file,
                       prefix=f"{environment}export PYTHONPATH={double}")
            (row,) = [r for r in csv.DictReader(io.StringIO(csv_file.read_text())) if r["peer"]]
            report.check(row["kernel"] == "torch-cpu" and row["state"] == "done" and row["verdict"] == "pass",
                         f"{arguments}: {row['state']} {row['reason']} {row['verdict_reason']} {done.stderr}")
            report.check("cpu_flash_bwd=" in row["peer_beside_us"] and row["lse_error_abs"] == "",
                         f"{arguments}: {row['peer_beside_us']}, LSE {row['lse_error_abs']}")
            report.check("correct: dQ" in done.stderr, f"its gradients are not told: {done.stderr}")
            if environment and "--hkv" in arguments:
                report.check("their gradients summed within" in row["peer_how"], row["peer_how"])
    done = run(*bench, "--peer", folder / "mine.py", prefix="export PYTHONPATH=")
    report.check("but this Python has no torch" in done.stderr, f"a file without torch: {done.stderr}")
    done = run(*bench, "--peer", folder / "mine.py", prefix=f"export PYTHONPATH={double}")
    report.check("autograd has no gradient" in done.stderr, f"an answer apart from its inputs: {done.stderr}")


def steps(folder):
    """Every step of a backward: the gradients that it ends with are those of `run`, and a file keeps them."""
    rng = np.random.default_rng(11)
    for name in "qkv":
        np.save(folder / f"{name}.npy", rng.standard_normal((1, 2, 9, 6)).astype(np.float32))
    given = ["--q", folder / "q.npy", "--k", folder / "k.npy", "--v", folder / "v.npy"]
    done = run("step", "--pass", "backward", *given, "--tile", "4x4", "--causal", "--json", "--attn",
               folder / "steps.attn")
    report.check(done.returncode == 0, f"step: {done.stderr}")
    told = json.loads(done.stdout)
    report.check(told["order"] == "backward" and told["kernel"] == "cpu_flash_bwd", f"step: {told['order']}")
    made = {tile["tensor"] for step in told["steps"] for tile in step["made"]}
    report.check({"delta", "dp", "ds", "dq", "dk", "dv"} <= made, f"step makes {made}")
    for name, rows in (("dq", 9), ("dk", 9), ("dv", 9)):
        report.check(told[name]["shape"] == [1, 2, rows, 6], f"{name}: {told[name]['shape']}")
    report.check("out" not in told, "a backward has no output O")
    # The last dQ of a query tile, scaled, is what stands in the answer.
    last = [step for step in told["steps"] if step["phase"] == "store_dq" and step["h"] == 1][-1]
    tile = last["made"][0]["values"]
    answer = np.array(told["dq"]["values"]).reshape(2, 9, 6)[1, 8:9]
    report.check(np.array_equal(np.array(tile), answer), f"dQ: {tile} and {answer}")
    text = run("step", "--pass", "backward", *given, "--tile", "4x4").stdout
    for words in ("Gradient dQ, batch 0, head 1", "is loaded, updated and written back", "dS"):
        report.check(words in text, f"step does not say '{words}'")
    report.check(run("step", "--pass", "backward", "--preset", "causal", "--from", "1", "--to", "3").returncode == 0,
                 "a preset's backward is not shown")


def main():
    report.check(set(KERNELS) >= {"cpu_naive_bwd", "cpu_flash_bwd"}, f"list names {KERNELS}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for kernel in KERNELS:
            problems(folder, kernel)
        given_forward(folder)
        autograd(folder)
        peers(folder)
        other_commands(folder)
        steps(folder)
    with tempfile.TemporaryDirectory() as temporary:
        refusals(pathlib.Path(temporary))
    report.exit(least=400)


main()
