"""bench(), profile(), compare(), judge(), the rule as a test helper, and tables that other libraries take."""

import pathlib
import tempfile
import warnings

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
        ("features: unknown 'casual'; use", lambda: testing.assert_attention_right(plain, features=["casual"])),
        ("fn: returned None", lambda: testing.assert_attention_right(lambda q, k, v, **given: None)),
        ("fn: returned a ndarray", lambda: testing.assert_attention_right(plain, lse=True)),
        ("fn: a NoneType", lambda: testing.assert_attention_right(None)),
    ):
        package.refused(report, words, call)
    package.refused(
        report,
        "",
        lambda: testing.assert_attention_right(lambda q, k, v, **_: plain(q, k, v), features="causal", longest=200),
        testing.AttentionWrong,
    )
    try:
        testing.assert_attention_right(lambda q, k, v, **_: np.zeros(q.shape[:3] + v.shape[3:], q.dtype), longest=2)
        report.check(False, "zeros pass")
    except testing.AttentionWrong as error:
        b, hq, _, lq, _, _, dv = error.case.facts["shape"]
        report.check(f" of {b * hq * lq * dv} numbers differ" in str(error), f"of O alone, for it came alone: {error}")


def verdicts():
    q = np.random.default_rng(1).standard_normal((2, 2, 20, 8)).astype(np.float32)
    right = program.attention(q, q, q, causal=True)[0].astype(np.float32)
    report.check(attnscope.judge(q, q, q, right, causal=True).outcome == "pass", "fp64 rounded once passes")
    verdict = attnscope.judge(q, q, q, right)
    report.check(verdict.outcome == "wrong" and verdict.error > verdict.allowed and verdict.first_wrong, f"{verdict}")
    package.refused(report, "out: a NoneType", lambda: attnscope.judge(q, q, q, None), TypeError)
    package.refused(report, "fns: a NoneType", lambda: attnscope.compare(None, q, q, q), TypeError)
    package.refused(report, "fns: f returned None", lambda: attnscope.compare({"f": lambda *a, **b: None}, q, q, q))
    try:
        attnscope.judge(q, q, q, right.astype(np.float64))
        report.check(False, "float64 is judged")
    except TypeError as error:
        report.check("float32" in str(error) and "attnscope.testing" not in str(error), f"advice to follow: {error}")
    verdict = attnscope.judge(q, q, q, np.zeros_like(q))
    report.check(verdict.first_wrong.endswith(f" of {q.size} numbers differ"), f"O is counted alone: {verdict}")
    verdict = attnscope.judge(q, q, q, np.zeros_like(q), lse=np.zeros(q.shape[:3], np.float32))
    both = q.size + q.size // 8
    report.check(verdict.first_wrong.endswith(f" of {both} numbers differ"), f"and LSE with it: {verdict}")
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
    package.refused(report, "values: '32' is not", lambda: attnscope.bench(values="32"), TypeError)
    package.refused(report, "values: None is not", lambda: attnscope.bench(values=None), TypeError)
    package.refused(report, "dim: is not an argument", lambda: attnscope.bench(values=[32], dim=3), ValueError)
    one = attnscope.bench(["cpu_flash"], values=32, d=16, seconds=0.01)
    report.check(one["Lq"].tolist() == [32], f"a number is one point: {one}")
    try:
        phases = attnscope.profile("flash_simt", d=64, arch="sm_90a")
        report.check(len(phases) > 0, "a profile has rows")
        report.check(set(phases["kernel"]) <= {"flash_simt"} and "instructions" in phases.columns, f"{phases!r}")
    except RuntimeError as error:
        wanted = ("NVRTC", "nvrtc", "nvdisasm")
        report.check(any(name in str(error) for name in wanted) and "fetch-cuda" in str(error), f"in words: {error}")


def shown_tables():
    table = attnscope.Table({"time_us": [1.23456789012345, None], "ok": [True, False], "none": [None, None]})
    html = table._repr_html_()
    report.check("<td>1.23457</td>" in html and "<td>–</td>" in html, f"numbers have 6 digits: {html}")
    report.check("<th>none</th>" not in html, f"and no empty column: {html}")
    report.check("2 rows, 3 columns, of which 1 not shown" in html, f"but it is counted: {html}")
    report.check("1.23457  True  –" in repr(table), f"{table!r}")


def arrow():
    try:
        import pyarrow
    except ImportError:
        print("left out: pyarrow is not installed")
        return
    columns = {"n": [1, 2, 3], "x": [0.5, None, 2], "yes": [True, False, True], "kernel": ["a", "ℓ", ""]}
    read = pyarrow.table(attnscope.Table(columns))
    read.validate(full=True)
    report.check(read.to_pydict() == columns and read["x"].null_count == 1, f"{read}")
    half = pyarrow.table(attnscope.Table(columns)).column("kernel")  # its table is gone
    report.check(half.to_pylist() == columns["kernel"], f"{half}")


def tables():
    columns = {"n": [1, 2, 3], "x": [0.5, None, 2], "yes": [True, False, True], "kernel": ["a", "ℓ", ""]}
    table = attnscope.Table(columns)
    report.check(table.column_names() == ["n", "x", "yes", "kernel"] and table.num_rows() == 3, "columns and rows")
    try:
        import pandas
    except ImportError:
        print("left out: pandas is not installed")
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas deprecates the protocol for Arrow's, which needs pyarrow there
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
        frame = polars.DataFrame(table)
        report.check(frame.to_dict(as_series=False) == {**columns}, f"{frame}")
        frame = polars.DataFrame(dict(table.columns))
        report.check(frame["n"].sum() == 6 and frame["kernel"].to_list() == ["a", "ℓ", ""], f"{frame}")
        for rows in (0, 7, 8, 9, 100):
            many = {"x": [None if n % 3 == 0 else n / 2 for n in range(rows)], "yes": [n % 2 == 0 for n in range(rows)]}
            frame = polars.DataFrame(attnscope.Table(many))
            report.check(rows == 0 or frame.to_dict(as_series=False) == many, f"{rows} rows: {frame}")
        del table
        report.check(polars.DataFrame(attnscope.Table(columns))["n"].to_list() == [1, 2, 3], "a frame owns its numbers")
    package.refused(report, "columns:", lambda: attnscope.Table({"a": [1], "b": [1, 2]}))


for part in (the_rule, verdicts, shown_tables, arrow, tables):
    part()
if package.has_program():
    sweeps()
else:
    print("left out: sweeps; there is no program")
report.exit(28)
