// All blocks of a launch as bands, one line an SM.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "profiling/timeline/timeline_text.h"
#include "viz/draw/hands.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

// SMs by the end of their last block, so that a tail is an area.
std::map<std::int32_t, std::int32_t> rows_by_end(const Timeline& t) {
  std::map<std::int32_t, double> ends;
  for (const TimedBlock& b : t.blocks) ends[b.sm] = std::max(ends[b.sm], static_cast<double>(b.end_ns));
  std::vector<std::pair<double, std::int32_t>> order;
  order.reserve(ends.size());
  for (const auto& [sm, end] : ends) order.emplace_back(end, sm);
  std::ranges::sort(order);
  std::map<std::int32_t, std::int32_t> row;
  for (const auto& [end, sm] : order) row.emplace(sm, static_cast<std::int32_t>(row.size()));
  return row;
}

void add_query_tiles(PipelineScene& s) {
  const Timeline& t = *s.timeline;
  for (const TimelineLane& lane : t.lanes) {
    if (lane.kind != LaneKind::consumer || lane.index != 0 || lane.block < 0) continue;
    BlockBand& band = s.bands[static_cast<std::size_t>(lane.block)];
    for (std::int64_t e = lane.first; e < lane.first + lane.count; ++e) {
      const TimelineEvent& event = t.events[static_cast<std::size_t>(e)];
      if (t.tags[static_cast<std::size_t>(event.tag)] == "tile") band.tiles_ns.push_back(ns_of(t, lane, event.at));
    }
  }
}

// From one query tile to the next, so that parts and what lies between the blocks are all of an SM's time.
void add_parts(PipelineScene& s) {
  double longest = 0;
  for (BlockBand& b : s.bands) {
    double from = b.from_ns;
    for (std::size_t n = 1; n < b.tiles_ns.size(); ++n) {
      const double to = std::clamp(b.tiles_ns[n], from, b.to_ns);
      b.parts.push_back({from, to});
      from = to;
    }
    b.parts.push_back({from, b.to_ns});
    for (const BlockBand::Part& part : b.parts) longest = std::max(longest, part.to_ns - part.from_ns);
  }
  for (BlockBand& b : s.bands)
    for (BlockBand::Part& part : b.parts)
      if (longest > 0) part.length = static_cast<float>((part.to_ns - part.from_ns) / longest);
}

// Blocks that an SM runs at once share its line.
void share_lines(PipelineScene& s) {
  std::vector<BlockBand*> by_start;
  by_start.reserve(s.bands.size());
  for (BlockBand& b : s.bands) by_start.push_back(&b);
  std::ranges::stable_sort(by_start, {}, &BlockBand::from_ns);
  std::map<std::int32_t, std::vector<double>> ends;  // by row: when each of its places is free
  for (BlockBand* b : by_start) {
    std::vector<double>& free = ends[b->row];
    auto at = std::ranges::find_if(free, [&](double end) { return end <= b->from_ns; });
    if (at == free.end()) at = free.insert(free.end(), 0.0);
    *at = b->to_ns;
    b->place = static_cast<std::int32_t>(at - free.begin());
    s.band_places = std::max(s.band_places, b->place + 1);
  }
}

}  // namespace

std::vector<double> row_ends(const PipelineScene& s) {
  std::vector<double> ends(static_cast<std::size_t>(std::max(s.band_rows, 0)), 0.0);
  for (const BlockBand& b : s.bands) {
    double& end = ends.at(static_cast<std::size_t>(b.row));
    end = std::max(end, b.to_ns);
  }
  return ends;
}

double idle_before_end(const PipelineScene& s) {
  if (s.band_rows < 1 || s.launch_ns <= 0) return 0;
  std::map<std::int32_t, std::vector<std::pair<double, double>>> of_row;
  for (const BlockBand& b : s.bands) of_row[b.row].emplace_back(b.from_ns, b.to_ns);
  double idle = 0;
  for (auto& [row, blocks] : of_row) {
    std::ranges::sort(blocks);
    double busy_until = 0;
    for (const auto& [from, to] : blocks) {
      idle += std::max(0.0, from - busy_until);
      busy_until = std::max(busy_until, to);
    }
  }
  return idle / (s.launch_ns * static_cast<double>(s.band_rows));
}

void add_bands(PipelineScene& s, std::int32_t shown) {
  const Timeline& t = *s.timeline;
  const std::map<std::int32_t, std::int32_t> row = rows_by_end(t);
  s.band_rows = static_cast<std::int32_t>(row.size());
  s.launch_ns = static_cast<double>(span_ns(t));
  for (std::size_t n = 0; n < t.blocks.size(); ++n) {
    const TimedBlock& b = t.blocks[n];
    BlockBand band;
    band.row = row.at(b.sm);
    band.sm = b.sm;
    band.from_ns = static_cast<double>(b.start_ns);
    band.to_ns = static_cast<double>(b.end_ns);
    band.block = b.block;
    band.shown = static_cast<std::int32_t>(n) == shown;
    band.detailed = std::ranges::find(s.blocks, b.block) != s.blocks.end();
    s.bands.push_back(std::move(band));
  }
  add_query_tiles(s);
  add_parts(s);
  share_lines(s);
  for (BlockBand& b : s.bands) {
    b.tip = phrase("Block {} on SM {}: {:.1f} to {:.1f} µs", b.block, b.sm, b.from_ns * 1e-3, b.to_ns * 1e-3);
    if (!b.tiles_ns.empty()) b.tip += ", " + plural(b.tiles_ns.size(), "{} query tile", "{} query tiles");
    if (b.detailed && !b.shown)
      b.tip +=
          std::string("\n") + for_hands(tr("Click to show this block's lanes."), tr("Tap to show this block's lanes."));
    if (!b.detailed)
      b.tip += "\n" +
               phrase("Its lanes were not recorded; attnscope timeline {} --block {} records them.", t.kernel, b.block);
  }
}

}  // namespace attn
