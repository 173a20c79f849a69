// What is computed: the shape, dtype, scale and mask of one attention problem.
//
//   S = scale * Q K^T + bias,  masked;  O = softmax(S) V;  LSE = ln sum exp S
// With a softcap c the scaled scores become c tanh(S / c) before the bias; with ALiBi slope_h |r + Lk - Lq - col| is
// taken from them after it (Gemma 2, section 2; Press, Smith, Lewis 2021).
//
// Layouts, C order, where nothing else is said (tensors.h has every tensor of every pass):
//    Q [B,Hq,Lq,D]  K [B,Hkv,Lk,D]  V [B,Hkv,Lk,Dv]  O [B,Hq,Lq,Dv]  LSE [B,Hq,Lq].
// Query head h reads key/value head h / (Hq / Hkv) (grouped-query attention).
// Words and letters: FlashAttention-2 (Dao 2023), section 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/array.h"
#include "kernels/base/dtype.h"

namespace attn {

// Which keys a query may see. Query row r is aligned bottom-right: its own key is r + Lk - Lq.
struct Mask {
  bool causal = false;                    // no key after the row's own: the same as window_right = 0
  std::int64_t window_left = -1;          // keys before the row's own that are seen; -1 = unbounded
  std::int64_t window_right = -1;         // keys after the row's own that are seen; -1 = unbounded
  std::vector<std::int64_t> key_lengths;  // one a batch, keys beyond are masked; empty = all Lk

  bool operator==(const Mask&) const = default;
  bool any() const { return causal || window_left >= 0 || window_right >= 0 || !key_lengths.empty(); }
};

// What is computed. Decoding is a forward of few queries.
enum class Pass : std::uint8_t {
  forward,   // O and LSE of Q, K and V
  backward,  // dQ, dK and dV of Q, K, V, O, LSE and dO
  training,  // a step of training: O and LSE of a forward, then dQ, dK and dV by a backward that reads them
};
std::string_view name_of(Pass pass);  // "forward"
inline constexpr Pass kPasses[] = {Pass::forward, Pass::backward, Pass::training};
constexpr bool makes_output(Pass pass) {
  return pass != Pass::backward;
}
constexpr bool makes_gradients(Pass pass) {
  return pass != Pass::forward;
}

// How K and V lie in memory: dense, or in pages of so many keys, which a table [B, ceil(Lk / page)] finds in a pool.
// A page is laid out as a batch of `page` keys is. Beyond a batch's key length neither table nor pages are read.
enum class Storage : std::uint8_t { dense, paged };
std::string_view name_of(Storage storage);  // "dense", "paged"
struct KvStorage {
  std::int64_t page = 0;   // keys a page; 0: dense
  std::int64_t pages = 0;  // pages in the pool; 0: dense

  bool operator==(const KvStorage&) const = default;
  Storage kind() const { return page == 0 ? Storage::dense : Storage::paged; }
};

// The order of the axes of Q, K, V, O and their gradients in memory, the slowest first. Shapes are [B, H, L, D] in
// either: strides say what differs (tensors.h).
enum class AxisOrder : std::uint8_t { bhld, blhd };
std::string_view name_of(AxisOrder order);  // "bhld", "blhd"

// The type that O is stored in: that of Q, K and V, or fp32, in which it is summed. Who merges several O's wants the
// sums.
enum class OutputType : std::uint8_t { as_inputs, f32 };
std::string_view name_of(OutputType output);  // "as_inputs", "f32"

// The largest page, in keys.
constexpr std::int64_t kMaxPage = 256;

// The largest D and Dv.
constexpr std::int64_t kMaxHeadDim = 256;

// How much of one tile the mask lets through.
enum class TileCover : std::uint8_t { full, partial, skipped };

// Keys [first, last) that one row may see (bias apart); first >= last when it sees none.
struct KeyRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

struct Problem {
  std::int64_t B = 1, Hq = 1, Hkv = 1, Lq = 1, Lk = 1, D = 1, Dv = 1;
  DType dtype = DType::f32;
  std::optional<double> scale;  // none: 1/sqrt(D)
  Mask mask;
  // Additive bias, fp32, broadcast to [B,Hq,Lq,Lk]: each extent is 1 or the full one. Empty = no bias.
  // Added after the scale; -inf means masked.
  std::vector<std::int64_t> bias_shape;
  std::optional<double> softcap;  // above 0; none: scores are not capped
  // ALiBi's slopes, [Hq] or [B, Hq], in fp32; none: no ALiBi; empty: the usual ones, 2^(-8 (h + 1) / Hq). Slopes that
  // are the usual ones are always kept as empty, so that equal problems compare equal.
  std::optional<std::vector<float>> alibi;
  Pass pass = Pass::forward;
  KvStorage storage;
  AxisOrder layout = AxisOrder::bhld;
  OutputType output = OutputType::as_inputs;  // f32 is said of 16-bit dtypes alone

