// What is profiled, in one line over the page: menus, the figures that matter most, and all of them on demand.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/marks.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/strip/panel_draw.h"

namespace attn {
namespace {

// Logical pixels. Of the menus; of the window of all figures; between the parts of the line.
constexpr float kAll = 316, kAllHigh = 520, kGap = 14;
constexpr float kWide = 1000, kNarrow = 560;  // from kWide on labels stand beside the menus
constexpr float kPhone = 400;                 // below kPhone the button has one word
constexpr float kArrow = 36;                  // of a menu, with the space about its words

struct MenuWidths {
  float kernel = 164, value = 78, against = 150, most = 210;  // logical pixels; of `against` at least and at most
  float gap = kGap;
};
MenuWidths widths_of(float bar) {
  if (bar < style().px(kPhone)) return {118, 62, 92, 92, 8};
  return bar < style().px(kNarrow) ? MenuWidths{118, 62, 92, 92} : MenuWidths();
}

void label(const std::string& words) {
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, colour(style().theme, Token::dim));
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopStyleColor();
  ImGui::SameLine(0, style().px(6));
}

void kernel_menu(const ProfileScene& scene, float logical, Commands& commands) {
  const Style& s = style();
  const float width = s.px(logical);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight();
  ImGui::SetNextItemWidth(width);
  const bool open = begin_list("##profile_kernel", "");
  if (open) {
    for (const ProfileChoice& choice : scene.kernels) kernel_choice(choice, commands);
    end_list();
  }
  tooltip(where_words(scene));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  draw_mark(list, {at.x + s.px(14), at.y + height / 2},
            {look_of(scene.kernel).mark, MarkFill::solid, kernel_colour(s.theme, scene.kernel),
             colour(s.theme, Token::card), s.px(4.5F), s.px(1.5F)});
  draw_text_in(&list, {{at.x + s.px(26), at.y}, {at.x + width - height, at.y + height}}, Align::left, Face::bold, 13,
               colour(s.theme, Token::text), fitted_text(Face::bold, 13, scene.label, width - s.px(28) - height));
}

void value_menu(const ProfileScene& scene, float width, bool wide, Commands& commands) {
  const auto now = std::ranges::find_if(scene.values, &ProfileValue::on);
  const std::string text = now == scene.values.end() ? "" : now->text;
  if (wide) label(scene.axis);
  ImGui::SetNextItemWidth(style().px(width));
  if (begin_list("##profile_value", (wide ? text : scene.axis + " " + text).c_str())) {
    value_items(scene, commands);
    end_list();
  }
  tooltip(scene.problem);
}

void against_menu(const ProfileScene& scene, const MenuWidths& menus, bool wide, Commands& commands) {
  const Style& s = style();
  if (scene.against_choices.size() < 2) {
    if (scene.against.empty()) return;
    ImGui::SameLine(0, s.px(menus.gap));
    label(phrase("against {}", scene.against));
    return;
  }
  const auto now = std::ranges::find_if(scene.against_choices, &AgainstChoice::on);
  ImGui::SameLine(0, s.px(menus.gap));
  if (wide) label(tr("against"));
  std::string words = now == scene.against_choices.end() ? "" : now->words;
  if (!wide) words = phrase("against {}", scene.against);
  const float room =
      std::clamp(text_width(Face::text, 13, words) + s.px(kArrow), s.px(menus.against), s.px(menus.most));
  words = fitted_text(Face::text, 13, words, room - s.px(kArrow));
  ImGui::SetNextItemWidth(room);
  if (begin_list("##profile_against", words.c_str())) {
    against_items(scene, commands);
    end_list();
  }
  tooltip(
      tr("Reference for changes: a filled triangle means better, a hollow one worse, and a dim one within the noise."));
}

const ProfileFigure* figure_of(const ProfileScene& scene, std::string_view id) {
  for (const ProfileGroup& group : scene.groups)
    for (const ProfileFigure& f : group.figures)
      if (f.id == id) return &f;
  return nullptr;
}

// Name, number and change; nothing where they have no room. Returns the x behind it.
float draw_figure(const ProfileFigure& f, ImVec2 at, float right) {
  const Style& s = style();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool points = f.change.better || f.change.worse;
  const float name = text_width(Face::text, 12, f.label), number = text_width(Face::mono, 12, f.text);
  const float change = text_width(Face::mono, 12, f.change.text), mark = points ? s.px(14) : 0, gap = s.px(6);
  const float width = name + gap + number + (change > 0 ? gap + change + mark : 0);
  if (at.x + width > right) return at.x;
  const Box box{at, {at.x + width, at.y + ImGui::GetFrameHeight()}};
  draw_text_in(&list, box, Align::left, Face::text, 12, colour(s.theme, Token::dim), f.label);
  draw_text_in(&list, {{at.x + name + gap, at.y}, box.max}, Align::left, Face::mono, 12, colour(s.theme, Token::text),
               f.text);
  const ImU32 ink = change_ink(f);
  draw_text_in(&list, box, Align::right, Face::mono, 12, ink, f.change.text, points ? 14 : 0);
  draw_change(list, {box.max.x - s.px(4), box.centre().y}, f, ink);
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton(("bar_" + f.id).c_str(), {width, box.height()});
  tooltip(figure_tip(f));
  return box.max.x + s.px(kGap + 4);
}

void all_figures(const ProfileScene& scene, ImVec2 at) {
  const Style& s = style();
  const float high = std::min(s.px(kAllHigh), ImGui::GetMainViewport()->Size.y - at.y - s.px(12));
  ImGui::SetNextWindowPos(at, ImGuiCond_Always, {1, 0});
  ImGui::SetNextWindowSize({std::min(s.px(kAll), ImGui::GetMainViewport()->Size.x - s.px(24)), high});
  if (!ImGui::BeginPopup("profile_all_figures")) return;
  if (ImGui::BeginChild("profile_figures", {0, 0})) {
    draw_changes_legend(scene);
    draw_figure_groups(scene.groups);
    fade_where_more();
  }
  ImGui::EndChild();
  ImGui::EndPopup();
}

}  // namespace

