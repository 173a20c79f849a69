// The buffer of a traced run as a recording: the same events and versions as a CPU's, with the numbers that the kernel
// held. Q, K and V come from the inputs, O in the dtype and LSE from the outputs.
#include <algorithm>
#include <bit>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/trace/trace.h"
#include "kernels/gpu/rungs/trace/trace_layout.h"
#include "kernels/model/order_row.h"
#include "kernels/model/traffic.h"
#include "kernels/recording/recorder.h"

namespace attn::gpu {
namespace {

using cpu::ConstTile;
using cpu::kMinusInfinity;
using cpu::Place2d;

constexpr Holds kNormalised{.normalised = true};
constexpr Maker kNobody;

// What both decoders do: a walk over a recorder, and floats of the buffer by their place.
class Decoder {
 public:
  Decoder(const Plan& plan, const TraceFacts& facts, std::span<const float> trace, Recording& rec)
      : plan_(plan), p_(plan.problem), facts_(facts), trace_(trace), rec_(rec), recorder_(rec, rec.inputs) {}

 protected:
  static std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
  bool written(std::int64_t at) const { return bits(trace_[static_cast<std::size_t>(at)]) != ~0U; }
  void wrong(std::string words) {
    if (!error_)
      error_ = Error{ErrorKind::failed, phrase("{}: its hooks do not match this program.", std::move(words))};
  }

  Place2d place(std::int64_t i, std::int64_t j) const {
    Place2d t;
    t.b = b_;
    t.h = h_;
    if (i >= 0) {
      t.r0 = i * rec_.options.br;
      t.rows = std::min<std::int64_t>(rec_.options.br, p_.Lq - t.r0);
    }
    if (j >= 0) {
      t.c0 = j * rec_.options.bc;
      t.cols = std::min<std::int64_t>(rec_.options.bc, p_.Lk - t.c0);
    }
    return t;
  }
  TileCover cover(const Place2d& t) const { return p_.cover(t.b, t.r0, t.r0 + t.rows, t.c0, t.c0 + t.cols); }
  bool needs_mask(const Place2d& t) const { return p_.changes_scores() || cover(t) != TileCover::full; }
  std::int64_t row_of(const Place2d& t) const { return (b_ * p_.Hq + h_) * p_.Lq + t.r0; }

  // rows x cols from `at` on, `ld` floats from row to row, as a version.
  void put(Slot slot, std::int64_t at, std::int64_t ld, const Place2d& t, std::int64_t rows, std::int64_t cols,
           Holds holds, Maker maker) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        if (!written(at + r * ld + c)) {
          wrong(phrase("{} did not write {} at row {} of head {}, column {}", plan_.kernel->id, name_of(slot), t.r0 + r,
                       b_ * p_.Hq + h_, c));
          return;
        }
      }
    }
    recorder_.put(slot, {trace_.data() + at, ld}, t, rows, cols, holds);
    made(maker);
  }
  void put_values(Slot slot, const std::vector<float>& values, const Place2d& t, std::int64_t cols, Holds holds,
                  Maker maker) {
    recorder_.put(slot, {values.data(), cols}, t, t.rows, cols, holds);
    made(maker);
  }
  void put_all(Slot slot, float value, const Place2d& t, std::int64_t cols, Holds holds) {
    put_values(slot, std::vector<float>(static_cast<std::size_t>(t.rows * cols), value), t, cols, holds, kNobody);
  }
  void put_query(const Place2d& t) {
    std::vector<float> q(static_cast<std::size_t>(t.rows * p_.D));
    rec_.inputs.q.read(row_of(t) * p_.D, t.rows * p_.D, q.data());
    put_values(Slot::q, q, t, p_.D, {}, kNobody);
  }
  void put_outputs(const Place2d& t, Maker maker) {
    std::vector<float> o(static_cast<std::size_t>(t.rows * p_.Dv));
    rec_.outputs.out.read(row_of(t) * p_.Dv, t.rows * p_.Dv, o.data());
    put_values(Slot::o_new, o, t, p_.Dv, kNormalised, maker);
  }
  void put_lse(const Place2d& t, Maker maker) {
    std::vector<float> lse(static_cast<std::size_t>(t.rows));
    rec_.outputs.lse.read(row_of(t), t.rows, lse.data());
    put_values(Slot::lse, lse, t, 1, {}, maker);
  }
  // The block and warp that wrote `rows` words from `at` on, `ld` apart.
  Maker maker_of(std::int64_t at, std::int64_t ld, std::int64_t rows) {
    std::optional<Maker> all;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::uint32_t who = bits(trace_[static_cast<std::size_t>(at + r * ld)]) - 1;
      const Maker one{static_cast<std::int32_t>(who / kTraceWarps), static_cast<std::int32_t>(who % kTraceWarps)};
      if (!all) all = one;
      if (all->block != one.block) all->block = -1;
      if (all->block != one.block || all->warp != one.warp) all->warp = -1;
    }
    return all.value_or(kNobody);
  }
  // Versions that came since get this maker.
  void made(Maker maker) { rec_.gpu->makers.resize(rec_.versions.size(), maker); }
  void keys(const Place2d& t, std::int64_t j) {
    recorder_.keys(t, j);
    made(kNobody);
  }
  void values(const Place2d& t, std::int64_t j) {
    recorder_.values(t, j);
    made(kNobody);
  }

  const Plan& plan_;
  const Problem& p_;
  const TraceFacts& facts_;
  std::span<const float> trace_;
  Recording& rec_;
  cpu::Recorder recorder_;
  std::int64_t b_ = 0, h_ = 0;
  std::optional<Error> error_;
};

