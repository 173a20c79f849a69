"""The torch operator: values, gradients, opcheck, torch.compile; models that run on our kernels; a captured call."""

import sys
import warnings

import package

torch = package.wanted("torch")
attnscope = package.wanted("attnscope")
of_torch = package.wanted("attnscope.torch")
report = package.wanted("program").Report()
from tiny_model import Tiny, losses  # noqa: E402
warnings.simplefilter("ignore", attnscope.CopyWarning)
sdpa = torch.nn.functional.scaled_dot_product_attention
torch.manual_seed(1)
# Of fp64, in units of the largest number: the forward, and the gradients.
ALLOWED = {torch.float32: (1e-5, 2e-5), torch.float16: (2e-3, 8e-3), torch.bfloat16: (2e-2, 6e-2)}


def close(words, got, right, allowed):
    error = (got.double() - right.double()).abs().max().item()
    size = max(1.0, right.double().abs().max().item())
    report.check(error <= allowed * size, f"{words}: off by {error} of {size}")


def values_and_gradients():
    for dtype, (forward, backward) in ALLOWED.items():
        for lq, lk, hkv, given in (
            (20, 20, 4, {}), (33, 33, 2, {"causal": True}), (5, 40, 1, {"scale": 0.2}), (17, 30, 4, {"bias": True}),
            (12, 12, 2, {"softcap": 3.0, "window": (4, 2)}), (9, 9, 4, {"alibi": True}),
            (8, 16, 4, {"key_lengths": [16, 5]}),
        ):  # fmt: skip
            q = torch.randn(2, 4, lq, 16, dtype=dtype, requires_grad=True)
            k = torch.randn(2, hkv, lk, 16, dtype=dtype, requires_grad=True)
            v = torch.randn(2, hkv, lk, 8, dtype=dtype, requires_grad=True)
            given = dict(given)
            if given.get("bias"):
                given["bias"] = torch.randn(4, lq, lk)
            out = attnscope.attention(q, k, v, **given)
            d_out = torch.randn_like(out)
            grads = torch.autograd.grad(out, (q, k, v), d_out)
            # The definition in fp64 on the inputs as stored, by torch's own autograd.
            stored = [x.detach().double().requires_grad_() for x in (q, k, v)]
            right = definition(*stored, **given)
            right_grads = torch.autograd.grad(right, stored, d_out.double())
            words = f"{dtype} {lq} {lk} {list(given)}"
            close(words, out, right, forward)
            for name, got, expected in zip("qkv", grads, right_grads):
                close(f"{words}: d{name}", got, expected, backward)
                report.check(got.dtype == dtype and got.shape == expected.shape, f"{words}: d{name} is {got.dtype}")


def definition(q, k, v, causal=False, scale=None, bias=None, softcap=None, window=None, alibi=None, key_lengths=None):
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, 1) for x in (k, v))
    lq, lk = q.shape[2], k.shape[2]
    s = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    s = s if softcap is None else softcap * torch.tanh(s / softcap)
    own, keys = torch.arange(lq)[:, None] + lk - lq, torch.arange(lk)[None]
    s = s if bias is None else s + bias.double()
    if alibi is not None:
        slopes = 2.0 ** (-8.0 * (torch.arange(q.shape[1], dtype=torch.float64) + 1) / q.shape[1])
        s = s - slopes[:, None, None] * (own - keys).abs()
    left, right = window or (None, None)
    seen = torch.ones(lq, lk, dtype=torch.bool)
    if causal:
        seen &= keys <= own
    if left is not None:
        seen &= keys >= own - left
    if right is not None:
        seen &= keys <= own + right
    if key_lengths is not None:
        seen = seen & (keys < torch.tensor(key_lengths)[:, None, None, None])
    return s.masked_fill(~seen, float("-inf")).softmax(-1) @ v


def as_operator():
    for dtype in (torch.float32, torch.bfloat16):
        for grad in (False, True):
            q, k, v = (torch.randn(1, 2, n, 8, dtype=dtype, requires_grad=grad) for n in (6, 9, 9))
            asked = (q, k, v, None, "auto", True, [-1, -1], None, None, None, None, "bhld", "null")
            operator = torch.ops.attnscope.attention.default
            for name, said in torch.library.opcheck(operator, asked, raise_exception=False).items():
                report.check(said == "SUCCESS", f"opcheck {dtype} {grad} {name}: {said}")
    q, k, v = (torch.randn(1, 2, n, 4, requires_grad=True) for n in (5, 7, 7))
    report.check(
        torch.autograd.gradcheck(
            lambda *x: of_torch.attention(*x, causal=True), (q, k, v), eps=1e-3, rtol=2e-2, atol=1e-3, nondet_tol=1e-6
        ),
        "gradcheck in f32",
    )
    compiled = torch.compile(lambda q, k, v: of_torch.attention(q * 2, k, v) + 1, fullgraph=True, backend="aot_eager")
    close("torch.compile", compiled(q, k, v), of_torch.attention(q * 2, k, v) + 1, 1e-6)
    grads = [torch.autograd.grad(f(q, k, v).square().sum(), (q, k, v)) for f in
             (compiled, lambda q, k, v: of_torch.attention(q * 2, k, v) + 1)]  # fmt: skip
    for a, b in zip(*grads):
        close("its gradients", a, b, 1e-5)


