// What is profiled, in one line over the page: menus, the figures that matter most, and all of them on demand.
#include <algorithm>
#include <array>
#include <cmath>
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
constexpr float kLineGap = 6;                 // between the lines, where there are two
constexpr float kArrow = 36;                  // of a menu, with the space about its words

const char* all_words(float bar) {
  return bar < style().px(kPhone) ? tr("All") : tr("All metrics");
}
float all_width(float bar) {
  return text_width(Face::text, 12, all_words(bar)) + style().px(14);
}

bool is_wide(float bar) {
  return bar >= style().px(kWide);
}

std::string value_words(const ProfileScene& scene, bool wide) {
  const auto now = std::ranges::find_if(scene.values, &ProfileValue::on);
  const std::string text = now == scene.values.end() ? "" : now->text;
  return wide ? text : scene.axis + " " + text;
}

// Without a label beside it, the menu says what it is.
std::string against_words_of(const ProfileScene& scene, bool wide) {
  if (scene.against_choices.size() >= 2 && wide) {
    const auto now = std::ranges::find_if(scene.against_choices, &AgainstChoice::on);
    return now == scene.against_choices.end() ? "" : now->words;
  }
  return scene.against.empty() && scene.against_choices.size() < 2 ? "" : phrase("against {}", scene.against);
}

struct MenuWidths {
  float kernel = 0, value = 0, against = 0;  // pixels
  float gap = kGap;                          // logical
  bool two_lines = false;                    // what the changes are over has a line of its own
};
// A menu is as wide as its words where that is more than its usual width: a number that is cut is another number.
MenuWidths widths_of(const ProfileScene& scene, float bar) {
  constexpr float kKernel = 164, kValue = 78, kAgainst = 150, kMost = 210, kMostAlone = 300, kPadding = 24;
  constexpr float kPhoneKernel = 118, kMark = 28;
  const Style& s = style();
  const bool wide = is_wide(bar), narrow = bar < s.px(kNarrow);
  const auto of = [&](const std::string& words) { return std::ceil(text_width(Face::text, 13, words)) + s.px(kArrow); };
  const std::string against = against_words_of(scene, wide);
  MenuWidths w{s.px(narrow ? kPhoneKernel : kKernel), std::max(s.px(narrow ? 0 : kValue), of(value_words(scene, wide))),
               against.empty() ? 0 : of(against)};
  if (narrow) w.gap = 8;
  const float whole = bar - s.px(kPadding), button = all_width(bar) + s.px(w.gap);
  const float with_mark = text_width(Face::bold, 13, scene.label) + s.px(kMark) + ImGui::GetFrameHeight();
  w.two_lines = narrow && std::max(w.kernel, with_mark) + w.value + w.against + button + s.px(2 * w.gap + 8) > whole;
  if (narrow) w.kernel = std::clamp(with_mark, w.kernel, std::max(w.kernel, whole - w.value - button - s.px(w.gap)));
  w.against = std::min(w.two_lines ? whole : std::max(w.against, narrow ? 0 : s.px(kAgainst)),
                       w.two_lines ? w.against : s.px(wide ? kMost : kMostAlone));
  return w;
}

void label(const std::string& words) {
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, colour(style().theme, Token::dim));
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopStyleColor();
  ImGui::SameLine(0, style().px(6));
}

void kernel_menu(const ProfileScene& scene, float width, Commands& commands) {
  const Style& s = style();
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
  if (wide) label(scene.axis);
  ImGui::SetNextItemWidth(width);
  if (begin_list("##profile_value", value_words(scene, wide).c_str())) {
    value_items(scene, commands);
    end_list();
  }
  tooltip(scene.problem);
}

// Behind the other menus, or at the begin of a line of its own.
void against_menu(const ProfileScene& scene, const MenuWidths& menus, bool wide, Commands& commands) {
  const Style& s = style();
  const std::string words = against_words_of(scene, wide);
  if (words.empty()) return;
  if (!menus.two_lines) ImGui::SameLine(0, s.px(menus.gap));
  if (scene.against_choices.size() < 2) {
    label(words);
    return;
  }
  if (wide) label(tr("against"));
  ImGui::SetNextItemWidth(menus.against);
  const std::string fitted = fitted_text(Face::text, 13, words, menus.against - s.px(kArrow));
  if (begin_list("##profile_against", fitted.c_str())) {
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

float profile_bar_height(const ProfileScene& scene, float width) {
  const float line = style().px(kProfileBar);
  return widths_of(scene, width).two_lines ? line + ImGui::GetFrameHeight() + style().px(kLineGap) : line;
}

void draw_profile_bar(const ProfileScene& scene, float width, Commands& commands) {
  const Style& s = style();
  const float line = s.px(kProfileBar), height = profile_bar_height(scene, width);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(s.px(12), (line - ImGui::GetFrameHeight()) / 2));
  const bool open =
      ImGui::BeginChild("profile_panel", {width, height}, ImGuiChildFlags_Borders | ImGuiChildFlags_NavFlattened,
                        ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  if (open) {
    const bool wide = is_wide(width);
    const MenuWidths menus = widths_of(scene, width);
    const float top = ImGui::GetCursorScreenPos().y;
    kernel_menu(scene, menus.kernel, commands);
    ImGui::SameLine(0, s.px(menus.gap));
    value_menu(scene, menus.value, wide, commands);
    if (menus.two_lines)
      ImGui::SetCursorScreenPos({ImGui::GetWindowPos().x + s.px(12), top + ImGui::GetFrameHeight() + s.px(kLineGap)});
    against_menu(scene, menus, wide, commands);
    ImGui::SameLine(0, s.px(menus.gap + 8));
    ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 corner{ImGui::GetWindowPos().x + width - s.px(12), top};
    const float button = all_width(width), right = menus.two_lines ? corner.x : corner.x - button - s.px(kGap);
    constexpr std::array<std::string_view, 6> kShown{"time_us_median",         "tflops",          "peak_share_pct",
                                                     "occupancy_achieved_pct", "dram_read_bytes", "l2_hit_pct"};
    for (const std::string_view id : kShown)
      if (const ProfileFigure* f = figure_of(scene, id); f != nullptr) at.x = draw_figure(*f, at, right);
    ImGui::SetCursorScreenPos({corner.x - button, top + s.px(3.5F)});
    if (toggle(all_words(width), true, tr("Shows every metric with its change")))
      ImGui::OpenPopup("profile_all_figures");
    all_figures(scene, {corner.x + s.px(12), top + height});
  }
  ImGui::EndChild();
}

}  // namespace attn
