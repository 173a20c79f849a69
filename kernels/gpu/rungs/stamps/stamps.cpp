#include "kernels/gpu/rungs/stamps/stamps.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/gpu/compile/hooks.h"

namespace attn::gpu {
namespace {

constexpr const char* kTags[] = {"set-up",      "tile",      "next tile",   "wait tile", "wait slot K", "ask K",
                                 "wait slot V", "ask V",     "wait slot Q", "ask Q",     "wait Q",      "wait K",
                                 "wait V",      "wait turn", "issue S",     "wait S",    "maximum",     "P",
                                 "issue O",     "wait O",    "hand on",     "store",     "done"};
static_assert(std::size(kTags) == kStampTags);

constexpr int kMostLog2 = 24;
constexpr double kTimerStepNs = 32;  // %globaltimer's on an H100: nothing is known better than that

int log2_above(std::int64_t n) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}

// A block takes as many tiles as it comes to: room for thrice its share.
std::int64_t tiles_of_block(const StampSizes& s, std::int64_t grid) {
  constexpr std::int64_t kSpare = 2;
  return 3 * ((s.query_tiles + grid - 1) / grid) + kSpare;
}

Error refused(const Plan& plan, std::string words) {
  return {ErrorKind::cannot_run, phrase("{} keeps no timeline: {}", plan.kernel->id, words)};
}

}  // namespace

std::uint64_t StampPlan::heads() const {
  return static_cast<std::uint64_t>(grid) * static_cast<std::uint64_t>(args.lanes);
}

std::uint64_t StampPlan::events() const {
  const auto detail = static_cast<std::uint64_t>(args.blocks) * static_cast<std::uint64_t>(args.lanes);
  return (detail << args.detail_log2) + (heads() << args.coarse_log2);
}

bool StampPlan::in_detail(std::int64_t block) const {
  return block >= args.first && block < std::int64_t{args.first} + args.blocks;
}

std::uint64_t StampPlan::room_of(std::int64_t block) const {
  return std::uint64_t{1} << (in_detail(block) ? args.detail_log2 : args.coarse_log2);
}

Result<StampPlan> plan_stamps(const Plan& plan, const KernelSource& source, const StampRequest& request) {
  const KernelRow& row = *plan.kernel;
  if (row.stamps == nullptr) return tl::unexpected(refused(plan, tr("it has no recorder of its pipeline.")));
  if (!can_stamp(source, row.id)) {
    return tl::unexpected(refused(plan, phrase("its text ({}) has no lines of ATTN_STAMP(...). Take them over from "
                                               "the shipped source, or set the copy aside.",
                                               source.name)));
  }
  const StampSizes sizes = row.stamps(plan);
  StampPlan p;
  p.grid = std::ranges::find(plan.launches, row.id, &Launch::name)->grid[0];
  if (request.first < 0 || request.blocks < 1 || request.first > p.grid - request.blocks) {
    return bad_input(phrase("blocks {} to {} are not in the launch: it has 0 to {}.", request.first,
                            request.first + request.blocks - 1, p.grid - 1));
  }
  if (sizes.query_tiles >= kStampNoTile || sizes.key_tiles >= kStampNoTile)
    return tl::unexpected(refused(plan, phrase("it would count more than {} tiles.", kStampNoTile)));
  const std::int64_t tiles = tiles_of_block(sizes, p.grid);
  constexpr std::int64_t kEventsOfTile = 8;
  p.args.lanes = sizes.lanes;
  p.args.first = static_cast<int>(request.first);
  p.args.blocks = static_cast<int>(request.blocks);
  p.args.detail_log2 = log2_above(tiles * (sizes.events_a_step * sizes.key_tiles + kEventsOfTile));
  p.args.coarse_log2 = log2_above(tiles + 2);
  if (p.args.detail_log2 > kMostLog2 || p.bytes() > kStampLimit || p.events() >= std::uint64_t{1} << 30) {
    return bad_input(
        phrase("{} on {} would stamp up to {}, above the cap of {}; fewer blocks in detail or a smaller L "
               "would do.",
               row.id, describe(plan.problem), format_bytes(p.bytes()), format_bytes(kStampLimit)));
  }
  return p;
}

void add_stamped_defines(std::vector<std::string>& defines) {
  defines.emplace_back(kStampedDefine);
}

std::span<const char* const> stamp_tags() {
  return kTags;
}

namespace {

struct Moments {
  std::int64_t clock, ns;
};

class Reader {
 public:
  Reader(const StampPlan& plan, const Stamped& stamped) : plan_(plan), stamped_(stamped) {}

  Result<Timeline> read() {
    t_.tags.assign(stamp_tags().begin(), stamp_tags().end());
    t_.unit = MomentUnit::clocks;
    t_.buffer = EventBuffer::global;
    t_.grid_blocks = plan_.grid;
    if (stamped_.heads.size() != plan_.heads() || stamped_.events.size() != plan_.heads())
      return fail(ErrorKind::failed,
                  phrase("the stamps of {} lanes are there, not of {}.", stamped_.heads.size(), plan_.heads()));
    first_ns_ = std::ranges::min(stamped_.heads, {}, &StampHead::start_ns).start_ns;
    for (std::int64_t block = 0; block < plan_.grid; ++block)
      if (auto good = add_block(block); !good) return tl::unexpected(good.error());
    fit();
    return std::move(t_);
  }

 private:
  std::size_t place(std::int64_t block, int lane) const {
    return static_cast<std::size_t>(block * plan_.args.lanes + lane);
  }

