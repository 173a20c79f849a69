// cpu_flash_bwd: the backward of FlashAttention-2 on the CPU (Dao 2023, algorithm 2).
//
// The idea. Of the forward only O and LSE were kept. S and P are computed again tile by tile: P = exp(S - LSE) needs no
// maximum and no sum, for LSE holds both. What a row's softmax takes off its gradient is one number a row,
// delta = rowsum(dO * O), the row's weighted mean of dP:
//
//   S = scale Q K^T,  P = exp(S - LSE),  dP = dO V^T,  dS = P (dP - delta)
//   dV += P^T dO,  dK += dS^T Q,  dQ += dS K           (scale once, at the end, in dK and dQ)
//
// The key tile is outside: its dK and dV stay on chip while the query tiles pass by; dQ comes and goes. Key tiles are
// dealt to so many chunks a head as the problem says, each with a dQ of its own, and these are added in one order at
// the end: the bits do not depend on the threads.
//
// New against the rung before (cpu_naive_bwd): S, P and dS exist for one tile at a time and never go to memory.
//
// What limits it now: five products near the multiply-add rate of the cores, and dQ, which is read and written at each
// turn.
#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/arithmetic/tile_math.h"
#include "kernels/base/text.h"
#include "kernels/cpu/aligned.h"
#include "kernels/cpu/backward/rows.h"
#include "kernels/cpu/backward/trace.h"
#include "kernels/cpu/backward/workspace.h"
#include "kernels/cpu/call.h"
#include "kernels/cpu/rows.h"

namespace attn::cpu {
namespace {

// Enough pieces for many cores, few enough that the copies of dQ stay small.
constexpr std::int64_t kPieces = 64, kMostChunks = 16;

struct FlashLayout {
  std::int64_t br = 0, bc = 0, ti = 0, tj = 0;          // tiles, not larger than Lq and Lk, and how many
  std::int64_t ldk = 0, ldd = 0, ldv = 0;               // padded Bc, D, Dv
  std::int64_t chunks = 0;                              // that share the key tiles of a head
  std::int64_t k_panels = 0, k_rows = 0, v_panels = 0;  // K transposed and plain, V transposed
  std::int64_t q = 0, d_o = 0, delta = 0, dq = 0;       // dq: one a chunk
  std::int64_t scratch = 0, scratch_each = 0;
  Parts parts;
};

FlashLayout layout_of(const Problem& p, const Options& o, std::int64_t most_chunks = kMostChunks) {
  FlashLayout x;
  x.br = std::min<std::int64_t>(o.br, p.Lq);
  x.bc = std::min<std::int64_t>(o.bc, p.Lk);
  x.ti = (p.Lq + x.br - 1) / x.br;
  x.tj = (p.Lk + x.bc - 1) / x.bc;
  x.ldk = padded(x.bc);
  x.ldd = padded(p.D);
  x.ldv = padded(p.Dv);
  const std::int64_t kv_heads = p.B * p.Hkv, heads = p.B * p.Hq;
  x.chunks = std::clamp<std::int64_t>((kPieces + kv_heads - 1) / kv_heads, 1, std::min(x.tj, most_chunks));
  x.k_panels = x.parts.take({kv_heads, x.tj, p.D, x.ldk});
  x.k_rows = x.parts.take({kv_heads, p.Lk, x.ldd});
  x.v_panels = x.parts.take({kv_heads, x.tj, p.Dv, x.ldk});
  x.q = x.parts.take({heads, p.Lq, x.ldd});
  x.d_o = x.parts.take({heads, p.Lq, x.ldv});
  x.delta = x.parts.take({heads, p.Lq});
  x.dq = x.parts.take({x.chunks, heads, p.Lq, x.ldd});
  // S or P, dP or dS, the slope of the softcap; dK, dV; LSE as a shift.
  x.scratch_each = (p.softcap ? 3 : 2) * x.br * x.ldk + x.bc * (x.ldd + x.ldv) + padded(x.br);
  x.scratch = x.parts.take({x.scratch_each, o.threads});
  return x;
}

template <class Trace>
class FlashBackward {
 public:
  FlashBackward(const Problem& p, const Options& o, const Buffers& buffers, Team& team,
                std::int64_t most_chunks = kMostChunks, Trace* trace = nullptr)
      : p_(p),
        buffers_(buffers),
        team_(team),
        trace_(trace),
        at_(layout_of(p, o, most_chunks)),
        bias_(buffers.read<float>(Tensor::bias)),
        scale_(static_cast<float>(p.effective_scale())),
        group_(p.Hq / p.Hkv) {}

