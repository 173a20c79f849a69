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
// the end: the bits do not depend on the threads. Option `outside`: the other way round, the query tile with its dQ
// stays, and dK and dV come and go: two sums on their way in place of one.
//
// New against the rung before (cpu_naive_bwd): S, P and dS exist for one tile at a time and never go to memory.
//
// What limits it now: five products near the multiply-add rate of the cores, and dQ, which is read and written at each
// turn.
//
// Two what-ifs are options: LSE in 16 bits, and a dS that forgets delta.
//
// Ring. Option `ranks` deals queries and keys to ranks (kernels/cpu/backward/ring.h): dQ stays with its queries, while
// dK and dV are sums that go round with their keys and, after the last turn, home. Here all ranks are in one process;
// `attnscope ring --pass backward` runs a process each, with the same bits.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/arithmetic/tile_math.h"
#include "kernels/base/pieces.h"
#include "kernels/base/text.h"
#include "kernels/cpu/backward/flash_layout.h"
#include "kernels/cpu/backward/flash_places.h"
#include "kernels/cpu/backward/ring.h"
#include "kernels/cpu/backward/rows.h"
#include "kernels/cpu/backward/trace.h"
#include "kernels/cpu/backward/workspace.h"
#include "kernels/cpu/call.h"
#include "kernels/cpu/ring.h"
#include "kernels/cpu/rows.h"
#include "kernels/model/ring.h"
#include "kernels/orders/backward/options.h"
#include "kernels/recording/lanes.h"
#include "kernels/recording/recording_run.h"

namespace attn::cpu {
namespace {

using namespace orders::backward;

template <class Trace>
class FlashBackward : FlashPlaces {
 public:
  static constexpr bool kRecorded = Trace::kOn;

  FlashBackward(const Problem& p, const Options& o, const Buffers& buffers, Team& team,
                std::int64_t most_chunks = kMostChunks, Trace* trace = nullptr)
      : FlashPlaces(p, buffers, flash_layout_of(p, o, most_chunks)),
        team_(team),
        trace_(trace),
        bias_(buffers.read<float>(Tensor::bias)),
        scale_(static_cast<float>(p.effective_scale())),
        group_(p.Hq / p.Hkv),
        by_queries_(queries_outside(o)),
        lse_type_(lse_type(o)),
        forgotten_(static_cast<std::size_t>(subtracts_delta(o) ? 0 : at_.br), 0.0F),
        ring_(ring_of(o, at_.ti, at_.tj)),
        every_tile_(static_cast<std::size_t>(at_.ti)) {
    std::iota(every_tile_.begin(), every_tile_.end(), std::int64_t{0});
  }

  void run() {
    if (ring_.ranks > 1) return BackwardRing(*this).run();
    team_.run(p_.B * p_.Hkv * at_.tj, [this](std::int64_t n, std::int32_t) { pack_keys(n / at_.tj, n % at_.tj); });
    team_.run(p_.B * p_.Hq * at_.ti, [this](std::int64_t n, std::int32_t) { pack_queries(n / at_.ti, n % at_.ti); });
    team_.run(p_.B * p_.Hkv * at_.chunks, [this](std::int64_t n, std::int32_t worker) {
      by_queries_ ? query_chunk(n / at_.chunks, n % at_.chunks, worker)
                  : key_chunk(n / at_.chunks, n % at_.chunks, worker);
    });
    if (by_queries_) {
      team_.run(p_.B * p_.Hkv * at_.tj, [this](std::int64_t n, std::int32_t) { store_dkv(n / at_.tj, n % at_.tj); });
    } else {
      team_.run(p_.B * p_.Hq * at_.ti, [this](std::int64_t n, std::int32_t) { store_dq(n / at_.ti, n % at_.ti); });
    }
  }

 private:
  friend class BackwardRing<FlashBackward>;

