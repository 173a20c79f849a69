#include "kernels/judge/gradients.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/judge/plain_attention.h"

namespace attn {
namespace {

using plain::Group;
using plain::Scores;

constexpr std::int64_t kRowsAtOnce = 64, kKeysOfBlock = 64;
constexpr double kMaxFloat = std::numeric_limits<float>::max();

// A head of keys with the query heads that share it. `all` lists every row of those, head after head.
struct KeyHead {
  std::int64_t b = 0, kv = 0;
  ReferenceRows all;
  // By row of `all`. In fp64, and of the baseline in fp32.
  std::vector<double> m, sum, delta;
  std::vector<float> m32, sum32, delta32;
  std::vector<std::uint8_t> beyond;
  bool not_finite = false;
  std::size_t row(const Problem& p, const RowId& id) const {
    return static_cast<std::size_t>((id.h - kv * (p.Hq / p.Hkv)) * p.Lq + id.r);
  }
};

// Both precisions go through the same lines.
struct Exact {
  using Number = double;
  static double stored(DType, double x) { return x; }
  static const std::vector<double>& m(const KeyHead& h) { return h.m; }
  static const std::vector<double>& sum(const KeyHead& h) { return h.sum; }
  static const std::vector<double>& delta(const KeyHead& h) { return h.delta; }
};
struct Plain {
  using Number = float;
  static float stored(DType t, float x) { return round_to(t, x); }
  static const std::vector<float>& m(const KeyHead& h) { return h.m32; }
  static const std::vector<float>& sum(const KeyHead& h) { return h.sum32; }
  static const std::vector<float>& delta(const KeyHead& h) { return h.delta32; }
};

template <class T>
std::vector<T> read_row(const Array& a, std::int64_t row, std::int64_t dims) {
  std::vector<float> stored(static_cast<std::size_t>(dims));
  a.read(row * dims, dims, stored.data());
  return {stored.begin(), stored.end()};
}

std::int64_t keys_of(const Problem& p, std::int64_t b) {
  return p.mask.key_lengths.empty() ? p.Lk : p.mask.key_lengths[static_cast<std::size_t>(b)];
}

bool all_finite(const Array& a, std::int64_t first, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  a.read(first, count, values.data());
  return std::ranges::all_of(values, [](float x) { return std::isfinite(x); });
}

bool finite_inputs(const Problem& p, const Inputs& in, const KeyHead& h) {
  const std::int64_t group = p.Hq / p.Hkv, rows = group * p.Lq, first = (h.b * p.Hq + h.kv * group) * p.Lq;
  const std::int64_t keys = keys_of(p, h.b), first_key = key_row(p, h.b, h.kv, 0);
  return all_finite(in.q, first * p.D, rows * p.D) && all_finite(*in.d_o, first * p.Dv, rows * p.Dv) &&
         all_finite(in.k, first_key * p.D, keys * p.D) && all_finite(in.v, first_key * p.Dv, keys * p.Dv);
}

KeyHead key_head_of(const Problem& p, const Inputs& in, std::int64_t b, std::int64_t kv) {
  KeyHead h;
  h.b = b;
  h.kv = kv;
  const std::int64_t group = p.Hq / p.Hkv;
  for (std::int64_t g = 0; g < group; ++g)
    for (std::int64_t r = 0; r < p.Lq; ++r) h.all.rows.push_back({b, kv * group + g, r});
  const std::size_t rows = h.all.rows.size();
  for (auto* facts : {&h.m, &h.sum, &h.delta}) facts->resize(rows);
  for (auto* facts : {&h.m32, &h.sum32, &h.delta32}) facts->resize(rows);
  h.beyond.resize(rows);
  h.not_finite = !finite_inputs(p, in, h);
  return h;
}

// P without the division by its sum, in place; m and the sum.
template <class T>
std::pair<T, T> weigh(T* s, std::int64_t keys) {
  const T m = plain::row_maximum(s, keys);
  if (m == -std::numeric_limits<T>::infinity()) {
    std::fill_n(s, keys, T{0});
    return {m, T{0}};
  }
  T sum = 0;
  for (std::int64_t c = 0; c < keys; ++c) sum += s[c] = std::exp(s[c] - m);
  return {m, sum};
}

// The largest |S|, A of delta, and error of delta where nothing but O is rounded to the dtype, of some rows.
struct Settled {
  double most = 0, size = 0, rounding = 0;
};

// m, sum and delta of some rows; a row belongs to one piece.
Settled settle_rows(const Problem& p, const Inputs& in, KeyHead& h, const Group& g) {
  Settled settled;
  Scores<double> s = plain::scores_of<double>(p, in, h.all, g);
  Scores<float> s32 = plain::scores_of<float>(p, in, h.all, g);
  for (std::size_t i = 0; i < g.count; ++i) {
    const std::size_t n = g.first + i;
    for (std::int64_t c = 0; c < s.keys; ++c) {
      const double score = s.row(i)[c];
      if (!std::isfinite(score)) continue;
      settled.most = std::max(settled.most, std::fabs(score));
      if (std::fabs(score) > kMaxFloat || !std::isfinite(s32.row(i)[c])) h.beyond[n] = 1;
    }
    std::tie(h.m[n], h.sum[n]) = weigh(s.row(i), s.keys);
    std::tie(h.m32[n], h.sum32[n]) = weigh(s32.row(i), s.keys);
    for (std::int64_t c = 0; c < s.keys && h.sum32[n] != 0; ++c)
      s32.row(i)[c] = round_to(p.dtype, s32.row(i)[c] / h.sum32[n]);
  }
  const std::vector<double> o = plain::weighted_values(p, in, g, s);
  const std::vector<float> o32 = plain::weighted_values(p, in, g, s32);
  for (std::size_t i = 0; i < g.count; ++i) {
    const std::size_t n = g.first + i;
    const std::vector<float> d_o = read_row<float>(*in.d_o, query_row(p, h.all.rows[n]), p.Dv);
    double absolute = 0, stored = 0, squares = 0;
    for (std::size_t d = 0, at = i * d_o.size(); d < d_o.size(); ++d, ++at) {
      const double value = h.sum[n] == 0 ? 0 : o[at] / h.sum[n], term = static_cast<double>(d_o[d]) * value;
      h.delta[n] += term, absolute += std::fabs(term), squares += term * term;
      stored += static_cast<double>(d_o[d]) * round_to(p.dtype, static_cast<float>(value));
      h.delta32[n] += d_o[d] * round_to(p.dtype, o32[at]);
    }
    settled.size = std::max(settled.size, absolute);
    settled.rounding =
        std::max({settled.rounding, std::fabs(stored - h.delta[n]), unit_roundoff(p.dtype) * std::sqrt(squares)});
  }
  return settled;
}

// Rows of an input in T, one after another.
template <class T>
std::vector<T> read_rows(const Array& a, std::int64_t first, std::int64_t count, std::int64_t dims) {
  std::vector<float> stored(static_cast<std::size_t>(count * dims));
  a.read(first * dims, count * dims, stored.data());
  return {stored.begin(), stored.end()};
}

// P and dS of one group of rows over its keys, dense.
template <class As>
struct Weights {
  std::vector<typename As::Number> p, ds;
};

template <class As>
Weights<As> weights_of(const Problem& p, const Inputs& in, const KeyHead& h, const Group& g) {
  using T = typename As::Number;
  std::vector<T> slopes;
  Scores<T> s = plain::scores_of<T>(p, in, h.all, g, p.softcap ? &slopes : nullptr);
  const auto keys = static_cast<std::size_t>(s.keys);
  Weights<As> w;
  w.ds.resize(s.values.size());
  // V transposed, so that the loops run over the keys; beyond the batch's length it counts as 0.
  std::vector<T> vt(static_cast<std::size_t>(p.Dv) * keys);
  const auto Dv = static_cast<std::size_t>(p.Dv);
  const std::int64_t held = std::clamp<std::int64_t>(keys_of(p, g.b) - g.keys.first, 0, s.keys);
  const std::vector<T> v = read_rows<T>(in.v, key_row(p, g.b, g.kv, g.keys.first), held, p.Dv);
  for (std::size_t c = 0; c < static_cast<std::size_t>(held); ++c)
    for (std::size_t d = 0; d < Dv; ++d) vt[d * keys + c] = v[c * Dv + d];
  for (std::size_t i = 0; i < g.count; ++i) {
    const std::size_t n = g.first + i;
    const T m = As::m(h)[n], sum = As::sum(h)[n], delta = As::delta(h)[n];
    T* const row = s.row(i);
    T* const ds = w.ds.data() + i * keys;
    const std::vector<T> d_o = read_row<T>(*in.d_o, query_row(p, h.all.rows[n]), p.Dv);
    plain::add_products(d_o.data(), p.Dv, vt.data(), s.keys, ds);
    for (std::size_t c = 0; c < keys; ++c) {
      row[c] = sum == 0 || row[c] == -std::numeric_limits<T>::infinity()
                   ? T{0}
                   : As::stored(p.dtype, std::exp(row[c] - m) / sum);
      const T slope = slopes.empty() ? T{1} : slopes[i * keys + c];
      ds[c] = row[c] == 0 ? T{0} : As::stored(p.dtype, row[c] * (ds[c] - delta) * slope);
    }
  }
  w.p = std::move(s.values);
  return w;
}

KeyRange keys_seen(const Problem& p, const KeyHead& h, std::size_t first, std::size_t count) {
  KeyRange keys{p.Lk, 0};
  for (std::size_t n = first; n < first + count; ++n) {
    const KeyRange seen = plain::seen_keys(p, h.b, h.all.rows[n].r);
    if (seen.first >= seen.last) continue;
    keys.first = std::min(keys.first, seen.first);
    keys.last = std::max(keys.last, seen.last);
  }
  if (keys.first >= keys.last) return {0, 0};
  return keys;
}

// `sums` += weights (a row of them) times rows of a matrix, in index order; `size`, where asked, over absolute values.
template <class T>
void add_weighted(std::span<const T> weights, const std::vector<T>& rows, std::span<T> sums, std::span<T> size) {
  const std::size_t dims = sums.size();
  for (std::size_t n = 0; n < weights.size(); ++n) {
    const T w = weights[n];
    if (w == 0) continue;
    const T* row = rows.data() + n * dims;
    for (std::size_t d = 0; d < dims; ++d) sums[d] += w * row[d];
    if (size.empty()) continue;
    for (std::size_t d = 0; d < dims; ++d) size[d] += std::fabs(w * row[d]);
  }
}

double largest(std::span<const double> values) {
  double most = 0;
  for (const double x : values) most = std::max(most, x);
  return most;
}

// Consecutive rows of a head of keys.
struct RowBlock {
  std::size_t first = 0, count = 0;
  std::size_t at = 0;  // of ReferenceRows::rows
};

// dQ of a block of rows. Returns A.
template <class As>
double query_gradients(const Problem& p, const Inputs& in, const KeyHead& h, const RowBlock& block, double* to) {
  using T = typename As::Number;
  const auto D = static_cast<std::size_t>(p.D);
  const Group g{h.b, h.kv, block.first, block.count, keys_seen(p, h, block.first, block.count)};
  const auto keys = static_cast<std::size_t>(g.keys.last - g.keys.first);
  std::vector<T> sums(block.count * D), size(sums.size());
  if (keys > 0) {
    const Weights<As> w = weights_of<As>(p, in, h, g);
    const std::vector<T> k = read_rows<T>(in.k, key_row(p, h.b, h.kv, g.keys.first), g.keys.last - g.keys.first, p.D);
    for (std::size_t i = 0; i < block.count; ++i)
      add_weighted<T>(std::span(w.ds).subspan(i * keys, keys), k, std::span(sums).subspan(i * D, D),
                      std::span(size).subspan(i * D, D));
  }
  const T scale = static_cast<T>(p.effective_scale());
  double most = 0;
  for (std::size_t n = 0; n < sums.size(); ++n) {
    to[n] = static_cast<double>(As::stored(p.dtype, scale * sums[n]));
    most = std::max(most, std::fabs(static_cast<double>(scale * size[n])));
  }
  return most;
}

// dK and dV of consecutive keys.
struct KeyBlock {
  std::int64_t first = 0, count = 0;
  std::size_t at = 0;  // of GradientRows::keys
};

// Returns A of dK and of dV.
template <class As>
std::pair<double, double> key_gradients(const Problem& p, const Inputs& in, const KeyHead& h, const KeyBlock& block,
                                        double* d_k, double* d_v) {
  using T = typename As::Number;
  const auto keys = static_cast<std::size_t>(block.count), D = static_cast<std::size_t>(p.D),
             Dv = static_cast<std::size_t>(p.Dv);
  std::vector<T> dk(keys * D), dv(keys * Dv), dk_size(dk.size()), dv_size(dv.size()), column;
  for (std::size_t first = 0; first < h.all.rows.size(); first += kRowsAtOnce) {
    const std::size_t count = std::min<std::size_t>(kRowsAtOnce, h.all.rows.size() - first);
    const KeyRange seen = keys_seen(p, h, first, count);
    if (seen.last <= block.first || seen.first >= block.first + block.count) continue;
    const Weights<As> w = weights_of<As>(p, in, h, {h.b, h.kv, first, count, {block.first, block.first + block.count}});
    const auto first_row = query_row(p, h.all.rows.front()) + static_cast<std::int64_t>(first);
    const auto q = read_rows<T>(in.q, first_row, static_cast<std::int64_t>(count), p.D);
    const auto d_o = read_rows<T>(*in.d_o, first_row, static_cast<std::int64_t>(count), p.Dv);
    column.resize(count);
    for (std::size_t c = 0; c < keys; ++c) {
      for (std::size_t i = 0; i < count; ++i) column[i] = w.p[i * keys + c];
      add_weighted<T>(column, d_o, std::span(dv).subspan(c * Dv, Dv), std::span(dv_size).subspan(c * Dv, Dv));
      for (std::size_t i = 0; i < count; ++i) column[i] = w.ds[i * keys + c];
      add_weighted<T>(column, q, std::span(dk).subspan(c * D, D), std::span(dk_size).subspan(c * D, D));
    }
  }
  const T scale = static_cast<T>(p.effective_scale());
  std::pair<double, double> most{0, 0};
  for (std::size_t n = 0; n < dk.size(); ++n) {
    d_k[n] = static_cast<double>(As::stored(p.dtype, scale * dk[n]));
    most.first = std::max(most.first, std::fabs(static_cast<double>(scale * dk_size[n])));
  }
  for (std::size_t n = 0; n < dv.size(); ++n) {
    d_v[n] = static_cast<double>(As::stored(p.dtype, dv[n]));
    most.second = std::max(most.second, static_cast<double>(dv_size[n]));
  }
  return most;
}

// All that is known of the sample while it is computed.
class Reference {
 public:
  Reference(const Problem& p, const Inputs& in, const std::vector<RowId>& rows) : p_(p), in_(in) {
    ref_.rows = rows;
    const bool all = static_cast<std::int64_t>(rows.size()) == p.B * p.Hq * p.Lq;
    for (const RowId& id : rows) {
      const std::int64_t kv = id.h / (p.Hq / p.Hkv);
      if (heads_.empty() || heads_.back().b != id.b || heads_.back().kv != kv) add_head(id.b, kv, all);
      places_.emplace_back(heads_.size() - 1, heads_.back().row(p, id));
    }
  }

