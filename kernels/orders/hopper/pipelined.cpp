#include "kernels/orders/hopper/pipelined.h"

#include <algorithm>
#include <memory>
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

  // The events of one head, after those of the heads before.
  void tell(std::int64_t head) {
    const std::int64_t b = head / rec_.problem.Hq, h = head % rec_.problem.Hq;
    for (const Moment& m : moments_of(rec_.problem, rec_.options, b)) add(m, static_cast<std::int32_t>(h));
  }
  std::vector<Event> told() { return std::move(events_); }

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

// First flash's own run, then its steps told anew.
class PipelinedRun : public RecordingRun {
 public:
  PipelinedRun(std::unique_ptr<RecordingRun> flash, Options options, Order order, Stop stop)
      : flash_(std::move(flash)), options_(std::move(options)), order_(order), stop_(std::move(stop)) {}

  Result<bool> go_on(const Pause& pause) override {
    if (flash_ != nullptr) {
      if (auto whole = flash_->go_on(pause); !whole || !*whole) return whole;
      rec_ = flash_->take();
      rec_.options = options_;  // which block is followed
      flash_ = nullptr;
      if (pause && pause()) return false;
    }
    if (stop_.stop_requested()) return fail(ErrorKind::cancelled, phrase("{} was cancelled", rec_.kernel));
    return mark_.go_on([this] { tell(); }, pause);
  }
  Recording take() override { return std::move(rec_); }

 private:
  void tell() {
    auto& teller = mark_.kept<Teller>(rec_, order_);
    mark_.each(
        0, rec_.problem.B * rec_.problem.Hq, [&](std::int64_t head) { teller.tell(head); }, WalkMark::kLook);
    mark_.once([&] {
      rec_.events = teller.told();
      rec_.order = order_;
    });
    // A version is made where it is first shown: K and V where the first consumer finds them.
    auto& known = mark_.kept<std::vector<bool>>(rec_.versions.size());
    mark_.each(0, static_cast<std::int64_t>(rec_.events.size()), [&](std::int64_t e) {
      for (const VersionId v : rec_.events[static_cast<std::size_t>(e)].after) {
        if (v == kNoVersion || known[v]) continue;
        known[v] = true;
        rec_.versions[v].made_by = static_cast<EventIndex>(e);
      }
    });
    rec_.build_index(mark_);
  }

  std::unique_ptr<RecordingRun> flash_;  // until it is whole
  Options options_;
  Order order_;
  Stop stop_;
  Recording rec_;
  WalkMark mark_;
};

}  // namespace

Result<std::unique_ptr<RecordingRun>> begin_pipelined(const KernelRow& row, const Problem& p, const Options& resolved,
                                                      Inputs in, Stop stop) {
  if (splits_of(resolved) > 1)
    return bad_input(phrase("pipeline=hopper, splits={}: the recorded block does not split the keys. Use splits=1.",
                            splits_of(resolved)));
  if (auto good = validate(p); !good) return tl::unexpected(good.error());
  if (auto good = check_followable(p, resolved); !good) return tl::unexpected(good.error());
  const Order order = order_of(row, resolved);
  if (auto good = check_recordable(order, p, resolved); !good) return tl::unexpected(good.error());
  Options alone = resolved;
  choose(alone, kPipeline, std::nullopt);
  auto flash = row.begin_recording(row, p, alone, std::move(in), stop);
  if (!flash) return flash;
  return std::make_unique<PipelinedRun>(*std::move(flash), resolved, order, std::move(stop));
}

}  // namespace attn::orders::hopper
