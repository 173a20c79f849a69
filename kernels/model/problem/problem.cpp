#include "kernels/model/problem/problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/hash.h"

namespace attn {
namespace {

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

std::int64_t Problem::bias_index(std::int64_t b, std::int64_t h, std::int64_t r, std::int64_t c) const {
  const std::array<std::int64_t, 4> at{b, h, r, c};
  std::int64_t index = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    index = index * bias_shape[axis] + (bias_shape[axis] == 1 ? 0 : at[axis]);
  }
  return index;
}

std::string_view name_of(Pass pass) {
  constexpr std::string_view kNames[] = {"forward", "backward", "training"};
  return kNames[static_cast<std::size_t>(pass)];
}

Problem with_pass(Problem p, Pass pass) {
  p.pass = pass;
  return p;
}

std::string_view name_of(Storage storage) {
  return storage == Storage::dense ? "dense" : "paged";
}

std::string_view name_of(AxisOrder order) {
  return order == AxisOrder::bhld ? "bhld" : "blhd";
}

std::string_view name_of(OutputType output) {
  return output == OutputType::as_inputs ? "as_inputs" : "f32";
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
  if (p.output != OutputType::as_inputs) words += fmt::format(" O={}", name_of(p.output));
  return words;
}

}  // namespace attn
