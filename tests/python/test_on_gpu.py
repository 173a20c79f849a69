"""On a GPU: torch's tensors in their context, on their stream, by their allocator. Skipped where there is none."""

import sys
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


def of_host(call):
    for _ in range(100):
        call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(1000):
        call()
    taken = (time.perf_counter() - start) / 1000
    torch.cuda.synchronize()
    return taken * 1e6


small = torch.randn(1, 1, 16, 64, device="cuda", dtype=torch.bfloat16)
tracked = small.clone().requires_grad_()
operator = torch.ops.attnscope.attention.default
plain = (small, small, small, None, "auto", False, [-1, -1], None, None, None, None, "bhld", "null")
for words, call in (
    ("a prepared call", attnscope.prepare(small, small, small)),
    ("attention()", lambda: attnscope.attention(small, small, small)),
    ("attnscope.torch.attention()", lambda: attnscope.torch.attention(small, small, small)),
    ("the same with a gradient", lambda: attnscope.torch.attention(tracked, small, small)),
    ("torch.ops.attnscope.attention", lambda: operator(*plain)),
    ("torch's own", lambda: torch.nn.functional.scaled_dot_product_attention(small, small, small)),
):
    print(f"{words}: {of_host(call):.1f} us of the host")

package.refused(report, "k: is on the CPU", lambda: attnscope.attention(x, x.cpu(), x))
report.exit(30)
