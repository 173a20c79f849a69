"""Our rungs for Hopper beside their peers in several rounds of turns, from Python and with numbers made on the GPU:

    python3 rounds_of_peers.py [ROUNDS [SECONDS [D,D,... [forward|backward]]]]

Left out: 3, 600, 64,128,256, forward. Needs the package attnscope; OUT names the folder of rounds.csv. Cells: L = 1024
to 16384, full and causal, f16 and bf16, B L = 16384, H = 16. A round is a turn of each and then one of each in reverse,
by the protocol and the callers of docs/peers.md. A cell's ratio is the median of its rounds against the peer that was
the fastest in it; cells under 0.97, or 0.93 backward, are measured again at the end, and both are shown. Backward also
has turns of flash_bwd, and in f16 of flash_bwd_hopper with `deterministic`. The SM clock and the power are read after
each turn. No cell is begun after SECONDS. Exit 77 where something is missing.
"""
import csv
import os
import pathlib
import statistics
import sys
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "assets" / "peers"))
try:
    import pynvml
    import torch

    import attnscope
    from attnscope import _core
    from attnscope._homes import Torch as OurArrays
    from attnscope_arrays import Refused, Torch
    from attnscope_callers import Backward, PackagePeer, TorchPeer, words_of
except ImportError as error:
    print(f"python3 has not all that is needed: {error}")
    sys.exit(77)
if not torch.cuda.is_available():
    print("torch sees no GPU")
    sys.exit(77)

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 600
DIMS = [int(d) for d in sys.argv[3].split(",")] if len(sys.argv) > 3 else [64, 128, 256]
PASS = sys.argv[4] if len(sys.argv) > 4 else "forward"
TOKENS, HEADS = 16384, 16
TURN_S, FEWEST, MOST = 0.06, 11, 50
US, PEERS, LENGTHS, PRODUCTS, LEAST = {
    "forward": ("flash_hopper", ("torch-cudnn", "flash-attn-3", "flash-attn-4"), (1024, 2048, 4096, 8192, 16384), 2,
                0.97),
    "backward": ("flash_bwd_hopper", ("torch-flash", "torch-cudnn", "flash-attn-4"), (1024, 4096, 8192, 16384), 5,
                 0.93)}[PASS]

warnings.simplefilter("ignore")
arrays = Torch({"device": "cuda", "gpu": 0})
about = torch.cuda.get_device_properties(0)
pynvml.nvmlInit()
card = pynvml.nvmlDeviceGetHandleByIndex(0)
begin = time.monotonic()


class Ours:
    def __init__(self, tensors, causal):
        self.call = attnscope.prepare(*(tensors[x] for x in "qkv"), kernel=US, causal=causal)

    def outs(self):
        return [self.call()]

    def times(self, turns, turn):
        return turns.times(self.call, turn)


class OurGradients(Ours):
    """From O and LSE of a forward pass before the clock starts."""

    def __init__(self, tensors, causal, kernel, options=None):
        qkv = [tensors[x].detach() for x in "qkv"]
        out, lse = attnscope.attention(*qkv, kernel="flash_hopper", causal=causal, return_lse=True)
        asked = (*qkv, kernel, causal, None, None, None, None, None, None, "bhld", options, out, lse, tensors["do"])
        self.call = lambda: _core.backward(*asked, OurArrays)

    def outs(self):
        return self.call()[:3]


def ours(tensors, dtype, causal):
    if PASS == "forward":
        return {US: Ours(tensors, causal)}
    found = {US: OurGradients(tensors, causal, US), "flash_bwd": OurGradients(tensors, causal, "flash_bwd")}
    if dtype == "f16":
        found["deterministic"] = OurGradients(tensors, causal, US, {"deterministic": True})
    return found


