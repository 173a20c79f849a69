#include "viz/profile/strip/panel_draw.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/marks.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kRow = 19;  // logical pixels
// Logical pixels: the least room for a figure's name beside its numbers, and for a menu beside its label.
constexpr float kNameBeside = 70, kMenuBeside = 190;
// Of the lines over the figures, without the kernels; and how many figures must stay in sight under them.
constexpr float kHeads = 170, kFiguresInSight = 6;
constexpr float kChangeMark = 17;  // right of a change: its triangle

}  // namespace

void kernel_choice(const ProfileChoice& choice, Commands& commands) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  // Its ground would reach half a spacing beyond its box, and where the heads scroll its round corners would be cut.
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, ImGui::GetStyle().ItemSpacing.y));
  if (ImGui::Selectable(fmt::format("##profile_{}", choice.kernel).c_str(), choice.on, 0, {width, s.px(kRow)}))
    commands.push_back(ChooseBenchKernel{choice.kernel});
  ImGui::PopStyleVar();
  if (!choice.why_not.empty()) tooltip(choice.why_not);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  draw_mark(list, {at.x + s.px(8), at.y + s.px(kRow) / 2},
            {look_of(choice.kernel).mark, MarkFill::solid, kernel_colour(s.theme, choice.kernel),
             colour(s.theme, Token::card), s.px(4.5F), s.px(1.5F)});
  draw_text_in(&list, {{at.x + s.px(20), at.y}, {at.x + width, at.y + s.px(kRow)}}, Align::left,
               choice.on ? Face::bold : Face::text, 13,
               colour(s.theme, choice.why_not.empty() ? Token::text : Token::dim), choice.name);
}

void value_items(const ProfileScene& scene, Commands& commands) {
  for (const ProfileValue& v : scene.values)
    if (ImGui::Selectable(v.text.c_str(), v.on)) commands.push_back(ChooseBenchValue{v.value});
}

void against_items(const ProfileScene& scene, Commands& commands) {
  for (const AgainstChoice& choice : scene.against_choices)
    if (ImGui::Selectable(choice.words.c_str(), choice.on)) commands.push_back(ChooseAgainst{choice.id});
}

// A filled triangle is better, a hollow one worse; it points where the figure went.
void draw_change(ImDrawList& list, ImVec2 centre, const ProfileFigure& f, ImU32 ink) {
  if (!f.change.better && !f.change.worse) return;
  const Style& s = style();
  const float r = s.px(3.5F), tip = f.change.up ? -r : r;
  const ImVec2 a{centre.x - r, centre.y - tip}, b{centre.x + r, centre.y - tip}, c{centre.x, centre.y + tip};
  if (f.change.better) {
    list.AddTriangleFilled(a, b, c, ink);
  } else {
    list.AddTriangle(a, b, c, ink, s.px(1));
  }
}

ImU32 change_ink(const ProfileFigure& f) {
  const bool weak = f.change.text == tr("same") || f.change.noise == Noise::within;
  return colour(style().theme, weak ? Token::dim : Token::text);
}

std::string figure_tip(const ProfileFigure& f) {
  std::string tip = f.label + ": " + f.text;
  if (!f.other.empty()) tip += phrase("\nreference: {}", f.other);
  // Of two that are the same no noise is exceeded.
  const bool same = f.change.text == tr("same") && f.change.noise == Noise::beyond;
  if (!f.change.text.empty()) tip += "\n" + f.change.text + (same ? "" : ": " + f.change.noise_words);
  return tip + "\n" + f.tip;
}

namespace {

// The next menu's label, over it where there is no room for it beside it.
void menu_label(const std::string& label) {
  if (ImGui::GetContentRegionAvail().x >= style().px(kMenuBeside)) return begin_line(label);
  dim_text(label);
  ImGui::SetNextItemWidth(-FLT_MIN);
}

void value_choice(const ProfileScene& scene, Commands& commands) {
  const auto now = std::ranges::find_if(scene.values, &ProfileValue::on);
  menu_label(scene.axis);
  if (!begin_list("##profile_value", now == scene.values.end() ? "" : now->text.c_str())) return;
  value_items(scene, commands);
  end_list();
}

void against_choice(const ProfileScene& scene, Commands& commands) {
  if (scene.against_choices.size() < 2) return;
  menu_label(tr("Against"));
  const auto now = std::ranges::find_if(scene.against_choices, &AgainstChoice::on);
  if (!begin_list("##profile_against", now == scene.against_choices.end() ? "" : now->words.c_str())) return;
  against_items(scene, commands);
  end_list();
}

// How wide the column of the changes is: the numbers' column ends clear of the longest.
float change_column(const std::vector<ProfileGroup>& groups) {
  constexpr float kLeast = 70, kApart = 12;
  const Style& s = style();
  float widest = 0;
  for (const ProfileGroup& group : groups)
    for (const ProfileFigure& f : group.figures) widest = std::max(widest, text_width(Face::mono, 12, f.change.text));
  return std::max(s.px(kLeast), widest + s.px(kChangeMark + kApart));
}

// The name stands over its numbers where there is no room for it beside them.
void figure_line(const ProfileFigure& f, float width, float change) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float number = s.px(80), numbers = width - change - number;
  const bool beside = numbers >= s.px(kNameBeside);
  const float over = beside ? 0 : s.px(kRow - 3);
  const Box line{{at.x, at.y + over}, {at.x + width, at.y + over + s.px(kRow)}};
  const float room = beside ? numbers + number - text_width(Face::mono, 12, f.text) - s.px(8) : width;
  draw_text_in(&list, {at, {at.x + room, at.y + s.px(kRow)}}, Align::left, Face::text, 12, colour(s.theme, Token::dim),
               fitted_text(Face::text, 12, f.label, room));
  draw_text_in(&list, {{at.x, line.min.y}, {at.x + numbers + number, line.max.y}}, Align::right, Face::mono, 12,
               colour(s.theme, Token::text), f.text);
  const ImU32 ink = change_ink(f);
  draw_text_in(&list, line, Align::right, Face::mono, 12, ink, f.change.text, kChangeMark);
  draw_change(list, {line.max.x - s.px(8), line.centre().y}, f, ink);  // clear of its number and the scroll bar
  ImGui::InvisibleButton(f.id.c_str(), {width, over + s.px(kRow)});
  tooltip(figure_tip(f));
}

