#include "viz/bench/charts/chart_menu_draw.h"

#include <algorithm>
#include <set>
#include <string>

#include "imgui.h"
#include "kernels/base/text.h"
#include "profiling/figures/metrics.h"
#include "viz/bench/charts/line_looks_draw.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr const char* kMenu = "chart_menu";

// Metrics that some row has a figure of, by group.
void metric_list(std::size_t index, const BenchScene& scene, Commands& commands) {
  const BenchMetric* before = nullptr;
  for (const BenchMetric& metric : scene.metrics) {
    if (before == nullptr || before->group != metric.group) {
      ImGui::PushStyleColor(ImGuiCol_Text, colour(style().theme, Token::dim));
      ImGui::SeparatorText(std::string(tr_of(name_of(metric.group))).c_str());
      ImGui::PopStyleColor();
    }
    before = &metric;
    if (ImGui::Selectable(metric.label.c_str(), metric.id == scene.charts[index].metric))
      commands.push_back(ChooseBenchMetric{metric.id, index});
    tooltip(metric.help);
  }
}

void chart_title(std::size_t index, const BenchScene& scene, Commands& commands) {
  const Style& s = style();
  const BenchChart& chart = scene.charts[index];
  ImGui::PushFont(s.fonts.bold, s.px(13));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 text = ImGui::CalcTextSize(chart.title.c_str());
  if (ImGui::InvisibleButton("pick_metric", {text.x + s.px(18), text.y}, ImGuiButtonFlags_EnableNav))
    ImGui::OpenPopup("metrics");
  const bool over = ImGui::IsItemHovered();
  ImGui::GetWindowDrawList()->AddText(at, colour(s.theme, Token::text), chart.title.c_str());
  ImGui::PopFont();
  draw_arrow(ImGui::GetWindowDrawList(), {at.x + text.x + s.px(10), at.y + text.y / 2 + s.px(1)}, 8, Arrow::down,
             colour(s.theme, over ? Token::text : Token::dim));
  const std::string help = phrase("Show another metric here{}", (chart.note.empty() ? "" : "\n" + chart.note));
  tooltip(help);
  if (!ImGui::BeginPopup("metrics")) return;
  begin_menu_rows();
  metric_list(index, scene, commands);
  end_menu();
}

// Three dots, for who has no right button at hand.
void menu_button(ImVec2 size) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (ImGui::InvisibleButton("more", size, ImGuiButtonFlags_EnableNav)) ImGui::OpenPopup(kMenu);
  const ImU32 ink = colour(s.theme, ImGui::IsItemHovered() ? Token::text : Token::dim);
  for (int i = -1; i <= 1; ++i)
    ImGui::GetWindowDrawList()->AddCircleFilled(
        {at.x + size.x / 2 + static_cast<float>(i) * s.px(4.5F), at.y + size.y / 2}, s.px(1.3F), ink, 8);
  tooltip(for_hands(
      tr("Fit, hide lines, copy. In the plot, the wheel zooms (with Ctrl if the page scrolls), dragging pans, and a "
         "double click resets the view."),
      tr("Fit, hide lines, copy. In the plot, a double tap resets the view.")));
}

void line_items(const BenchChart& chart, BenchCache& cache) {
  std::set<std::string> told;
  for (const BenchLine& line : chart.lines) {
    if (!told.insert(line.id).second) continue;
    const bool shown = !is_hidden(cache, line);
    if (!ImGui::MenuItem((line.peer ? line.label + "###" + line.id : line.id).c_str(), nullptr, shown)) continue;
    if (shown)
      cache.hidden.insert(line.id);
    else
      cache.hidden.erase(line.id);
  }
  if (!cache.hidden.empty() && ImGui::MenuItem(tr("Show all lines"))) cache.hidden.clear();
}

}  // namespace

void fit_chart(std::size_t index, BenchCache& cache) {
  cache.x_fitted.clear();
  cache.y_fitted[index].clear();
}

void fit_charts(BenchCache& cache) {
  for (std::size_t i = 0; i < cache.y_fitted.size(); ++i) fit_chart(i, cache);
}

void draw_chart_head(std::size_t index, BenchCache& cache, Commands& commands) {
  const Style& s = style();
  const BenchChart& chart = cache.scene.charts[index];
  const float right = ImGui::GetContentRegionMax().x, top = ImGui::GetCursorPosY();
  chart_title(index, cache.scene, commands);
  const float title_width = ImGui::GetItemRectSize().x;
  if (chart.lines.empty()) return ImGui::SetCursorPosY(top + s.px(18));
  const float more = s.px(20), button = text_width(Face::text, 12, tr("log")) + s.px(12) + more;
  ImGui::SetCursorPos({right - button, top - s.px(1)});
  if (toggle(tr("log"), chart.log_y, tr("Logarithmic or linear scale")))
    cache.switches.log[chart.metric] = !chart.log_y;
  // A label may come out a pixel wider than it measures.
  const float end = ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x;
  ImGui::SetCursorPos({std::max(right - more, end), top - s.px(1)});
  menu_button({more, s.px(16)});
  const float room = right - button - title_width - s.px(44);
  ImVec2 at = ImGui::GetWindowPos();
  at.x += right - button - s.px(8);
  at.y += top - ImGui::GetScrollY();
  // The unit is always there, the rest where it has room; the title's tooltip has it too.
  const std::string& note = text_width(Face::text, 12, chart.note) < room ? chart.note : chart.unit;
  draw_text(ImGui::GetWindowDrawList(), {at.x - text_width(Face::text, 12, note), at.y + s.px(1)}, Face::text, 12,
            colour(s.theme, Token::dim), note);
  ImGui::SetCursorPosY(top + s.px(18));
}

void draw_chart_menu(std::size_t index, BenchCache& cache, Commands& commands) {
  const BenchChart& chart = cache.scene.charts[index];
  // The plot holds the right button while it is down, and Dear ImGui's own way would wait for one that nobody holds.
  const bool released = ImGui::IsMouseReleased(ImGuiMouseButton_Right);
  if (released && ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem)) ImGui::OpenPopup(kMenu);
  if (!ImGui::BeginPopupContextWindow(kMenu)) return;
  begin_menu_rows();
  if (ImGui::MenuItem(tr("Fit"), for_hands(tr("double click"), tr("double tap")), false, !chart.lines.empty()))
    fit_chart(index, cache);
  if (ImGui::MenuItem(tr("Fit every chart"))) fit_charts(cache);
  if (ImGui::MenuItem(tr("Logarithmic"), nullptr, chart.log_y, !chart.lines.empty()))
    cache.switches.log[chart.metric] = !chart.log_y;
  if (ImGui::BeginMenu(tr("Show another metric"))) {
    metric_list(index, cache.scene, commands);
    fade_list_ends();
    ImGui::EndMenu();
  }
  if (!chart.lines.empty()) {
    ImGui::SeparatorText(tr("Lines"));
    line_items(chart, cache);
    ImGui::Separator();
    if (ImGui::MenuItem(tr("Copy the numbers")))
      commands.push_back(CopyText{chart_tsv(cache.scene, chart, cache.hidden)});
    tooltip(tr("Tab-separated, for a spreadsheet"));
  }
  end_menu();
}

}  // namespace attn