  void run() {
    team_.run(p_.B * p_.Hkv * at_.tj, [this](std::int64_t n, std::int32_t) { pack_keys(n / at_.tj, n % at_.tj); });
    team_.run(p_.B * p_.Hq * at_.ti, [this](std::int64_t n, std::int32_t) { pack_queries(n / at_.ti, n % at_.ti); });
    team_.run(p_.B * p_.Hkv * at_.chunks,
              [this](std::int64_t n, std::int32_t worker) { chunk(n / at_.chunks, n % at_.chunks, worker); });
    team_.run(p_.B * p_.Hq * at_.ti, [this](std::int64_t n, std::int32_t) { store_dq(n / at_.ti, n % at_.ti); });
  }

 private:
  struct Scratch {
    MutTile s, ds, cap, dk, dv;
    float* shift;
  };

  static ConstTile read(MutTile t) { return {t.data, t.ld}; }
  float* part(std::int64_t offset) const { return static_cast<float*>(buffers_.workspace) + offset; }
  std::int64_t rows_of(std::int64_t i) const { return std::min(at_.br, p_.Lq - i * at_.br); }
  std::int64_t keys_of_tile(std::int64_t j) const { return std::min(at_.bc, p_.Lk - j * at_.bc); }

  MutTile k_panel(std::int64_t kv, std::int64_t j) const {
    return {part(at_.k_panels) + (kv * at_.tj + j) * p_.D * at_.ldk, at_.ldk};
  }
  MutTile v_panel(std::int64_t kv, std::int64_t j) const {
    return {part(at_.v_panels) + (kv * at_.tj + j) * p_.Dv * at_.ldk, at_.ldk};
  }
  MutTile k_rows(std::int64_t kv, std::int64_t j) const {
    return {part(at_.k_rows) + (kv * p_.Lk + j * at_.bc) * at_.ldd, at_.ldd};
  }
  MutTile q_rows(std::int64_t head, std::int64_t i) const {
    return {part(at_.q) + (head * p_.Lq + i * at_.br) * at_.ldd, at_.ldd};
  }
  MutTile do_rows(std::int64_t head, std::int64_t i) const {
    return {part(at_.d_o) + (head * p_.Lq + i * at_.br) * at_.ldv, at_.ldv};
  }
  float* delta(std::int64_t head, std::int64_t i) const { return part(at_.delta) + head * p_.Lq + i * at_.br; }
  MutTile dq_rows(std::int64_t c, std::int64_t head, std::int64_t i) const {
    return {part(at_.dq) + ((c * p_.B * p_.Hq + head) * p_.Lq + i * at_.br) * at_.ldd, at_.ldd};
  }

  Scratch scratch(std::int32_t worker) const {
    float* next = part(at_.scratch) + worker * at_.scratch_each;
    const auto take = [&next](std::int64_t rows, std::int64_t ld) {
      const MutTile t{next, ld};
      next += rows * ld;
      return t;
    };
    Scratch s{};
    s.s = take(at_.br, at_.ldk);
    s.ds = take(at_.br, at_.ldk);
    if (p_.softcap) s.cap = take(at_.br, at_.ldk);
    s.dk = take(at_.bc, at_.ldd);
    s.dv = take(at_.bc, at_.ldv);
    s.shift = next;
    return s;
  }