  // What numbers cost that are packed or written, masked or capped, an exponential or a gradient, in multiply-adds.
  static constexpr std::int64_t kPacked = 4, kShaped = 32, kExp = 16, kGradient = 4;
  // Steps of the recording, where there is one.
  template <class Step>
  void once(const Step& step, std::int64_t cost = WalkMark::kStep) const {
    if constexpr (Trace::kOn) return trace_->once(step, cost);
    step();
  }
  template <class Body>
  void each(std::int64_t n, const Body& body) const {
    const auto unless_stopped = [&](std::int64_t at) {
      if (!team_.stopped()) body(at);
    };
    if constexpr (Trace::kOn) return trace_->each(0, n, unless_stopped);
    for (std::int64_t at = 0; at < n; ++at) unless_stopped(at);
  }
  // of(first, n): rows of a tile, or rows of keys, all or some after the other.
  template <class Of>
  void blocks(std::int64_t rows, std::int64_t cost_each, const Of& of) const {
    if constexpr (Trace::kOn) return trace_->blocks(rows, cost_each, of);
    of(std::int64_t{0}, rows);
  }

  std::int64_t first_head(std::int64_t kv) const { return kv / p_.Hkv * p_.Hq + kv % p_.Hkv * group_; }

  FlashScratch scratch(std::int32_t worker) const {
    return scratch_at(at_, part(at_.scratch) + worker * at_.scratch_each, by_queries_, p_.softcap.has_value());
  }

  // K_j in rows, and K_j and V_j transposed.
  void pack_keys(std::int64_t kv, std::int64_t j) const {
    // So that blocks begin at multiples of kLanes, as pack_some_keys() needs.
    static_assert(kLanes * 3 * kMaxHeadDim * kPacked <= WalkMark::kBlock);
    blocks(keys_of_tile(j), (2 * p_.D + p_.Dv) * kPacked,
           [&](std::int64_t first, std::int64_t n) { pack_some_keys(kv, j, first, n); });
  }

  // Q_i, dO_i, LSE_i and delta_i.
  void pack_queries(std::int64_t head, std::int64_t i) const {
    blocks(rows_of(i), (p_.D + 2 * p_.Dv) * kPacked,
           [&](std::int64_t first, std::int64_t n) { pack_rows(head, i, first, n); });
    if constexpr (Trace::kOn) {
      if (!by_queries_) trace_->delta(place(head, i, 0), i, read(do_rows(head, i)), delta(head, i));
    }
  }

  void pack_rows(std::int64_t head, std::int64_t i, std::int64_t from, std::int64_t rows) const {
    const std::int64_t first = i * at_.br + from;
    const MutTile d_o = from_row(do_rows(head, i), from);
    widen_rows(p_, buffers_, {Tensor::q, head, p_.Lq, p_.D}, first, rows, p_.Lq, from_row(q_rows(head, i), from));
    widen_rows(p_, buffers_, {Tensor::d_o, head, p_.Lq, p_.Dv}, first, rows, p_.Lq, d_o);
    float* const rounded = lse(head, i) + from;
    std::copy_n(buffers_.read<float>(Tensor::lse) + head * p_.Lq + first, rows, rounded);
    round_tile(lse_type_, {rounded, 1}, rows, 1);
    float out[kMaxHeadDim];
    float* const to = delta(head, i) + from;
    for (std::int64_t r = 0; r < rows; ++r) {
      widen(p_.dtype, buffers_.in[Tensor::o], (head * p_.Lq + first + r) * p_.Dv, p_.Dv, out);
      row_dots(from_row(read(d_o), r), {out, p_.Dv}, 1, p_.Dv, to + r);
    }
    if (float* given = buffers_.write<float>(Tensor::delta); given != nullptr)
      std::copy(to, to + rows, given + head * p_.Lq + first);
  }

  // Key tiles c, c + chunks, c + 2 chunks ...: a causal mask gives each chunk about the same work.
  void key_chunk(std::int64_t kv, std::int64_t c, std::int32_t worker) {
    each(group_, [&](std::int64_t g) { std::fill_n(dq_rows(c, first_head(kv) + g, 0).data, p_.Lq * at_.ldd, 0.0F); });
    each((at_.tj - c + at_.chunks - 1) / at_.chunks,
         [&](std::int64_t n) { key_tile(kv, c, c + n * at_.chunks, worker); });
  }

