#include "viz/bench/table/table_title_draw.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "imgui.h"
#include "kernels/base/letters.h"
#include "kernels/base/text.h"
#include "viz/bench/runs/row_filter.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/marks.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kHeadingRoom = 160, kMaxFilter = 420;  // "Kernels at L = 131072", the field of the filter

// The value as a button that lists the others: what a click in a chart does, from the keyboard too.
void value_choice(const BenchScene& scene, const std::string& words, Commands& commands) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = text_width(Face::bold, 13, words), height = ImGui::GetFontSize();
  if (ImGui::InvisibleButton("pick_value", {width + s.px(18), height}, ImGuiButtonFlags_EnableNav))
    ImGui::OpenPopup("values");
  const bool over = ImGui::IsItemHovered();
  tooltip(tr("Show another value"));
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text(list, at, Face::bold, 13, colour(s.theme, Token::text), words);
  draw_arrow(list, {at.x + width + s.px(10), at.y + height / 2 + s.px(1)}, 8, Arrow::down,
             colour(s.theme, over ? Token::text : Token::dim));
  if (!ImGui::BeginPopup("values")) return;
  begin_menu_rows();
  for (const BenchTick& tick : scene.ticks) {
    if (ImGui::Selectable(fmt::format("{} = {}", scene.axis_letter, tick.at).c_str(), scene.chosen == tick.at))
      commands.push_back(ChooseBenchValue{tick.at});
  }
  end_menu();
}

// Which figures the columns show: a choice from all, or every metric of a group.
void group_choice(BenchCache& cache) {
  const Style& s = style();
  const auto& group = cache.switches.group;
  const std::string words = group ? std::string(tr_of(name_of(*group))) : tr("summary");
  const std::string shown = phrase("columns: {}", words);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = text_width(Face::text, 12, shown), height = s.px(18);
  if (ImGui::InvisibleButton("pick_columns", {width + s.px(20), height}, ImGuiButtonFlags_EnableNav))
    ImGui::OpenPopup("column_groups");
  const Token ink = ImGui::IsItemHovered() ? Token::text : Token::dim;
  tooltip(tr("Show all metrics of one group"));
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text(list, {at.x, at.y + s.px(2)}, Face::text, 12, colour(s.theme, ink), shown);
  draw_arrow(list, {at.x + width + s.px(10), at.y + height / 2 + s.px(1)}, 7, Arrow::down, colour(s.theme, ink));
  if (!ImGui::BeginPopup("column_groups")) return;
  begin_menu_rows();
  if (ImGui::Selectable(tr("summary"), !group)) cache.switches.group.reset();
  ImGui::Separator();
  for (const MetricGroup g : {MetricGroup::time, MetricGroup::compute, MetricGroup::memory, MetricGroup::prediction,
                              MetricGroup::occupancy, MetricGroup::shared_memory, MetricGroup::correctness}) {
    if (ImGui::Selectable(std::string(tr_of(name_of(g))).c_str(), group == g)) cache.switches.group = g;
  }
  end_menu();
}

// As far as all words that fit go on alike.
std::string completed_filter(std::string_view before) {
  const FilterWords fit = filter_words(before);
  if (fit.words.empty()) return std::string(before);
  const std::string common = common_start(fit.words);
  // Words in either case may begin differently: then what was typed stays.
  return common.size() < before.size() - fit.begin ? std::string(before)
                                                   : std::string(before.substr(0, fit.begin)) + common;
}

// What Tab would choose from, under the field while somebody types.
std::string offered_words(std::string_view typed) {
  constexpr std::size_t kMost = 12;
  FilterWords fit = filter_words(typed);
  if (fit.words.empty()) return {};
  const bool more = fit.words.size() > kMost;
  if (more) fit.words.resize(kMost);
  const char* const rest = more ? ", …" : "";
  return by_touch() ? phrase("Names: {}{}", fmt::join(fit.words, ", "), rest)
                    : phrase("Tab completes: {}{}", fmt::join(fit.words, ", "), rest);
}

// Which rows are shown. What cannot be read stays in the field, with the reason under it.
void filter_field(BenchCache& cache, float width, Commands& commands) {
  ImGui::SetNextItemWidth(width);
  FieldDraft& draft = cache.filter;
  if (const auto entered = draft_field("##filter", draft, cache.scene.filter, tr("filter rows"), completed_filter)) {
    const auto read = check_row_filter(*entered);
    settle(draft, read ? "" : read.error().message);
    if (read) commands.push_back(FilterRows{*entered});
  }
  if (ImGui::IsItemActive()) {
    if (const std::string offered = offered_words(draft.text); !offered.empty()) show_tooltip(offered, 420);
    return;
  }
  tooltip(for_hands(
      tr("Rows that match, for example: d == 64 and tflops > 100\nkernel != naive or dtype == f16, not (answer == "
         "wrong), br * bc >= 4096\ndeal = zigzag (an option with named values)\nUse the names of the CSV's metrics, "
         "extents (L, B, H, D) and options. Tab completes names."),
      tr("Rows that match, for example: d == 64 and tflops > 100\nkernel != naive or dtype == f16, not (answer == "
         "wrong), br * bc >= 4096\ndeal = zigzag (an option with named values)\nUse the names of the CSV's metrics, "
         "extents (L, B, H, D) and options.")));
}

}  // namespace

void draw_table_title(BenchCache& cache, float height, Commands& commands) {
  const Style& s = style();
  const BenchScene& scene = cache.scene;
  const bool all = cache.switches.all_values;
  std::string words = tr("Kernels");
  if (all) {
    words += phrase(" at every {}", scene.axis_letter);
  } else if (scene.chosen) {
    words += phrase(" at {} = {}", scene.axis_letter, *scene.chosen);
  }
  const float top = ImGui::GetCursorPosY(), right = ImGui::GetContentRegionMax().x;
  if (!all && scene.chosen) {
    value_choice(scene, words, commands);
  } else {
    heading(words.c_str());
  }
  if (scene.table.rows.empty() && scene.filter.empty()) return;
  // "one L", but "one value" where the axis has a name and no letter.
  const std::string axis = scene.axis_letter.size() <= 2 ? scene.axis_letter : tr("value");
  const std::string one = phrase("one {}##one", axis), every = phrase("every {}##every", axis);
  const float widths = text_width(Face::text, 12, one.substr(0, one.find('#'))) +
                       text_width(Face::text, 12, every.substr(0, every.find('#'))) + s.px(28);
  const float columns = right - widths - s.px(172);
  const float left = std::max(s.px(kHeadingRoom), columns - s.px(kMaxFilter)) + s.px(12);
  ImGui::SetCursorPos({left, top - s.px(3)});
  filter_field(cache, columns - left - s.px(12), commands);
  ImGui::SetCursorPos({columns, top - s.px(1)});
  group_choice(cache);
  ImGui::SetCursorPos({right - widths, top - s.px(1)});
  if (toggle(one.c_str(), !all,
             for_hands(tr("The value that you clicked in a chart"), tr("The value that you tapped in a chart"))))
    cache.switches.all_values = false;
  ImGui::SameLine(0, s.px(4));
  if (toggle(every.c_str(), all, tr("Every row of the sweep"))) cache.switches.all_values = true;
  ImGui::SetCursorPosY(top + height - s.px(6));
}

}  // namespace attn
