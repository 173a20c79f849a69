"""The operator attnscope::attention and its gradient, and the same without torch's dispatcher. Wants torch."""

import contextlib
import json

import torch

from . import _core
from ._call import _account
from ._homes import Torch

_NO_OPTIONS = "null"  # as JSON
_library = torch.library.Library("attnscope", "FRAGMENT")
# alibi: slopes, or a tensor without elements for the usual ones. options: JSON.
_library.define(
    "attention(Tensor q, Tensor k, Tensor v, Tensor? bias, str kernel, bool causal, SymInt[] window, float? softcap, "
    "Tensor? alibi, float? scale, Tensor? key_lengths, str layout, str options) -> (Tensor, Tensor)",
    tags=torch.Tag.pt2_compliant_tag,
)
_library.define(
    "attention_backward(Tensor q, Tensor k, Tensor v, Tensor? bias, Tensor out, Tensor lse, Tensor d_out, bool causal, "
    "SymInt[] window, float? softcap, Tensor? alibi, float? scale, Tensor? key_lengths, str layout) "
    "-> (Tensor, Tensor, Tensor)",
    tags=torch.Tag.pt2_compliant_tag,
)
attention_op = torch.ops.attnscope.attention.default
backward_op = torch.ops.attnscope.attention_backward.default


def _slopes(alibi):
    return True if isinstance(alibi, torch.Tensor) and alibi.numel() == 0 else alibi


_nowhere_else = contextlib.nullcontext()


def _on_device_of(tensor):
    if tensor.is_cuda and tensor.get_device() != torch.cuda.current_device():
        return torch.cuda.device(tensor.device)
    return _nowhere_else


def _launched(*asked):
    """O and LSE, by the arguments of the module's attention() up to the options."""
    with _on_device_of(asked[0]):
        answer, lse, account = _core.attention(*asked, None, Torch)
    _account(account)
    return answer, lse


def _launched_backward(
    q, k, v, bias, out, lse, d_out, causal, window, softcap, alibi, scale, key_lengths, layout
):
    repeats = q.is_cuda and torch.are_deterministic_algorithms_enabled()
    options = {"deterministic": True} if repeats else None
    asked = (q, k, v, "auto", causal, window, bias, softcap, alibi, scale, key_lengths, layout, options)
    # What autograd hands in lies as it likes: nobody could mend a copy that is said.
    with _on_device_of(q):
        d_q, d_k, d_v, _ = _core.backward(*asked, out, lse, d_out, Torch)
    return d_q, d_k, d_v


# ---- the operator: what torch.compile, torch.export, torch.func and whoever calls torch.ops.attnscope meet


@torch._disable_dynamo
def _attention_impl(q, k, v, bias, kernel, causal, window, softcap, alibi, scale, key_lengths, layout, options):
    chosen = None if options == _NO_OPTIONS else json.loads(options)
    rest = (softcap, _slopes(alibi), scale, key_lengths, layout, chosen)
    return _launched(q, k, v, kernel, causal, tuple(window), bias, *rest)


@torch._disable_dynamo
def _backward_impl(q, k, v, bias, out, lse, d_out, causal, window, softcap, alibi, scale, key_lengths, layout):
    rest = (softcap, _slopes(alibi), scale, key_lengths, layout)
    return _launched_backward(q, k, v, bias, out, lse, d_out, causal, tuple(window), *rest)


# Without torch.library.custom_op's own layers of Python, which cost more than the launch.
_library.impl("attention", _attention_impl, "CompositeExplicitAutograd")
_library.impl("attention_backward", _backward_impl, "CompositeExplicitAutograd")


def _answer_shapes(q, v, layout):
    out = q.shape[:-1] + v.shape[-1:]
    rows = q.shape[:-1]
    if layout == "blhd" and q.dim() >= 3:
        rows = rows[:-2] + (rows[-1], rows[-2])
    return out, rows


@torch.library.register_fake("attnscope::attention", lib=_library)
def _(q, k, v, bias, kernel, causal, window, softcap, alibi, scale, key_lengths, layout, options):
    out, rows = _answer_shapes(q, v, layout)
    return q.new_empty(out), q.new_empty(rows, dtype=torch.float32)


@torch.library.register_fake("attnscope::attention_backward", lib=_library)
def _(q, k, v, bias, out, lse, d_out, causal, window, softcap, alibi, scale, key_lengths, layout):
    return q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape)