  void key_tile(std::int64_t kv, std::int64_t c, std::int64_t j, std::int32_t worker) {
    FlashScratch s = scratch(worker);
    const std::int64_t cols = keys_of_tile(j);
    const MutTile dk = s.sums.dk, dv = s.sums.dv;
    Place2d keys = place(first_head(kv), 0, j);
    keys.rows = 0;
    if constexpr (Trace::kOn) {
      if (p_.cover(keys.b, 0, p_.Lq, keys.c0, keys.c0 + cols) != TileCover::skipped)
        trace_->keys(keys, -1, j, read(k_rows(kv, j)), read(v_panel(kv, j)));
    }
    sum_keys(kv, c, j, every_tile_, s);
    store_keys(dk, dv, cols, kv * p_.Lk + j * at_.bc);
    if constexpr (Trace::kOn) trace_->keys_done(keys, j, read(dk), read(dv));
  }

  // What the query tiles of all heads that share these keys give dK and dV, from 0, on chip.
  void sum_keys(std::int64_t kv, std::int64_t c, std::int64_t j, const std::vector<std::int64_t>& tiles,
                FlashScratch& s) {
    const std::int64_t cols = keys_of_tile(j), count = std::ssize(tiles);
    once([&] {
      std::fill_n(s.sums.dk.data, cols * s.sums.dk.ld, 0.0F);
      std::fill_n(s.sums.dv.data, cols * s.sums.dv.ld, 0.0F);
    });
    each(group_ * count, [&](std::int64_t n) {
      const std::int64_t head = first_head(kv) + n / count, i = tiles[static_cast<std::size_t>(n % count)];
      const Place2d t = place(head, i, j);
      if (hidden(t)) {
        if constexpr (Trace::kOn) trace_->skipped(t, i, j);
        return;
      }
      if constexpr (Trace::kOn) trace_->rows(t, i, j, read(q_rows(head, i)), lse(head, i));
      s.sums.dq = dq_rows(c, head, i);
      tile(t, {head, kv, i, j}, s);
    });
  }

  // Query tiles c, c + chunks ... of the heads that share these keys.
  void query_chunk(std::int64_t kv, std::int64_t c, std::int32_t worker) {
    once([&] {
      std::fill_n(dk_rows(c, kv, 0).data, p_.Lk * at_.ldd, 0.0F);
      std::fill_n(dv_rows(c, kv, 0).data, p_.Lk * at_.ldv, 0.0F);
    });
    each((group_ * at_.ti - c + at_.chunks - 1) / at_.chunks, [&](std::int64_t turn) {
      const std::int64_t n = c + turn * at_.chunks;
      query_tile(first_head(kv) + n / at_.ti, kv, c, n % at_.ti, worker);
    });
  }

  void query_tile(std::int64_t head, std::int64_t kv, std::int64_t c, std::int64_t i, std::int32_t worker) {
    FlashScratch s = scratch(worker);
    const MutTile dq = s.sums.dq;
    once([&] { std::fill_n(dq.data, rows_of(i) * dq.ld, 0.0F); });
    Place2d rows = place(head, i, 0);
    rows.cols = 0;
    if constexpr (Trace::kOn) {
      trace_->delta(rows, i, read(do_rows(head, i)), delta(head, i));
      trace_->rows(rows, i, -1, read(q_rows(head, i)), lse(head, i));
    }
    each(at_.tj, [&](std::int64_t j) {
      const Place2d t = place(head, i, j);
      if (hidden(t)) {
        if constexpr (Trace::kOn) trace_->skipped(t, i, j);
        return;
      }
      if constexpr (Trace::kOn) trace_->keys(t, i, j, read(k_rows(kv, j)), read(v_panel(kv, j)));
      s.sums.dk = dk_rows(c, kv, j);
      s.sums.dv = dv_rows(c, kv, j);
      tile(t, {head, kv, i, j}, s);
    });
    store_queries(dq, head, i);
    if constexpr (Trace::kOn) trace_->rows_done(rows, i, read(dq));
  }

  // of(first, n): rows or keys of a tile whose every number costs so much.
  template <class Of>
  void product(const Place2d& t, std::int64_t rows, std::int64_t cost, const Of& of) const {
    blocks(rows, t.rows * t.cols / rows * cost, of);
  }

