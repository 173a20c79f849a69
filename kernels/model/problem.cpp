#include "kernels/model/problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/bytes.h"
#include "kernels/base/hash.h"
#include "kernels/model/costs.h"
#include "kernels/model/tensors.h"

namespace attn {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kUnbounded = -1;

// A sum of two pair counts, each below 2^126, stays exact.
using Wide = __int128;

// The mask of one batch with every default resolved. `left` and `right` are clipped so that adding
// them to a row's own key cannot overflow; validate() keeps every extent below 2^61.
struct Band {
  std::int64_t offset = 0;  // own key of row 0
  std::int64_t left = 0, right = 0;
  std::int64_t keys = 0;  // keys of this batch

  std::int64_t first(std::int64_t r) const { return std::max<std::int64_t>(0, r + offset - left); }
  std::int64_t last(std::int64_t r) const { return std::clamp<std::int64_t>(r + offset + right + 1, 0, keys); }
  // Rows [first_row, last_row] that see at least one key; none when first_row > last_row.
  std::int64_t first_row() const { return std::max<std::int64_t>(0, -right - offset); }
  std::int64_t last_row(std::int64_t rows) const { return std::min(rows - 1, keys + left - 1 - offset); }
};

Band band_of(const Problem& p, std::int64_t b) {
  Band band;
  band.offset = p.Lk - p.Lq;
  // Beyond Lq + Lk a window reaches past every key, so clipping there changes nothing.
  const std::int64_t all = p.Lq + p.Lk;
  band.left = p.mask.window_left == kUnbounded ? all : std::min(p.mask.window_left, all);
  band.right = p.mask.window_right == kUnbounded ? all : std::min(p.mask.window_right, all);
  if (p.mask.causal) band.right = 0;
  band.keys = p.mask.key_lengths.empty() ? p.Lk : p.mask.key_lengths[static_cast<std::size_t>(b)];
  return band;
}

// a + (a + 1) + ... + b, 0 when a > b.
Wide series(Wide a, Wide b) {
  return a > b ? 0 : (a + b) * (b - a + 1) / 2;
}

// Query-key pairs that one batch's mask lets see in one head.
Wide pairs_of(const Band& band, std::int64_t rows) {
  if (band.keys == 0) return 0;
  const Wide a = Wide{band.first_row()} + band.offset;  // own keys of the rows that see any
  const Wide b = Wide{band.last_row(rows)} + band.offset;
  if (a > b) return 0;
  // Sum of last: own + right + 1 until that reaches `keys`, then `keys`.
  const Wide bend = std::min<Wide>(b, std::max<Wide>(a - 1, Wide{band.keys} - band.right - 1));
  const Wide lasts = series(a + band.right + 1, bend + band.right + 1) + (b - bend) * band.keys;
  // Sum of first: 0 until own reaches `left`, then own - left.
  const Wide firsts = series(std::max<Wide>(a - band.left, 0), b - band.left);
  return lasts - firsts;
}

struct NamedExtent {
  const char* name;
  std::int64_t value;
};

Result<void> validate_extents(const Problem& p) {
  const std::array<NamedExtent, 7> extents{
      {{"B", p.B}, {"Hq", p.Hq}, {"Hkv", p.Hkv}, {"Lq", p.Lq}, {"Lk", p.Lk}, {"D", p.D}, {"Dv", p.Dv}}};
  for (const NamedExtent& e : extents) {
    if (e.value < 1) return bad_input(fmt::format("{} is {}; it must be at least 1.", e.name, e.value));
  }
  for (const NamedExtent& e : {extents[5], extents[6]}) {
    if (e.value > kMaxHeadDim) {
      return bad_input(fmt::format("{} is {}; head dimensions go up to {}.", e.name, e.value, kMaxHeadDim));
    }
  }
  if (p.Hq % p.Hkv != 0) {
    return bad_input(
        fmt::format("Hq = {} is not a multiple of Hkv = {}; Hkv = {} would do.", p.Hq, p.Hkv, std::gcd(p.Hq, p.Hkv)));
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
      return bad_input(
          fmt::format("{} of shape {} has more than 2^63 bytes; use a smaller B, H or L (L up to 2^31 is usual).",
                      words_of(t.tensor), shape_words(t.shape)));
    }
  }
  return ok();
}

