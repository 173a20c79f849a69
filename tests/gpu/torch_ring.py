"""A ring of GPUs made of torch alone, beside which `attnscope ring --gpus` is judged: FlashAttention-2 or cuDNN,
partial results merged by their LSE, K and V by NCCL on a stream of its own while the share at hand is computed.

    python3 torch_ring.py [--ranks N] [--repeats N] [--cpu] CELL...     CELL: full:16384 or causal:65536

Causal cells are dealt by zigzag. Per cell and implementation: a line with the median of one GPU and of the ring, its
quartiles, the speed-up, and how far the output is off that of one GPU where that is compared (4096 rows at most). A run
lasts as long as that of its slowest rank, from a word that all have; L2 holds other data before. --cpu rehearses it by
gloo, in f32. Exit 77 where there is no torch or there are too few GPUs.
"""
import argparse
import os
import statistics
import sys
import time

try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
except ImportError:
    print("python3 has no torch")
    sys.exit(77)

HEADS, WIDTH, WARM_UP, MOST_COMPARED = 16, 128, 3, 4096


def attend(name, q, k, v, causal):
    """O in the dtype of Q, LSE in f32 [B, H, L]."""
    if name == "torch-flash":
        out, lse = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False)[:2]
    elif name == "torch-cudnn":
        out, lse = torch.ops.aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal, False)[:2]
    else:
        out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal)
    return out, lse.reshape(lse.shape[0], lse.shape[1], -1)


@torch.jit.script
def merged(out, lse, part, part_lse):
    """Both as softmax over all their keys: in f32, fused, as ring-flash-attn does."""
    share = torch.sigmoid(part_lse - lse).unsqueeze(-1)
    return out + share * (part.float() - out), torch.logaddexp(lse, part_lse)


def chunks_of(rank, ranks, zigzag):
    return [rank, 2 * ranks - 1 - rank] if zigzag else [2 * rank, 2 * rank + 1]


def dealt(whole, rank, ranks, zigzag):
    pieces = whole.chunk(2 * ranks, dim=2)
    return torch.cat([pieces[n] for n in chunks_of(rank, ranks, zigzag)], dim=2).contiguous()


class Ring:
    def __init__(self, name, rank, ranks, causal, q, k, v):
        self.name, self.rank, self.ranks, self.causal = name, rank, ranks, causal
        self.q, self.own = q, torch.stack((k, v))
        self.slots = [torch.empty_like(self.own) for _ in range(2)]

    def pass_on(self, share, slot):
        right, left = (self.rank + 1) % self.ranks, (self.rank - 1) % self.ranks
        return dist.batch_isend_irecv([dist.P2POp(dist.isend, share, right), dist.P2POp(dist.irecv, slot, left)])

    def run(self):
        half, share = self.q.shape[2] // 2, self.own
        out = lse = None
        for turn in range(self.ranks):
            last = turn + 1 == self.ranks
            works = [] if last else self.pass_on(share, self.slots[turn % 2])
            k, v = share[0], share[1]
            whose = (self.rank - turn) % self.ranks
            if turn == 0:
                part, lse = attend(self.name, self.q, k, v, self.causal)
                out = part.float() if self.ranks > 1 else part
            elif not self.causal:
                out, lse = merged(out, lse, *attend(self.name, self.q, k, v, False))
            elif whose < self.rank:  # its early chunk lies before all our rows
                out, lse = merged(out, lse, *attend(self.name, self.q, k[:, :, :half], v[:, :, :half], False))
            else:  # all of it lies before our late chunk
                late = attend(self.name, self.q[:, :, half:], k, v, False)
                o, m = merged(out[:, :, half:], lse[:, :, half:], *late)
                out[:, :, half:], lse[:, :, half:] = o, m
            for work in works:
                work.wait()
            share = self.slots[turn % 2] if not last else share
        return out.to(self.q.dtype)


