// One launch of a CPU kernel: its workspace and the addresses in it. All CPU kernels share the layout; an order
// leaves out the parts it does not need.
//
//   K    one panel a (batch, kv head, key tile): D x ldk, transposed (vector rules), or rows of D (scalar rules)
//   V    rows of ldv a (batch, kv head)
//   S    Lq x lds fp32, P the same in the input dtype (orders that store S; one head at a time)
//   O, m, l   flash-1: Lq x ldv, Lq, Lq in fp32, what goes back to HBM at every turn; others: m, l of the stored orders
//   parts     O, m, l of each part of the keys, B Hq Lq rows of ldv, 1 and 1 a part (flash order that splits); of a
//             ring one, what the turns so far have made
//   scratch   what one thread holds "on chip": Q, S, P, O tiles and columns
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "kernels/arithmetic/tile_math.h"
#include "kernels/base/stop.h"
#include "kernels/cpu/team.h"
#include "kernels/model/kernel.h"
#include "kernels/model/ring.h"

namespace attn::cpu {

// Sizes in floats; every part starts at a multiple of kLanes. Saturates at 2^63 - 1.
struct Layout : Tiling {
  std::int64_t ldk = 0, ldv = 0, lds = 0;
  std::int64_t splits = 1;  // parts that the keys are cut into, by whole key tiles
  std::int64_t k_at = 0, v_at = 0, s_at = 0, p_at = 0, o_at = 0, m_at = 0, l_at = 0, scratch_at = 0;
  std::int64_t part_o_at = 0, part_m_at = 0, part_l_at = 0;
  std::int64_t panel = 0, scratch_each = 0;
  std::int64_t total = 0;
};
Layout layout_of(Order order, Rules rules, const Problem& p, const Options& o);

// Some key tiles of a head.
struct TileRange {
  std::int64_t first = 0, last = 0;
};

class Call {
 public:
  Call(const Problem& p, const Options& o, const Buffers& buffers, Order order, Rules rules);

  const Problem& p;
  const Options& o;
  const Buffers& buffers;
  const float* const bias;  // null: there is none
  const Layout at;
  const Rules rules;
  const float scale;