Result<void> validate_storage(const Problem& p) {
  constexpr std::int64_t kMaxPages = std::numeric_limits<std::int32_t>::max();  // the table's numbers
  const KvStorage& s = p.storage;
  if (s.page < 0 || s.page > kMaxPage) {
    return bad_input(fmt::format(
        "A page of {} keys cannot be; use 1 to {} (16 and 64 are usual), or 0 for dense K and V.", s.page, kMaxPage));
  }
  if (s.kind() == Storage::dense && s.pages != 0) {
    return bad_input(fmt::format("{} pages of no size: give the keys of a page, or leave both out.", s.pages));
  }
  if (s.kind() == Storage::dense) return ok();
  if (s.pages < 1 || s.pages > kMaxPages) {
    return bad_input(fmt::format("A pool of {} pages cannot be; use 1 to {} ({} hold every batch's keys apart).",
                                 s.pages, kMaxPages,
                                 saturating_product({{p.B, p.Lk / s.page + (p.Lk % s.page != 0 ? 1 : 0)}})));
  }
  if (p.pass == Pass::backward) return bad_input("A backward reads dense K and V: leave the pages out.");
  return ok();
}

Result<void> validate_mask(const Problem& p) {
  const Mask& m = p.mask;
  for (const NamedExtent& e : {NamedExtent{"left", m.window_left}, NamedExtent{"right", m.window_right}}) {
    if (e.value < kUnbounded) {
      return bad_input(
          fmt::format("The window's {} side is {}; use 0 or more keys, or -1 for unbounded.", e.name, e.value));
    }
  }
  if (!m.key_lengths.empty() && static_cast<std::int64_t>(m.key_lengths.size()) != p.B) {
    return bad_input(
        fmt::format("{} key lengths for B = {}; give one a batch ({} of them).", m.key_lengths.size(), p.B, p.B));
  }
  for (std::size_t b = 0; b < m.key_lengths.size(); ++b) {
    const std::int64_t n = m.key_lengths[b];
    if (n < 0 || n > p.Lk) {
      return bad_input(fmt::format("Key length {} of batch {} is outside 0..Lk = {}.", n, b, p.Lk));
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
    return bad_input(fmt::format("The bias has shape {}; it must be {} ([B, Hq, Lq, Lk]) with any extent 1 instead.",
                                 shape_words(p.bias_shape), shape_words(full)));
  }
  const std::int64_t count = element_count(p.bias_shape);
  if (count < 0 || count > kMax / 4) {
    return bad_input(fmt::format("The bias of shape {} has more than 2^63 bytes; use 1 for an extent it repeats over.",
                                 shape_words(p.bias_shape)));
  }
  return ok();
}

// Kernels hold the cap and what divides by it in fp32.
Result<void> validate_softcap(const Problem& p) {
  constexpr double kLeast = 1e-30, kMost = 1e30;
  if (!p.softcap || (*p.softcap >= kLeast && *p.softcap <= kMost)) return ok();
  return bad_input(
      fmt::format("The softcap is {}; it must be a number above 0, from {:g} to {:g} (30 and 50 are usual); leave it "
                  "out for none.",
                  *p.softcap, kLeast, kMost));
}

Result<void> validate_alibi(const Problem& p) {
  if (!p.alibi || p.alibi->empty()) return ok();
  const std::vector<float>& slopes = *p.alibi;
  const auto count = static_cast<std::int64_t>(slopes.size());
  const std::int64_t all = element_count(std::array<std::int64_t, 2>{p.B, p.Hq});
  if (count != p.Hq && count != all) {
    return bad_input(
        fmt::format("There are {} ALiBi slopes; give one a query head (Hq = {}), or one a batch and head "
                    "({} x {} = {}), or none for the usual ones.",
                    count, p.Hq, p.B, p.Hq, all));
  }
  for (std::size_t n = 0; n < slopes.size(); ++n) {
    if (std::isfinite(slopes[n])) continue;
    return bad_input(fmt::format("ALiBi slope {} is {}; it must be a finite number.", n, slopes[n]));
  }
  return ok();
}

Result<void> check_array(std::string_view name, const Array& a, const TensorSpec& spec) {
  if (!std::ranges::equal(a.shape(), spec.shape)) {
    return bad_input(fmt::format("{} has shape {}, the problem asks for {}.", name, shape_words(a.shape()),
                                 shape_words(spec.shape)));
  }
  if (element_type_of(a.dtype()) != spec.type) {
    return bad_input(fmt::format("{} is {}, the problem asks for {}.", name, name_of(a.dtype()), name_of(spec.type)));
  }
  return ok();
}

// "2,3,5", or the first few and how many there are.
std::string key_lengths_words(const std::vector<std::int64_t>& lengths) {
  constexpr std::size_t kShown = 4;
  if (lengths.size() <= kShown) return fmt::format("{}", fmt::join(lengths, ","));
  return fmt::format("{},...({})", fmt::join(std::span(lengths).first(kShown), ","), lengths.size());
}

// "own:1a2b3c4d": slopes of two problems have the same words where they are the same.
std::string own_slopes_words(const std::vector<float>& slopes) {
  return "own:" + hash_of(fmt::format("{}", fmt::join(slopes, " "))).substr(0, 8);
}

}  // namespace