class FlashDecoder : Decoder {
 public:
  FlashDecoder(const Plan& plan, const TraceFacts& facts, std::span<const float> trace, Recording& rec)
      : Decoder(plan, facts, trace, rec),
        at_(flash_trace(static_cast<int>(p_.Dv), plan.options.br, plan.options.bc, facts.lanes)),
        places_(flash_trace_places(at_, p_.B * p_.Hq * rec.query_tiles(), rec.key_tiles(), plan.options.threads)) {}

  std::optional<Error> run() {
    for (b_ = 0; b_ < p_.B; ++b_) {
      for (h_ = 0; h_ < p_.Hq; ++h_) {
        for (std::int64_t i = 0; i < rec_.query_tiles() && !error_; ++i) query_tile(i);
      }
    }
    return error_;
  }

 private:
  static constexpr Holds kPartial{.partial = true};

  void query_tile(std::int64_t i) {
    const Place2d rows = place(i, -1);
    recorder_.head(b_, h_);
    maker_ = kNobody;
    put_query(rows);
    put_all(Slot::m_old, facts_.first_m, rows, 1, facts_.m);
    put_all(Slot::l_old, 0, rows, facts_.lanes, kPartial);
    put_all(Slot::o_old, 0, rows, p_.Dv, {});
    recorder_.event(Phase::load_q, rows, i, -1);
    const std::int64_t last = rec_.key_tiles() - 1;
    for (std::int64_t n = 0; n <= last && !error_; ++n) key_tile(i, facts_.right_to_left ? last - n : n);

    recorder_.shift();
    const std::int64_t record = places_.rows + tile_index(i) * at_.row;
    if (facts_.computes_again && !error_ && !written(record + at_.row_o)) {
      error_ = Error{ErrorKind::cannot_run, phrase("{} hit a non-finite number and recomputed query tile {} of head {} "
                                                   "row by row without tensor cores: there are no tiles to show.",
                                                   plan_.kernel->id, i, b_ * p_.Hq + h_)};
      return;
    }
    put(Slot::o_new, record + at_.row_o, at_.o_stride, rows, rows.rows, p_.Dv, kNormalised, maker_);
    put_lse(rows, maker_);
    recorder_.event(Phase::normalise, rows, i, -1);
    if (p_.dtype != DType::f32) put_outputs(rows, maker_);
    recorder_.event(Phase::store_o, rows, i, -1);
  }

  std::int64_t tile_index(std::int64_t i) const { return (b_ * p_.Hq + h_) * rec_.query_tiles() + i; }