  Result<ReferenceRows> made(const TakePieces& take, const Stop& stop) {
    settle(take, stop);
    differentiate(take, stop);
    if (stop.stop_requested())
      return fail(ErrorKind::cancelled, tr("Cancelled while the reference was being computed."));
    finish();
    return std::move(ref_);
  }

 private:
  template <class Of>
  struct Block {
    std::size_t head;
    Of of;
  };

  std::vector<Block<RowBlock>> consecutive_rows() const {
    std::vector<Block<RowBlock>> blocks;
    for (std::size_t n = 0; n < places_.size(); ++n) {
      const auto& [head, row] = places_[n];
      const bool next = !blocks.empty() && blocks.back().head == head &&
                        blocks.back().of.first + blocks.back().of.count == row &&
                        blocks.back().of.count < static_cast<std::size_t>(kRowsAtOnce);
      if (!next) blocks.push_back({head, {row, 0, n}});
      ++blocks.back().of.count;
    }
    return blocks;
  }

  void add_head(std::int64_t b, std::int64_t kv, bool all) {
    heads_.push_back(key_head_of(p_, in_, b, kv));
    std::vector<std::int64_t> keys;
    if (all) {
      for (std::int64_t c = 0; c < p_.Lk; ++c) keys.push_back(c);
    } else {
      keys = sampled_rows(p_.Lk);
    }
    for (const std::int64_t c : keys) {
      const bool next = !blocks_.empty() && blocks_.back().head == heads_.size() - 1 &&
                        blocks_.back().of.first + blocks_.back().of.count == c &&
                        blocks_.back().of.count < kKeysOfBlock;
      if (!next) blocks_.push_back({heads_.size() - 1, {c, 0, made_.keys.size()}});
      ++blocks_.back().of.count;
      made_.keys.push_back({b, kv, c});
    }
  }