// How sure the time is: hardly another number than the time, and told by its spread.
bool is_lesser(const ProfileFigure& f) {
  constexpr std::array<std::string_view, 4> kLesser{"time_us_q1", "time_us_q3", "time_us_ci_low", "time_us_ci_high"};
  return std::ranges::find(kLesser, f.id) != kLesser.end();
}

// The line that opens them. Returns whether they are to be seen.
bool draw_fold(float width) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImGuiID id = ImGui::GetID("quartiles_open");
  bool open = ImGui::GetStateStorage()->GetBool(id);
  if (ImGui::InvisibleButton("quartiles", {width, s.px(kRow)})) {
    open = !open;
    ImGui::GetStateStorage()->SetBool(id, open);
  }
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = colour(s.theme, ImGui::IsItemHovered() ? Token::text : Token::dim);
  draw_text_in(list, {at, {at.x + width, at.y + s.px(kRow)}}, Align::left, Face::text, 12, ink,
               tr("Quartiles and interval"));
  const ImVec2 tip{at.x + text_width(Face::text, 12, tr("Quartiles and interval")) + s.px(10), at.y + s.px(kRow) / 2};
  draw_arrow(list, tip, s.px(4), open ? Arrow::down : Arrow::right, ink);
  tooltip(tr("The middle half of the repeats, and the median with its 95 % interval"));
  return open;
}

void heads(const ProfileScene& scene, Commands& commands) {
  heading(tr("Profiled"));
  for (const ProfileChoice& choice : scene.kernels) kernel_choice(choice, commands);
  value_choice(scene, commands);
  if (!scene.run.empty()) dim_text(scene.run);
  dim_text(scene.problem);
  if (!scene.source.empty()) dim_text(scene.source);
  against_choice(scene, commands);
  draw_changes_legend(scene);
}

}  // namespace

void draw_changes_legend(const ProfileScene& scene) {
  if (scene.against.empty()) return;
  // Where a menu names it, this need not.
  if (scene.against_choices.size() < 2) dim_text(against_words(scene) + ".");
  if (!scene.not_alike.empty()) dim_text(scene.not_alike);
  dim_text(tr("A filled triangle means better, a hollow one worse, and a dim one within the noise."));
}

void draw_figure_groups(const std::vector<ProfileGroup>& groups) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  const float width = ImGui::GetContentRegionAvail().x, change = change_column(groups);
  for (const ProfileGroup& group : groups) {
    ImGui::Dummy({0, style().px(5)});
    heading(group.title.c_str());
    std::string lesser;
    for (const ProfileFigure& f : group.figures) {
      if (is_lesser(f)) {
        lesser = group.title;
      } else {
        figure_line(f, width, change);
      }
    }
    if (lesser.empty() || !draw_fold(width)) continue;
    for (const ProfileFigure& f : group.figures)
      if (is_lesser(f)) figure_line(f, width, change);
  }
  ImGui::PopStyleVar();
}

void draw_profile_panel(const ProfileScene& scene, ImVec2 size, Commands& commands) {
  const Style& s = style();
  // In a low window all of it scrolls: under heads that stay hardly a figure would be seen.
  const float heads_height = s.px(kHeads + (kRow + 4) * static_cast<float>(scene.kernels.size()));
  const bool all_scroll = size.y - heads_height < s.px(kFiguresInSight * kRow);
  if (begin_card("profile_panel", size)) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), s.px(4)));
    if (!all_scroll) heads(scene, commands);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
    if (ImGui::BeginChild("profile_figures", {0, 0})) {
      if (all_scroll) heads(scene, commands);
      draw_figure_groups(scene.groups);
      fade_where_more();
    }
    ImGui::EndChild();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
  }
  ImGui::EndChild();
}

}  // namespace attn