  void key_tile(std::int64_t i, std::int64_t j) {
    const Place2d t = place(i, j);
    const std::int64_t record = places_.tiles + (tile_index(i) * rec_.key_tiles() + j) * at_.tile;
    const bool ran = written(record + at_.who);
    recorder_.shift();
    if (cover(t) == TileCover::skipped) {
      if (ran) wrong(phrase("{} ran query tile {}, key tile {}, which the mask hides", plan_.kernel->id, i, j));
      recorder_.clear(Slot::k);
      recorder_.clear(Slot::v);
      recorder_.event(Phase::skipped, t, i, j);
      return;
    }
    if (!ran) return wrong(phrase("{} wrote nothing for query tile {}, key tile {}", plan_.kernel->id, i, j));
    maker_ = maker_of(record + at_.who, 1, t.rows);
    keys(t, j);
    values(t, j);
    recorder_.event(Phase::load_kv, t, i, j);
    const std::int64_t bc = plan_.options.bc;
    const bool mask = needs_mask(t);
    if (facts_.products && mask) {
      put(Slot::s, record + at_.s, bc, t, t.rows, t.cols, {.scaled = false}, maker_);
    } else {
      put(Slot::s, record + (facts_.products ? at_.masked : at_.s), bc, t, t.rows, t.cols, facts_.s, maker_);
    }
    recorder_.event(Phase::scores, t, i, j);
    if (mask) {
      Holds masked = facts_.s;
      masked.masked = true;
      put(Slot::s, record + at_.masked, bc, t, t.rows, t.cols, masked, maker_);
      recorder_.event(Phase::mask, t, i, j);
    }
    put(Slot::m_new, record + at_.m, 1, t, t.rows, 1, facts_.m, maker_);
    recorder_.event(Phase::max, t, i, j);
    put(Slot::alpha, record + at_.alpha, 1, t, t.rows, 1, {}, maker_);
    recorder_.event(Phase::rescale, t, i, j);
    put(Slot::p, record + at_.p, bc, t, t.rows, t.cols, facts_.p, maker_);
    recorder_.event(Phase::weights, t, i, j);
    put(Slot::l_new, record + at_.l, at_.lanes, t, t.rows, at_.lanes, kPartial, maker_);
    recorder_.event(Phase::sum, t, i, j);
    put(Slot::o_new, record + at_.o, at_.o_stride, t, t.rows, p_.Dv, {}, maker_);
    recorder_.event(Phase::output, t, i, j);
  }

  FlashTrace at_;
  FlashTracePlaces places_;
  Maker maker_;  // of the query tile's rows; nobody where no key tile ran
};

// Three passes over a stored S, cut into tiles for the file. m, l and O are made once a row: with its last tile.
class StoredDecoder : Decoder {
 public:
  StoredDecoder(const Plan& plan, const TraceFacts& facts, std::span<const float> trace, Recording& rec)
      : Decoder(plan, facts, trace, rec),
        at_(stored_trace(p_.B * p_.Hq * p_.Lq, p_.Lk, p_.Dv)),
        tiled_(order_row(plan.kernel->order).skips_hidden),
        last_(rec.key_tiles() - 1) {}

  std::optional<Error> run() {
    for (b_ = 0; b_ < p_.B; ++b_) {
      for (h_ = 0; h_ < p_.Hq; ++h_) {
        recorder_.head(b_, h_);
        for (std::int64_t i = 0; i < rec_.query_tiles() && !error_; ++i) scores_pass(i);
        for (std::int64_t i = 0; i < rec_.query_tiles() && !error_; ++i) softmax_pass(i);
        for (std::int64_t i = 0; i < rec_.query_tiles() && !error_; ++i) output_pass(i);
      }
    }
    return error_;
  }

 private:
  void scores_pass(std::int64_t i) {
    const Place2d rows = place(i, -1);
    recorder_.clear(Slot::s);
    recorder_.clear(Slot::k);
    put_query(rows);
    recorder_.keep(Slot::q, i, 0);
    if (!tiled_) recorder_.event(Phase::load_q, rows, i, -1);
    for (std::int64_t j = 0; j <= last_ && !error_; ++j) scores_tile(i, j);
  }

  void scores_tile(std::int64_t i, std::int64_t j) {
    const Place2d t = place(i, j);
    const bool masked = needs_mask(t), skipped = tiled_ && cover(t) == TileCover::skipped;
    recorder_.clear(Slot::s);
    if (!skipped) {
      if (tiled_) recorder_.event(Phase::load_q, t, i, j);
      keys(t, j);
      recorder_.event(Phase::load_k, t, i, j);
    }
    Holds holds = facts_.s;
    holds.masked = masked;
    put(Slot::s, at_.s + row_of(t) * p_.Lk + t.c0, p_.Lk, t, t.rows, t.cols, holds,
        maker_of(at_.who_s + row_of(t) * at_.cuts_s + j, at_.cuts_s, t.rows));
    recorder_.keep(Slot::s, i, j);
    if (skipped) return recorder_.event(Phase::skipped, t, i, j, 0);
    recorder_.event(Phase::scores, t, i, j);
    // The mask is applied to a score before it is stored: S is the same after this event.
    if (masked) recorder_.event(Phase::mask, t, i, j);
    recorder_.event(Phase::store_s, t, i, j);
  }