def where_it_lies():
    x = torch.randn(2, 3, 12, 8)
    out = torch.empty_like(x)
    report.check(attnscope.attention(x, x, x, out=out) is out, "out is the caller's tensor")
    ready = attnscope.prepare(x, x, x)
    pointer = ready.out.data_ptr()
    first = ready().clone()
    x.mul_(2)
    report.check(ready().data_ptr() == pointer and not torch.equal(first, ready.out), "a launch reads the tensor anew")
    strange = torch.randn(2, 12, 3, 8).transpose(1, 2)
    close("a transposed view", attnscope.attention(strange, strange, strange), sdpa(strange, strange, strange), 1e-5)
    parameter = torch.nn.Parameter(torch.randn(1, 1, 4, 4))
    report.check(attnscope.attention(parameter, parameter, parameter).requires_grad, "a parameter has its gradient")
    with torch.no_grad():
        report.check(not attnscope.attention(parameter, parameter, parameter).requires_grad, "not under no_grad")
    meta = torch.empty(1, 1, 4, 4, device="meta")
    package.refused(report, "q:", lambda: attnscope.attention(meta, meta, meta))
    package.refused(
        report, "k: is a ndarray", lambda: attnscope.attention(parameter, parameter.detach().numpy(), parameter)
    )
    package.refused(report, "q: float64", lambda: attnscope.attention(x.double(), x.double(), x.double()))
    bias = torch.zeros(4, 4, requires_grad=True)
    summed = attnscope.attention(parameter, parameter, parameter, bias=bias).sum()
    package.refused(report, "bias:", summed.backward, RuntimeError)


def stands_in():
    q, k, v = (torch.randn(2, 4, n, 8) for n in (6, 9, 9))
    mask = torch.rand(6, 9) > 0.3
    mask[:, 0] = True
    for given in ({}, {"is_causal": True}, {"attn_mask": mask}, {"attn_mask": torch.randn(2, 1, 6, 9)}, {"scale": 0.1}):
        close(
            f"SDPA {list(given)}", of_torch.scaled_dot_product_attention(q, k, v, **given), sdpa(q, k, v, **given), 1e-5
        )
    five = torch.randn(2, 3, 4, 6, 8)
    close("SDPA of five axes", of_torch.scaled_dot_product_attention(five, five, five), sdpa(five, five, five), 1e-5)
    close("SDPA of three axes", of_torch.scaled_dot_product_attention(q[0], k[0], v[0]), sdpa(q[0], k[0], v[0]), 1e-5)
    few = k[:, :2]
    close(
        "grouped",
        of_torch.scaled_dot_product_attention(q, few, few, enable_gqa=True),
        sdpa(q, few, few, enable_gqa=True),
        1e-5,
    )
    package.refused(report, "key:", lambda: of_torch.scaled_dot_product_attention(q, few, few))
    package.refused(report, "dropout_p:", lambda: of_torch.scaled_dot_product_attention(q, k, v, dropout_p=0.5))
    package.refused(
        report, "q: float64", lambda: of_torch.scaled_dot_product_attention(q.double(), k.double(), v.double())
    )
    with of_torch.replaced("cpu_tiled"):
        report.check(torch.nn.functional.scaled_dot_product_attention is not sdpa, "torch's function is replaced")
        torch.nn.functional.scaled_dot_product_attention(q, k, v)
        report.check(attnscope.last_call().kernel == "cpu_tiled", "by the kernel that was asked for")
    report.check(torch.nn.functional.scaled_dot_product_attention is sdpa, "and comes back")


def models():
    ours, theirs = losses(50, attending=of_torch.replaced), losses(50)
    worst = max(abs(a - b) / b for a, b in zip(ours, theirs))
    report.check(
        ours[-1] < ours[0] / 3 and worst < 1e-2,
        f"50 steps from {ours[0]:.3f} to {ours[-1]:.3f}, {worst:.2g} beside SDPA",
    )
    print(f"50 steps: {ours[0]:.4f} to {ours[-1]:.4f}, with SDPA to {theirs[-1]:.4f}")