  // S, then P = exp(S - LSE) in its place
  void weights(const Place2d& t, const FlashTile& at, const FlashScratch& s) const {
    const auto [head, kv, i, j] = at;
    product(t, t.rows, p_.D + (p_.softcap ? kShaped : 0), [&](std::int64_t first, std::int64_t n) {
      const MutTile to = from_row(s.s, first);
      scaled_product(from_row(read(q_rows(head, i)), first), read(k_panel(kv, j)), to, n, t.cols, p_.D, scale_);
      if (p_.softcap) cap_gradients(p_, read(to), n, t.cols, from_row(s.cap, first));
      pad_scores(to, n, t.cols);
    });
    if constexpr (Trace::kOn) trace_->tile(Phase::scores, Slot::s, read(s.s), t, i, j);
    const bool cut = p_.cover(t.b, t.r0, t.r0 + t.rows, t.c0, t.c0 + t.cols) != TileCover::full;
    if (cut || bias_ != nullptr || p_.shapes_scores()) {
      product(t, t.rows, kShaped, [&](std::int64_t first, std::int64_t n) {
        mask_rows(cpu::rows_of(t, first, n), {.s = from_row(s.s, first)});
      });
      if constexpr (Trace::kOn) trace_->tile(Phase::mask, Slot::s, read(s.s), t, i, j, {.masked = true});
    }
    product(t, t.rows, kExp, [&](std::int64_t first, std::int64_t n) {
      shifts(lse(head, i) + first, n, s.shift + first);
      const MutTile to = from_row(s.s, first);
      exp_rows(read(to), n, t.cols, s.shift + first, to, nullptr);
    });
    if constexpr (Trace::kOn) trace_->tile(n_.weights_again, Slot::p, read(s.s), t, i, j);
  }

  void mask_rows(const Place2d& t, const FlashScratch& s) const { apply_mask(p_, bias_, t, s.s); }

  // dP, then dS = P (dP - delta) in its place
  void score_gradients(const Place2d& t, const FlashTile& at, const FlashScratch& s) const {
    const auto [head, kv, i, j] = at;
    const ConstTile d_o = read(do_rows(head, i));
    product(t, t.rows, p_.Dv, [&](std::int64_t first, std::int64_t n) {
      scaled_product(from_row(d_o, first), read(v_panel(kv, j)), from_row(s.ds, first), n, t.cols, p_.Dv, 1.0F);
    });
    if constexpr (Trace::kOn) trace_->tile(n_.weight_gradient, n_.dp, read(s.ds), t, i, j);
    const float* const mean = forgotten_.empty() ? delta(head, i) : forgotten_.data();
    product(t, t.rows, kGradient, [&](std::int64_t first, std::int64_t n) {
      const MutTile ds = from_row(s.ds, first);
      softmax_gradient(from_row(read(s.s), first), read(ds), n, t.cols, mean + first, ds);
      if (p_.softcap) multiply_tile(ds, from_row(read(s.cap), first), n, t.cols);
    });
    if constexpr (Trace::kOn) trace_->tile(n_.score_gradient, n_.ds, read(s.ds), t, i, j);
  }

  void query_sums(const Place2d& t, std::int64_t kv, std::int64_t j, const FlashScratch& s) const {
    rescaled_product(read(s.ds), read(k_rows(kv, j)), s.sums.dq, t.rows, p_.D, t.cols, nullptr);
  }

  void tile(const Place2d& t, const FlashTile& at, const FlashScratch& s) const {
    const auto [head, kv, i, j] = at;
    weights(t, at, s);
    product(t, t.cols, p_.Dv, [&](std::int64_t first, std::int64_t n) {
      transposed_product({s.s.data + first, s.s.ld}, read(do_rows(head, i)), from_row(s.sums.dv, first), n, p_.Dv,
                         t.rows);
    });
    if constexpr (Trace::kOn) trace_->key_sum(n_.value_gradient, n_.dv, read(s.sums.dv), t, i, j);
    score_gradients(t, at, s);
    product(t, t.cols, p_.D, [&](std::int64_t first, std::int64_t n) {
      transposed_product({s.ds.data + first, s.ds.ld}, read(q_rows(head, i)), from_row(s.sums.dk, first), n, p_.D,
                         t.rows);
    });
    if constexpr (Trace::kOn) trace_->key_sum(n_.key_gradient, n_.dk, read(s.sums.dk), t, i, j);
    product(t, t.rows, p_.D, [&](std::int64_t first, std::int64_t n) {
      query_sums(cpu::rows_of(t, first, n), kv, j,
                 {.ds = from_row(s.ds, first), .sums = {.dq = from_row(s.sums.dq, first)}});
    });
    if constexpr (Trace::kOn) trace_->query_sum(read(s.sums.dq), t, i, j);
  }

