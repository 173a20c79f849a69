// Every step of one run of a kernel on a small problem, in constant-time random access.
//
// A recording is a list of events in the order in which the kernel walks. Each tensor is kept as versions, one a
// tile and change, in one arena of fp32 (16-bit inputs are widened exactly). An event names the versions that are
// live before and after it. Replaying, i.e. recomputing each phase from the operands an event names, gives the
// kernel's output bit for bit on the same machine (kernels/recording/replay/replay.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/model/options.h"
#include "kernels/model/order.h"
#include "kernels/model/problem/problem.h"
#include "kernels/recording/tensor_set.h"

namespace attn {

class WalkMark;   // kernels/base/pieces.h
struct Timeline;  // kernels/recording/timeline.h

// What the numbers of a version are: GPU kernels may keep m unscaled or l per thread.
struct Holds {
  bool scaled = true;       // scale applied (S, m)
  bool base2 = false;       // exponent base 2 instead of e (S, m, LSE)
  bool normalised = false;  // divided by l (O, P)
  bool masked = false;      // softcap, bias, ALiBi and mask applied (S)
  bool partial = false;     // one column a lane; the row's value is their sum (l)
  bool operator==(const Holds&) const = default;
};

using VersionId = std::uint32_t;
constexpr VersionId kNoVersion = 0xffffffffU;
using EventIndex = std::uint32_t;
constexpr EventIndex kNoEvent = 0xffffffffU;

// One tile of one tensor at one moment, row-major in the arena at `offset`.
// Rows are query rows (q, s, p, m, alpha, l, o, lse) or keys (k, v); columns are D, Dv, keys, or 1.
// Ragged tiles have fewer rows or columns, never padding.
struct Version {
  std::uint64_t offset = 0;  // in elements
  std::int32_t rows = 0;
  std::int32_t cols = 0;
  std::int32_t first_row = 0;  // index of row 0 in the whole tensor (query row, or key)
  std::int32_t first_col = 0;  // index of column 0 (key for s and p, else 0)
  EventIndex made_by = 0;
  Slot slot = Slot::q;  // m, l, o: the *_new slot; *_old for what stands before the first key tile
  Holds holds;
};

// Where an event stands. h is the query head. i = -1 or j = -1 where a phase has no query or key tile.
struct EventId {
  std::int32_t b = 0, h = 0, i = -1, j = -1;
  Phase phase = Phase::load_q;
  bool operator==(const EventId&) const = default;
};

struct Event {
  EventId id;
  std::int32_t pass = 0;                     // orders that store S: 0 scores, 1 softmax, 2 output
  std::array<VersionId, kSlots> after{};     // live versions after this event, of the named slots; kNoVersion = empty
  std::array<std::uint64_t, 8> hbm_bytes{};  // cumulative tile-load bytes by TrafficPart, this event included
};

// Which block and warp of a GPU made a version; -1 = several of them, or not told.
struct Maker {
  std::int32_t block = -1, warp = -1;
  bool operator==(const Maker&) const = default;
};

// What a recording states that a GPU made (docs/attn.md, version 2). Its versions hold what the kernel held.
struct OnGpu {
  std::string uuid;                // of the device; may be empty
  bool exp2 = false;               // the exponential that it takes: base 2 by the hardware, or e
  DType p = DType::f32;            // in which P enters the second product
  DType accumulator = DType::f32;  // in which O's sum is held
  bool tf32x3 = false;             // each product is three of TF32: of numbers in a high and a low part
  // m need not be the maximum: a score may lie so far above it, in units of m. 0: it is the maximum.
  float slack = 0;
  float first_m = -std::numeric_limits<float>::infinity();  // where no key was seen yet
  bool sign_in_q = false;     // Q took the sign of the scale, or its 0: scores that lack the scale lack its size alone
  Options launched;           // where tiles are cut for the file the recording's options have the cut
  bool cut = false;           // then m, l and O are made once a query tile, with its last key tile
  std::vector<Maker> makers;  // one a version
};

class Recording {
 public:
  // Of the look-up table: one column a phase, one more for `skipped` of pass 2, and one for each phase that the order
  // has of its own.
  static std::size_t index_columns(Order order);