def asks_for_nothing_else():
    """The gradient is one call of ours: torch makes no zeros for LSE, which has no gradient."""

    class Seen(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            names.append(function.overloadpacket.__name__)
            return function(*args, **(kwargs or {}))

    q = torch.randn(1, 2, 8, 16, requires_grad=True)
    for words, call in (
        ("attention()", attnscope.attention),
        ("the operator", lambda *x: torch.ops.attnscope.attention.default(
            *x, None, "auto", False, [-1, -1], None, None, None, None, "bhld", "null")[0]),
    ):  # fmt: skip
        out, names = call(q, q.detach(), q.detach()), []
        with Seen():
            torch.autograd.grad(out, q, torch.ones_like(out.detach()))
        asked = [name for name in names if name not in ("ones_like", "detach", "new_empty", "attention_backward")]
        report.check(asked == [] and len(names) > 2, f"{words}: its gradient asks torch for {names}")


def gradient_of_a_gradient():
    """Refused in words when it is asked for, not before."""
    q = torch.randn(1, 1, 6, 8, requires_grad=True)
    out = attnscope.attention(q, q, q)
    once = torch.autograd.grad(out.square().sum(), q, create_graph=True)[0]
    plain = torch.autograd.grad(attnscope.attention(q, q, q).square().sum(), q)[0]
    report.check(torch.equal(once, plain), "with create_graph the gradient is the same")
    package.refused(report, "trying to differentiate twice", lambda: once.sum().backward(), RuntimeError)


def negated_views():
    """What lies in the memory of such a view is not its numbers."""
    x = torch.randn(1, 1, 4, 8)
    negated = torch.complex(x, x).conj().imag
    report.check(negated.is_neg() and torch.equal(negated, -x), "a view that torch negates as it is read")
    package.refused(report, "q: is a negated view", lambda: attnscope.attention(negated, x, x))
    given = attnscope.attention(negated.resolve_neg().contiguous(), x, x)
    close("what is resolved", given, sdpa(-x, x, x), 1e-5)


def captured_calls():
    model, tokens = Tiny(width=64, heads=4, blocks=3), torch.randint(32, (2, 40))
    right = model(tokens)
    with attnscope.capture(model, layer=1, b=1, h=2) as captured:
        out = model(tokens)
    report.check(torch.equal(out, right), "the model computes as without")
    report.check(
        captured.calls == 3 and captured.causal and captured.q.shape == (1, 1, 40, 16), f"{vars(captured).keys()}"
    )
    recording = captured.record(tile=(16, 16))
    q, k, v = captured.q, captured.k, captured.v
    close("its record", torch.from_numpy(recording.out), sdpa(q, k, v, is_causal=True), 1e-5)
    with attnscope.capture(model, layer="blocks.1", b=1, h=2, rows=slice(10, 20), keys=slice(0, 15)) as part:
        model(tokens)
    report.check(torch.equal(part.q, q[:, :, 10:20]) and torch.equal(part.k, k[:, :, :15]), "a part of the same call")
    seen = torch.arange(15)[None] <= torch.arange(10, 20)[:, None]
    report.check(torch.equal(torch.isfinite(part.bias[0, 0]), seen), "with the mask of its rows and keys")
    report.check(part.scale == 16**-0.5, "and its scale")
    package.refused(report, "layer:", lambda: attnscope.capture(model, layer="blocks.9").__enter__())
    with attnscope.capture(layer=7) as none:
        model(tokens)
    package.refused(report, "No call was captured", none.record, RuntimeError)
    report.check(torch.nn.functional.scaled_dot_product_attention is sdpa, "torch's function comes back")


for part in (values_and_gradients, as_operator, where_it_lies, stands_in, models,
             asks_for_nothing_else, gradient_of_a_gradient, negated_views, captured_calls):
    part()
try:
    import jax
    import jax.numpy as jnp
except ImportError:
    print("left out: JAX is not installed")
else:
    jax.config.update("jax_default_device", jax.devices("cpu")[0])  # on a GPU it is refused: it names no stream
    x = jnp.asarray(torch.randn(1, 2, 8, 4).numpy())
    for dtype in (jnp.float32, jnp.bfloat16):
        out = attnscope.attention(x.astype(dtype), x.astype(dtype), x.astype(dtype))
        report.check(isinstance(out, jax.Array) and out.dtype == dtype, f"JAX gets its own array of {dtype}")
        error = float(
            jnp.abs(
                out.astype(jnp.float32) - jnp.asarray(attnscope.attention(*[torch.tensor(x.tolist())] * 3).numpy())
            ).max()
        )
        report.check(error < (1e-5 if dtype == jnp.float32 else 3e-2), f"JAX: off by {error}")
report.exit(150)
