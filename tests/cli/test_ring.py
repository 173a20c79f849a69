"""attnscope ring: a process a rank gives the bits of one process, says what each did, and survives a rank that is
lost."""

import csv
import io
import json
import os
import signal
import subprocess
import tempfile
import time

from program import BINARY, Report, run

report = Report()
SMALL = ["--l", "200", "--lk", "230", "--hq", "4", "--hkv", "2", "--d", "24", "--tile", "16x16", "--repeats", "1"]


def every_number_of_ranks_gives_the_bits_of_one_process():
    for ranks in (1, 2, 3, 5, 8):
        for deal in ("zigzag", "in_order"):
            done = run("ring", "--ranks", str(ranks), "--deal", deal, *SMALL, "--causal", "--json", "-")
            report.check(done.returncode == 0, f"{ranks} {deal}: exit {done.returncode}: {done.stderr}")
            said = json.loads(done.stdout)
            report.check(said["same_bits_as_one_process"] is True and said["right"] is True, f"{ranks} {deal}: {said}")
            report.check(0 <= said["error"] <= said["allowed"], f"{ranks} {deal}: {said['error']}")
            check_runs(said, ranks)


# B 1, Hkv 2, D and Dv 24 in f32, 230 keys: every share goes once past every rank but the last.
BYTES_OF_ALL_KEYS = 2 * 2 * 230 * 24 * 4


def check_runs(said, ranks):
    for ring in said["runs"]:
        sent = sum(rank["sent_bytes"] for rank in ring["ranks"])
        report.check(sent == BYTES_OF_ALL_KEYS * (ranks - 1), f"{ranks} ranks sent {sent} bytes")
        for rank in ring["ranks"]:
            lane = sorted((s for s in rank["spans"] if s[0] in ("compute", "wait")), key=lambda s: s[2])
            report.check(all(a[3] <= b[2] + 1e-3 for a, b in zip(lane, lane[1:])), f"a rank did two things: {lane}")
            report.check(all(s[2] >= 0 and s[3] >= s[2] for s in rank["spans"]), f"spans: {rank['spans']}")
            turns = [s[1] for s in lane if s[0] == "compute"]
            report.check(sorted(set(turns)) == list(range(ranks)), f"{ranks} ranks computed in turns {turns}")
        last = max(s[3] for rank in ring["ranks"] for s in rank["spans"])
        report.check(abs(last - ring["us"]) < 1e-6, f"{last} and {ring['us']}")


def all_that_a_forward_takes_goes_round():
    for more in (["--window", "20,5", "--dtype", "bf16"], ["--alibi", "--softcap", "5", "--dtype", "f16"],
                 ["--key-lengths", "17"], ["--bias-shape", "1,4,200,230"], ["--threads", "2"],
                 ["--generator", "late_outlier"]):
        done = run("ring", "--ranks", "3", *SMALL, *more)
        report.check(done.returncode == 0 and "bits: identical to those of a single process" in done.stdout,
                     f"{more}: exit {done.returncode}: {done.stdout}{done.stderr}")


def a_backward_goes_round_with_its_sums():
    for more in ([], ["--causal", "--dtype", "bf16"], ["--deal", "in_order", "--softcap", "5", "--threads", "2"]):
        done = run("ring", "--ranks", "3", *SMALL, *more, "--pass", "backward", "--json", "-")
        report.check(done.returncode == 0, f"{more}: exit {done.returncode}: {done.stderr}")
        said = json.loads(done.stdout)
        report.check(said["kernel"] == "cpu_flash_bwd" and said["same_bits_as_one_process"] is True, f"{more}: {said}")
        report.check(said["right"] is True and 0 < said["error"] <= said["allowed"], f"{more}: {said['error']}")
        keys = 2 * 230 * (24 + 24)
        sent = sum(rank["sent_bytes"] for rank in said["runs"][0]["ranks"])
        wide = 2 if "bf16" in more else 4
        report.check(sent == keys * (2 * wide + 3 * 4), f"{more}: {sent} bytes, K and V twice, dK and dV three times")
    done = run("ring", "--ranks", "2", *SMALL, "--pass", "backward", "--set", "outside=query_tile")
    report.check(done.returncode == 2 and "dQ stays" in done.stderr, f"exit {done.returncode}: {done.stderr}")


def spans_are_csv():
    rows = list(csv.DictReader(io.StringIO(run("ring", "--ranks", "2", *SMALL, "--csv", "-").stdout)))
    report.check({row["work"] for row in rows} == {"compute", "send", "receive", "wait"}, f"works: {rows}")
    report.check({row["rank"] for row in rows} == {"0", "1"}, f"ranks: {rows}")


