#include "kernels/gpu/rungs/stamps/stamps.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/gpu/compile/hooks.h"
#include "kernels/recording/timeline_clocks.h"

namespace attn::gpu {
namespace {

constexpr const char* kTags[] = {
    "set-up",  "tile",   "next tile", "wait tile", "wait slot K", "ask K",   "wait slot V", "ask V",   "wait slot Q",
    "ask Q",   "wait Q", "wait K",    "wait V",    "wait turn",   "issue S", "wait S",      "maximum", "P",
    "issue O", "wait O", "hand on",   "store",     "S",           "P V",     "done"};
static_assert(std::size(kTags) == kStampTags);

constexpr int kMostLog2 = 24;
constexpr int kOwnLog2 = 17;  // of a lane of a kernel of the user's own: 65536 states
constexpr std::int64_t kMostHeads = 1 << 20;

int log2_above(std::int64_t n) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}

// A block takes as many tiles as it comes to: room for thrice its share.
std::int64_t tiles_of_block(const StampSizes& s, std::int64_t grid) {
  constexpr std::int64_t kSpare = 2;
  return 3 * ((s.query_tiles + grid - 1) / grid) + kSpare;
}

std::int64_t blocks_of(const Launch& l) {
  return l.grid[0] * l.grid[1] * l.grid[2];
}

// "wait_K" is "wait K".
std::string with_spaces(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

Error refused(const Plan& plan, std::string words) {
  return {ErrorKind::cannot_run, phrase("{} cannot record a timeline: {}", plan.kernel->id, words)};
}

}  // namespace

std::uint64_t StampPlan::heads() const {
  return static_cast<std::uint64_t>(grid) * static_cast<std::uint64_t>(args.lanes);
}

std::uint64_t StampPlan::words() const {
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
  if (row.stamps == nullptr) return tl::unexpected(refused(plan, tr("it has no code that records its pipeline.")));
  const StampSizes sizes = row.stamps(plan);
  const bool own = !sizes.states.empty();
  if (!can_stamp(source, row.id)) {
    return tl::unexpected(
        refused(plan, own ? phrase("its source ({}) has no line \"ATTN_LANE(...);\".", source.name)
                          : phrase("its source ({}) has no ATTN_STAMP(...) lines. Copy the ATTN_STAMP lines from the "
                                   "original source, or move your copy away.",
                                   source.name)));
  }
  StampPlan p;
  p.entry = sizes.entry.empty() ? row.id : sizes.entry;
  p.copies = sizes.copies;
  p.warps = sizes.warps;
  p.states.assign(sizes.states.begin(), sizes.states.end());
  p.grid = blocks_of(*std::ranges::find(plan.launches, p.entry, &Launch::name));
  if (p.grid * sizes.lanes > kMostHeads)
    return tl::unexpected(refused(plan, phrase("its {} blocks have more than {} lanes.", p.grid, kMostHeads)));
  if (request.first < 0 || request.blocks < 1 || request.first > p.grid - request.blocks) {
    return bad_input(phrase("blocks {} to {} are not in the launch, which has blocks 0 to {}.", request.first,
                            request.first + request.blocks - 1, p.grid - 1));
  }
  if (sizes.query_tiles >= kStampNoTile || sizes.key_tiles >= kStampNoTile)
    return tl::unexpected(refused(plan, phrase("it would count more than {} tiles.", kStampNoTile)));
  p.args.grid = static_cast<int>(p.grid);
  const std::int64_t tiles = tiles_of_block(sizes, p.grid);
  // Beside its key tiles: the waits for it, Q of each consumer, O on its way out, and what ends a lane.
  constexpr std::int64_t kWordsOfTile = 64;
  p.args.lanes = sizes.lanes;
  p.args.first = static_cast<int>(request.first);
  p.args.blocks = static_cast<int>(request.blocks);
  const std::int64_t tile_words = kStampMostWords * sizes.key_tiles + kWordsOfTile;
  p.args.tile_words = static_cast<int>(tile_words);
  p.args.detail_log2 = log2_above(tiles * tile_words);
  p.args.coarse_log2 = log2_above(kStampTileWords * (tiles + 2));
  if (own) {
    p.args.detail_log2 = kOwnLog2;
    p.args.coarse_log2 = 0;
  }
  if (p.args.detail_log2 > kMostLog2 || p.bytes() > kStampLimit || p.words() >= std::uint64_t{1} << 30) {
    return bad_input(
        phrase("{} on {} would record up to {}, more than the limit of {}; record fewer blocks in detail, or "
               "use a smaller L.",
               row.id, describe(plan.problem), format_bytes(p.bytes()), format_bytes(kStampLimit)));
  }
  return p;
}

void add_stamped_defines(const Plan& plan, std::vector<std::string>& defines) {
  defines.emplace_back(kStampedDefine);
  if (plan.kernel->stamps == nullptr) return;
  unsigned record = kStampOwn;
  for (const std::string& state : plan.kernel->stamps(plan).states)
    defines.push_back(fmt::format("ATTN_STATE_{}={}", state, record++));
}

std::span<const char* const> stamp_tags() {
  return kTags;
}

namespace {

// What a state of a record is about.
bool is_of_k(unsigned tag) {
  return tag == kStampWaitK || tag == kStampIssueS || tag == kStampWaitS || tag == kStampMaximum;
}
bool is_of_v(unsigned tag) {
  return tag == kStampWaitV || tag == kStampIssueO || tag == kStampWaitO || tag == kStampHandOn;
}

std::int32_t or_none(unsigned value, unsigned none) {
  return value == none ? -1 : static_cast<std::int32_t>(value);
}

// A lane's words as the events that they are.
class Records {
 public:
  // `own_tags`: of the states of a kernel of the user's own.
  Records(const StampHead& head, std::span<const std::uint32_t> words, std::int64_t first_ns,
          std::span<const std::int32_t> own_tags)
      : head_(head), words_(words), first_ns_(first_ns), own_tags_(own_tags) {}