  Result<void> add_block(std::int64_t block) {
    const StampHead& first = stamped_.heads[place(block, 0)];
    TimedBlock b{block,
                 static_cast<std::int32_t>(first.sm),
                 first.start_ns - first_ns_,
                 first.end_ns - first_ns_,
                 first.start_clock,
                 first.end_clock};
    for (int lane = 0; lane < plan_.args.lanes; ++lane) {
      const StampHead& h = stamped_.heads[place(block, lane)];
      if (h.start_ns == 0) return fail(ErrorKind::failed, phrase("block {}: lane {} wrote nothing.", block, lane));
      if (h.sm != first.sm || h.end_clock < h.start_clock || h.end_ns < h.start_ns)
        return fail(ErrorKind::failed, phrase("block {}: lane {} has no start and end on one SM.", block, lane));
      b.start_ns = std::min<std::int64_t>(b.start_ns, h.start_ns - first_ns_);
      b.end_ns = std::max<std::int64_t>(b.end_ns, h.end_ns - first_ns_);
      b.start_clock = std::min<std::int64_t>(b.start_clock, h.start_clock);
      b.end_clock = std::max<std::int64_t>(b.end_clock, h.end_clock);
      pairs_[b.sm].push_back({h.start_clock, h.start_ns - first_ns_});
      pairs_[b.sm].push_back({h.end_clock, h.end_ns - first_ns_});
    }
    t_.blocks.push_back(b);
    // Of the others the first consumer speaks for all.
    const bool detail = plan_.in_detail(block);
    const int from = detail ? 0 : kStampCopies, to = detail ? plan_.args.lanes : kStampCopies + 1;
    for (int lane = from; lane < to; ++lane)
      if (auto good = add_lane(b, lane); !good) return good;
    return ok();
  }

  Result<void> add_lane(const TimedBlock& b, int number) {
    const StampHead& h = stamped_.heads[place(b.block, number)];
    const std::vector<StampEvent>& events = stamped_.events[place(b.block, number)];
    const bool detail = plan_.in_detail(b.block);
    const std::uint64_t room = plan_.room_of(b.block);
    if (events.size() + 1 >= room)
      return fail(ErrorKind::failed, phrase("block {}: lane {} wrote more than its {} events.", b.block, number, room));
    TimelineLane lane;
    lane.kind = number < kStampCopies ? LaneKind::producer : LaneKind::consumer;
    lane.index = number < kStampCopies ? number : number - kStampCopies;
    lane.block = static_cast<std::int32_t>(t_.blocks.size()) - 1;
    lane.first = static_cast<std::int64_t>(t_.events.size());
    t_.events.push_back({b.start_clock, kStampSetUp, -1, -1});
    for (const StampEvent& e : events) {
      const unsigned tag = e.word & ((1U << kStampTagBits) - 1);
      const unsigned slot = e.word >> kStampTagBits & kStampNoSlot, tile = e.word >> (kStampTagBits + kStampSlotBits);
      if (tag >= kStampTags)
        return fail(ErrorKind::failed, phrase("block {}: lane {} wrote the tag {}.", b.block, number, tag));
      // The clock's lower half: a lane lasts less than its 2^32.
      const std::int64_t at =
          h.start_clock + static_cast<std::uint32_t>(e.clock - static_cast<std::uint32_t>(h.start_clock));
      t_.events.push_back({at, static_cast<std::int32_t>(tag),
                           tile == kStampNoTile ? -1 : static_cast<std::int32_t>(tile),
                           slot == kStampNoSlot ? -1 : static_cast<std::int32_t>(slot)});
    }
    if (!detail) t_.events.push_back({h.end_clock, kStampDone, -1, -1});
    lane.count = static_cast<std::int64_t>(t_.events.size()) - lane.first;
    t_.lanes.push_back(lane);
    return ok();
  }

  // A line for each: SMs differ by a per cent, and none keeps its rate while the card seeks its power.
  void fit() {
    for (const auto& [sm, pairs] : pairs_) {
      const Moments origin = pairs.front();
      double clock = 0, ns = 0, over = 0, under = 0;
      for (const Moments& m : pairs) {
        clock += static_cast<double>(m.clock - origin.clock) / static_cast<double>(pairs.size());
        ns += static_cast<double>(m.ns - origin.ns) / static_cast<double>(pairs.size());
      }
      for (const Moments& m : pairs) {
        const double x = static_cast<double>(m.clock - origin.clock) - clock;
        over += x * (static_cast<double>(m.ns - origin.ns) - ns);
        under += x * x;
      }
      SmClock c;
      c.sm = sm;
      c.clock = origin.clock + std::llround(clock);
      c.ns = origin.ns + std::llround(ns);
      c.ns_per_clock = under > 0 && over > 0 ? over / under : 1;
      for (const Moments& m : pairs) {
        const double told = static_cast<double>(m.clock - c.clock) * c.ns_per_clock;
        c.residual_ns = std::max(c.residual_ns, std::fabs(told - static_cast<double>(m.ns - c.ns)));
      }
      c.residual_ns = std::max(c.residual_ns, kTimerStepNs);
      t_.sms.push_back(c);
    }
  }

  const StampPlan& plan_;
  const Stamped& stamped_;
  Timeline t_;
  std::int64_t first_ns_ = 0;  // of the launch: ns are counted from there
  std::map<std::int32_t, std::vector<Moments>> pairs_;
};

}  // namespace

Result<Timeline> timeline_of(const StampPlan& plan, const Stamped& stamped) {
  return Reader(plan, stamped).read();
}

}  // namespace attn::gpu
