"""On a GPU: torch's tensors in their context, on their stream, by their allocator. Skipped where there is none."""

import os
import statistics
import sys
import threading
import time

import package

torch = package.wanted("torch")
attnscope = package.wanted("attnscope")
package.wanted("attnscope.torch")
if not torch.cuda.is_available():
    print("SKIPPED: torch finds no CUDA GPU")
    sys.exit(77)
report = package.wanted("program").Report()
# Of values of N(0, 1), in units of the largest |v|.
ALLOWED = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}


def right(q, k, v, causal=False):
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, 1).double() for x in (k, v))
    s = q.double() @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if causal:
        lq, lk = s.shape[-2:]
        s = s.masked_fill(torch.ones(lq, lk, dtype=torch.bool, device=s.device).triu(lk - lq + 1), float("-inf"))
    return s.softmax(-1) @ v


def held(words, out, expected, dtype):
    error = (out.double() - expected).abs().max().item()
    report.check(error <= ALLOWED[dtype] * 5, f"{words}: off by {error} ({attnscope.last_call()})")


for dtype in ALLOWED:
    for hkv, causal in ((4, False), (2, True)):
        q = torch.randn(2, 4, 333, 64, device="cuda", dtype=dtype)
        k, v = (torch.randn(2, hkv, 401, 64, device="cuda", dtype=dtype) for _ in range(2))
        held(f"{dtype} {hkv}", attnscope.attention(q, k, v, causal=causal), right(q, k, v, causal), dtype)
        print(dtype, attnscope.last_call())
        for row in attnscope.kernels():
            if row["device"] != "gpu" or str(dtype).partition(".")[2] not in row["dtypes"]:
                continue
            try:
                out = attnscope.attention(q, k, v, causal=causal, kernel=row["id"])
            except ValueError as error:
                print(f"{row['id']}: {error}")
                continue
            held(row["id"], out, right(q, k, v, causal), dtype)

inside = torch.randn(2, 256, 4, 64, device="cuda", dtype=torch.bfloat16)
out = attnscope.attention(inside, inside, inside, layout="blhd")
apart = inside.transpose(1, 2)
held("[B, L, H, D]", out.transpose(1, 2), right(apart, apart, apart), torch.bfloat16)
print("blhd", attnscope.last_call())
view = attnscope.attention(apart, apart, apart)
held("a transposed view", view, right(apart, apart, apart), torch.bfloat16)
packed = torch.randn(2, 256, 3, 4, 64, device="cuda", dtype=torch.bfloat16)
q, k, v = (packed[:, :, n].transpose(1, 2) for n in range(3))
for kernel in ("flash_splitkv", "flash_hopper"):
    try:
        view = attnscope.attention(q, k, v, kernel=kernel)
    except ValueError as error:
        print(f"{kernel}: {error}")
        continue
    held(f"{kernel}: views of one tensor", view, right(q, k, v), torch.bfloat16)
    report.check(attnscope.last_call().copied == (), f"{kernel} copies {attnscope.last_call().copied}")

# Two streams, each with its own work in flight.
streams, answers = [torch.cuda.Stream() for _ in range(2)], []
inputs = [torch.randn(1, 8, 1024, 64, device="cuda", dtype=torch.bfloat16) for _ in streams]
torch.cuda.synchronize()
for _ in range(20):
    for stream, x in zip(streams, inputs):
        with torch.cuda.stream(stream):
            y = x * 1
            answers.append((attnscope.attention(y, y, y), x))
torch.cuda.synchronize()
for out, x in answers:
    held("two streams", out, right(x, x, x), torch.bfloat16)

# Captured into a graph and replayed on new numbers.
x = torch.randn(1, 4, 512, 64, device="cuda", dtype=torch.bfloat16)
ready = attnscope.prepare(x, x, x)
ready()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    ready()
x.copy_(torch.randn_like(x))
graph.replay()
torch.cuda.synchronize()
held("a graph that is replayed", ready.out, right(x, x, x), torch.bfloat16)

# So may a call of a problem that is known, and its workspace with it.
for given in ({}, {"key_lengths": [400]}, {"kernel": "flash_splitkv", "options": {"splits": 3}}):
    attnscope.attention(x, x, x, **given)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = attnscope.attention(x, x, x, **given)
    x.copy_(torch.randn_like(x))
    kept = x.clone()
    eager = attnscope.attention(x, x, x, **given)
    graph.replay()
    torch.cuda.synchronize()
    held(f"a call that is captured, {list(given)}", out, eager.double(), torch.bfloat16)


# Numbers in tensors of the GPU stay there: a graph finds the new ones.
lengths = torch.tensor([400], device="cuda")
attnscope.attention(x, x, x, key_lengths=lengths)
torch.cuda.synchronize()
torch.cuda.set_sync_debug_mode("error")
out = attnscope.attention(x, x, x, key_lengths=lengths, alibi=torch.ones(4, device="cuda"))
torch.cuda.set_sync_debug_mode("default")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    out = attnscope.attention(x, x, x, key_lengths=lengths)
for length in (17, 512):
    lengths.fill_(length)
    graph.replay()
    held(f"{length} keys", out, right(x, x[:, :, :length], x[:, :, :length]), torch.bfloat16)