  Place2d place(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;
  // The rows of one of the query tiles of all heads, a head after the other.
  Place2d rows_of_tile(std::int64_t tile) const {
    const std::int64_t head = tile / at.ti;
    return place(head / p.Hq, head % p.Hq, tile % at.ti, -1);
  }
  TileCover cover(const Place2d& t) const { return p.cover(t.b, t.r0, t.r0 + t.rows, t.c0, t.c0 + t.cols); }
  // A mask phase is needed: the tile is cut, or its scores change (softcap, bias, ALiBi).
  bool needs_mask(const Place2d& t) const {
    return bias != nullptr || p.shapes_scores() || cover(t) != TileCover::full;
  }

  // Widens and packs K and V: the first step of every CPU kernel.
  void pack(Team& team) const { pack(team, 0, at.tj); }
  // Key tiles [first, last) of every head alone.
  void pack(Team& team, std::int64_t first, std::int64_t last) const;

  ConstTile k_tile(const Place2d& t) const;
  ConstTile v_tile(const Place2d& t) const;
  MutTile s_tile(const Place2d& t, std::int64_t j) const {
    return {part(at.s_at) + t.r0 * at.lds + j * at.ldk, at.lds};
  }
  // P lies in the input dtype: widened to `to`, or stored from it.
  void load_p(const Place2d& t, std::int64_t j, MutTile to) const;
  void store_p(const Place2d& t, std::int64_t j, ConstTile from) const;
  float* o_rows(std::int64_t r) const { return part(at.o_at) + r * at.ldv; }
  float* m_rows(std::int64_t r) const { return part(at.m_at) + r; }
  float* l_rows(std::int64_t r) const { return part(at.l_at) + r; }
  // Rows of a part of the keys.
  struct PartRows {
    MutTile o;
    float *m, *l;
  };
  PartRows part_rows(const Place2d& t, std::int64_t part) const;
  void store_out(const Place2d& t, ConstTile o_tile, const float* lse) const;

  struct Scratch {
    MutTile q, s, p, o;
    float *m_old, *m_new, *alpha, *l_old, *l_new, *sums, *shift, *factor;
  };
  Scratch scratch(std::int32_t worker) const;
  // Q_i in fp32.
  ConstTile load_q(const Place2d& t, const Scratch& s) const;
  // m, l and O of rows, from the scratch to memory as a part, and back.
  void keep_part(const Place2d& t, std::int64_t part, const Scratch& s) const;
  void take_part(const Place2d& t, std::int64_t part, const Scratch& s) const;

 private:
  // Keys [c, c + n) of a head of K or V, `columns` wide, in fp32. In pages keys beyond the batch's length are 0,
  // unless the what-if leaves them as they lie.
  void read_keys(Tensor t, std::int64_t head, std::int64_t c, std::int64_t n, std::int64_t columns, float* to) const;
  float* part(std::int64_t offset) const { return static_cast<float*>(buffers.workspace) + offset; }
};

// What every CPU row's functions share.
Result<void> cpu_supports(const KernelRow& row, const Problem& p, const Options& o, const Device& d);
// A plan of one launch; `workspace` in bytes.
Plan plan_of(const KernelRow& row, const Problem& p, const Options& resolved, std::uint64_t workspace,
             std::string pieces_name, std::int64_t pieces);
Plan cpu_plan(const KernelRow& row, const Problem& p, const Options& resolved, Rules rules, std::string pieces_name,
              std::int64_t pieces);
// Nothing is left to do before a launch: plan and buffers, kept.
Result<Prepared> cpu_prepare(const Plan& plan, const Buffers& buffers, const Stream& stream);
// The plan's problem with the key lengths, held within 0 and Lk, and the slopes that lie in tensors at this moment.
Problem problem_now(const Prepared& ready);
// After the walk: done, or cancelled in words.
Result<void> finish(const Team& team, std::string_view kernel);

// Some rows of a tile, and what a thread holds of them.
inline Place2d rows_of(Place2d t, std::int64_t first, std::int64_t n) {
  t.r0 += first;
  t.rows = n;
  return t;
}
inline ConstTile from_row(ConstTile t, std::int64_t first) {
  return {t.data + first * t.ld, t.ld};
}
inline MutTile from_row(MutTile t, std::int64_t first) {
  return {t.data + first * t.ld, t.ld};
}
Call::Scratch from_row(Call::Scratch s, std::int64_t first);

// What record() of a CPU kernel begins with: inputs and cap checked, nothing walked yet.
Result<Recording> begun_recording(const KernelRow& row, Rules rules, const Problem& p, const Options& o, Inputs in);

inline Options one_thread(Options o) {
  o.threads = 1;
  return o;
}

// What a recorded walk works on, in one thread: the recording's events are in the order of the walk.
struct RecordedParts {
  Recording& rec;
  const Options& options;
  const Buffers& buffers;
  Team& team;  // of a stream with the mark
  WalkMark& mark;
};
// Answers the walk, in steps of the mark; the parts outlive it.
using MakeWalk = std::function<std::function<void()>(const RecordedParts&)>;
// Of what begun_recording() began, with so many bytes of workspace.
std::unique_ptr<RecordingRun> begin_steps(const KernelRow& row, Recording rec, std::uint64_t workspace,
                                          const MakeWalk& make, Stop stop);

// How a forward is recorded: the walk over a Recorder, for what is packed already.
struct RecordedWalk {
  Rules rules = Rules::vector;
  std::function<void(const Call&, Team&, class Recorder&)> walk;
  bool lanes = false;  // it ends with interleave_lanes()
};
Result<std::unique_ptr<RecordingRun>> begin_walk(const KernelRow& row, RecordedWalk walk, const Problem& p,
                                                 const Options& o, Inputs in, Stop stop);

}  // namespace attn::cpu