  void settle(const TakePieces& take, const Stop& stop) {
    struct Piece {
      std::size_t head, first;
      Settled settled = {};
    };
    std::vector<Piece> pieces;
    for (std::size_t n = 0; n < heads_.size(); ++n)
      for (std::size_t first = 0; first < heads_[n].all.rows.size(); first += kRowsAtOnce) pieces.push_back({n, first});
    take(std::ssize(pieces), [&](std::int64_t n) {
      Piece& piece = pieces[static_cast<std::size_t>(n)];
      KeyHead& h = heads_[piece.head];
      if (stop.stop_requested() || h.not_finite) return;
      const std::size_t count = std::min<std::size_t>(kRowsAtOnce, h.all.rows.size() - piece.first);
      piece.settled = settle_rows(p_, in_, h, {h.b, h.kv, piece.first, count, keys_seen(p_, h, piece.first, count)});
    });
    for (const Piece& piece : pieces) {
      ref_.max_abs_score = std::max(ref_.max_abs_score, piece.settled.most);
      made_.delta.size = std::max(made_.delta.size, piece.settled.size);
      made_.delta.rounding = std::max(made_.delta.rounding, piece.settled.rounding);
    }
    // A bias that is NaN or +inf.
    for (KeyHead& h : heads_)
      h.not_finite = h.not_finite || std::ranges::any_of(h.sum, [](double x) { return !std::isfinite(x); });
  }