  static void add(ConstTile other, std::int64_t floats, MutTile sum) {
    for (std::int64_t n = 0; n < floats; ++n) sum.data[n] += other.data[n];
  }

  // Scaled, written, and in place what was written.
  void store_keys(MutTile dk, MutTile dv, std::int64_t cols, std::int64_t first) const {
    blocks(cols, (p_.D + p_.Dv) * kPacked,
           [&](std::int64_t at, std::int64_t n) { store_some(from_row(dk, at), from_row(dv, at), n, first + at); });
  }

  void store_some(MutTile dk, MutTile dv, std::int64_t cols, std::int64_t first) const {
    for (std::int64_t r = 0; r < cols; ++r)
      for (std::int64_t d = 0; d < p_.D; ++d) dk.data[r * dk.ld + d] *= scale_;
    narrow(p_.dtype, read(dk), cols, p_.D, buffers_.out[Tensor::d_k], first * p_.D, p_.D);
    narrow(p_.dtype, read(dv), cols, p_.Dv, buffers_.out[Tensor::d_v], first * p_.Dv, p_.Dv);
    if constexpr (Trace::kOn) {
      round_tile(p_.dtype, dk, cols, p_.D);
      round_tile(p_.dtype, dv, cols, p_.Dv);
    }
  }

  void store_queries(MutTile dq, std::int64_t head, std::int64_t i) const {
    blocks(rows_of(i), p_.D * kPacked, [&](std::int64_t at, std::int64_t rows) {
      const MutTile some = from_row(dq, at);
      for (std::int64_t n = 0; n < rows * some.ld; ++n) some.data[n] *= scale_;
      const std::int64_t first = head * p_.Lq + i * at_.br + at;
      narrow(p_.dtype, read(some), rows, p_.D, buffers_.out[Tensor::d_q], first * p_.D, p_.D);
      if constexpr (Trace::kOn) round_tile(p_.dtype, some, rows, p_.D);
    });
  }

  // The chunks' parts in their order; a recording has one.
  void store_dq(std::int64_t head, std::int64_t i) const {
    const MutTile sum = dq_rows(0, head, i);
    for (std::int64_t c = 1; c < at_.chunks; ++c) add(read(dq_rows(c, head, i)), rows_of(i) * at_.ldd, sum);
    store_queries(sum, head, i);
    if constexpr (Trace::kOn) trace_->rows_done(place(head, i, 0), i, read(sum));
  }

  void store_dkv(std::int64_t kv, std::int64_t j) const {
    const MutTile dk = dk_rows(0, kv, j), dv = dv_rows(0, kv, j);
    const std::int64_t cols = keys_of_tile(j);
    for (std::int64_t c = 1; c < at_.chunks; ++c) {
      add(read(dk_rows(c, kv, j)), cols * at_.ldd, dk);
      add(read(dv_rows(c, kv, j)), cols * at_.ldv, dv);
    }
    store_keys(dk, dv, cols, kv * p_.Lk + j * at_.bc);
    Place2d keys = place(first_head(kv), 0, j);
    keys.rows = 0;
    if constexpr (Trace::kOn) trace_->keys_done(keys, j, read(dk), read(dv));
  }

