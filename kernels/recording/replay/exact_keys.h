// The sums over queries of one key tile (dK, dV) again in fp64 with a running bound: what the steps of the phases that
// add to them are written with. What a query row gives comes of ExactWalk.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "kernels/model/order_row.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact_walk.h"

namespace attn {

// Of one key tile of one head of keys; all query heads that share it add to it. Remembers what it computed. Keep the
// recording.
class ExactKeys {
 public:
  ExactKeys(const Recording& rec, std::int32_t b, std::int32_t kv, std::int32_t j);
  bool covers(std::int32_t b, std::int32_t kv, std::int32_t j) const { return b == b_ && kv == kv_ && j == j_; }
  // One row of a version, by column; empty for one that no such phase makes. Costs the steps up to its own.
  std::span<const ExactNumber> row(VersionId v, std::int32_t row);

  // ---- what a step reads
  const Recording& recording() const { return rec_; }
  EventIndex index() const { return e_; }
  const EventId& id() const { return rec_.events[e_].id; }
  VersionId live(Slot s) const {
    const VersionId now = rec_.after(e_, s);
    return now != kNoVersion ? now : rec_.before(e_, s);
  }
  // A row of the event's query tile, counted in it, of a version with query rows.
  const ExactRow& query_row(VersionId v, std::int32_t row);
  // A sum as it stood, row-major; empty where nothing was added yet.
  std::span<const ExactNumber> sum(VersionId v) const;
  double unit() const { return unit_; }

  // ---- what it says
  // Numbers of the version that slot `s` got in this event: `number(row, column)`.
  template <class F>
  void make(Slot s, const F& number) {
    constexpr double kEnlarge = 1.01, kInf = std::numeric_limits<double>::infinity();
    const VersionId id = rec_.after(e_, s);
    const Version& v = rec_.version(id);
    const std::span<const float> kernel = rec_.values(id);
    ExactRow out;
    out.reserve(kernel.size());
    for (std::int32_t r = 0; r < v.rows; ++r) {
      for (std::int32_t c = 0; c < v.cols; ++c) {
        const ExactNumber n = number(r, c);
        const bool finite = std::isfinite(n.exact) && std::isfinite(kernel[out.size()]);
        out.push_back({n.exact, finite ? n.bound * kEnlarge : kInf});
      }
    }
    sums_[id] = std::move(out);
  }

 private:
  void walk_query_tile();

  const Recording& rec_;
  const OrderRow& order_;
  std::int32_t b_, kv_, j_;
  double unit_ = kUnitRoundoff;
  std::vector<EventIndex> events_;  // that add to the tile, or end it
  std::size_t next_ = 0;            // of them: those before are computed
  EventIndex e_ = 0;
  EventId walked_{-1, -1, -1, -1, Phase::skipped};  // whose rows these are
  std::vector<RowNumbers> rows_;
  std::map<VersionId, ExactRow> sums_;
};

}  // namespace attn
