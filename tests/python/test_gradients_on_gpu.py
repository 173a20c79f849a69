"""The torch operator's gradients on a GPU: by the rule against autograd in float64, under torch.compile, in a CUDA
graph, on two streams, and in the training of a small model. Skipped where there is no GPU.
"""

import sys
import warnings

import package

torch = package.wanted("torch")
attnscope = package.wanted("attnscope")
of_torch = package.wanted("attnscope.torch")
if not torch.cuda.is_available():
    print("SKIPPED: torch finds no CUDA GPU")
    sys.exit(77)
report = package.wanted("program").Report()
from gradient_rule import judge  # noqa: E402
from tiny_model import GPT2, Training, losses  # noqa: E402

warnings.simplefilter("ignore", attnscope.CopyWarning)
torch.manual_seed(1)
DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def made(dtype, lq=333, lk=401, hkv=4, dims=64):
    q = torch.randn(2, 4, lq, dims, device="cuda", dtype=dtype, requires_grad=True)
    k, v = (torch.randn(2, hkv, lk, dims, device="cuda", dtype=dtype, requires_grad=True) for _ in range(2))
    return q, k, v, torch.randn(2, 4, lq, dims, device="cuda", dtype=dtype)


def by_the_rule():
    for dtype in DTYPES:
        for hkv, causal, dims in ((4, False, 64), (2, True, 64), (4, True, 128), (1, False, 96)):
            q, k, v, d_out = made(dtype, hkv=hkv, dims=dims)
            for repeats in (False, True):
                torch.use_deterministic_algorithms(repeats)
                got, again = (
                    torch.autograd.grad(attnscope.torch.attention(q, k, v, causal=causal), (q, k, v), d_out)
                    for _ in range(2)
                )
                judge(report, f"{hkv} heads, D {dims}, causal {causal}", got, q, k, v, d_out, causal)
                if repeats:
                    same = all(torch.equal(x, y) for x, y in zip(got, again))
                    report.check(same, f"{dtype}, D {dims}: the bits repeat")
    torch.use_deterministic_algorithms(False)