lengths.fill_(10**9)
out = attnscope.attention(x, x, x, key_lengths=lengths)
held("lengths beyond the keys are limited to them", out, right(x, x, x), torch.bfloat16)
for dtype in (torch.float16, torch.bfloat16):
    pool = torch.randn(12, 2, 64, 64, device="cuda", dtype=dtype)
    one = torch.randn(2, 8, 1, 64, device="cuda", dtype=dtype)
    table = torch.tensor([[4, 0, 2, 7], [5, 1, -1, 99]], dtype=torch.int32, device="cuda")
    keys = (250, 100)
    attending = {"page_table": table, "key_lengths": torch.tensor(keys, device="cuda")}
    out = attnscope.attention(one, pool, pool, **attending)
    for b, n in enumerate(keys):
        k = pool[table[b, : -(-n // 64)].long()].transpose(0, 1).flatten(1, 2)[None, :, :n]
        held(f"{dtype} pages, batch {b}", out[b : b + 1], right(one[b : b + 1], k, k), dtype)


def of_host(call, wait=torch.cuda.synchronize):
    """Median of 10 000 calls, in us. The GPU is waited for now and then: no call waits for a place in its queue."""
    for _ in range(100):
        call()
    wait()
    taken = []
    for n in range(10000):
        start = time.perf_counter_ns()
        call()
        taken.append(time.perf_counter_ns() - start)
        if n % 100 == 99:
            wait()
    return statistics.median(taken) / 1000


small = torch.randn(1, 1, 16, 64, device="cuda", dtype=torch.bfloat16)
tracked = small.clone().requires_grad_()
three, sdpa = [small.clone().requires_grad_() for _ in range(3)], torch.nn.functional.scaled_dot_product_attention
d_out = torch.randn_like(small)
operator = torch.ops.attnscope.attention.default
plain = (small, small, small, None, "auto", False, [-1, -1], None, None, None, None, "bhld", "null")
prepared, own_lengths = attnscope.prepare(small, small, small), torch.tensor([9], device="cuda")
for words, call in (
    ("a prepared call", prepared),
    ("attention()", lambda: attnscope.attention(small, small, small)),
    ("attention(), lengths on the GPU", lambda: attnscope.attention(small, small, small, key_lengths=own_lengths)),
    ("attnscope.torch.attention()", lambda: attnscope.torch.attention(small, small, small)),
    ("the same with a gradient", lambda: attnscope.torch.attention(tracked, small, small)),
    ("torch.ops.attnscope.attention", lambda: operator(*plain)),
    ("torch's own", lambda: sdpa(small, small, small)),
    ("the same with a gradient", lambda: sdpa(tracked, small, small)),
    ("ours, forward and backward", lambda: torch.autograd.grad(attnscope.torch.attention(*three), three, d_out)),
    ("torch's, forward and backward", lambda: torch.autograd.grad(sdpa(*three), three, d_out)),
):
    taken = of_host(call)
    print(f"{words}: {taken:.1f} us of the host")
    report.check(call is not prepared or taken <= 8, f"{words} takes {taken:.1f} us, more than 8")


def of_cupy():
    try:
        import cupy
    except ImportError as error:
        print(f"no CuPy: {error}")
        return
    q, k, v = (cupy.from_dlpack(torch.randn(2, 4, 256, 64, device="cuda", dtype=torch.float16)) for _ in range(3))
    expected = right(*(torch.from_dlpack(x) for x in (q, k, v)))
    into = cupy.empty_like(q)
    report.check(attnscope.attention(q, k, v, out=into) is into, "CuPy: into its own array")
    held("CuPy", torch.from_dlpack(into), expected, torch.float16)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        out = attnscope.attention(q * 1, k, v)
        stream.synchronize()
    held("CuPy, on a stream of its own", torch.from_dlpack(out), expected, torch.float16)
    report.check(attnscope.last_call().copied == (), f"CuPy: copied {attnscope.last_call().copied}")
    x = cupy.zeros((1, 1, 16, 64), cupy.float16)
    taken = of_host(attnscope.prepare(x, x, x), cupy.cuda.Device().synchronize)
    report.check(taken <= 20, f"CuPy: a prepared call takes {taken:.1f} us, more than 20")
    print(f"CuPy, a prepared call: {taken:.1f} us of the host")


def of_jax():
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    try:
        import jax

        gpu = jax.devices("gpu")[0]
    except (ImportError, RuntimeError) as error:
        print(f"no JAX on a GPU: {error}")
        return
    given = [torch.randn(2, 4, 256, 64, device="cuda", dtype=torch.float16) for _ in range(3)]
    q, k, v = (jax.device_put(x.cpu().numpy(), gpu) for x in given)
    expected, mine = right(*given), []
    for n in range(50):  # what JAX frees meanwhile is given to others
        out = attnscope.attention(q + 0, k + 0, v + 0)
        mine.append(jax.numpy.asarray(out) * 2)
    for x in mine:
        held("JAX", torch.from_dlpack(x) / 2, expected, torch.float16)
    report.check(isinstance(out, jax.Array) and out.devices() == {gpu}, f"the answer is JAX's: {type(out)}")
    report.check(attnscope.last_call().copied == (), f"JAX: copied {attnscope.last_call().copied}")
    short = [x[:, :, :100] for x in given[1:]]
    out = attnscope.attention(q, k, v, key_lengths=jax.device_put(jax.numpy.array([100, 100]), gpu))
    held("JAX, lengths on the GPU", torch.from_dlpack(out), right(given[0], *short), torch.float16)
    inside = attnscope.attention(*(x.swapaxes(1, 2) for x in (q, k, v)), layout="blhd")
    held("JAX, [B, L, H, D]", torch.from_dlpack(inside).transpose(1, 2), expected, torch.float16)

    def elsewhere():
        answers.append(attnscope.attention(q, k, v))

    answers, thread = [], threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    report.check(len(answers) == 1, "a thread that has no context yet")
    for x in answers:
        held("JAX, in a thread of its own", torch.from_dlpack(x), expected, torch.float16)


of_cupy()
of_jax()
package.refused(report, "k: is on the CPU", lambda: attnscope.attention(x, x.cpu(), x))
report.exit(30)
