"""Rows of `attnscope bench --peers` beside a script that shares nothing with them but the protocol of docs/peers.md:

    python3 compare_peers_with_torch.py PROGRAM [SECONDS]

For each cell: the peer's row, this script's median before and after that row was taken, their ratio, and what
triton.testing.do_bench says of the same call (it flushes by writing and never rests, so it may differ). Exit 1 where a
ratio is beyond 3 %, 77 where there is no torch or no GPU. SECONDS: no cell is begun after so many.
"""
import csv
import io
import statistics
import subprocess
import sys
import time

try:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
except ImportError:
    print("python3 has no torch")
    sys.exit(77)
if not torch.cuda.is_available():
    print("torch sees no GPU")
    sys.exit(77)
try:
    from triton.testing import do_bench
except ImportError:
    do_bench = None

PROGRAM = sys.argv[1]
MOST_SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 600
MOST_OFF = 0.03
HEADS, TOKENS = 16, 16384
PAUSE_S, READS, WARM_UP = 500e-6, 8, 3
TORCH = {"torch-flash": SDPBackend.FLASH_ATTENTION, "torch-cudnn": SDPBackend.CUDNN_ATTENTION,
         "torch-efficient": SDPBackend.EFFICIENT_ATTENTION}
# dtype, D, causal, lengths, peers, and the kernel of ours that they take turns with.
CELLS = [("f16", d, causal, (1024, 4096, 16384), ("torch-flash", "torch-cudnn"), "flash_mma")
         for d in (64, 128) for causal in (False, True)]
CELLS += [("f32", d, False, (1024, 4096), ("torch-efficient",), "flash_tf32x3") for d in (64, 128)]

about = torch.cuda.get_device_properties(0)
torch.backends.cuda.matmul.allow_tf32 = False
other = torch.ones(3 * about.L2_cache_size // 4, device="cuda")


def call_of(peer, dtype, d, causal, length):
    """The call alone, its implementation already forced."""
    shape = (TOKENS // length, HEADS, length, d)
    kind = {"f16": torch.float16, "f32": torch.float32}[dtype]
    q, k, v = (torch.randn(shape, device="cuda").to(kind) for _ in range(3))
    return lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def median_us(call, repeats):
    """Rest, other data are read, event, call, event. What the host enqueued too late is taken again with more reads."""
    reads, taken = READS, []
    for _ in range(WARM_UP):
        call()
    torch.cuda.synchronize()
    while len(taken) < repeats:
        time.sleep(PAUSE_S)
        for _ in range(reads):
            other.amax()
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        call()
        waited = first.query()
        last.record()
        last.synchronize()
        if waited and reads < 256:
            reads *= 2
        else:
            taken.append(1e3 * first.elapsed_time(last))
    return statistics.median(taken)


def independent(peer, dtype, d, causal, length):
    with torch.inference_mode(), sdpa_kernel(TORCH[peer]):
        call = call_of(peer, dtype, d, causal, length)
        once = median_us(call, 3)
        return median_us(call, max(11, min(60, int(0.15e6 / max(once, 1)))))


def by_do_bench(peer, dtype, d, causal, length):
    if do_bench is None:
        return None
    with torch.inference_mode(), sdpa_kernel(TORCH[peer]):
        return 1e3 * do_bench(call_of(peer, dtype, d, causal, length), warmup=25, rep=100, return_mode="median")


def program_rows(dtype, d, causal, lengths, peers, kernel):
    words = [PROGRAM, "bench", "--kernels", kernel, "--values", ",".join(map(str, lengths)), "--tokens", TOKENS, "--hq",
             HEADS, "--d", d, "--dtype", dtype, "--peers", ",".join(peers), "--verify", "none", "--no-counters",
             "--time-limit", "0.3", "--peers-python", sys.executable] + (["--causal"] if causal else [])
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, timeout=300)
    if done.returncode not in (0, 1):
        print(f"bench ended with {done.returncode}: {done.stderr[-800:]}")
    return {(r["kernel"], int(r["Lq"])): r for r in csv.DictReader(io.StringIO(done.stdout)) if r["peer"]}


def ratios_of(dtype, d, causal, lengths, peers, kernel):
    """(peer, length) -> (bench, script) in microseconds, or the words of a row that is not there."""
    # Before and after: the chip's clock drifts by a percent while it warms up.
    script = {(p, n): [independent(p, dtype, d, causal, n)] for p in peers for n in lengths}
    rows = program_rows(dtype, d, causal, lengths, peers, kernel)
    found = {}
    for (peer, n), times in script.items():
        times.append(independent(peer, dtype, d, causal, n))
        row = rows.get((peer, n))
        if row is None or row["state"] != "done":
            found[peer, n] = f"no row: {row['state'] + ', ' + row['reason'] if row else 'it is missing'}"
        else:
            found[peer, n] = float(row["time_us_median"]), statistics.mean(times)
    return found


print(f"{about.name}, torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}, "
      f"do_bench {'of triton' if do_bench else 'not there: python3 has no triton'}")
print("peer             dtype   D mask    L        bench us  script us  ratio  do_bench us  ratio")
begin, seen, off, worst = time.monotonic(), 0, [], 0.0
for dtype, d, causal, lengths, peers, kernel in CELLS:
    if time.monotonic() - begin > MOST_SECONDS:
        print(f"the time is up: {dtype}, D = {d}, {'causal' if causal else 'full'} and what follows were not compared")
        break
    for (peer, n), found in ratios_of(dtype, d, causal, lengths, peers, kernel).items():
        name = f"{peer:<16} {dtype:<5} {d:>3} {'causal' if causal else 'full':<6} {n:>6}"
        if isinstance(found, str):
            off.append(name)
            print(f"{name}  {found}")
            continue
        seen += 1
        ours, theirs = found
        ratio, words = ours / theirs, ""
        if abs(ratio - 1) > MOST_OFF:
            # One disturbed run is no disagreement: the median of three is.
            again = [ratios_of(dtype, d, causal, (n,), (peer,), kernel)[peer, n] for _ in range(2)]
            all_ratios = [ratio] + [one[0] / one[1] for one in again if not isinstance(one, str)]
            ratio = statistics.median(all_ratios)
            words = "  median of " + ", ".join(f"{one:.3f}" for one in all_ratios)
        worst = max(worst, abs(ratio - 1))
        if abs(ratio - 1) > MOST_OFF:
            off.append(name)
            words += "  BEYOND 3 %"
        other_way = by_do_bench(peer, dtype, d, causal, n)
        print(f"{name}  {ours:>10.1f} {theirs:>10.1f} {ratio:>6.3f}"
              + (f" {other_way:>12.1f} {ours / other_way:>6.3f}" if other_way else "") + words, flush=True)
print(f"{seen} rows compared, {len(off)} beyond 3 % or missing; the furthest is off by {100 * worst:.1f} %")
sys.exit(1 if off or not seen else 0)