  Team& team_;
  Trace* const trace_;  // null where it is off
  const orders::BackwardNames& n_ = orders::backward_names();
  const float* const bias_;  // null: there is none
  const float scale_;
  const std::int64_t group_;  // query heads that share a head of keys
  const bool by_queries_;     // the query tile is outside
  const DType lse_type_;
  const std::vector<float> forgotten_;    // zeros in the place of delta; empty: it is subtracted
  const Ring ring_;                       // of one rank: none
  std::vector<std::int64_t> every_tile_;  // of queries
};

Result<void> check_ring(const Options& o) {
  if (ranks_of(o) == 1 || !queries_outside(o)) return ok();
  return bad_input(phrase("ranks={} and outside={}: in a ring, dQ stays while dK and dV travel; use outside={}.",
                          ranks_of(o), kLoops[kQueriesOutside], kLoops[kKeysOutside]));
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  Result<Options> resolved = resolve(row, o, d);
  if (!resolved) return tl::unexpected(resolved.error());
  if (auto good = check_ring(*resolved); !good) return tl::unexpected(good.error());
  const FlashLayout layout = flash_layout_of(p, *resolved);
  return plan_of(row, p, *resolved, layout.parts.bytes(),
                 queries_outside(*resolved) ? marked("blocks of query tiles") : marked("blocks of key tiles"),
                 ranks_of(*resolved) * p.B * p.Hkv * layout.chunks);
}

const RingTile kRing{
    .rank = [](const Plan& plan, const Buffers& buffers, std::int64_t rank, Team& team) -> std::unique_ptr<RankOfRing> {
      return std::make_unique<BackwardRank<FlashBackward<NoBackwardTrace>>>(plan, buffers, rank, team);
    }};

// One chunk: what comes and goes is summed over all tiles in their sequence.
Result<std::unique_ptr<RecordingRun>> begin_recording(const KernelRow& row, const Problem& p, const Options& o,
                                                      Inputs in, Stop stop) {
  auto begun = begun_recording(row, Rules::vector, p, o, std::move(in));
  if (!begun) return tl::unexpected(begun.error());
  if (auto good = check_ring(begun->options); !good) return tl::unexpected(good.error());
  const Ring ring = ring_of(begun->options, begun->query_tiles(), begun->key_tiles());
  if (auto good = check_recorded_ring(ring); ring.ranks > 1 && !good) return tl::unexpected(good.error());
  const auto bytes = static_cast<std::uint64_t>(flash_layout_of(p, one_thread(begun->options), 1).parts.bytes());
  const auto walk = [ring](const RecordedParts& of) {
    const auto trace = std::make_shared<BackwardTrace>(of.rec, of.rec.inputs, of.mark);
    const auto backward =
        std::make_shared<FlashBackward<BackwardTrace>>(of.rec.problem, of.options, of.buffers, of.team, 1, trace.get());
    return [trace, backward, of, ring] {
      backward->run();
      if (ring.ranks > 1 && !of.team.stopped()) interleave_lanes(of.rec, of.mark);
    };
  };
  return begin_steps(row, *std::move(begun), bytes, walk, std::move(stop));
}

}  // namespace

KernelRow cpu_flash_bwd_row() {
  static constexpr OptionSpec kOptions[] = {{&Option::br, 1, 4096, 1, 64},        {&Option::bc, 1, 4096, 1, 64},
                                            {&Option::threads, 1, 1024, 1, 0},    {&kOutside, 0, 1, 1, kKeysOutside},
                                            {&kSubtractDelta, 0, 1, 1, 1},        {&kLseType, 0, 2, 1, 0},
                                            {&kRanks, 1, kMostRanksOfRing, 1, 1}, {&kDeal, 0, 1, 1, 0}};
  static const OrderChoice kOrders[] = {{&kOutside, kQueriesOutside, *order_named("backward-queries")},
                                        {&kRanks, 2, *order_named("backward-ring")}};
  KernelRow row = backward_row();
  row.id = "cpu_flash_bwd";
  row.title = marked("flash backward, all cores");
  row.rung = "2b";
  row.order = *order_named("backward");
  row.other_orders = kOrders;
  row.options = kOptions;
  row.what = marked("The backward pass from O and LSE, tile by tile, on the vector units of all cores.");
  row.teaches =
      marked("Recomputing S and P from LSE is cheaper than reading them, and nothing of size L x L is stored.");
  row.source = marked("Dao 2023, FlashAttention-2, algorithm 2");
  row.training = {"cpu_flash_train", marked("flash training step, all cores"), "2t", "cpu_flash"};
  row.plan = plan;
  row.launch = launch_backward<FlashBackward<NoBackwardTrace>>;
  row.begin_recording = begin_recording;
  row.record = record_at_once;
  row.ring = &kRing;
  return row;
}

}  // namespace attn::cpu