def _refuse_gradient_of_bias(ctx, bias):
    if bias is not None and ctx.needs_input_grad[3]:
        raise RuntimeError("bias: gradients of a bias are not supported; detach it")


def _keep(ctx, inputs, output):
    q, k, v, bias, _, causal, window, softcap, alibi, scale, key_lengths, layout, _ = inputs
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(q, k, v, bias, output[0], output[1], alibi, key_lengths)
    ctx.rest = (causal, window, softcap, scale, layout)


def _gradients(ctx, d_out, _d_lse):
    if d_out is None:
        return (None,) * 13
    q, k, v, bias, out, lse, alibi, key_lengths = ctx.saved_tensors
    causal, window, softcap, scale, layout = ctx.rest
    _refuse_gradient_of_bias(ctx, bias)
    d_q, d_k, d_v = backward_op(
        q, k, v, bias, out, lse, d_out, causal, window, softcap, alibi, scale, key_lengths, layout
    )
    return d_q, d_k, d_v, *[None] * 10


torch.library.register_autograd("attnscope::attention", _gradients, setup_context=_keep, lib=_library)


# ---- the same without torch's dispatcher, where nobody watches it


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, bias, kernel, rest, options):
        causal, window, *others = rest
        out, lse = _launched(q, k, v, kernel, causal, window, bias, *others, options)
        ctx.set_materialize_grads(False)  # of LSE, which has none: a kernel that writes zeros nobody reads
        ctx.mark_non_differentiable(lse)
        ctx.save_for_backward(q, k, v, bias, out, lse)
        ctx.rest = rest
        return out, lse

    @staticmethod
    def backward(ctx, d_out, _d_lse):
        # Grad mode is on where a graph of the gradient is asked for: torch's wrapper refuses its use, and costs 6 us.
        return _differentiable_once(ctx, d_out) if torch.is_grad_enabled() else _gradient(ctx, d_out)


def _gradient(ctx, d_out):
    if d_out is None:
        return (None,) * 7
    q, k, v, bias, out, lse = ctx.saved_tensors
    _refuse_gradient_of_bias(ctx, bias)
    return *_launched_backward(q, k, v, bias, out, lse, d_out, *ctx.rest), None, None, None, None


_differentiable_once = torch.autograd.function.once_differentiable(_gradient)


def _is_watched(*tensors):
    """Somebody traces, transforms or stands in for calls of operators: they must see this one."""
    c = torch._C
    if torch.compiler.is_compiling() or c._len_torch_dispatch_stack() or c._get_tracing_state() is not None:
        return True
    if c._functorch.peek_interpreter_stack() is not None:
        return True
    return any(type(t).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__ for t in tensors)


def _tensor_or_none(value, dtype):
    if value is None or value is False:
        return None
    if value is True:
        return torch.empty(0, dtype=dtype)
    return value if isinstance(value, torch.Tensor) else torch.as_tensor(value, dtype=dtype)


def attention_with_gradients(
    q, k, v, kernel, causal, window, bias, softcap, alibi, scale, key_lengths, layout, options
):
    """The operator with the arguments of attnscope.attention; returns (out, lse)."""
    if not isinstance(q, torch.Tensor):
        raise TypeError(f"q: is a {type(q).__name__}; use a torch tensor, like k and v")
    for name, tensor in (("k", k), ("v", v)):
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name}: is a {type(tensor).__name__}, but q is a torch tensor with a gradient")
    if not _is_watched(q, k, v):
        rest = (causal, window, softcap, _slopes(alibi), scale, key_lengths, layout)
        of_bias = isinstance(bias, torch.Tensor) and bias.requires_grad
        if torch.is_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad or of_bias):
            return _Attention.apply(q, k, v, _tensor_or_none(bias, torch.float32), kernel, rest, options)
        return _launched(q, k, v, kernel, causal, window, bias, *rest[2:], options)
    sides = [-1 if side is None else side for side in window] if window is not None else [-1, -1]
    named = (kernel, causal, sides, None if softcap is None else float(softcap))
    rest = (_tensor_or_none(alibi, torch.float32), None if scale is None else float(scale))
    lengths = _tensor_or_none(key_lengths, torch.int64)
    chosen = _NO_OPTIONS if options is None else json.dumps(options)
    return attention_op(q, k, v, _tensor_or_none(bias, torch.float32), *named, *rest, lengths, layout, chosen)