void draw_profile_bar(const ProfileScene& scene, float width, Commands& commands) {
  const Style& s = style();
  const float height = s.px(kProfileBar);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(s.px(12), (height - ImGui::GetFrameHeight()) / 2));
  const bool open =
      ImGui::BeginChild("profile_panel", {width, height}, ImGuiChildFlags_Borders | ImGuiChildFlags_NavFlattened,
                        ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  if (open) {
    const bool wide = width >= s.px(kWide);
    const MenuWidths menus = widths_of(width);
    kernel_menu(scene, menus.kernel, commands);
    ImGui::SameLine(0, s.px(menus.gap));
    value_menu(scene, menus.value, wide, commands);
    against_menu(scene, menus, wide, commands);
    ImGui::SameLine(0, s.px(menus.gap + 8));
    ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 corner{ImGui::GetWindowPos().x + width - s.px(12), at.y};
    const char* const all = width < s.px(kPhone) ? tr("All") : tr("All metrics");
    const float button = text_width(Face::text, 12, all) + s.px(14), right = corner.x - button - s.px(kGap);
    constexpr std::array<std::string_view, 6> kShown{"time_us_median",         "tflops",          "peak_share_pct",
                                                     "occupancy_achieved_pct", "dram_read_bytes", "l2_hit_pct"};
    for (const std::string_view id : kShown)
      if (const ProfileFigure* f = figure_of(scene, id); f != nullptr) at.x = draw_figure(*f, at, right);
    ImGui::SetCursorScreenPos({corner.x - button, at.y + s.px(3.5F)});
    if (toggle(all, true, tr("Shows every metric with its change"))) ImGui::OpenPopup("profile_all_figures");
    all_figures(scene, {corner.x + s.px(12), at.y + height});
  }
  ImGui::EndChild();
}

}  // namespace attn