double Problem::effective_scale() const {
  return scale ? *scale : 1.0 / std::sqrt(static_cast<double>(D));
}

float Problem::slope(std::int64_t b, std::int64_t h) const {
  if (alibi->empty()) return usual_slope(h, Hq);
  const bool each_batch = static_cast<std::int64_t>(alibi->size()) != Hq;
  return (*alibi)[static_cast<std::size_t>(each_batch ? b * Hq + h : h)];
}

double Problem::capped(double s) const {
  return softcap ? *softcap * std::tanh(s / *softcap) : s;
}

double Problem::alibi_at(std::int64_t b, std::int64_t h, std::int64_t r, std::int64_t c) const {
  if (!alibi) return 0;
  return static_cast<double>(slope(b, h)) * static_cast<double>(std::abs(r + Lk - Lq - c));
}

KeyRange Problem::visible_keys(std::int64_t b, std::int64_t r) const {
  const Band band = band_of(*this, b);
  return {band.first(r), band.last(r)};
}

bool Problem::visible(std::int64_t b, std::int64_t r, std::int64_t c) const {
  const KeyRange keys = visible_keys(b, r);
  return c >= keys.first && c < keys.last;
}

TileCover Problem::cover(std::int64_t b, std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1) const {
  if (r0 >= r1 || c0 >= c1) return TileCover::skipped;
  const Band band = band_of(*this, b);
  // first() and last() never fall as r grows, so the outer rows bound the ones between them.
  if (band.first(r1 - 1) <= c0 && band.last(r0) >= c1) return TileCover::full;
  // Rows that see a key at all are consecutive, and from one to the next both ends move by at most
  // one key, so the keys they see together have no gap: the tile is skipped exactly when it lies
  // beside that range.
  const std::int64_t top = std::max(r0, band.first_row());
  const std::int64_t bottom = std::min(r1 - 1, band.last_row(Lq));
  if (band.keys == 0 || top > bottom) return TileCover::skipped;
  if (band.last(bottom) <= c0 || band.first(top) >= c1) return TileCover::skipped;
  return TileCover::partial;
}

double Problem::visible_pairs() const {
  Wide pairs = 0;
  if (mask.key_lengths.empty()) {
    pairs = pairs_of(band_of(*this, 0), Lq);
    return static_cast<double>(pairs) * static_cast<double>(B) * static_cast<double>(Hq);
  }
  for (std::int64_t b = 0; b < B; ++b) pairs += pairs_of(band_of(*this, b), Lq);
  return static_cast<double>(pairs) * static_cast<double>(Hq);
}

double Problem::flops() const {
  return flops_of(*this);
}

std::int64_t Problem::bias_index(std::int64_t b, std::int64_t h, std::int64_t r, std::int64_t c) const {
  const std::array<std::int64_t, 4> at{b, h, r, c};
  std::int64_t index = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    index = index * bias_shape[axis] + (bias_shape[axis] == 1 ? 0 : at[axis]);
  }
  return index;
}

std::string_view name_of(Pass pass) {
  return pass == Pass::forward ? "forward" : "backward";
}

std::string_view name_of(Storage storage) {
  return storage == Storage::dense ? "dense" : "paged";
}

std::string_view name_of(AxisOrder order) {
  return order == AxisOrder::bhld ? "bhld" : "blhd";
}

float usual_slope(std::int64_t h, std::int64_t heads) {
  return static_cast<float>(std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(heads)));
}