  void differentiate(const TakePieces& take, const Stop& stop) {
    const std::size_t rows = ref_.rows.size(), keys = made_.keys.size(), D = static_cast<std::size_t>(p_.D),
                      Dv = static_cast<std::size_t>(p_.Dv);
    for (auto* values : {&made_.d_q.exact, &made_.d_q.baseline}) values->resize(rows * D);
    for (auto* values : {&made_.d_k.exact, &made_.d_k.baseline}) values->resize(keys * D);
    for (auto* values : {&made_.d_v.exact, &made_.d_v.baseline}) values->resize(keys * Dv);
    const std::vector<Block<RowBlock>> row_blocks = consecutive_rows();
    std::vector<double> of_q(row_blocks.size()), of_k(blocks_.size()), of_v(blocks_.size());
    take(std::ssize(row_blocks), [&](std::int64_t piece) {
      const auto n = static_cast<std::size_t>(piece);
      const auto& [head, block] = row_blocks[n];
      if (stop.stop_requested() || heads_[head].not_finite) return;
      of_q[n] = query_gradients<Exact>(p_, in_, heads_[head], block, made_.d_q.exact.data() + block.at * D);
      query_gradients<Plain>(p_, in_, heads_[head], block, made_.d_q.baseline.data() + block.at * D);
    });
    take(std::ssize(blocks_), [&](std::int64_t piece) {
      const auto n = static_cast<std::size_t>(piece);
      const auto& [head, block] = blocks_[n];
      if (stop.stop_requested() || heads_[head].not_finite) return;
      const std::size_t k = block.at * D, v = block.at * Dv;
      std::tie(of_k[n], of_v[n]) =
          key_gradients<Exact>(p_, in_, heads_[head], block, made_.d_k.exact.data() + k, made_.d_v.exact.data() + v);
      key_gradients<Plain>(p_, in_, heads_[head], block, made_.d_k.baseline.data() + k, made_.d_v.baseline.data() + v);
    });
    made_.d_q.size = largest(of_q);
    made_.d_k.size = largest(of_k);
    made_.d_v.size = largest(of_v);
  }

