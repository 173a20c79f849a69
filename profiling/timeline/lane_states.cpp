#include "profiling/timeline/lane_states.h"

#include <algorithm>
#include <map>

#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr LaneState kStates[] = {
    {"set-up", StateKind::nothing, StateOf::none, marked("set-up")},
    {"tile", StateKind::nothing, StateOf::tile, marked("begins a query tile")},
    {"next tile", StateKind::work, StateOf::tile, marked("takes the next query tile")},
    {"wait tile", StateKind::wait, StateOf::tile, marked("waits for the next query tile")},
    {"wait slot K", StateKind::wait, StateOf::k, marked("waits for a slot for K")},
    {"ask K", StateKind::flight, StateOf::k, marked("requests K")},
    {"wait slot V", StateKind::wait, StateOf::v, marked("waits for a slot for V")},
    {"ask V", StateKind::flight, StateOf::v, marked("requests V")},
    {"wait slot Q", StateKind::wait, StateOf::q, marked("waits for a slot for Q")},
    {"ask Q", StateKind::flight, StateOf::q, marked("requests Q")},
    {"wait Q", StateKind::wait, StateOf::q, marked("waits for Q")},
    {"wait K", StateKind::wait, StateOf::k, marked("waits for K")},
    {"wait V", StateKind::wait, StateOf::v, marked("waits for V")},
    {"wait turn", StateKind::wait, StateOf::turn, marked("waits for its turn")},
    {"issue S", StateKind::flight, StateOf::s, marked("hands S to the tensor cores")},
    {"wait S", StateKind::wait, StateOf::s, marked("waits for S")},
    {"maximum", StateKind::work, StateOf::s, marked("mask and row maxima")},
    {"P", StateKind::work, StateOf::p, marked("exponentials, sums, packing")},
    {"issue O", StateKind::flight, StateOf::o, marked("hands O to the tensor cores")},
    {"wait O", StateKind::wait, StateOf::o, marked("waits for O")},
    {"hand on", StateKind::work, StateOf::none, marked("releases a tile that none of its rows see")},
    {"store", StateKind::work, StateOf::o, marked("stores O and LSE")},
    {"S", StateKind::work, StateOf::s, marked("computes S and requests the next copies")},
    {"P V", StateKind::work, StateOf::o, marked("exponentials and O")},
    {"done", StateKind::nothing, StateOf::none, marked("done")},
};

}  // namespace

std::span<const LaneState> lane_states() {
  return kStates;
}

const LaneState& lane_state(std::string_view tag) {
  static const LaneState kOther;
  const auto at = std::ranges::find(kStates, tag, &LaneState::tag);
  return at == std::end(kStates) ? kOther : *at;
}

std::vector<LaneInterval> intervals_of(const Timeline& t, std::size_t n) {
  const TimelineLane& lane = t.lanes.at(n);
  const auto events =
      std::span(t.events).subspan(static_cast<std::size_t>(lane.first), static_cast<std::size_t>(lane.count));
  std::vector<LaneInterval> all;
  all.reserve(events.size());
  for (std::size_t e = 0; e < events.size(); ++e) {
    const std::int64_t to = e + 1 < events.size() ? events[e + 1].at : events[e].at;
    all.push_back({events[e].at, to, events[e].tag, events[e].tile, events[e].slot});
  }
  if (lane.block < 0) return all;
  const TimedBlock& block = t.blocks.at(static_cast<std::size_t>(lane.block));
  const bool clocks = t.unit == MomentUnit::clocks;
  all.front().from = clocks ? block.start_clock : block.start_ns;
  all.back().to = clocks ? block.end_clock : block.end_ns;
  return all;
}

std::vector<StateSum> sums_of(std::span<const LaneInterval> intervals) {
  std::map<std::int32_t, StateSum> by_tag;
  for (const LaneInterval& i : intervals) {
    StateSum& sum = by_tag[i.tag];
    sum.tag = i.tag;
    sum.time += i.length();
    ++sum.count;
  }
  std::vector<StateSum> sums;
  sums.reserve(by_tag.size());
  for (const auto& [tag, sum] : by_tag) sums.push_back(sum);
  std::ranges::stable_sort(sums, std::ranges::greater(), &StateSum::time);
  return sums;
}

double ns_a_unit(const Timeline& t, std::int32_t block) {
  if (t.unit == MomentUnit::ns) return 1;
  const auto clock = std::ranges::find(t.sms, t.blocks.at(static_cast<std::size_t>(block)).sm, &SmClock::sm);
  return clock == t.sms.end() ? 1 : clock->ns_per_clock;
}

std::vector<std::size_t> lanes_of_block(const Timeline& t, std::int32_t block) {
  std::vector<std::size_t> lanes;
  for (std::size_t n = 0; n < t.lanes.size(); ++n)
    if (t.lanes[n].block == block) lanes.push_back(n);
  return lanes;
}

std::vector<std::int32_t> detailed_blocks(const Timeline& t) {
  std::map<std::int32_t, int> lanes;
  for (const TimelineLane& lane : t.lanes)
    if (lane.block >= 0) ++lanes[lane.block];
  const auto most = std::ranges::max_element(lanes, {}, [](const auto& entry) { return entry.second; });
  std::vector<std::int32_t> blocks;
  for (const auto& [block, count] : lanes)
    if (count == most->second) blocks.push_back(block);
  return blocks;
}

std::string lane_words(const Timeline& t, std::size_t n) {
  const TimelineLane& lane = t.lanes.at(n);
  switch (lane.kind) {
    case LaneKind::producer:
      return lane.index == 0 ? tr("copies K, V") : tr("copies Q");
    case LaneKind::consumer:
      return phrase("consumer {}", lane.index);
    case LaneKind::warp:
      return phrase("warp {}", lane.index);
    case LaneKind::slot:
      return phrase("slot {}", lane.index);
    case LaneKind::send:
      return phrase("send {}", lane.index);
    case LaneKind::wait:
      return phrase("wait {}", lane.index);
    case LaneKind::compute:
      return phrase("compute {}", lane.index);
  }
  return {};
}

double price_of(const Timeline& t) {
  return t.plain_us > 0 ? t.traced_us / t.plain_us : 0;
}

std::string why_no_picture(const Timeline& t) {
  if (t.lanes.empty()) return tr("No lane was recorded.");
  const double price = price_of(t);
  if (price <= kMostPrice) return {};
  return phrase(
      "Recording slowed the kernel by a factor of {:.3f} (limit: {:.2f}), so the timeline does not show what "
      "happens without the recorder. Use a longer problem.",
      price, kMostPrice);
}

}  // namespace attn