  void pack_keys(std::int64_t kv, std::int64_t j) const {
    const std::int64_t cols = keys_of_tile(j), first = j * at_.bc, last = keys_of(p_, kv / p_.Hkv);
    const MutTile rows = k_rows(kv, j);
    widen_rows(p_, buffers_, {Tensor::k, kv, p_.Lk, p_.D}, first, cols, last, rows);
    transpose(read(rows), k_panel(kv, j), cols, p_.D);
    // Sixteen keys at a time through a small buffer: nothing is allocated in a thread.
    float values[kLanes * kMaxHeadDim];
    for (std::int64_t c = 0; c < cols; c += kLanes) {
      const std::int64_t n = std::min(kLanes, cols - c);
      widen_rows(p_, buffers_, {Tensor::v, kv, p_.Lk, p_.Dv}, first + c, n, last, {values, p_.Dv});
      transpose({values, p_.Dv}, {v_panel(kv, j).data + c, at_.ldk}, n, p_.Dv);
    }
  }

  // Q_i, dO_i and delta_i.
  void pack_queries(std::int64_t head, std::int64_t i) const {
    const std::int64_t rows = rows_of(i), first = i * at_.br;
    widen_rows(p_, buffers_, {Tensor::q, head, p_.Lq, p_.D}, first, rows, p_.Lq, q_rows(head, i));
    widen_rows(p_, buffers_, {Tensor::d_o, head, p_.Lq, p_.Dv}, first, rows, p_.Lq, do_rows(head, i));
    float out[kMaxHeadDim];
    float* const to = delta(head, i);
    for (std::int64_t r = 0; r < rows; ++r) {
      widen(p_.dtype, buffers_.in[Tensor::o], (head * p_.Lq + first + r) * p_.Dv, p_.Dv, out);
      row_dots({do_rows(head, i).data + r * at_.ldv, at_.ldv}, {out, p_.Dv}, 1, p_.Dv, to + r);
    }
    if (float* given = buffers_.write<float>(Tensor::delta); given != nullptr)
      std::copy(to, to + rows, given + head * p_.Lq + first);
    if constexpr (Trace::kOn)
      trace_->delta({head / p_.Hq, head % p_.Hq, first, rows, 0, 0}, i, read(do_rows(head, i)), to);
  }

  // Key tiles c, c + chunks, c + 2 chunks ...: a causal mask gives each chunk about the same work.
  void chunk(std::int64_t kv, std::int64_t c, std::int32_t worker) {
    const std::int64_t b = kv / p_.Hkv, first_head = b * p_.Hq + kv % p_.Hkv * group_;
    for (std::int64_t g = 0; g < group_; ++g) std::fill_n(dq_rows(c, first_head + g, 0).data, p_.Lq * at_.ldd, 0.0F);
    for (std::int64_t j = c; j < at_.tj && !team_.stopped(); j += at_.chunks) key_tile(kv, c, j, worker);
  }

