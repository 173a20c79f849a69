// Bench: the ladder on an axis of the user's choice. A panel that sets the sweep up, the verdict, charts that grow
// while it runs, the table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "implot.h"
#include "viz/bench_cache.h"
#include "viz/canvas.h"
#include "viz/theme.h"

namespace attn {
namespace {

constexpr float kGutter = 12, kPanelWidth = 196;  // logical pixels
constexpr float kLeastChart = 168, kLeastTable = 132;

std::string scene_key(const State& state, const Model& model, const BenchCache& cache) {
  std::string key =
      fmt::format("{:x}|{}|{}|{}|{}|{}|{}", rows_fingerprint(model), cache.estimate_key, state.document.kernel,
                  state.view.bench_metric, state.view.bench_value ? *state.view.bench_value : 0,
                  cache.switches.all_values, cache.estimate.words);
  for (const auto& log : cache.switches.log) key += log ? (*log ? "l" : "-") : ".";
  return key;
}

// Plain wheel scrolls the page; with Ctrl it zooms a chart. A double click is ours: it fits the axes again.
void set_plot_input() {
  ImPlotInputMap& input = ImPlot::GetInputMap();
  input.ZoomMod = ImGuiMod_Ctrl;
  input.OverrideMod = ImGuiMod_Alt;
  input.Fit = ImGuiMouseButton_Middle;
}

struct Layout {
  bool fold_panel = false;  // the sweep panel opens from a button
  bool two_charts = false;
  float panel = 0, chart_width = 0, chart_height = 0, table = 0;  // pixels
};

Layout layout_of(ImVec2 size, float strip, const BenchCache& cache) {
  const Style& s = style();
  const float gutter = s.px(kGutter);
  const float logical = size.x / s.scale;
  Layout l;
  l.fold_panel = logical < 640;
  l.two_charts = logical < 800;
  l.panel = l.fold_panel ? 0 : s.px(kPanelWidth);
  const float width = size.x - (l.fold_panel ? 0 : l.panel + gutter);
  const bool side_by_side = width >= s.px(480);
  l.chart_width = side_by_side ? std::floor((width - gutter) / 2) : width;
  const int chart_rows = (l.two_charts ? 2 : 4) / (side_by_side ? 2 : 1);
  const float wanted = bench_table_height(cache);
  const float below = size.y - strip - gutter;
  // The charts take what the table leaves; the table scrolls inside before the charts get too small to read.
  const float most_table = below - static_cast<float>(chart_rows) * (s.px(kLeastChart) + gutter);
  l.table = std::max(s.px(kLeastTable), std::min(wanted, most_table));
  const float rest = below - l.table - static_cast<float>(chart_rows) * gutter;
  l.chart_height = std::max(s.px(kLeastChart), std::floor(rest / static_cast<float>(chart_rows)));
  return l;
}

void draw_folded_panel(const State& state, const Model& model, BenchCache& cache, Commands& commands) {
  if (ImGui::Button("Sweep ...##fold")) ImGui::OpenPopup("sweep_panel");
  ImGui::SetNextWindowSize(ImVec2(style().px(kPanelWidth + 32), style().px(480)), ImGuiCond_Appearing);
  if (ImGui::BeginPopup("sweep_panel")) {
    draw_sweep_panel(state, model, cache, commands);
    ImGui::EndPopup();
  }
}

void draw_charts(const Layout& l, BenchCache& cache, const State& state, Commands& commands) {
  constexpr std::array<std::size_t, 4> kAll{0, 1, 2, 3};
  constexpr std::array<std::size_t, 2> kTwo{1, 3};
  const auto shown = l.two_charts ? std::span<const std::size_t>(kTwo) : std::span<const std::size_t>(kAll);
  const float right = ImGui::GetCursorPosX() + 2 * l.chart_width;
  bool first = true;
  for (const std::size_t index : shown) {
    if (!first && ImGui::GetContentRegionMax().x >= right && (index % 2 == 1)) {
      if (!(l.two_charts && index == shown.front())) ImGui::SameLine(0, style().px(kGutter));
    }
    draw_bench_chart(index, ImVec2(l.chart_width, l.chart_height), cache, state, commands);
    first = false;
  }
}

}  // namespace

bool begin_bench_card(const char* id, ImVec2 size) {
  const Style& s = style();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(s.px(16), s.px(12)));
  const bool open = ImGui::BeginChild(id, size, ImGuiChildFlags_Borders,
                                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  return open;
}

bool bench_toggle(const char* label, bool on, const char* help) {
  const Style& s = style();
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(s.px(6), s.px(1)));
  ImGui::PushStyleColor(ImGuiCol_Button, on ? colour(s.theme, Token::field) : 0U);
  ImGui::PushStyleColor(ImGuiCol_Text, colour(s.theme, on ? Token::text : Token::dim));
  ImGui::PushFont(s.fonts.text, s.px(12));
  const bool clicked = ImGui::Button(label);
  ImGui::PopFont();
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar();
  ImGui::SetItemTooltip("%s", help);
  return clicked;
}

BenchCache& refreshed(BenchMemory& memory, const State& state, const Model& model) {
  if (!memory.cache) memory.cache = std::make_shared<BenchCache>();
  BenchCache& cache = *memory.cache;
  std::string key = sweep_key(state.document.sweep);
  if (!model.task.running) key += fmt::format("|{}", model.measurements.size());  // rates known from finished rows
  if (key != cache.estimate_key && !(model.task.running && !cache.estimate_key.empty())) {
    cache.estimate_key = std::move(key);
    cache.valid = validate(state.document.sweep).has_value();
    cache.estimate = estimate(state.document.sweep, model.measurements);
  }
  key = scene_key(state, model, cache);
  if (key != cache.scene_key) {
    cache.scene_key = std::move(key);
    cache.scene = bench_scene(state, model, cache.switches, cache.estimate.words);
    cache.scene.slice.rows.clear();
    ++cache.scene_number;
  }
  return cache;
}

void draw_bench(const State& state, const Model& model, BenchMemory& memory, Commands& commands) {
  const Style& s = style();
  BenchCache& cache = refreshed(memory, state, model);
  cache.hovered = cache.hovered_next;
  cache.hovered_next.reset();
  set_plot_input();
  ImGui::PushID("bench");
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const float gutter = s.px(kGutter);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(gutter, gutter));
  Layout l = layout_of(size, 0, cache);
  if (!l.fold_panel) {
    if (begin_bench_card("panel", ImVec2(l.panel, size.y))) {
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), s.px(6)));
      draw_sweep_panel(state, model, cache, commands);
      ImGui::PopStyleVar();
    }
    ImGui::EndChild();
    ImGui::SameLine();
  }
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool open = ImGui::BeginChild("figures", ImVec2(0, size.y));
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  if (open) {
    if (l.fold_panel) draw_folded_panel(state, model, cache, commands);
    const float top = ImGui::GetCursorPosY();
    draw_bench_strip(state, model, cache, ImGui::GetContentRegionAvail().x);
    const float strip = ImGui::GetCursorPosY() - gutter;
    l = layout_of(size, std::max(strip, top), cache);
    draw_charts(l, cache, state, commands);
    draw_bench_table(cache, ImVec2(ImGui::GetContentRegionAvail().x, l.table), commands);
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
  ImGui::PopID();
}

}  // namespace attn