  Problem problem;
  Options options;     // resolved
  std::string kernel;  // id
  std::string device;  // name of the device that ran it
  Order order = Order::flash;
  Rules rules = Rules::vector;
  std::int32_t score_reads = 0;
  Inputs inputs;
  Outputs outputs;                           // what the kernel wrote
  std::int64_t splits = 1;                   // parts that the keys were split in
  std::vector<NamedTensor> tensors;          // those beside inputs and outputs: gradients, tables, parts
  Labels labels;                             // tokens at queries and keys
  std::shared_ptr<const Timeline> timeline;  // of the same run; null: not told
  std::optional<OnGpu> gpu;                  // none: a CPU made it, and its numbers are those that the formulas name
  std::vector<Event> events;
  // Live versions of the order's own slots (OrderRow::own_slots) after each event, a row an event; empty where it has
  // none.
  std::vector<VersionId> own_after;
  std::vector<Version> versions;
  std::vector<float> arena;

  std::int32_t query_tiles() const;
  std::int32_t key_tiles() const;
  std::span<const float> values(VersionId v) const;  // rows * cols
  const Version& version(VersionId v) const { return versions[v]; }
  // What was live before event e: the state after e - 1, or nothing at e = 0; of parts or rows side by side after the
  // last step of its own.
  VersionId before(EventIndex e, Slot s) const;
  // The part of the keys that event e is of, or the query tile of those that go abreast; none: it is of no one.
  std::optional<std::int64_t> lane_of(EventIndex e) const;
  VersionId after(EventIndex e, Slot s) const {
    const auto n = static_cast<std::size_t>(s);
    return n < kSlots ? events[e].after[n] : own_slot_after(e, s);
  }

  // The event (b,h,i,j,phase); none when the order or the mask has no such event. Constant time. `pass` matters for
  // `skipped` alone, which tiled order has in passes 0 and 2.
  std::optional<EventIndex> find(const EventId& id, std::int32_t pass = 0) const;
  // All events of query tile i of one head, in their order. Linear in the key tiles.
  std::vector<EventIndex> events_of(std::int32_t b, std::int32_t h, std::int32_t i) const;
  // The last version of S (masked where there is a mask phase), P, m, alpha, l or O (m_new, l_new, o_new), or of an
  // own slot, that tile (b,h,i,j) made before or at event e; for charts along j. kNoVersion where it is not computed
  // yet. Constant time.
  VersionId tile_version(Slot s, std::int32_t b, std::int32_t h, std::int32_t i, std::int32_t j, EventIndex e) const;

  // What the row of event e reads: its own tile's S, or P and V; where the run is cut for the file m, l and O are made
  // of all key tiles at once.
  std::vector<VersionId> scores_read(EventIndex e) const;
  std::vector<std::pair<VersionId, VersionId>> factors_read(EventIndex e) const;
  // Q K^T times the first is S or m as `holds` says; that times the second is what the formulas name.
  double factor_of_product(const Holds& holds) const;
  double factor_to_formula(const Holds& holds) const;

  // Builds the look-up tables of find() and tile_version() from events and versions. Called once, by record()
  // and by the reader; linear time. With a mark in its steps.
  void build_index();
  void build_index(WalkMark& mark);
  // The part of it that before() needs, of events that nobody has checked yet.
  void build_lanes();
  void build_lanes(WalkMark& mark);
  std::uint64_t bytes() const;  // arena, headers and tables

 private:
  VersionId own_slot_after(EventIndex e, Slot s) const;
  // Position of (b, h, i, j, phase) in index_; i and j from -1 on.
  std::size_t index_of(const EventId& id, std::int32_t pass) const;
  std::vector<EventIndex> index_;     // kNoEvent where there is none
  std::size_t index_columns_ = 0;     // of it
  std::vector<EventIndex> previous_;  // of orders with lanes: the step before in its lane; kNoEvent: it is the first
};

// The corresponding place in another recording of the same problem: same (b, h), the tile nearest to (i, j)'s first
// row and key, and the phase that makes the same tensor.
EventIndex nearest_event(const Recording& from, EventIndex e, const Recording& to);

}  // namespace attn