def opened(dtype, d, causal, length):
    """Those that take this cell, by name, each with what it answers; and the reasons of the others."""
    shape = (TOKENS // length, HEADS, length, d)
    tensors = {x: torch.randn(shape, device="cuda", dtype=arrays.dtype(dtype)) for x in ("q", "k", "v", "do")}
    problem = {"dtype": dtype, "B": shape[0], "Hq": HEADS, "Hkv": HEADS, "Lq": length, "Lk": length, "D": d, "Dv": d,
               "scale": d**-0.5, "causal": causal, "window_left": -1, "window_right": -1, "key_lengths": None,
               "bias": None, "pass": PASS}
    if PASS == "backward":
        for x in "qkv":
            tensors[x].requires_grad_()
    found, refused, right = ours(tensors, dtype, causal), {}, None
    mine = list(found)
    for name in PEERS:
        try:
            kind = PackagePeer if name in PackagePeer.PACKAGES else TorchPeer
            peer = kind(arrays, name, problem, tensors)
            found[name] = Backward(arrays, peer) if PASS == "backward" else peer
            outs = [out.float() for out in found[name].outs()]
            right = outs if right is None else right
        except Refused as why:
            found.pop(name, None)
            refused[name] = str(why)
        except Exception as error:  # a package's own
            found.pop(name, None)
            refused[name] = words_of(error)
    differences = (got.float() - x for name in mine for got, x in zip(found[name].outs(), right or []))
    off = max((one.abs().max().item() for one in differences), default=float("nan"))
    torch.cuda.synchronize()
    return found, refused, off


def turn_of(runner):
    """Microseconds of each repeat, as many as fit the turn."""
    turn = {"warm_up": 3, "repeats": 1, "pause_us": 500, "flushes": 8, "flush_bytes": 3 * about.L2_cache_size}
    if not hasattr(runner, "repeats"):
        once = runner.times(arrays, turn)[0]
        runner.repeats = max(FEWEST, min(MOST, int(TURN_S * 1e6 / (once + 1200))))
    return runner.times(arrays, {**turn, "repeats": runner.repeats})


def measured(rows, cell):
    """Median of each runner in each round."""
    found, refused, off = opened(*cell)
    rounds = []
    for number in range(ROUNDS):
        taken = {name: [] for name in found}
        for name in [*found, *reversed(found)]:
            taken[name] += turn_of(found[name])
            clock = pynvml.nvmlDeviceGetClockInfo(card, pynvml.NVML_CLOCK_SM)
            watts = pynvml.nvmlDeviceGetPowerUsage(card) / 1000
            rows.append([*cell, number, name, statistics.median(taken[name]), len(taken[name]), clock, watts])
        rounds.append({name: statistics.median(times) for name, times in taken.items()})
    return rounds, refused, off


def told(cell, rounds, off, rows):
    """Prints the cell; its ratio against the fastest of its peers, and which that was."""
    dtype, d, causal, length = cell
    middle = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    best = min((name for name in middle if name in PEERS), key=middle.get)
    ratios = [one[best] / one[US] for one in rounds]
    pairs = TOKENS * HEADS * (length + 1) / 2 if causal else TOKENS * HEADS * length
    seen = [row for row in rows if tuple(row[:4]) == cell]
    print(f"{d:>3} {dtype:<4} {'causal' if causal else 'full':<6} {length:>5}  {middle[US]:>8.1f} us "
          f"{2e-6 * PRODUCTS * pairs * d / middle[US]:>4.0f} TFLOP/s  {best:<12} {statistics.median(ratios):.3f} "
          f"({', '.join(f'{r:.3f}' for r in ratios)})  "
          + "  ".join(f"{name} {statistics.median(one[name] / one[US] for one in rounds):.3f}"
                      for name in middle if name != US)
          + f"  off {off:.1e}  {min(row[8] for row in seen)}-{max(row[8] for row in seen)} MHz "
          f"{statistics.median(row[9] for row in seen):.0f} W", flush=True)
    return statistics.median(ratios)


def summary(words, ratios):
    if ratios:
        least = min(ratios, key=ratios.get)
        print(f"{words}: {len(ratios)} cells, geometric mean {statistics.geometric_mean(ratios.values()):.3f}, least "
              f"{ratios[least]:.3f} at {least}; under {LEAST}: {sum(r < LEAST for r in ratios.values())}")


def main():
    print(f"{about.name}, {arrays.software}, {ROUNDS} rounds")
    rows, ratios, said = [], {}, set()
    cells = [(dtype, d, causal, length) for d in DIMS for dtype in ("f16", "bf16") for causal in (False, True)
             for length in LENGTHS]
    for cell in cells:
        if time.monotonic() - begin > SECONDS:
            print(f"the time is up: {cell} and what follows were not measured")
            break
        rounds, refused, off = measured(rows, cell)
        for why in refused.items():
            if why not in said:
                said.add(why)
                print(*why, sep=": ")
        ratios[cell] = told(cell, rounds, off, rows)
    for d in DIMS:
        summary(f"D = {d}", {cell: r for cell, r in ratios.items() if cell[1] == d})
    summary("all", ratios)
    under = [cell for cell, r in ratios.items() if r < LEAST]
    print("measured again:" if under else "none to measure again")
    for cell in under:
        if time.monotonic() - begin <= SECONDS + 60:
            again = []
            rounds, _, off = measured(again, cell)
            told(cell, rounds, off, again)
            rows += again
    with open(pathlib.Path(os.environ.get("OUT", ".")) / "rounds.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow("dtype d causal length round runner us repeats sm_clock_mhz watts".split())
        writer.writerows(rows)
    print(f"{time.monotonic() - begin:.0f} s")


main()
