#include "kernels/gpu/rungs/specialise.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

namespace attn::gpu {
namespace {

static_assert(sizeof(long long) == sizeof(std::int64_t));
static_assert(std::is_trivially_copyable_v<Args> && sizeof(Args) <= 4096, "kernel parameters take 4 KiB at most");

// Farther than any key, with room to add a row's number.
constexpr long long kUnbounded = 1LL << 60;

std::uint64_t product(std::initializer_list<std::int64_t> factors) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t n = 1;
  for (const std::int64_t f : factors) {
    const auto factor = static_cast<std::uint64_t>(f);
    n = n > kMax / factor ? kMax : n * factor;
  }
  return n;
}

std::uint64_t placed(std::uint64_t& next, std::uint64_t bytes) {
  constexpr std::uint64_t kUnit = 256;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::uint64_t at = next;
  next = bytes > kMax - next - kUnit ? kMax : (next + bytes + kUnit - 1) / kUnit * kUnit;
  if (next > kMax - kUnit) next = kMax - kUnit;
  return at;
}

int dtype_number(DType t) {
  return t == DType::f32 ? 0 : t == DType::f16 ? 1 : 2;
}

// Strides of the bias; 0 along an axis that it repeats.
void set_bias_strides(const Problem& p, Args& a) {
  if (!p.has_bias()) return;
  long long* strides[] = {&a.bias_b, &a.bias_h, &a.bias_r, &a.bias_c};
  long long stride = 1;
  for (std::size_t axis = 4; axis-- > 0;) {
    *strides[axis] = p.bias_shape[axis] == 1 ? 0 : stride;
    stride *= p.bias_shape[axis];
  }
}

}  // namespace

bool may_be_aligned(const Problem& p) {
  return p.D % 4 == 0 && p.Dv % 4 == 0;
}

std::vector<std::string> defines_of(const Plan& plan, bool aligned) {
  const Problem& p = plan.problem;
  const Options& o = plan.options;
  std::vector<std::string> defines{fmt::format("ATTN_D={}", p.D),
                                   fmt::format("ATTN_DV={}", p.Dv),
                                   fmt::format("ATTN_DTYPE={}", dtype_number(p.dtype)),
                                   fmt::format("ATTN_MASKED={}", p.mask.any() ? 1 : 0),
                                   fmt::format("ATTN_BIAS={}", p.changes_scores() ? 1 : 0),
                                   fmt::format("ATTN_ALIGNED={}", aligned ? 1 : 0),
                                   fmt::format("ATTN_BR={}", o.br),
                                   fmt::format("ATTN_BC={}", o.bc),
                                   fmt::format("ATTN_THREADS={}", o.threads)};
  // Only for rungs that read it: the defines are part of the names of cubins on disk.
  if (o.stages > 0) defines.push_back(fmt::format("ATTN_STAGES={}", o.stages));
  for (const Setting& s : o.further) {
    const auto spec =
        std::ranges::find(plan.kernel->options, s.name, [](const OptionSpec& x) { return x.option->name; });
    if (spec != plan.kernel->options.end() && !spec->option->compiled) continue;
    std::string name = s.name;
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
    defines.push_back(fmt::format("ATTN_{}={}", name, s.value));
  }
  if (plan.kernel->defines != nullptr) std::ranges::move(plan.kernel->defines(p), std::back_inserter(defines));
  if (p.shapes_scores()) {
    defines.push_back(fmt::format("ATTN_SOFTCAP={}", p.softcap ? 1 : 0));
    defines.push_back(fmt::format("ATTN_ALIBI={}", p.alibi ? 1 : 0));
    defines.push_back(fmt::format("ATTN_ADDED={}", p.has_bias() ? 1 : 0));
  }
  return defines;
}

Workspace workspace_of(const KernelRow& row, const Problem& p) {
  Workspace w;
  std::uint64_t next = 0;
  if (row.stores_scores) {
    const std::int64_t of_score = p.pass == Pass::backward ? static_cast<std::int64_t>(size_of(p.dtype)) : 4;
    w.s = placed(next, product({of_score, p.B, p.Hq, p.Lq, p.Lk}));
    w.p = placed(next, product({static_cast<std::int64_t>(size_of(p.dtype)), p.B, p.Hq, p.Lq, p.Lk}));
  }
  w.key_lengths = placed(next, p.mask.key_lengths.size() * sizeof(std::int64_t));
  if (p.alibi) {
    w.slopes = placed(next, static_cast<std::uint64_t>(p.alibi->empty() ? p.Hq : std::ssize(*p.alibi)) * sizeof(float));
  }
  w.counters = placed(next, static_cast<std::uint64_t>(row.counters) * sizeof(std::int32_t));
  w.total = next;
  return w;
}

const std::int64_t* key_lengths_at(const Plan& plan, const Buffers& b) {
  if (const auto* const given = b.read<std::int64_t>(Tensor::key_lengths); given != nullptr) return given;
  const auto* const workspace = static_cast<const std::byte*>(b.workspace);
  return reinterpret_cast<const std::int64_t*>(workspace + workspace_of(*plan.kernel, plan.problem).key_lengths);
}

const float* slopes_at(const Plan& plan, const Buffers& b) {
  if (const auto* const given = b.read<float>(Tensor::slopes); given != nullptr) return given;
  const auto* const workspace = static_cast<const std::byte*>(b.workspace);
  return reinterpret_cast<const float*>(workspace + workspace_of(*plan.kernel, plan.problem).slopes);
}

Args args_of(const Plan& plan, const Buffers& b) {
  const Problem& p = plan.problem;
  const Workspace at = workspace_of(*plan.kernel, p);
  auto* workspace = static_cast<std::byte*>(b.workspace);
  Args a{};
  a.q = b.in[Tensor::q];
  a.k = b.in[Tensor::k];
  a.v = b.in[Tensor::v];
  a.bias = b.read<float>(Tensor::bias);
  a.out = b.out[Tensor::o];
  // A backward reads it.
  a.lse = p.pass == Pass::backward ? const_cast<float*>(b.read<float>(Tensor::lse)) : b.write<float>(Tensor::lse);
  if (!p.mask.key_lengths.empty()) {
    a.key_lengths = reinterpret_cast<const long long*>(key_lengths_at(plan, b));
  }
  if (plan.kernel->stores_scores) {
    a.s = reinterpret_cast<float*>(workspace + at.s);
    a.p = workspace + at.p;
  }
  a.B = p.B;
  a.Hq = p.Hq;
  a.Hkv = p.Hkv;
  a.Lq = p.Lq;
  a.Lk = p.Lk;
  const long long own = p.Lk - p.Lq;  // the key of row 0
  a.first_shift = p.mask.window_left < 0 ? -kUnbounded : own - std::min<long long>(p.mask.window_left, kUnbounded);
  long long right = p.mask.window_right < 0 ? kUnbounded : std::min<long long>(p.mask.window_right, kUnbounded);
  if (p.mask.causal) right = 0;  // no key after the row's own, whatever the window lets through
  a.last_shift = own + right + 1;
  set_bias_strides(p, a);
  a.scale = static_cast<float>(p.effective_scale());
  a.scale_log2 = static_cast<float>(p.effective_scale() * 1.4426950408889634);
  if (p.alibi) {
    a.slopes = slopes_at(plan, b);
    a.slopes_b = p.alibi->empty() || std::ssize(*p.alibi) == p.Hq ? 0 : p.Hq;
  }
  if (p.softcap) {
    a.softcap = static_cast<float>(*p.softcap);
    a.softcap_inverse = static_cast<float>(1 / *p.softcap);
  }
  return a;
}

}  // namespace attn::gpu