  void finish() {
    for (const auto& [head, row] : places_) {
      const KeyHead& h = heads_[head];
      ref_.lse.push_back(h.m[row] + std::log(h.sum[row]));  // no key: -inf + ln 0
      ref_.beyond_fp32.push_back(h.beyond[row]);
      made_.delta.exact.push_back(h.delta[row]);
      made_.delta.baseline.push_back(static_cast<double>(h.delta32[row]));
      made_.of_rows.push_back(h.not_finite ? Left::not_finite : h.beyond[row] != 0 ? Left::beyond_fp32 : Left::judged);
    }
    for (const Block<KeyBlock>& block : blocks_) {
      const KeyHead& h = heads_[block.head];
      const bool beyond = std::ranges::any_of(h.beyond, [](std::uint8_t x) { return x != 0; });
      const Left left = h.not_finite ? Left::not_finite : beyond ? Left::beyond_fp32 : Left::judged;
      made_.of_keys.insert(made_.of_keys.end(), static_cast<std::size_t>(block.of.count), left);
    }
    ref_.gradients = std::make_shared<const GradientRows>(std::move(made_));
  }

  const Problem& p_;
  const Inputs& in_;
  ReferenceRows ref_;
  GradientRows made_;
  std::vector<KeyHead> heads_;
  std::vector<std::pair<std::size_t, std::size_t>> places_;  // of each row: its head of keys, its row there
  std::vector<Block<KeyBlock>> blocks_;
};

}  // namespace

Result<ReferenceRows> gradient_rows_by(const TakePieces& take, const Problem& p, const Inputs& in,
                                       const std::vector<RowId>& rows, const Stop& stop) {
  if (!in.d_o) return bad_input(tr("The problem's dO is missing."));
  return Reference(p, in, rows).made(take, stop);
}

}  // namespace attn
