// Occupancy: achieved beside possible, and a staircase a resource with where the kernel stands on it.
#include "viz/profile/occupancy/occupancy_draw.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kBetween = 4;   // logical pixels, of a launch and the next
constexpr int kNextLines = 3;   // under a staircase
constexpr int kTitleLines = 3;  // over it

// What an SM can hold as a bar; filled: what this kernel may, the line across: what it did.
void draw_bar(const OccupancyScene& o, float width) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Box bar{at, {at.x + width, at.y + s.px(14)}};
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(bar.min, bar.max, colour(s.theme, Token::field), s.px(3));
  const float possible = bar.min.x + bar.width() * static_cast<float>(o.theoretical / 100);
  list->AddRectFilled(bar.min, {possible, bar.max.y}, colour(s.theme, Token::dim), s.px(3));
  if (o.achieved) {
    const float x = bar.min.x + bar.width() * static_cast<float>(std::clamp(*o.achieved / 100, 0.0, 1.0));
    list->AddLine({x, bar.min.y - s.px(3)}, {x, bar.max.y + s.px(3)}, colour(s.theme, Token::text), s.px(2));
  }
  ImGui::InvisibleButton("occupancy_bar", {width, bar.height() + s.px(2)});
  if (o.theoretical <= 0) return;
  tooltip(phrase("Filled: {:.3g} % is possible. {}", o.theoretical,
                 o.achieved ? phrase("The line marks the measured (achieved) occupancy, {}.", o.achieved_text)
                            : "Achieved: " + o.achieved_text));
}

struct Scale {
  Box box;
  double last = 1, top = 1;
  ImVec2 at(double x, double warps) const {
    return {box.min.x + box.width() * static_cast<float>(x / last),
            box.max.y - box.height() * static_cast<float>(warps / top)};
  }
};

// Where the kernel stands on the stairs.
void draw_here(const Staircase& stair, const Scale& scale, ImU32 ink) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto here = std::ranges::find_if(stair.steps, [&](const StairStep& x) { return stair.here <= x.to; });
  const std::int32_t warps = here == stair.steps.end() ? 0 : here->warps;
  const ImVec2 point = scale.at(static_cast<double>(stair.here), warps);
  draw_dashed_line(list, {point.x, scale.box.min.y}, {point.x, scale.box.max.y}, colour(s.theme, Token::text), 3);
  list->AddCircleFilled(point, s.px(4), colour(s.theme, Token::text));
  const std::string level = plural(warps, "{} warp", "{} warps");
  // In one line over the stairs, so that neither covers a step.
  const float amount = text_width(Face::mono, 12, stair.here_text), gap = s.px(8);
  const float width = amount + gap + text_width(Face::text, 12, level);
  const float x = std::clamp(point.x - amount / 2, scale.box.min.x, std::max(scale.box.min.x, scale.box.max.x - width));
  draw_text(list, {x, scale.box.min.y - s.px(16)}, Face::mono, 12, colour(s.theme, Token::text), stair.here_text);
  draw_text(list, {x + amount + gap, scale.box.min.y - s.px(16)}, Face::text, 12, ink, level);
}

TextRuns title_runs(const Staircase& stair) {
  return {{stair.title, stair.limits ? Face::bold : Face::text, stair.limits ? Token::text : Token::dim, 0, false}};
}

// What titles that break, over narrow stairs, take besides their first line.
float more_title(const OccupancyScene& scene, float width) {
  float height = 0;
  for (const Staircase& stair : scene.stairs)
    height = std::max(height, draw_paragraph(nullptr, {}, width, 12, title_runs(stair), kTitleLines, false));
  return std::max(0.0F, height - line_height(12));
}

// Each sentence begins a line where its lines then hold them all. Where they hold not even both in one go the first
// stands alone: the tooltip has the other.
TextRuns next_lines(const std::string& next, float width) {
  const auto runs = [](std::string words) { return TextRuns{{std::move(words), Face::text, Token::dim, 0, false}}; };
  const std::size_t end = next.find(". ");
  if (end == std::string::npos) return runs(next);
  std::string broken = next;
  broken[end + 1] = '\n';
  const auto fits = [&](const std::string& words) {
    const auto height = [&](int lines) { return draw_paragraph(nullptr, {}, width, 12, runs(words), lines, false); };
    return height(kNextLines) >= height(kNextLines + 1);
  };
  return runs(fits(broken) ? broken : fits(next) ? next : next.substr(0, end + 1));
}

