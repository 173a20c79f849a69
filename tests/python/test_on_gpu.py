"""On a GPU: torch's tensors in their context, on their stream, by their allocator. Skipped where there is none."""

import sys

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
held("a view that is copied", view, right(apart, apart, apart), torch.bfloat16)

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

package.refused(report, "k: is on the CPU", lambda: attnscope.attention(x, x.cpu(), x))
report.exit(30)