def several_rings_are_rows_of_a_session():
    with tempfile.TemporaryDirectory() as folder:
        session = os.path.join(folder, "rings.attn")
        asked = ["ring", "--ranks", "4,1,2", *SMALL[:-1], "3", "-o", session]
        done = run(*asked, "--rows-csv", "-", "--json", os.path.join(folder, "rings.json"))
        report.check(done.returncode == 0, f"rings: exit {done.returncode}: {done.stderr}")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        with open(os.path.join(folder, "rings.json"), encoding="utf-8") as file:
            rings = json.load(file)
        report.check([r["ranks"] for r in rings] == [1, 2, 4], f"rings: {[r['ranks'] for r in rings]}")
        report.check([row["ranks"] for row in rows] == ["1", "2", "4"], f"rows: {[row['ranks'] for row in rows]}")
        one = rings[0]["us_median"]
        for row, ring in zip(rows, rings):
            ranks = ring["ranks"]
            times = sorted(r["us"] for r in ring["runs"])
            report.check(close(row["time_us_median"], times[1]), f"{ranks}: {row['time_us_median']} of {times}")
            report.check(ring["one_rank_us_median"] in (None, one), f"{ranks}: one rank {ring['one_rank_us_median']}")
            if ranks == 1:
                said = [row[id] for id in ("ring_scaling_ratio", "ring_efficiency_pct", "ring_sent_bytes")]
                report.check(said == ["1", "100", "0"], f"one rank: {said}")
                report.check("sends nothing" in row["ring_link_share_pct_source"], f"one rank: {row}")
                continue
            scaling = one / times[1]
            report.check(close(row["ring_scaling_ratio"], scaling), f"{ranks}: {row['ring_scaling_ratio']}, {scaling}")
            report.check(close(row["ring_efficiency_pct"], 100 * scaling / ranks), f"{ranks}: {row}")
            report.check(float(row["ring_sent_bytes"]) == BYTES_OF_ALL_KEYS * (ranks - 1), f"{ranks}: {row}")
            middle = next(r for r in ring["runs"] if r["us"] == times[1])
            share = link_share(middle, ring["link_bytes_a_us"])
            report.check(close(row["ring_link_share_pct"], share), f"{ranks}: {share} and {row}")
        refuse_to_overwrite(asked, session)


def bench_runs_rings_along_ranks():
    with tempfile.TemporaryDirectory() as folder:
        session = os.path.join(folder, "rings.attn")
        asked = ["bench", "--kernels", "cpu_multicore,cpu_flash", "--axis", "ranks", "--values", "1,2,3", *SMALL[:-2],
                 "--causal", "--set", "deal=zigzag", "--time-limit", "0.05", "--attn", session, "--csv", "-"]
        done = run(*asked)
        report.check(done.returncode == 0, f"bench: exit {done.returncode}: {done.stderr}")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        others = [row for row in rows if row["kernel"] == "cpu_multicore"]
        rings = [row for row in rows if row["kernel"] == "cpu_flash"]
        report.check(len(others) == 1 and "did not run on a ring" in others[0]["ring_scaling_ratio_source"],
                     f"cpu_multicore: {others}")
        report.check([row["ranks"] for row in rings] == ["1", "2", "3"], f"rows: {[r['ranks'] for r in rings]}")
        report.check(len({row["threads"] for row in rings}) == 1, f"threads: {[r['threads'] for r in rings]}")
        one = float(rings[0]["time_us_median"])
        for n, row in enumerate(rings, 1):
            report.check(row["state"] == "done" and row["verdict"] == "pass", f"{n} ranks: {row}")
            report.check(close(row["ring_scaling_ratio"], one / float(row["time_us_median"])), f"{n} ranks: {row}")
            report.check(close(row["ring_efficiency_pct"], 100 * float(row["ring_scaling_ratio"]) / n), f"{n}: {row}")
            report.check(float(row["ring_sent_bytes"]) == BYTES_OF_ALL_KEYS * (n - 1), f"{n} ranks: {row}")
            report.check((row["ring_link_share_pct"] != "") == (n > 1), f"{n} ranks: {row}")
        for n in (1, 2, 3):
            report.check(f"cpu_flash, ranks = {n}, B=1 " in done.stderr, f"no row says ranks = {n}: {done.stderr}")
        report.check("cpu_multicore, B=1 " in done.stderr, f"cpu_multicore stands nowhere on it: {done.stderr}")
        shares = [float(row["peak_share_pct"] or "nan") for row in rows]
        report.check(all(share > 0 for share in shares), f"shares of the peak: {shares}")
        again = run(*asked, "--resume")
        report.check("4 of 4 points in" in again.stderr, f"again: {again.returncode} {again.stderr}")