  void key_tile(std::int64_t kv, std::int64_t c, std::int64_t j, std::int32_t worker) {
    const Scratch s = scratch(worker);
    const std::int64_t b = kv / p_.Hkv, cols = keys_of_tile(j), first_head = b * p_.Hq + kv % p_.Hkv * group_;
    std::fill_n(s.dk.data, cols * s.dk.ld, 0.0F);
    std::fill_n(s.dv.data, cols * s.dv.ld, 0.0F);
    const Place2d keys{b, first_head - b * p_.Hq, 0, 0, j * at_.bc, cols};
    if constexpr (Trace::kOn) {
      if (p_.cover(b, 0, p_.Lq, keys.c0, keys.c0 + cols) != TileCover::skipped)
        trace_->keys(keys, j, read(k_rows(kv, j)), read(v_panel(kv, j)));
    }
    for (std::int64_t g = 0; g < group_; ++g) {
      for (std::int64_t i = 0; i < at_.ti && !team_.stopped(); ++i) {
        const Place2d t{b, kv % p_.Hkv * group_ + g, i * at_.br, rows_of(i), j * at_.bc, cols};
        if (p_.cover(b, t.r0, t.r0 + t.rows, t.c0, t.c0 + t.cols) == TileCover::skipped) {
          if constexpr (Trace::kOn) trace_->skipped(t, i, j);
          continue;
        }
        tile(t, first_head + g, kv, c, i, j, s);
      }
    }
    const std::int64_t first = kv * p_.Lk + j * at_.bc;
    for (std::int64_t r = 0; r < cols; ++r)
      for (std::int64_t d = 0; d < p_.D; ++d) s.dk.data[r * s.dk.ld + d] *= scale_;
    narrow(p_.dtype, read(s.dk), cols, p_.D, buffers_.out[Tensor::d_k], first * p_.D, p_.D);
    narrow(p_.dtype, read(s.dv), cols, p_.Dv, buffers_.out[Tensor::d_v], first * p_.Dv, p_.Dv);
    if constexpr (Trace::kOn) {
      round_tile(p_.dtype, s.dk, cols, p_.D);
      round_tile(p_.dtype, s.dv, cols, p_.Dv);
      trace_->keys_done(keys, j, read(s.dk), read(s.dv));
    }
  }

  void tile(const Place2d& t, std::int64_t head, std::int64_t kv, std::int64_t c, std::int64_t i, std::int64_t j,
            const Scratch& s) const {
    const ConstTile q = read(q_rows(head, i)), d_o = read(do_rows(head, i));
    const float* const lse = buffers_.read<float>(Tensor::lse) + head * p_.Lq + t.r0;
    if constexpr (Trace::kOn) trace_->rows(t, i, j, q, lse);
    // S, then P = exp(S - LSE) in its place
    scaled_product(q, read(k_panel(kv, j)), s.s, t.rows, t.cols, p_.D, scale_);
    if (p_.softcap) cap_gradients(p_, read(s.s), t.rows, t.cols, s.cap);
    pad_scores(s.s, t.rows, t.cols);
    if constexpr (Trace::kOn) trace_->tile(Phase::scores, Slot::s, read(s.s), t, i, j);
    const bool cut = p_.cover(t.b, t.r0, t.r0 + t.rows, t.c0, t.c0 + t.cols) != TileCover::full;
    if (cut || bias_ != nullptr || p_.shapes_scores()) {
      apply_mask(p_, bias_, t, s.s);
      if constexpr (Trace::kOn) trace_->tile(Phase::mask, Slot::s, read(s.s), t, i, j, {.masked = true});
    }
    shifts(lse, t.rows, s.shift);
    exp_rows(read(s.s), t.rows, t.cols, s.shift, s.s, nullptr);
    if constexpr (Trace::kOn) trace_->tile(n_.weights_again, Slot::p, read(s.s), t, i, j);
    transposed_product(read(s.s), d_o, s.dv, t.cols, p_.Dv, t.rows);
    if constexpr (Trace::kOn) trace_->key_sum(n_.value_gradient, n_.dv, read(s.dv), t, i, j);
    // dP, then dS = P (dP - delta) in its place
    scaled_product(d_o, read(v_panel(kv, j)), s.ds, t.rows, t.cols, p_.Dv, 1.0F);
    if constexpr (Trace::kOn) trace_->tile(n_.weight_gradient, n_.dp, read(s.ds), t, i, j);
    softmax_gradient(read(s.s), read(s.ds), t.rows, t.cols, delta(head, i), s.ds);
    if (p_.softcap) multiply_tile(s.ds, read(s.cap), t.rows, t.cols);
    if constexpr (Trace::kOn) trace_->tile(n_.score_gradient, n_.ds, read(s.ds), t, i, j);
    transposed_product(read(s.ds), q, s.dk, t.cols, p_.D, t.rows);
    if constexpr (Trace::kOn) trace_->key_sum(n_.key_gradient, n_.dk, read(s.dk), t, i, j);
    rescaled_product(read(s.ds), read(k_rows(kv, j)), dq_rows(c, head, i), t.rows, p_.D, t.cols, nullptr);
    if constexpr (Trace::kOn) trace_->query_sum(read(dq_rows(c, head, i)), t, i, j);
  }

