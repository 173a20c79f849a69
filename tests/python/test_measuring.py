"""bench(), profile(), compare(), judge(), the rule as a test helper, and tables that other libraries take."""

import pathlib
import tempfile

import package

np = package.wanted("numpy")
attnscope = package.wanted("attnscope")
testing = package.wanted("attnscope.testing")
program = package.wanted("program")
report = program.Report()


def plain(q, k, v, causal=False, scale=None, top_left=False, divide=True):
    """The definition in NumPy, in fp64, rounded once."""
    s = q.astype(np.float64) @ np.swapaxes(k, -1, -2).astype(np.float64)
    s = s * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    lq, lk = s.shape[-2:]
    if causal:
        s = np.where(np.tril(np.ones((lq, lk), bool), 0 if top_left else lk - lq), s, -np.inf)
    with np.errstate(all="ignore"):
        top = s.max(-1, keepdims=True)
        p = np.exp(s - np.where(np.isfinite(top), top, 0))
        total = p.sum(-1, keepdims=True)
        weights = np.where(total == 0, 0, p / total) if divide else p
        return (weights @ v.astype(np.float64)).astype(q.dtype)


def the_rule():
    judged = testing.assert_attention_right(plain, longest=200)
    report.check(judged >= 8, f"a right function passes {judged} problems")
    every = ("causal", "scale", "window", "key_lengths", "softcap", "alibi", "bias", "grouped", "dv", "not_finite")
    for dtype, shapes in (("float32", "paired"), ("float16", "paired"), ("float32", "scores"), ("float32", "random")):
        judged = testing.assert_attention_right(
            lambda *a, **b: attnscope.attention(*a, return_lse=True, **b),
            dtype=dtype,
            shapes=shapes,
            features=every,
            longest=200,
            lse=True,
        )
        report.check(judged >= 5, f"attention passes {judged} problems of {shapes} in {dtype}")
    wrong = {
        "the scale is left out": lambda q, k, v, causal=False, scale=None: plain(q, k, v, causal, 1),
        "aligned to the top left": lambda q, k, v, **given: plain(q, k, v, top_left=True, **given),
        "the mask is not applied": lambda q, k, v, causal=False, scale=None: plain(q, k, v, False, scale),
        "not divided": lambda q, k, v, **given: plain(q, k, v, divide=False, **given),
    }
    for cause, fn in wrong.items():
        try:
            testing.assert_attention_right(fn, longest=200)
            report.check(False, f"{cause}: it passes")
        except testing.AttentionWrong as error:
            words = str(error)
            report.check(cause in words and "First wrong:" in words and "query tile" in words, f"{cause}:\n{words}")

    def one_element(q, k, v, **given):
        out = plain(q, k, v, **given)
        out[-1, -1, -1, 0] += 0.1
        return out

    try:
        testing.assert_attention_right(one_element, longest=64)
        report.check(False, "one wrong element passes")
    except testing.AttentionWrong as error:
        b, hq, _, lq = error.case.facts["shape"][:4]
        report.check(f"row {lq - 1}, column 0 (batch {b - 1}, query head {hq - 1})" in str(error), str(error))
    for words, call in (
        ("dtype:", lambda: testing.cases(dtype="float64")),
        ("shapes:", lambda: testing.cases("none")),
        ("features:", lambda: testing.assert_attention_right(plain, longest=0)),
        ("out:", lambda: testing.assert_attention_right(lambda q, k, v, **given: q[..., :1])),
    ):
        package.refused(report, words, call)


def verdicts():
    q = np.random.default_rng(1).standard_normal((2, 2, 20, 8)).astype(np.float32)
    right = program.attention(q, q, q, causal=True)[0].astype(np.float32)
    report.check(attnscope.judge(q, q, q, right, causal=True).outcome == "pass", "fp64 rounded once passes")
    verdict = attnscope.judge(q, q, q, right)
    report.check(verdict.outcome == "wrong" and verdict.error > verdict.allowed and verdict.first_wrong, f"{verdict}")
    table = attnscope.compare({"right": plain, "wrong": lambda q, k, v, **_: q}, q, q, q, seconds=0.01)
    report.check(table["verdict"] == ["pass", "pass", "wrong"] and table["name"][1:] == ["right", "wrong"], f"{table}")
    report.check((table["time_us_median"] > 0).all() and table["calls"].min() >= 3, f"{table}")


def sweeps():
    with tempfile.TemporaryDirectory() as folder:
        saved = pathlib.Path(folder) / "sweep.attn"
        table = attnscope.bench(
            ["cpu_tiled", "cpu_flash"],
            values=[32, 64],
            d=16,
            hq=2,
            causal=True,
            tile=(16, 16),
            seconds=0.02,
            save=saved,
        )
        report.check(saved.is_file(), "a session is kept")
    report.check(sorted(table["kernel"]) == ["cpu_flash"] * 2 + ["cpu_tiled"] * 2, f"{table['kernel']}")
    report.check(set(table["Lq"]) == {32, 64} and set(table["br"]) == {16} and table["causal"].all(), f"{table}")
    report.check((table["time_us_median"] > 0).all() and table["verdict"] == ["pass"] * 4, f"{table}")
    report.check(
        (
            np.isnan(table["dram_read_bytes"]).all()
            if not isinstance(table["dram_read_bytes"], list)
            else set(table["dram_read_bytes"]) == {""}
        ),
        "what a CPU cannot say is missing",
    )
    report.check(all("not available" in words for words in table["dram_read_bytes_source"]), "and why is told")
    package.refused(report, "", lambda: attnscope.bench(["no_kernel"], values=[32]), ValueError)
    package.refused(report, "dtype:", lambda: attnscope.bench(values=[32], dtype="float64"), ValueError)
    try:
        phases = attnscope.profile("flash_simt", d=64, arch="sm_90a")
        if len(phases) == 0:
            print("left out: rows of a profile; there is no nvdisasm")
        report.check(set(phases["kernel"]) <= {"flash_simt"} and "instructions" in phases.columns, f"{phases!r}")
    except RuntimeError as error:
        report.check("NVRTC" in str(error) or "nvrtc" in str(error), f"left out in words: {error}")


def tables():
    columns = {"n": [1, 2, 3], "x": [0.5, None, 2], "yes": [True, False, True], "kernel": ["a", "ℓ", ""]}
    table = attnscope.Table(columns)
    report.check(table.column_names() == ["n", "x", "yes", "kernel"] and table.num_rows() == 3, "columns and rows")
    try:
        import pandas
    except ImportError:
        print("left out: pandas is not installed")
    else:
        frame = pandas.api.interchange.from_dataframe(table)
        report.check(frame["n"].tolist() == [1, 2, 3] and frame["kernel"].tolist() == ["a", "ℓ", ""], f"{frame}")
        report.check(
            frame["x"].isna().tolist() == [False, True, False] and frame["yes"].tolist() == [True, False, True],
            f"{frame}",
        )
        report.check(pandas.DataFrame(table.columns)["x"].sum() == 2.5, "a dict of columns is a frame, too")
    try:
        import polars
    except ImportError:
        print("left out: polars is not installed")
    else:
        frame = polars.from_dataframe(table)
        report.check(frame["n"].sum() == 6 and frame["kernel"].to_list() == ["a", "ℓ", ""], f"{frame}")
    package.refused(report, "columns:", lambda: attnscope.Table({"a": [1], "b": [1, 2]}))


for part in (the_rule, verdicts, tables):
    part()
if package.has_program():
    sweeps()
else:
    print("left out: sweeps; there is no program")
report.exit(28)