class Clock:
    """Microseconds of a call on this rank after all ranks are there."""

    def __init__(self, device):
        self.device, self.word = device, torch.zeros(1, device=device)
        self.other = None
        if device.type == "cuda":
            self.other = torch.ones(3 * torch.cuda.get_device_properties(device).L2_cache_size // 4, device=device)

    def us(self, call, alone):
        if self.other is not None:
            for _ in range(4):
                self.other.amax()
        if not alone:
            dist.all_reduce(self.word)
        if self.device.type == "cpu":
            begin = time.perf_counter()
            call()
            return 1e6 * (time.perf_counter() - begin)
        first, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        call()
        end.record()
        end.synchronize()
        return 1e3 * first.elapsed_time(end)


def times_of(clock, call, repeats, alone):
    taken = [clock.us(call, alone) for _ in range(WARM_UP + repeats)][WARM_UP:]
    if alone:
        return taken
    slowest = torch.tensor(taken, dtype=torch.float64, device=clock.device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return slowest.tolist()


def tried(asked, rank, device, clock, name, causal, length):
    kind = torch.float32 if asked.cpu else torch.float16
    made = torch.Generator(device="cpu").manual_seed(length)
    shape = (1, HEADS, length, WIDTH)
    compare = length <= MOST_COMPARED
    if compare:  # the same numbers everywhere
        q, k, v = (torch.randn(shape, generator=made).to(device, kind) for _ in range(3))
        mine = [dealt(t, rank, asked.ranks, causal) for t in (q, k, v)]
    else:
        q, k, v = (torch.randn(shape, device=device, dtype=kind) for _ in range(3)) if rank == 0 else (None,) * 3
        rows = (1, HEADS, length // asked.ranks, WIDTH)
        mine = [torch.randn(rows, device=device, dtype=kind) for _ in range(3)]
    one = []
    if rank == 0:
        one = times_of(clock, lambda: attend(name, q, k, v, causal), asked.repeats, True)
    dist.barrier()
    ring = Ring(name, rank, asked.ranks, causal, *mine)
    taken = times_of(clock, ring.run, asked.repeats, False)
    off = torch.zeros(1, device=device)
    if compare:
        wanted = dealt(attend(name, q, k, v, causal)[0], rank, asked.ranks, causal)
        off[0] = (ring.run().float() - wanted.float()).abs().max()
        dist.all_reduce(off, op=dist.ReduceOp.MAX)
    if rank == 0:
        alone, low, two, high = statistics.median(one), *statistics.quantiles(taken, n=4)
        print(f"{name:<12} {'causal' if causal else 'full':<6} {length:>7}  one {alone / 1e3:9.3f} ms  "
              f"ring of {asked.ranks} {two / 1e3:9.3f} ms ({low / 1e3:.3f} to {high / 1e3:.3f})  "
              f"{alone / two:.3f} times"
              + (f"  off by {off.item():.2g}" if compare else ""), flush=True)
    return off.item() < 5e-3


def work(rank, asked, good):
    device = torch.device("cpu") if asked.cpu else torch.device("cuda", rank)
    if not asked.cpu:
        torch.cuda.set_device(device)
    dist.init_process_group("gloo" if asked.cpu else "nccl", rank=rank, world_size=asked.ranks,
                            device_id=None if asked.cpu else device)
    clock = Clock(device)
    with torch.inference_mode():
        for cell in asked.cells:
            mask, length = cell.split(":")
            for name in ["torch-cpu"] if asked.cpu else ["torch-flash", "torch-cudnn"]:
                if not tried(asked, rank, device, clock, name, mask == "causal", int(length)):
                    good.value = 0
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("cells", nargs="+")
    asked = parser.parse_args()
    if not asked.cpu and torch.cuda.device_count() < asked.ranks:
        print(f"there are {torch.cuda.device_count()} GPUs here, not {asked.ranks}")
        sys.exit(77)
    # Multicast through a switch that others share is off.
    os.environ.update(NCCL_NVLS_ENABLE="0", MASTER_ADDR="127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(20000 + os.getpid() % 20000))
    good = mp.get_context("spawn").Value("i", 1)
    print(f"torch {torch.__version__}" + ("" if asked.cpu else f", {torch.cuda.get_device_name(0)}, cuDNN "
          f"{torch.backends.cudnn.version()}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}"), flush=True)
    mp.spawn(work, (asked, good), nprocs=asked.ranks)
    sys.exit(0 if good.value else 1)


if __name__ == "__main__":
    main()
