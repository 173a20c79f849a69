#include <array>
#include <cstddef>
#include <string>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/state/state.h"
#include "viz/step/facts/letters.h"
#include "viz/step/facts/pipeline.h"
#include "viz/step/facts/side_by_side.h"
#include "viz/step/place/place.h"
#include "viz/step/ring/ring_draw.h"
#include "viz/step/ring/ring_scene.h"
#include "viz/step/step_cache.h"
#include "viz/step/step_ui_state.h"
#include "viz/step/timeline/pipeline_draw.h"

namespace attn {
namespace {

// ---- a block's pipeline

void draw_loops(const SideBySideView& in, const Box& box) {
  PipelineView view = pipeline_view(in.rec, in.at.event);
  if (in.ui.hidden.on) view.note.outcome.clear();  // how much longer it takes tells who waits
  draw_pipeline_card(box, view, in.commands);
}

void draw_lanes(const SideBySideView& in, const Box& box) {
  draw_pipeline_lanes(box, pipeline_view(in.rec, in.at.event), !in.ui.hidden.on, in.commands);
}

std::string lane_times(const Recording& rec) {
  return pipeline_note(rec).source;
}

// When, and whose.
std::string lane_position(const Recording& rec, const StepPlace& at) {
  const PipelineView view = pipeline_view(rec, at.event);
  std::string words = phrase(", {:.0f} ns: ", view.now * view.ns_a_clock);
  const auto lane = rec.lane_of(at.event);
  words += lane ? phrase("consumer {}", *lane) : tr("producer");
  if (at.j >= 0) words += phrase(", key tile {}", at.j);
  return words + ", " + letter_of_step(rec, at.event);
}

// ---- a ring

RingScene scene_of(const SideBySideView& in) {
  return ring_scene(in.rec, in.at, in.cache.scales, in.cache.bounds_of_head(in.at.event));
}

RingPanel panel_of(const SideBySideView& in, const RingScene& scene) {
  return {scene,
          in.state,
          in.ui.look,
          in.commands,
          scale_legend(scene.scores, in.cache.scales),
          legend_marks(in.rec, in.cache.scales),
          in.ui.hidden.map,
          in.ui.hidden.map_later,
          by_touch() ? &in.ui.ring : nullptr};
}

void draw_ranks(const SideBySideView& in, const Box& box) {
  in.ui.tiles.focused = false;
  in.ui.ring.made = {};
  const RingScene scene = scene_of(in);
  draw_ring(panel_of(in, scene), box);
  in.ui.tiles.made = in.ui.ring.made;
  in.ui.tiles.pinned = {};
}

float ranks_height(const SideBySideView& in, float width) {
  const RingScene scene = scene_of(in);
  return ring_height(panel_of(in, scene), in.rec, width);
}

}  // namespace

const SideBySide& side_by_side_of(const Recording& rec) {
  static const std::array<SideBySide, 4> kWays{SideBySide{},  // none
                                               SideBySide{},  // parts: the tiles show each of them
                                               SideBySide{.card = draw_loops,
                                                          .card_height = pipeline_card_height,
                                                          .low_card = kLowPipelineCard,
                                                          .track = draw_lanes,
                                                          .times = lane_times,
                                                          .position = lane_position,
                                                          .lane_words = lane_state_words,
                                                          .meanwhile = meanwhile_words,
                                                          .tiles_step = tiles_step,
                                                          .on_its_way = on_its_way,
                                                          .lies_in_slot = lies_in_slot},
                                               SideBySide{.tiles = draw_ranks, .tiles_height = ranks_height}};
  return kWays.at(static_cast<std::size_t>(order_row(rec.order).abreast));
}

}  // namespace attn
