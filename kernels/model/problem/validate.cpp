#include "kernels/model/problem/validate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/tensors.h"

namespace attn {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kUnbounded = -1;

struct NamedExtent {
  const char* name;
  std::int64_t value;
};

Result<void> validate_extents(const Problem& p) {
  const std::array<NamedExtent, 7> extents{
      {{"B", p.B}, {"Hq", p.Hq}, {"Hkv", p.Hkv}, {"Lq", p.Lq}, {"Lk", p.Lk}, {"D", p.D}, {"Dv", p.Dv}}};
  for (const NamedExtent& e : extents) {
    if (e.value < 1) return bad_input(phrase("{} is {}; it must be at least 1.", e.name, e.value));
  }
  for (const NamedExtent& e : {extents[5], extents[6]}) {
    if (e.value > kMaxHeadDim) {
      return bad_input(phrase("{} is {}; the limit for head dimensions is {}.", e.name, e.value, kMaxHeadDim));
    }
  }
  if (p.Hq % p.Hkv != 0) {
    return bad_input(phrase("Hq = {} is not a multiple of Hkv = {}; use Hkv = {}, for example.", p.Hq, p.Hkv,
                            std::gcd(p.Hq, p.Hkv)));
  }
  return ok();
}

std::string shape_words(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// Every tensor's bytes, taken as fp32, must stay below 2^63, so that sizes and offsets never overflow. The bias has
// words of its own.
Result<void> validate_sizes(const Problem& p) {
  for (const TensorSpec& t : tensors_of(p)) {
    if (t.shape.size() != 4 || t.tensor == Tensor::bias) continue;
    const std::int64_t factors[] = {4, t.shape[0], t.shape[1], t.shape[2], t.shape[3]};
    if (element_count(factors) < 0) {
      return bad_input(phrase("{} with shape {} exceeds 2^63 bytes; use a smaller B, H or L (L is usually below 2^31).",
                              words_of(t.tensor), shape_words(t.shape)));
    }
  }
  return ok();
}

Result<void> validate_storage(const Problem& p) {
  constexpr std::int64_t kMaxPages = std::numeric_limits<std::int32_t>::max();  // the table's numbers
  const KvStorage& s = p.storage;
  if (s.page < 0 || s.page > kMaxPage) {
    return bad_input(phrase("Invalid page size of {} keys; use 1 to {} (16 and 64 are usual), or 0 for dense K and V.",
                            s.page, kMaxPage));
  }
  if (s.kind() == Storage::dense && s.pages != 0) {
    return bad_input(
        phrase("The problem has {} pages without a size; give the number of keys per page, or omit both.", s.pages));
  }
  if (s.kind() == Storage::dense) return ok();
  if (s.pages < 1 || s.pages > kMaxPages) {
    return bad_input(phrase("Invalid pool of {} pages; use 1 to {} ({} pages give every batch its own).", s.pages,
                            kMaxPages, saturating_product({{p.B, p.Lk / s.page + (p.Lk % s.page != 0 ? 1 : 0)}})));
  }
  if (makes_gradients(p.pass)) return bad_input(tr("A backward pass needs dense K and V; omit the pages."));
  return ok();
}

Result<void> validate_mask(const Problem& p) {
  const Mask& m = p.mask;
  for (const NamedExtent& e : {NamedExtent{"left", m.window_left}, NamedExtent{"right", m.window_right}}) {
    if (e.value < kUnbounded) {
      return bad_input(phrase("The window's {} side is {}; use 0 or more keys, or -1 for unlimited.", e.name, e.value));
    }
  }
  if (!m.key_lengths.empty() && static_cast<std::int64_t>(m.key_lengths.size()) != p.B) {
    return bad_input(
        phrase("{} key lengths for B = {}; give one per batch ({} in total).", m.key_lengths.size(), p.B, p.B));
  }
  for (std::size_t b = 0; b < m.key_lengths.size(); ++b) {
    const std::int64_t n = m.key_lengths[b];
    if (n < 0 || n > p.Lk) {
      return bad_input(phrase("Key length {} of batch {} is outside the range 0 to Lk = {}.", n, b, p.Lk));
    }
  }
  return ok();
}

Result<void> validate_bias(const Problem& p) {
  if (!p.has_bias()) return ok();
  const std::array<std::int64_t, 4> full{p.B, p.Hq, p.Lq, p.Lk};
  bool fits = p.bias_shape.size() == 4;
  for (std::size_t axis = 0; fits && axis < 4; ++axis) {
    fits = p.bias_shape[axis] == 1 || p.bias_shape[axis] == full[axis];
  }
  if (!fits) {
    return bad_input(phrase("The bias has shape {}; use {} ([B, Hq, Lq, Lk]), where any extent may be 1 instead.",
                            shape_words(p.bias_shape), shape_words(full)));
  }
  const std::int64_t count = element_count(p.bias_shape);
  if (count < 0 || count > kMax / 4) {
    return bad_input(
        phrase("The bias with shape {} exceeds 2^63 bytes; use an extent of 1 for any dimension along which it "
               "repeats.",
               shape_words(p.bias_shape)));
  }
  return ok();
}

// Kernels hold the cap and what divides by it in fp32.
Result<void> validate_softcap(const Problem& p) {
  constexpr double kLeast = 1e-30, kMost = 1e30;
  if (!p.softcap || (*p.softcap >= kLeast && *p.softcap <= kMost)) return ok();
  return bad_input(
      phrase("Invalid softcap {}; use a number from {:g} to {:g} (30 and 50 are usual), or omit it for no softcap.",
             *p.softcap, kLeast, kMost));
}

Result<void> validate_alibi(const Problem& p) {
  if (!p.alibi || p.alibi->empty()) return ok();
  const std::vector<float>& slopes = *p.alibi;
  const auto count = static_cast<std::int64_t>(slopes.size());
  const std::int64_t all = element_count(std::array<std::int64_t, 2>{p.B, p.Hq});
  if (count != p.Hq && count != all) {
    return bad_input(
        phrase("Got {} ALiBi slopes; give one per query head (Hq = {}), one per batch and head ({} x {} = {}), or none "
               "for the standard slopes.",
               count, p.Hq, p.B, p.Hq, all));
  }
  for (std::size_t n = 0; n < slopes.size(); ++n) {
    if (std::isfinite(slopes[n])) continue;
    return bad_input(phrase("ALiBi slope {} is {}; it must be a finite number.", n, slopes[n]));
  }
  return ok();
}

Result<void> check_array(std::string_view name, const Array& a, const TensorSpec& spec) {
  if (!std::ranges::equal(a.shape(), spec.shape)) {
    return bad_input(
        phrase("{} has shape {}, but the problem needs {}.", name, shape_words(a.shape()), shape_words(spec.shape)));
  }
  if (element_type_of(a.dtype()) != spec.type) {
    return bad_input(phrase("{} is {}, but the problem needs {}.", name, name_of(a.dtype()), name_of(spec.type)));
  }
  return ok();
}

Result<void> validate_output(const Problem& p) {
  if (p.output == OutputType::as_inputs) return ok();
  if (makes_gradients(p.pass))
    return bad_input(tr("A backward pass reads O in the dtype of Q, K and V; use that dtype instead of f32."));
  if (p.dtype == DType::f32)
    return bad_input(tr("O of an f32 problem is always f32; specify it only for f16 and bf16."));
  return ok();
}

}  // namespace

Result<void> validate(const Problem& p) {
  if (auto r = validate_extents(p); !r) return r;
  if (auto r = validate_storage(p); !r) return r;
  if (auto r = validate_sizes(p); !r) return r;
  if (p.scale && !std::isfinite(*p.scale)) {
    return bad_input(phrase("The scale is {}; it must be a finite number (1/sqrt(D) is usual).", *p.scale));
  }
  // Kernels hold it in fp32, some of them times log2(e).
  constexpr double kMaxScale = std::numeric_limits<float>::max() / 2.0, kMinScale = std::numeric_limits<float>::min();
  if (p.scale && *p.scale != 0 && (std::abs(*p.scale) > kMaxScale || std::abs(*p.scale) < kMinScale)) {
    return bad_input(
        phrase("The scale is {}, which fp32 cannot represent; use 0 or a magnitude from {:.3g} to {:.3g} "
               "(1/sqrt(D) is usual).",
               *p.scale, kMinScale, kMaxScale));
  }
  if (auto r = validate_output(p); !r) return r;
  if (auto r = validate_mask(p); !r) return r;
  if (auto r = validate_softcap(p); !r) return r;
  if (auto r = validate_alibi(p); !r) return r;
  return validate_bias(p);
}

Result<void> validate(const Problem& p, const Inputs& in) {
  const ByTensor<const Array*> arrays = arrays_of(in);
  for (const TensorSpec& t : tensors_of(p)) {
    if (t.role != Role::in || t.in_problem) continue;
    if (t.tensor == Tensor::bias && !in.bias) {
      return bad_input(tr("The problem has a bias, but there is no bias array; pass one."));
    }
    if (t.tensor == Tensor::page_table) {
      if (auto r = check_page_table(p, in.page_table, tr("The inputs")); !r) return r;
      continue;
    }
    if (!arrays.has(t.tensor)) {
      return bad_input(phrase("{} is missing for this problem.", words_of(t.tensor)));
    }
    if (auto r = check_array(words_of(t.tensor), *arrays[t.tensor], t); !r) return r;
  }
  if (in.bias && !p.has_bias()) return bad_input(tr("The problem has no bias, but there is a bias array; remove it."));
  return ok();
}

}  // namespace attn