  bool operator==(const Problem&) const = default;

  double effective_scale() const;
  DType output_dtype() const { return output == OutputType::f32 ? DType::f32 : dtype; }
  bool has_bias() const { return !bias_shape.empty(); }
  // Softcap or ALiBi: scores change in a way that no array says.
  bool shapes_scores() const { return softcap.has_value() || alibi.has_value(); }
  // Something beside the mask changes a scaled score.
  bool changes_scores() const { return has_bias() || shapes_scores(); }
  // The slope of a head; alibi must hold.
  float slope(std::int64_t b, std::int64_t h) const;
  // c tanh(s / c), or s. NaN stays NaN; +inf becomes c.
  double capped(double s) const;
  // What ALiBi takes from the score of (b, h, r, c); 0 without it.
  double alibi_at(std::int64_t b, std::int64_t h, std::int64_t r, std::int64_t c) const;
  std::int64_t kv_head(std::int64_t h) const { return h / (Hq / Hkv); }
  // Keys that (batch b, query row r) may see.
  KeyRange visible_keys(std::int64_t b, std::int64_t r) const;
  bool visible(std::int64_t b, std::int64_t r, std::int64_t c) const;
  // Rows [r0, r1) against keys [c0, c1), in constant time.
  TileCover cover(std::int64_t b, std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1) const;
  // B * Hq * (query-key pairs that the mask lets see); bias not regarded.
  double visible_pairs() const;
  // Flat index of the bias of (b, h, r, c); has_bias() must hold.
  std::int64_t bias_index(std::int64_t b, std::int64_t h, std::int64_t r, std::int64_t c) const;
};

// 2^(-8 (h + 1) / Hq), rounded once to fp32.
float usual_slope(std::int64_t h, std::int64_t heads);
// Slopes as Problem::alibi keeps them: empty where they are the usual ones of `heads`.
std::vector<float> kept_slopes(std::vector<float> slopes, std::int64_t heads);
// Those of the problem written out, [Hq] or [B, Hq]; alibi must hold.
std::vector<float> slopes_of(const Problem& p);

// "B=1 H=16/4 L=128x217 D=64 f16 causal", "... backward page=16/640 blhd": one line for lists, logs and errors.
std::string describe(const Problem& p);
// The same tensors, the other pass.
Problem with_pass(Problem p, Pass pass);

// The numbers. Shapes as at the top; dtype of q, k, v is the problem's; bias is f32.
struct Inputs {
  Array q, k, v;
  std::optional<Array> bias = {};
  // Of a backward: what its forward gave, and the gradient of O.
  std::optional<Array> o = {}, lse = {}, d_o = {};
  // Where K and V lie in pages: [B, ceil(Lk / page)], which page of the pool holds a batch's next keys.
  std::vector<std::int32_t> page_table = {};
};

// Those of the problem's pass; the others stay empty.
struct Outputs {
  Array out;  // forward: [B,Hq,Lq,Dv], the problem's output_dtype()
  Array lse;  // forward: [B,Hq,Lq], f32, natural logarithm
  // Backward: the gradients, as what they are of. delta [B,Hq,Lq], f32, is a kernel's own; one that finds a place for
  // it here leaves it there, to be judged.
  Array d_q = {}, d_k = {}, d_v = {}, delta = {};
};

}  // namespace attn