  // Empty: there are no more, or what follows is none.
  bool next() {
    if (words_.empty()) return false;
    const unsigned record = words_[0] & ((1U << kStampRecordBits) - 1);
    if (record >= kStampOwn + own_tags_.size()) return false;
    const StampStates states = stamp_states(record);
    const std::size_t size = record == kStampTile ? kStampTileWords : static_cast<std::size_t>(states.all_words());
    if (words_.size() < size) return false;
    const unsigned a = words_[0] >> kStampRecordBits & kStampNoSlot;
    const unsigned b = words_[0] >> (kStampRecordBits + kStampSlotBits) & kStampNoSlot;
    tile_ = or_none(words_[0] >> (kStampRecordBits + 2 * kStampSlotBits), kStampNoTile);
    if (record == kStampTile) query_tile_ = tile_, add_point();
    for (int n = 0; n < states.count; ++n) {
      const StampTag tag = states.tags[n];
      const bool step = record >= kStampTags && record < kStampOwn;
      const unsigned slot = !step || is_of_k(tag) ? a : is_of_v(tag) ? b : kStampNoSlot;
      add(tag, words_[static_cast<std::size_t>(states.words) + static_cast<std::size_t>(n)], slot);
    }
    if (record >= kStampOwn) events.back().tag = own_tags_[record - kStampOwn];
    if (record >= kStampOverlapped && record < kStampWarp) part_tiles(states);
    words_ = words_.subspan(size);
    return true;
  }
  bool whole() const { return words_.empty(); }

  std::vector<TimelineEvent> events;
  std::vector<ClockPoint> points;

 private:
  // The clock's lower half: a lane lasts less than its 2^32.
  std::int64_t moment(std::uint32_t clock) const {
    return head_.start_clock + static_cast<std::uint32_t>(clock - static_cast<std::uint32_t>(head_.start_clock));
  }
  void add(StampTag tag, std::uint32_t clock, unsigned slot) {
    events.push_back({moment(clock), static_cast<std::int32_t>(tag), tile_, or_none(slot, kStampNoSlot)});
  }
  void add_point() {
    const auto since = static_cast<std::uint32_t>(words_[2] - static_cast<std::uint32_t>(head_.start_ns));
    points.push_back({static_cast<std::int32_t>(head_.sm), moment(words_[1]), head_.start_ns - first_ns_ + since});
  }
  // Of form 4: what is done to O is the key tile's before; at the seam the last state is the store.
  void part_tiles(const StampStates& states) {
    const bool begins = (words_[1] & kStampBegins) != 0;
    const auto before = static_cast<std::int32_t>(words_[1] & ~kStampBegins);
    for (std::size_t n = events.size() - static_cast<std::size_t>(states.count); n < events.size(); ++n)
      if (is_of_v(static_cast<unsigned>(events[n].tag))) events[n].tile = before;
    events.back().tag = begins ? kStampStore : kStampP;
    if (begins) events.back().tile = query_tile_;
  }

  const StampHead& head_;
  std::span<const std::uint32_t> words_;
  std::int64_t first_ns_;
  std::span<const std::int32_t> own_tags_;
  std::int32_t tile_ = -1, query_tile_ = -1;
};

class Reader {
 public:
  Reader(const StampPlan& plan, const Stamped& stamped) : plan_(plan), stamped_(stamped) {}