  // The chunks' parts in their order, scaled and rounded.
  void store_dq(std::int64_t head, std::int64_t i) const {
    const std::int64_t floats = rows_of(i) * at_.ldd;
    const MutTile sum = dq_rows(0, head, i);
    for (std::int64_t c = 1; c < at_.chunks; ++c) {
      const float* other = dq_rows(c, head, i).data;
      for (std::int64_t n = 0; n < floats; ++n) sum.data[n] += other[n];
    }
    for (std::int64_t n = 0; n < floats; ++n) sum.data[n] *= scale_;
    narrow(p_.dtype, read(sum), rows_of(i), p_.D, buffers_.out[Tensor::d_q], (head * p_.Lq + i * at_.br) * p_.D, p_.D);
    if constexpr (Trace::kOn) {
      round_tile(p_.dtype, sum, rows_of(i), p_.D);
      trace_->rows_done({head / p_.Hq, head % p_.Hq, i * at_.br, rows_of(i), 0, 0}, i, read(sum));
    }
  }

  const Problem& p_;
  const Buffers& buffers_;
  Team& team_;
  Trace* const trace_;  // null where it is off
  const orders::BackwardNames& n_ = orders::backward_names();
  const FlashLayout at_;
  const float* const bias_;  // null: there is none
  const float scale_;
  const std::int64_t group_;  // query heads that share a head of keys
};

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  Result<Options> resolved = resolve(row, o, d);
  if (!resolved) return tl::unexpected(resolved.error());
  const FlashLayout layout = layout_of(p, *resolved);
  return plan_of(row, p, *resolved, layout.parts.bytes(), marked("chunks of key tiles"), p.B * p.Hkv * layout.chunks);
}

// One chunk, on one thread: dQ is the sum over all key tiles in their sequence, and the events are in that of the walk.
Result<Recording> record(const KernelRow& row, const Problem& p, const Options& o, const Inputs& in, Stop stop) {
  auto begun = begun_recording(row, Rules::vector, p, o, in);
  if (!begun) return begun;
  Recording rec = *std::move(begun);
  Options one = rec.options;
  one.threads = 1;
  AlignedBytes workspace(static_cast<std::size_t>(layout_of(p, one, 1).parts.bytes()));
  const Buffers buffers = buffers_of(in, rec.outputs, workspace.data());
  Team team(1, Stream{std::move(stop), nullptr});
  BackwardTrace trace(rec, in);
  FlashBackward<BackwardTrace>(rec.problem, one, buffers, team, 1, &trace).run();
  if (auto good = finish(team, row.id); !good) return tl::unexpected(good.error());
  rec.arena.shrink_to_fit();
  rec.build_index();
  return rec;
}

}  // namespace

KernelRow cpu_flash_bwd_row() {
  static constexpr OptionSpec kOptions[] = {
      {&Option::br, 1, 4096, 1, 64}, {&Option::bc, 1, 4096, 1, 64}, {&Option::threads, 1, 1024, 1, 0}};
  KernelRow row = backward_row();
  row.id = "cpu_flash_bwd";
  row.title = marked("flash backward, all cores");
  row.rung = "2b";
  row.order = *order_named("backward");
  row.options = kOptions;
  row.what = marked("The backward from O and LSE alone, tile by tile, on the CPU's vector units, all cores.");
  row.teaches =
      marked("S and P are computed again from LSE: cheaper than reading them, and nothing of L x L is stored.");
  row.source = marked("Dao 2023, FlashAttention-2, algorithm 2");
  row.plan = plan;
  row.launch = launch_backward<FlashBackward<NoBackwardTrace>>;
  row.record = record;
  return row;
}

}  // namespace attn::cpu