def heads_inside():
    x = torch.randn(2, 64, 4, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    d_out = torch.randn_like(x)
    q, k, v = (x.detach().clone().requires_grad_() for _ in range(3))
    got = torch.autograd.grad(of_torch.attention(q, k, v, layout="blhd"), (q, k, v), d_out)
    apart = [t.detach().transpose(1, 2) for t in (q, k, v, d_out)]
    judge(report, "[B, L, H, D]", [t.transpose(1, 2) for t in got], *apart)


def views():
    """Parts of one tensor, heads inside, are read where they lie; so is a gradient that comes transposed."""
    for dims in (64, 128):
        packed = torch.randn(2, 200, 3, 4, dims, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        q, k, v = (packed[:, :, n].transpose(1, 2) for n in range(3))
        d_out = torch.randn(2, 200, 4, dims, device="cuda", dtype=torch.bfloat16)
        (got,) = torch.autograd.grad(of_torch.attention(q, k, v, causal=True).transpose(1, 2), packed, d_out)
        given = [t.detach() for t in (q, k, v, d_out.transpose(1, 2))]
        judge(report, f"views, D {dims}", [got[:, :, n].transpose(1, 2) for n in range(3)], *given, True)


def compiled():
    @torch.compile(fullgraph=True)
    def step(q, k, v, d_out):
        out = of_torch.attention(q * 1.0, k, v, causal=True)
        return (out * d_out).sum()

    for dtype in (torch.float16, torch.bfloat16):
        q, k, v, d_out = made(dtype, lq=256, lk=256)
        loss = step(q, k, v, d_out)
        got = torch.autograd.grad(loss, (q, k, v))
        judge(report, "compiled", got, q, k, v, d_out, True)


def captured():
    """A whole step, forward and gradient, captured and replayed on other numbers."""
    q, k, v, d_out = made(torch.bfloat16, lq=256, lk=256)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            torch.autograd.grad(of_torch.attention(q, k, v), (q, k, v), d_out)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            got = torch.autograd.grad(of_torch.attention(q, k, v), (q, k, v), d_out)
    except (ValueError, RuntimeError) as error:
        # Prepared anew with each call, which a capture does not take: it says so, and what works.
        report.check("captured into a graph" in str(error), f"a step that is captured: {error}")
        print(f"refused in a capture: {error}")
        return
    with torch.no_grad():
        for x in (q, k, v, d_out):
            x.copy_(torch.randn_like(x))
    graph.replay()
    torch.cuda.synchronize()
    judge(report, "replayed", got, q, k, v, d_out)


def two_streams():
    streams, inputs = [torch.cuda.Stream() for _ in range(2)], [made(torch.float16, lq=1024, lk=1024) for _ in range(2)]
    torch.cuda.synchronize()
    answers = [None, None]
    torch.use_deterministic_algorithms(True)  # its blocks wait for one another: none may keep the other's from starting
    for _ in range(10):
        for n, stream in enumerate(streams):
            with torch.cuda.stream(stream):
                q, k, v, d_out = inputs[n]
                answers[n] = torch.autograd.grad(of_torch.attention(q, k, v), (q, k, v), d_out)
    torch.cuda.synchronize()
    torch.use_deterministic_algorithms(False)
    for got, given in zip(answers, inputs):
        judge(report, "two streams", got, *given)


def training():
    for dtype, near, shape in ((torch.float32, 1e-3, {}), (torch.bfloat16, 0.1, {"width": 256})):
        ours = losses(50, "cuda", dtype, of_torch.replaced, **shape)
        theirs = losses(50, "cuda", dtype, **shape)
        # In bfloat16 the two part in time; the first steps are near.
        many = 50 if dtype == torch.float32 else 10
        worst = max(abs(a - b) / max(b, 0.1) for a, b in zip(ours[:many], theirs))
        words = f"{dtype}: 50 steps from {ours[0]:.4f} to {ours[-1]:.4f}, with SDPA to {theirs[-1]:.4f}"
        report.check(ours[-1] < ours[0] / 3 and worst < near, f"{words}, {worst:.2g} apart")
        print(f"{words}, at most {worst:.2g} apart, the last by {attnscope.last_call().kernel}")


def apart(some, others):
    return max(abs(a - b) / max(b, 0.1) for a, b in zip(some, others))


def a_step_in_a_graph():
    """Forward, gradient and optimiser captured at once: the losses of replays are those of eager steps."""
    for dtype, near in ((torch.float32, 1e-4), (torch.bfloat16, 0.03)):
        given = (20, "cuda", dtype, of_torch.replaced)
        shape = {"tokens": (4, 257), "width": 256, "rate": 1e-3}
        replayed, eager = losses(*given, captured=True, **shape), losses(*given, **shape)
        words = f"{dtype}: a step in a graph, from {replayed[0]:.4f} to {replayed[-1]:.4f}"
        report.check(apart(replayed, eager) < near, f"{words}, {apart(replayed, eager):.2g} from eager steps")
        print(f"{words}, {apart(replayed, eager):.2g} apart")


def of_the_size_of_gpt2():
    """50 steps in bfloat16, no farther from cuDNN's losses than FlashAttention-2's are; and each one's time."""
    backends = torch.nn.attention.SDPBackend
    seen, times = {}, {}
    for name, attending in (
        ("cuDNN", lambda: torch.nn.attention.sdpa_kernel(backends.CUDNN_ATTENTION)),
        ("ours", of_torch.replaced),
        ("FlashAttention-2", lambda: torch.nn.attention.sdpa_kernel(backends.FLASH_ATTENTION)),
    ):
        training = Training("cuda", torch.float32, attending, (8, 1025), 3e-4, torch.bfloat16, **GPT2)
        marks, each = [], []
        for _ in range(50):
            each.append(training.step())
            marks.append(torch.cuda.Event(enable_timing=True))
            marks[-1].record()
        seen[name] = torch.stack(each).tolist()
        steps = sorted(a.elapsed_time(b) for a, b in zip(marks[9:], marks[10:]))
        times[name] = steps[len(steps) // 2]
        print(f"{name}: {times[name]:.2f} ms a step, losses {[round(x, 4) for x in seen[name][::7]]}")
    usual = apart(seen["FlashAttention-2"], seen["cuDNN"])
    ours = apart(seen["ours"], seen["cuDNN"])
    report.check(seen["ours"][-1] < 0.02, f"it learns: {seen['ours'][-1]}")
    report.check(ours < 3 * usual + 1e-3, f"a model of GPT-2's size: {ours:.2g} from cuDNN's; {usual:.2g} is usual")
    print(f"at most {ours:.2g} from cuDNN's losses; FlashAttention-2 {usual:.2g}")


for part in (by_the_rule, heads_inside, views, compiled, captured, two_streams, training, a_step_in_a_graph,
             of_the_size_of_gpt2):  # fmt: skip
    try:
        part()
    except Exception as error:  # the others are asked all the same
        report.check(False, f"{part.__name__}: {type(error).__name__}: {error}")
report.exit(80)
