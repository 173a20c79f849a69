// Bench: the ladder on an axis of the user's choice. A panel that sets the sweep up, the verdict, charts that grow
// while it runs, the table.
#include "viz/bench/workspace.h"

#include <algorithm>
#include <cmath>

#include "implot.h"
#include "viz/bench/charts/charts_draw.h"
#include "viz/bench/ladder/ladder_draw.h"
#include "viz/bench/panel/sweep_draw.h"
#include "viz/bench/ranks/rank_lanes_draw.h"
#include "viz/bench/scene/bench_cache.h"
#include "viz/bench/sources/source_pair_draw.h"
#include "viz/bench/table/bench_table_draw.h"
#include "viz/bench/tiles/tile_map_draw.h"
#include "viz/bench/verdict/speed_verdict_draw.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kGutter = 12, kPanelWidth = 212, kFolded = 640;  // logical pixels
constexpr float kMinChart = 168, kMinPage = 200;

// The wheel zooms a chart, but where the page itself scrolls, in a small window, it needs Ctrl. A double click is ours:
// it fits the axes again.
void set_plot_input(bool page_scrolls) {
  ImPlotInputMap& input = ImPlot::GetInputMap();
  input.ZoomMod = page_scrolls ? ImGuiMod_Ctrl : ImGuiMod_None;
  input.OverrideMod = ImGuiMod_Alt;
  input.Fit = ImGuiMouseButton_Middle;
}

struct Layout {
  bool side_by_side = true;
  float chart_width = 0, chart_height = 0, table = 0;  // pixels
};

// `room`: what the charts and the table may fill, pixels.
Layout layout_of(ImVec2 room, const BenchCache& cache) {
  const Style& s = style();
  const float gutter = s.px(kGutter);
  Layout l;
  l.side_by_side = room.x >= s.px(480);
  l.chart_width = l.side_by_side ? std::floor((room.x - gutter) / 2) : room.x;
  const float rows = l.side_by_side ? 2 : 4, least = s.px(kMinChart) + bench_names_height(cache, l.chart_width);
  // The charts take what the table leaves; the table scrolls inside before the charts get too small to read, and
  // the page scrolls before the table does.
  const float wanted = bench_table_height(cache, room.x);
  const float max_table = room.y - rows * (least + gutter);
  l.table = std::max(std::min(wanted, least_bench_table_height(cache, room.x)), std::min(wanted, max_table));
  const float rest = room.y - l.table - rows * gutter;
  l.chart_height = std::max(least, std::floor(rest / rows));
  return l;
}

void draw_charts(const Layout& l, BenchCache& cache, Commands& commands) {
  for (std::size_t i = 0; i < kBenchCharts; ++i) {
    if (l.side_by_side && i % 2 == 1) ImGui::SameLine(0, style().px(kGutter));
    draw_bench_chart(i, ImVec2(l.chart_width, l.chart_height), cache, commands);
  }
}

void draw_charts_and_table(ImVec2 room, BenchCache& cache, Commands& commands) {
  const Layout l = layout_of(room, cache);
  set_plot_input(ImGui::GetScrollMaxY() > 0);
  draw_charts(l, cache, commands);
  draw_bench_table(cache, ImVec2(ImGui::GetContentRegionAvail().x, l.table), commands);
}

}  // namespace

void draw_bench(const State& state, const Model& model, BenchUiState& ui, Commands& commands) {
  const Style& s = style();
  BenchCache& cache = refreshed(ui, state, model);
  cache.hovered = cache.hovered_next;
  cache.hovered_next.reset();
  cache.pointed = cache.pointed_next;
  cache.pointed_next.reset();
  set_plot_input(false);
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (ui.only_chart) return draw_bench_chart(*ui.only_chart, size, cache, commands);
  const float gutter = s.px(kGutter), logical = size.x / s.scale;
  const bool folded = logical < kFolded;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(gutter, gutter));
  if (!folded) {
    if (begin_card("panel", ImVec2(s.px(kPanelWidth), size.y))) {
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), s.px(6)));
      draw_sweep_panel(state, model, cache, commands);
      ImGui::PopStyleVar();
    }
    ImGui::EndChild();
    ImGui::SameLine();
  }
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool open = ImGui::BeginChild("figures", ImVec2(0, size.y), ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  if (open) {
    draw_bench_strip(state, model, cache, folded, commands);
    const float strip = ImGui::GetItemRectSize().y + gutter;
    const ImVec2 room{ImGui::GetContentRegionAvail().x, std::max(s.px(kMinPage), size.y - strip)};
    switch (state.view.bench.page) {
      case BenchPage::charts:
        draw_charts_and_table({room.x, size.y - strip}, cache, commands);
        break;
      case BenchPage::ladder:
        draw_ladder(cache.ladder, room, commands);
        break;
      case BenchPage::sources:
        draw_source_pair(cache.sources, cache.source_ui, room, commands);
        break;
      case BenchPage::tiles:
        draw_tiles(cache.tiles, state.document.sweep, room, commands);
        break;
      case BenchPage::ranks:
        draw_rank_lanes(cache.ranks, room, commands);
        break;
    }
    fade_page();
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

}  // namespace attn