  void softmax_pass(std::int64_t i) {
    const Place2d rows = place(i, -1);
    Place2d row = rows;  // with all keys: what a walk over the row reads
    row.cols = p_.Lk;
    const Maker maker = maker_of(at_.who_p + row_of(rows), 1, rows.rows);
    for (const Slot slot : {Slot::k, Slot::s, Slot::p, Slot::m_new, Slot::l_new, Slot::l_old}) recorder_.clear(slot);
    recorder_.recall(Slot::q, Slot::q, i, 0);
    put_all(Slot::m_old, kMinusInfinity, rows, 1, {});
    recorder_.recall(Slot::s, Slot::s, i, last_);
    put(Slot::m_new, at_.m + row_of(rows), 1, rows, rows.rows, 1, {}, maker);
    recorder_.keep(Slot::m_new, i, 0);
    recorder_.event(Phase::max, row, i, last_, 1);
    put_all(Slot::l_old, 0, rows, 1, {});
    put(Slot::l_new, at_.l + row_of(rows), 1, rows, rows.rows, 1, {}, maker);
    recorder_.keep(Slot::l_new, i, 0);
    recorder_.event(Phase::sum, row, i, last_, 1);
    for (std::int64_t j = 0; j <= last_ && !error_; ++j) {
      const Place2d t = place(i, j);
      recorder_.recall(Slot::s, Slot::s, i, j);
      put(Slot::p, at_.p + row_of(t) * p_.Lk + t.c0, p_.Lk, t, t.rows, t.cols, facts_.p, maker);
      recorder_.keep(Slot::p, i, j);
      recorder_.event(Phase::weights, t, i, j, 1);
    }
  }

  void output_pass(std::int64_t i) {
    const Place2d rows = place(i, -1);
    const Maker maker = maker_of(at_.who_o + row_of(rows) * at_.cuts_o, at_.cuts_o, rows.rows);
    for (const Slot slot : {Slot::k, Slot::v, Slot::s, Slot::p, Slot::o_new, Slot::lse, Slot::m_old, Slot::l_old}) {
      recorder_.clear(slot);
    }
    recorder_.recall(Slot::q, Slot::q, i, 0);
    recorder_.recall(Slot::m_new, Slot::m_new, i, 0);
    recorder_.recall(Slot::l_new, Slot::l_new, i, 0);
    put_all(Slot::o_old, 0, rows, p_.Dv, kNormalised);
    for (std::int64_t j = 0; j <= last_; ++j) {
      const Place2d t = place(i, j);
      recorder_.recall(Slot::p, Slot::p, i, j);
      values(t, j);
      recorder_.event(Phase::load_v, t, i, j, 2);
    }
    put(Slot::o_new, at_.o + row_of(rows) * p_.Dv, p_.Dv, rows, rows.rows, p_.Dv, kNormalised, maker);
    recorder_.event(Phase::output, place(i, last_), i, last_, 2);
    if (p_.dtype != DType::f32) put_outputs(rows, maker);
    put_lse(rows, maker_of(at_.who_p + row_of(rows), 1, rows.rows));
    recorder_.event(Phase::store_o, rows, i, -1, 2);
    recorder_.clear(Slot::lse);
  }

  StoredTrace at_;
  const bool tiled_;
  const std::int64_t last_;
};

}  // namespace

Result<Recording> recording_of_trace(const Plan& plan, const Inputs& inputs, Outputs out, std::span<const float> trace,
                                     const std::string& device, const std::string& uuid) {
  const auto facts = trace_facts(*plan.kernel, plan.problem, plan.options);
  if (!facts) return fail(ErrorKind::cannot_run, phrase("{} cannot record itself yet", plan.kernel->id));
  if (const std::uint64_t floats = trace_floats(plan, *facts); trace.size() != floats) {
    return fail(ErrorKind::failed,
                phrase("the record of {} has {} numbers, not {}", plan.kernel->id, trace.size(), floats));
  }
  Recording rec;
  rec.problem = plan.problem;
  rec.options = recorded_options(plan);
  rec.kernel = plan.kernel->id;
  rec.device = device;
  rec.order = plan.kernel->order;
  rec.rules = Rules::none;
  rec.score_reads = plan.kernel->score_reads;
  rec.inputs = inputs;
  rec.outputs = std::move(out);
  OnGpu& gpu = rec.gpu.emplace();
  gpu.uuid = uuid;
  gpu.exp2 = facts->exp2;
  gpu.p = facts->p_dtype;
  gpu.tf32x3 = facts->tf32x3;
  gpu.slack = facts->slack;
  gpu.first_m = facts->first_m;
  gpu.sign_in_q = facts->sign_in_q;
  gpu.launched = plan.options;
  gpu.cut = stores_scores(rec.order);
  auto wrong = gpu.cut ? StoredDecoder(plan, *facts, trace, rec).run() : FlashDecoder(plan, *facts, trace, rec).run();
  if (wrong) return tl::unexpected(*std::move(wrong));
  rec.arena.shrink_to_fit();
  rec.build_index();
  return rec;
}

}  // namespace attn::gpu
