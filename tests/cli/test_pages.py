"""Pages from the command line: `run --pages` against NumPy in fp64, and what is wrong leaves no file; `step
--pages-in-order`; what pages and ragged batches cost in the rows that `bench` and `report` write."""

import csv
import json
import pathlib
import re
import tempfile

import numpy as np
from program import Report, attention, run

report = Report()


def pool_of(x, page, table, pages, source):
    """[B,H,T*page,D] as a pool [pages,H,page,D]; pages that the table does not name hold NaN."""
    pool = np.full((pages, x.shape[1], page, x.shape[3]), np.nan, np.float32)
    for b, entries in enumerate(table):
        for n, entry in enumerate(entries):
            pool[entry] = x[b, :, n * page:(n + 1) * page]
    return pool


def files_of(folder, page, lengths=None, dtype=np.float32, type_of_table=np.int32):
    source = np.random.default_rng(page)
    batches, columns = 2, 3 if page < 100 else 1
    q = source.standard_normal((batches, 4, 3, 16)).astype(np.float32)
    k = source.standard_normal((batches, 2, columns * page, 16)).astype(np.float32)
    v = source.standard_normal((batches, 2, columns * page, 24)).astype(np.float32)
    pages = batches * columns + 3
    table = source.permutation(pages)[:batches * columns].reshape(batches, columns)
    pools = [pool_of(x, page, table, pages, source) for x in (k, v)]
    table = table.astype(type_of_table)
    if lengths is not None:
        for b, length in enumerate(lengths):
            table[b, -(-length // page):] = -1  # not read
            for n, entry in enumerate(table[b]):
                for pool in pools:
                    if entry >= 0:
                        pool[entry, :, max(0, length - n * page):] = np.nan  # nor these
    for name, x in (("q", q), ("k", pools[0]), ("v", pools[1])):
        np.save(folder / f"{name}.npy", x)
    np.save(folder / "table.npy", table)
    return q, k, v


def command(folder, *arguments, kernel="cpu_flash"):
    files = [part for name in "qkv" for part in (f"--{name}", folder / f"{name}.npy")]
    return ["run", "--kernel", kernel, *files, "--out", folder / "o.npy", "--lse", folder / "lse.npy", *arguments]


def right(folder):
    for page in (1, 5, 16, 64, 256):
        for more, lengths in (((), None), (("--set", "splits=3"), None), (("--causal",), None),
                              (("--key-lengths", f"{2 * page // 3},0"), (2 * page // 3, 0))):
            q, k, v = files_of(folder, page, lengths, type_of_table=np.int64 if page == 5 else np.int32)
            done = run(*command(folder, "--pages", folder / "table.npy", "--page", page, *more))
            label = f"page {page} {more}"
            report.check(done.returncode == 0, f"{label}: {done.stderr}")
            if done.returncode != 0:
                continue
            o, lse = np.load(folder / "o.npy"), np.load(folder / "lse.npy")
            want_o, want_lse = attention(q, k, v, causal="--causal" in more, key_lengths=lengths)
            report.check(np.abs(o - want_o).max() <= 1e-5, f"{label}: O is off by {np.abs(o - want_o).max()}")
            seen = ~np.isneginf(want_lse)
            report.check(np.array_equal(np.isneginf(lse), ~seen), f"{label}: rows without keys differ")
            report.check(np.abs(lse[seen] - want_lse[seen]).max(initial=0) <= 1e-5, f"{label}: LSE")


def wrong(folder):
    """Each refused with 2 and words; neither O nor LSE is there afterwards."""
    table = folder / "table.npy"

    def refused(words, *arguments, kernel="cpu_flash"):
        for name in ("o.npy", "lse.npy"):
            (folder / name).unlink(missing_ok=True)
        done = run(*command(folder, *arguments, kernel=kernel))
        report.check(done.returncode == 2 and words in done.stderr, f"{words}: {done.returncode} {done.stderr}")
        left = [name for name in ("o.npy", "lse.npy") if (folder / name).exists()]
        report.check(not left, f"{words}: left {left}")

    files_of(folder, 16)
    refused("needs --pages", "--page", 16)
    refused("needs --page N", "--pages", table)
    refused("a page has 1 to 256 keys", "--pages", table, "--page", 0)
    refused("a page has 1 to 256 keys", "--pages", table, "--page", 257)
    refused("must be a pool [pages, H, 32, D]", "--pages", table, "--page", 32)
    refused("only the layout bhld", "--pages", table, "--page", 16, "--layout", "blhd")
    refused("No such file", "--pages", folder / "none.npy", "--page", 16)
    refused("K and V that are dense", "--pages", table, "--page", 16, kernel="cpu_sequential")
    good = np.load(table)
    for bad, words in ((good.astype(np.float32), "not i4 or i8"), (good[:1], "a page table is [B, pages"),
                       (good.reshape(-1), "a page table is [B, pages"), (good[:, :0], "a page table is"),
                       (np.where(good == good[1, 2], 9, good), "entry 2 of batch 1 in the page table is 9"),
                       (np.where(good == good[0, 1], -1, good), "entry 1 of batch 0 in the page table is -1"),
                       (np.where(good == good[0, 0], 2**40, good.astype(np.int64)), "page numbers must fit")):
        np.save(table, bad)
        refused(words, "--pages", table, "--page", 16)
    np.save(table, good)
    with open(table, "r+b") as file:
        file.truncate(table.stat().st_size - 4)
    refused("table.npy", "--pages", table, "--page", 16)
    np.save(table, good)
    np.save(folder / "v.npy", np.load(folder / "v.npy")[:-1])
    refused("the two must match", "--pages", table, "--page", 16)
    files_of(folder, 16)
    done = run(*command(folder, "--pages", folder / "o.npy", "--page", 16))
    report.check(done.returncode == 2, f"the table as an output: {done.stderr}")


def steps_in_order():
    """The same numbers out of other pages: of batch b the table names b * columns, b * columns + 1, ..."""
    done = [run("step", "--preset", "pages", "--json", *more) for more in ((), ("--pages-in-order",))]
    report.check(all(d.returncode == 0 for d in done), done[0].stderr + done[1].stderr)
    shuffled, ordered = (json.loads(d.stdout) for d in done)
    for key in ("out", "lse", "tile_load_bytes", "problem"):
        report.check(shuffled[key] == ordered[key], f"in order {key} is another")
    report.check([s["made"] for s in shuffled["steps"]] == [s["made"] for s in ordered["steps"]], "other tiles")
    page = ordered["problem"]["storage"]["page"]
    columns = -(-ordered["problem"]["Lk"] // page)
    tile = ordered["options"]["bc"]

    def named(steps):
        found = [(s, re.search(r"The table names pages? ([\d, ]+)\.", s["sentence"])) for s in steps]
        return [(s["b"], s["j"], [int(x) for x in m[1].split(", ")]) for s, m in found if m]

    told = named(ordered["steps"])
    report.check(len(told) >= 5, f"only {len(told)} steps name their pages")
    for b, j, pages in told:
        first = b * columns + j * tile // page
        report.check(pages == [first + n for n in range(len(pages))], f"batch {b}, tile {j}: pages {pages}")
    report.check(named(shuffled["steps"]) != told, "the shuffled pages are in order as well")
    for more in (("--preset", "blackboard"), ("--preset", "pages", "--page", 0)):
        done = run("step", *more, "--pages-in-order")
        report.check(done.returncode == 2 and not done.stdout and "needs keys in pages; add --page" in done.stderr,
                     f"{more} in order: {done.returncode} {done.stderr}")
    done = run("step", "--preset", "pages", "--page", 257, "--pages-in-order")
    report.check(done.returncode == 2 and "Invalid page size of 257 keys" in done.stderr, done.stderr)


def cost_of_layouts(folder):
    """Each ratio is that of two medians of the same table; the row that another is set against comes after it."""
    session, made = folder / "layouts.attn", folder / "made"
    sweep = ["bench", "--kernels", "cpu_flash", "--values", 128, "--b", 3, "--d", 16, "--time-limit", 0.02]
    sweep += ["-o", session]
    first = run(*sweep, "--page", 16)
    report.check(first.returncode == 0 and "the time of" not in first.stderr, first.stderr)
    told = []
    for more in (("--page", 0), ("--page", 64), ("--ragged", "zipf"), ("--ragged", "even")):
        done = run(*sweep, *more, "--resume", "--csv", folder / "rows.csv", "--json", folder / "rows.json")
        report.check(done.returncode == 0, done.stderr)
        told += re.findall(r"([\d.]+)× the time with (contiguous|equal)", done.stderr)
    rows = list(csv.DictReader((folder / "rows.csv").open(encoding="utf-8")))
    measured = json.loads((folder / "rows.json").read_text(encoding="utf-8"))["runs"][0]["measurements"]
    report.check(len(rows) == len(measured) == 5, f"{len(rows)} rows, {len(measured)} measurements")
    us = [float(r["time_us_median"]) for r in rows]
    lengths = [sorted(map(int, r["key_lengths"].split())) for r in rows]
    report.check(lengths == [[], [], [], [42, 64, 128], [78, 78, 78]], f"key lengths {lengths}")
    report.check([r["page"] for r in rows] == ["16", "0", "64", "0", "0"], f"pages {[r['page'] for r in rows]}")
    contiguous = [us[0] / us[1], None, us[2] / us[1], None, None]
    even = [None, None, None, us[3] / us[4], None]
    for n, row in enumerate(rows):
        for column, want in (("over_contiguous_ratio", contiguous[n]), ("over_even_ratio", even[n])):
            source, figure = row[column + "_source"], measured[n]["figures"][column]
            if want is None:
                report.check(row[column] == "" and source.startswith("not available: "),
                             f"row {n}: {row[column]} {source}")
                report.check(figure["origin"] == "not available" and "value" not in figure, f"row {n}: {figure}")
            else:
                report.check(abs(float(row[column]) - want) <= 1e-12 * want and source == "derived",
                             f"row {n}, {column}: {row[column]} is not {want}")
                report.check(figure["value"] == float(row[column]) and figure["origin"] == "derived", f"{figure}")
    # Told while it runs where the other row came before: pages of 64 alone.
    report.check(told == [(f"{contiguous[2]:.3f}", "contiguous")], f"told {told}")
    done = run("report", session, "-o", made)
    report.check(done.returncode == 0, done.stderr)
    said = re.findall(r"([\d.]+)× the time with (\w+)", (made / "summary.md").read_text(encoding="utf-8"))
    report.check(said == [(f"{contiguous[0]:.3f}", "contiguous"), (f"{contiguous[2]:.3f}", "contiguous"),
                          (f"{even[3]:.3f}", "equal")], f"the summary says {said}")
    columns = list(csv.DictReader((made / "rows.csv").open(encoding="utf-8")))
    report.check([r["over_contiguous_ratio"] for r in columns] == [r["over_contiguous_ratio"] for r in rows],
                 "rows.csv of the report has other ratios")


def layouts_alone(folder):
    """Without a row to be set against there is no number, and the words say what to measure."""
    sweep = ["bench", "--kernels", "cpu_flash", "--values", 64, "--b", 3, "--d", 8, "--time-limit", 0.02]
    for column, words, more in (("over_contiguous_ratio", "with --page 0", ("--page", 16)),
                                ("over_even_ratio", "with --ragged even", ("--ragged", "zipf"))):
        row, = csv.DictReader(run(*sweep, *more).stdout.splitlines())
        report.check(row[column] == "" and words in row[column + "_source"], f"{more}: {row[column + '_source']}")
    for words, more in (("Invalid page size of 257 keys", ("--page", 257)),
                        ("Unknown --ragged zip", ("--ragged", "zip"))):
        done = run(*sweep, *more, "--csv", folder / "none.csv")
        report.check(done.returncode == 2 and words in done.stderr, f"{more}: {done.returncode} {done.stderr}")
        report.check(not (folder / "none.csv").exists(), f"{more} left a file")


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        right(folder)
        wrong(folder)
        cost_of_layouts(folder)
        layouts_alone(folder)
    steps_in_order()
    report.exit(least=130)


main()