# The slowest rank's rate of sending, of the link's.
def link_share(run_of_ring, link):
    rates = []
    for rank in run_of_ring["ranks"]:
        rates.append(rank["sent_bytes"] / sum(s[3] - s[2] for s in rank["spans"] if s[0] == "send"))
    return 100 * min(rates) / link


def close(text, value):
    return abs(float(text) - value) <= 1e-6 * abs(value)


def refuse_to_overwrite(asked, session):
    again = run(*asked)
    report.check(again.returncode == 2 and "--resume" in again.stderr, f"again: {again.returncode} {again.stderr}")
    more = run("ring", "--ranks", "2,3", *SMALL, "-o", session, "--resume", "--rows-csv", "-")
    ranks = sorted(row["ranks"] for row in csv.DictReader(io.StringIO(more.stdout)))
    report.check(ranks == ["1", "2", "3", "4"], f"after --resume: {ranks}: {more.stderr}")


def bad_input_is_refused_in_words():
    for arguments, words in ((["--ranks", "0"], "1 to 64"), (["--ranks", "65"], "1 to 64"),
                             (["--ranks", "2,3,2"], "twice"), (["--ranks", "two"], "--ranks"),
                             (["--resume"], "--attn"), (["--force"], "--attn"), (["-o", "-"], "stdout"),
                             (["--deal", "heads"], "zigzag"), (["--kernel", "cpu_tiled"], "cannot walk a ring"),
                             (["--repeats", "0"], "1 to 1000"), (["--set", "splits=4"], "splits=4"),
                             (["--generator", "none"], "none"), (["--seed", "-1"], "-1"),
                             (["--hang-limit", "-1"], "above 0"),
                             (["--pass", "backward", "--kernel", "cpu_flash"], "backward"),
                             (["--gpus", "2", "--ranks", "2"], "one rank per GPU"),
                             (["--gpus", "0"], "1 to 64 GPUs"), (["--gpus", "0,0"], "twice"),
                             (["--gpus", "x"], "--gpus"), (["--gpus", "2", "--travel", "post"], "ipc, nccl"),
                             (["--gpus", "2", "--deal", "none"], "zigzag"), (["--gpus", "2", "--b", "2"], "B = 1"),
                             (["--gpus", "2", "--dtype", "f32"], "f16 and bf16"),
                             (["--gpus", "2", "--kernel", "cpu_flash"], "does not run on a GPU"),
                             (["--gpus", "2", "--travel", "nccl", "--spared-sms", "0"], "1 to 64")):
        done = run("ring", "--l", "32", *arguments)
        report.check(done.returncode == 2 and words in done.stderr and done.stdout == "",
                     f"{arguments}: exit {done.returncode}: {done.stderr}")


def children_of(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return [int(n) for n in file.read().split()]


def running(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def lost(signal_sent, which, words, seconds, *more):
    """A ring of three that would run for a long time, of which one rank is lost."""
    with tempfile.TemporaryDirectory() as folder:
        ring = subprocess.Popen([BINARY, "ring", "--ranks", "3", "--l", "1500", "--hq", "8", "--d", "64", "--repeats",
                                 "1000", "--hang-limit", "4", *more], cwd=folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 30
        ranks = []
        while len(ranks) < 3 and time.monotonic() < until:
            time.sleep(0.05)
            ranks = children_of(ring.pid)
        time.sleep(0.5)
        os.kill(ranks[which], signal_sent)
        begin = time.monotonic()
        _, said = ring.communicate(timeout=60)
        took = time.monotonic() - begin
        report.check(ring.returncode == 3 or ring.returncode == 1, f"exit {ring.returncode}: {said}")
        report.check(f"Rank {which} of 3" in said and words in said, f"rank {which}: {said}")
        report.check(took < seconds, f"{took:.1f} s until: {said}")
        left = [rank for rank in ranks if running(rank)]
        report.check(not left, f"processes are left: {left}")


every_number_of_ranks_gives_the_bits_of_one_process()
all_that_a_forward_takes_goes_round()
a_backward_goes_round_with_its_sums()
spans_are_csv()
several_rings_are_rows_of_a_session()
bench_runs_rings_along_ranks()
bad_input_is_refused_in_words()
lost(signal.SIGKILL, 1, "signal 9", 6)
lost(signal.SIGSTOP, 2, "for 4 s", 12)  # it gave no sign, or took nothing
lost(signal.SIGSTOP, 1, "for 4 s", 12, "--pass", "backward")
report.exit(100)
