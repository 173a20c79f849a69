"""`attnscope run --pages`: K and V out of shuffled pages, against NumPy in fp64; what is wrong leaves no file."""

import pathlib
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
                       (np.where(good == good[0, 0], 2**40, good.astype(np.int64)), "pages are counted in 32 bits")):
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


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        right(folder)
        wrong(folder)
    report.exit(least=90)


main()