  Result<Timeline> read() {
    t_.tags.assign(stamp_tags().begin(), stamp_tags().end());
    for (const std::string& state : plan_.states) {  // one that is known by that name is that one
      const auto at = std::ranges::find(t_.tags, with_spaces(state));
      own_tags_.push_back(static_cast<std::int32_t>(at - t_.tags.begin()));
      if (at == t_.tags.end()) t_.tags.push_back(with_spaces(state));
    }
    t_.unit = MomentUnit::clocks;
    t_.buffer = EventBuffer::global;
    t_.grid_blocks = plan_.grid;
    if (stamped_.heads.size() != plan_.heads() || stamped_.words.size() != plan_.heads())
      return fail(ErrorKind::failed,
                  phrase("the source has stamps for {} lanes instead of {}.", stamped_.heads.size(), plan_.heads()));
    first_ns_ = std::ranges::min(stamped_.heads, {}, &StampHead::start_ns).start_ns;
    for (std::int64_t block = 0; block < plan_.grid; ++block)
      if (auto good = add_block(block); !good) return tl::unexpected(good.error());
    set_clocks(t_);
    return std::move(t_);
  }

 private:
  std::size_t place(std::int64_t block, int lane) const {
    return static_cast<std::size_t>(block * plan_.args.lanes + lane);
  }

  Result<void> check(std::int64_t block, int lane) const {
    const StampHead& h = stamped_.heads[place(block, lane)];
    if (h.start_ns == 0) return fail(ErrorKind::failed, phrase("block {}: lane {} wrote nothing.", block, lane));
    if (h.end_ns == 0)
      return fail(ErrorKind::failed,
                  phrase("block {}: lane {} wrote more than its {} words.", block, lane, plan_.room_of(block)));
    if (h.sm != stamped_.heads[place(block, 0)].sm || h.end_clock < h.start_clock || h.end_ns < h.start_ns)
      return fail(ErrorKind::failed,
                  phrase("block {}: lane {} has no valid start and end on a single SM.", block, lane));
    return ok();
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
      if (auto good = check(block, lane); !good) return good;
      const StampHead& h = stamped_.heads[place(block, lane)];
      b.start_ns = std::min<std::int64_t>(b.start_ns, h.start_ns - first_ns_);
      b.end_ns = std::max<std::int64_t>(b.end_ns, h.end_ns - first_ns_);
      b.start_clock = std::min<std::int64_t>(b.start_clock, h.start_clock);
      b.end_clock = std::max<std::int64_t>(b.end_clock, h.end_clock);
    }
    t_.blocks.push_back(b);
    // Of the others the first consumer speaks for all.
    const bool detail = plan_.in_detail(block);
    const int from = detail ? 0 : plan_.copies, to = detail ? plan_.args.lanes : plan_.copies + 1;
    for (int lane = from; lane < to; ++lane)
      if (auto good = add_lane(b, lane); !good) return good;
    return ok();
  }

  Result<void> add_lane(const TimedBlock& b, int number) {
    const StampHead& h = stamped_.heads[place(b.block, number)];
    Records records(h, stamped_.words[place(b.block, number)], first_ns_, own_tags_);
    while (records.next()) {
    }
    if (!records.whole())
      return fail(ErrorKind::failed, phrase("block {}: lane {} wrote an invalid record.", b.block, number));
    TimelineLane lane;
    const bool copies = number < plan_.copies;
    lane.kind = copies ? LaneKind::producer : plan_.warps ? LaneKind::warp : LaneKind::consumer;
    lane.index = copies ? number : number - plan_.copies;
    lane.block = static_cast<std::int32_t>(t_.blocks.size()) - 1;
    lane.first = static_cast<std::int64_t>(t_.events.size());
    t_.events.push_back({b.start_clock, kStampSetUp, -1, -1});
    t_.events.insert(t_.events.end(), records.events.begin(), records.events.end());
    if (!plan_.in_detail(b.block)) t_.events.push_back({h.end_clock, kStampDone, -1, -1});
    lane.count = static_cast<std::int64_t>(t_.events.size()) - lane.first;
    t_.lanes.push_back(lane);
    if (number == plan_.copies) add_points(b.sm, h, records.points);
    return ok();
  }

  void add_points(std::int32_t sm, const StampHead& h, const std::vector<ClockPoint>& within) {
    t_.points.push_back({sm, h.start_clock, h.start_ns - first_ns_});
    t_.points.insert(t_.points.end(), within.begin(), within.end());
    t_.points.push_back({sm, h.end_clock, h.end_ns - first_ns_});
  }

  const StampPlan& plan_;
  const Stamped& stamped_;
  Timeline t_;
  std::int64_t first_ns_ = 0;  // of the launch: ns are counted from there
  std::vector<std::int32_t> own_tags_;
};

}  // namespace

Result<Timeline> timeline_of(const StampPlan& plan, const Stamped& stamped) {
  return Reader(plan, stamped).read();
}

}  // namespace attn::gpu