std::vector<float> kept_slopes(std::vector<float> slopes, std::int64_t heads) {
  if (static_cast<std::int64_t>(slopes.size()) != heads) return slopes;
  for (std::int64_t h = 0; h < heads; ++h) {
    if (slopes[static_cast<std::size_t>(h)] != usual_slope(h, heads)) return slopes;
  }
  return {};
}

std::vector<float> slopes_of(const Problem& p) {
  if (!p.alibi->empty()) return *p.alibi;
  std::vector<float> slopes;
  for (std::int64_t h = 0; h < p.Hq; ++h) slopes.push_back(usual_slope(h, p.Hq));
  return slopes;
}

Result<void> validate(const Problem& p) {
  if (auto r = validate_extents(p); !r) return r;
  if (auto r = validate_storage(p); !r) return r;
  if (auto r = validate_sizes(p); !r) return r;
  if (p.scale && !std::isfinite(*p.scale)) {
    return bad_input(fmt::format("The scale is {}; it must be a finite number (1/sqrt(D) is usual).", *p.scale));
  }
  // Kernels hold it in fp32, some of them times log2(e).
  constexpr double kMaxScale = std::numeric_limits<float>::max() / 2.0, kMinScale = std::numeric_limits<float>::min();
  if (p.scale && *p.scale != 0 && (std::abs(*p.scale) > kMaxScale || std::abs(*p.scale) < kMinScale)) {
    return bad_input(
        fmt::format("The scale is {}, which fp32 does not hold; its size must be 0 or from {:.3g} to {:.3g} "
                    "(1/sqrt(D) is usual).",
                    *p.scale, kMinScale, kMaxScale));
  }
  if (auto r = validate_mask(p); !r) return r;
  if (auto r = validate_softcap(p); !r) return r;
  if (auto r = validate_alibi(p); !r) return r;
  return validate_bias(p);
}

std::string describe(const Problem& p) {
  std::string words = fmt::format("B={} H={}", p.B, p.Hq);
  if (p.Hkv != p.Hq) words += fmt::format("/{}", p.Hkv);
  words += fmt::format(" L={}", p.Lq);
  if (p.Lk != p.Lq) words += fmt::format("x{}", p.Lk);
  words += fmt::format(" D={}", p.D);
  if (p.Dv != p.D) words += fmt::format("x{}", p.Dv);
  words += fmt::format(" {}", name_of(p.dtype));
  if (p.mask.causal) words += " causal";
  if (p.mask.window_left >= 0 || p.mask.window_right >= 0) {
    words += fmt::format(" window={},{}", p.mask.window_left, p.mask.window_right);
  }
  if (!p.mask.key_lengths.empty()) words += " keys=" + key_lengths_words(p.mask.key_lengths);
  if (p.has_bias()) words += fmt::format(" bias={}", fmt::join(p.bias_shape, "x"));
  if (p.softcap) words += fmt::format(" softcap={}", *p.softcap);
  if (p.alibi) words += p.alibi->empty() ? " alibi" : " alibi=" + own_slopes_words(*p.alibi);
  if (p.scale) words += fmt::format(" scale={}", *p.scale);
  if (p.pass != Pass::forward) words += fmt::format(" {}", name_of(p.pass));
  if (p.storage.kind() == Storage::paged) words += fmt::format(" page={}/{}", p.storage.page, p.storage.pages);
  if (p.layout != AxisOrder::bhld) words += fmt::format(" {}", name_of(p.layout));
  return words;
}

Result<void> validate(const Problem& p, const Inputs& in) {
  const ByTensor<const Array*> arrays = arrays_of(in);
  for (const TensorSpec& t : tensors_of(p)) {
    if (t.role != Role::in || t.in_problem) continue;
    if (t.tensor == Tensor::bias && !in.bias) {
      return bad_input("The problem has a bias, but no bias array is given.");
    }
    if (!arrays.has(t.tensor)) {
      return bad_input(
          fmt::format("{} of this problem is missing: Q, K, V and a bias alone are given.", words_of(t.tensor)));
    }
    if (auto r = check_array(words_of(t.tensor), *arrays[t.tensor], t); !r) return r;
  }
  if (in.bias && !p.has_bias()) return bad_input("A bias array is given, but the problem has no bias.");
  return ok();
}

}  // namespace attn