// `more`: room for the title's other lines.
void draw_stair(const Staircase& stair, std::int32_t top, ImVec2 size, float more) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = colour(s.theme, stair.limits ? Token::text : Token::dim);
  const Face face = stair.limits ? Face::bold : Face::text;
  if (text_width(face, 12, stair.title) <= size.x)
    draw_text(list, at, face, 12, ink, stair.title);
  else
    draw_paragraph(list, at, size.x, 12, title_runs(stair), kTitleLines);
  const Scale scale{{{at.x, at.y + s.px(34) + more}, {at.x + size.x, at.y + size.y - s.px(2)}},
                    static_cast<double>(stair.steps.back().to),
                    1.12 * std::max(1, top)};
  list->AddLine({scale.box.min.x, scale.box.max.y}, scale.box.max, colour(s.theme, Token::line), s.px(1));
  ImVec2 before = scale.at(static_cast<double>(stair.steps.front().from), stair.steps.front().warps);
  double from = static_cast<double>(stair.steps.front().from);
  for (std::size_t i = 0; i < stair.steps.size(); ++i) {
    const StairStep& step = stair.steps[i];
    const double to = i + 1 < stair.steps.size() ? static_cast<double>(stair.steps[i + 1].from) : scale.last;
    const ImVec2 a = scale.at(from, step.warps), b = scale.at(to, step.warps);
    list->AddRectFilled(a, {b.x, scale.box.max.y}, faded(ink, 0.16F));
    list->AddLine(before, a, ink, s.px(1.25F));
    list->AddLine(a, b, ink, s.px(1.25F));
    before = b;
    from = to;
  }
  if (stair.here >= 0) draw_here(stair, scale, ink);
  ImGui::InvisibleButton(stair.title.c_str(), size);
  // What stands under it needs no tooltip.
  const bool cut = next_lines(stair.next, size.x).front().text.size() < stair.next.size();
  if (stair.here >= 0 && cut) tooltip(stair.title + ": " + stair.here_text + ". " + stair.next);
}

}  // namespace

float occupancy_words_height(const OccupancyScene& scene, float width) {
  const Style& s = style();
  const float room = width - 2 * s.px(kCardSide);
  const auto of = [&](const std::string& words) {
    return s.fonts.text->CalcTextSizeA(s.px(12), FLT_MAX, room, words.c_str()).y;
  };
  float height = 2 * s.px(kCardEnd) + s.px(13) + 2 * ImGui::GetStyle().ItemSpacing.y + of(scene.empty);
  for (const std::string& launch : scene.launches) height += of(launch) + s.px(kBetween);
  return std::ceil(height);
}

void draw_occupancy(const OccupancyScene& scene, ImVec2 size) {
  const Style& s = style();
  if (begin_card("occupancy", size)) {
    heading(scene.empty.empty() ? phrase("Occupancy on {}", scene.arch).c_str() : tr("Occupancy"));
    if (!scene.empty.empty()) {
      dim_text(scene.empty);
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, s.px(kBetween)));
      for (const std::string& launch : scene.launches) dim_text(launch);
      ImGui::PopStyleVar();
    } else {
      draw_bar(scene, ImGui::GetContentRegionAvail().x);
      dim_text(scene.words + (scene.achieved ? " Achieved: " + scene.achieved_text + "." : "") + " " + scene.more +
               (scene.registers.empty() ? "" : " " + scene.registers) + (scene.waves.empty() ? "" : " " + scene.waves));
      const float gap = s.px(16);
      const float width = std::floor((ImGui::GetContentRegionAvail().x - 2 * gap) / 3);
      const float top = ImGui::GetCursorPosY() + s.px(2);
      const float words = line_height(12) * kNextLines + s.px(4);
      const float height = std::max(s.px(70), ImGui::GetContentRegionAvail().y - words);
      const float more = more_title(scene, width);
      for (std::size_t i = 0; i < scene.stairs.size(); ++i) {
        const float left = s.px(16) + static_cast<float>(i) * (width + gap);
        ImGui::SetCursorPos({left, top});
        draw_stair(scene.stairs[i], scene.top, {width, height}, more);
        const ImVec2 corner = ImGui::GetWindowPos();
        draw_paragraph(ImGui::GetWindowDrawList(),
                       {corner.x + left, corner.y - ImGui::GetScrollY() + top + height + s.px(4)}, width, 12,
                       next_lines(scene.stairs[i].next, width), kNextLines);
      }
    }
  }
  ImGui::EndChild();
}

}  // namespace attn
