#include "kernels/orders/hopper/pipelined.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/validate.h"
#include "kernels/model/traffic.h"
#include "kernels/orders/hopper/moments.h"
#include "kernels/orders/hopper/names.h"
#include "kernels/recording/size.h"

namespace attn::orders::hopper {
namespace {

// Whose versions a step of the pipeline shows, and whether K or V is in a slot that the consumer reads.
struct Shown {
  Phase of = Phase::skipped;  // of flash's steps of the same tile; skipped: nothing is live
  bool k = false, v = false;
};

Shown shown_at(Phase phase) {
  const HopperNames& n = hopper_names();
  if (phase == n.wait_k) return {Phase::load_kv};
  if (phase == n.wait_turn || phase == n.issue_s || phase == n.wait_s) return {Phase::load_kv, true};
  if (phase == Phase::scores) return {phase, true};
  if (phase == n.wait_v) return {Phase::sum};
  if (phase == n.issue_o || phase == n.wait_o) return {Phase::sum, false, true};
  if (phase == Phase::output) return {phase, false, true};
  return static_cast<std::size_t>(phase) < kPhases ? Shown{phase} : Shown{};
}

class Teller {
 public:
  Teller(Recording& rec, Order order) : rec_(rec), order_(order) {}

  std::vector<Event> tell() {
    for (std::int64_t b = 0; b < rec_.problem.B; ++b)
      for (std::int64_t h = 0; h < rec_.problem.Hq; ++h)
        for (const Moment& m : moments_of(rec_.problem, rec_.options, b)) add(m, static_cast<std::int32_t>(h));
    return std::move(events_);
  }

 private:
  void add(const Moment& m, std::int32_t h) {
    Event e;
    e.id = m.id;
    e.id.h = h;
    e.after.fill(kNoVersion);
    const Shown shown = shown_at(e.id.phase);
    if (shown.of != Phase::skipped) {
      EventId from = e.id;
      from.phase = shown.of;
      const auto at = rec_.find(from);
      e.after = rec_.events.at(*at).after;
      if (!shown.k) e.after[static_cast<std::size_t>(Slot::k)] = kNoVersion;
      if (!shown.v) e.after[static_cast<std::size_t>(Slot::v)] = kNoVersion;
    }
    add_bytes(e);
    events_.push_back(e);
  }

  void add_bytes(Event& e) {
    const auto extent = [](std::int64_t first, std::int64_t tile, std::int64_t length) {
      return std::min(length, first + tile) - first;
    };
    const Problem& p = rec_.problem;
    const Options& o = rec_.options;
    const std::int64_t rows = e.id.i < 0 ? 0 : extent(std::int64_t{e.id.i} * o.br, o.br, p.Lq),
                       keys = e.id.j < 0 ? 0 : extent(std::int64_t{e.id.j} * o.bc, o.bc, p.Lk);
    add_traffic(event_traffic(order_, p, e.id.phase, 0, e.id.i, rows, keys, 0), bytes_);
    e.hbm_bytes = bytes_;
  }

  Recording& rec_;
  Order order_;
  std::array<std::uint64_t, 8> bytes_{};
  std::vector<Event> events_;
};

}  // namespace

Result<Recording> record_pipelined(const KernelRow& row, const Problem& p, const Options& resolved, const Inputs& in,
                                   Stop stop) {
  if (splits_of(resolved) > 1)
    return bad_input(phrase("pipeline=hopper, splits={}: the recorded block does not split the keys. Use splits=1.",
                            splits_of(resolved)));
  if (auto good = validate(p); !good) return tl::unexpected(good.error());
  if (auto good = check_followable(p, resolved); !good) return tl::unexpected(good.error());
  const Order order = order_of(row, resolved);
  if (auto good = check_recordable(order, p, resolved); !good) return tl::unexpected(good.error());
  Options alone = resolved;
  choose(alone, kPipeline, std::nullopt);
  auto flash = row.record(row, p, alone, in, std::move(stop));
  if (!flash) return flash;
  Recording rec = *std::move(flash);
  rec.options = resolved;  // which block is followed
  rec.events = Teller(rec, order).tell();
  rec.order = order;
  // A version is made where it is first shown: K and V where the first consumer finds them.
  std::vector<bool> known(rec.versions.size());
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    for (const VersionId v : rec.events[e].after) {
      if (v == kNoVersion || known[v]) continue;
      known[v] = true;
      rec.versions[v].made_by = e;
    }
  }
  rec.build_index();
  return rec;
}

}  // namespace attn::orders::hopper
