#include "viz/profile/workspace.h"

#include <algorithm>
#include <cmath>

#include "imgui.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/bytes_draw.h"
#include "viz/profile/cache.h"
#include "viz/profile/occupancy_draw.h"
#include "viz/profile/panel_draw.h"
#include "viz/profile/roofline_draw.h"

namespace attn {
namespace {

constexpr float kGutter = 12, kPanelWidth = 304, kStacked = 1000;  // logical pixels
constexpr float kMinRoofline = 296, kMinOccupancy = 262, kMinBytes = 304, kEmptyCard = 84;

// Headline and reasons; what to do where there is nothing to show. Returns its height, pixels.
float draw_strip(const ProfileScene& scene, float width, Commands& commands) {
  const Style& s = style();
  const Runs headline{{scene.empty.empty() ? scene.headline : scene.empty, Face::bold, Token::text, 0, false}};
  const Runs reasons{{scene.reasons, Face::text, Token::dim, 0, false}};
  constexpr int kLines = 12;
  const float left = s.px(20), pad = s.px(12), button = text_width(Face::text, 12, "Open in Bench") + s.px(24);
  const float room = std::max(s.px(120), width - left - button - s.px(24));
  const float top = draw_paragraph(nullptr, {}, room, 17, headline, kLines, false);
  const float rest =
      scene.reasons.empty() ? 0 : s.px(4) + draw_paragraph(nullptr, {}, room, 13, reasons, kLines, false);
  const float height = top + rest + 2 * pad;
  if (begin_card("profile_strip", {width, height})) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetWindowPos();
    const ImU32 bar = scene.kernel.empty() ? colour(s.theme, Token::faint) : kernel_colour(s.theme, scene.kernel);
    list->AddRectFilled(at, {at.x + s.px(5), at.y + height}, bar, s.px(8), ImDrawFlags_RoundCornersLeft);
    draw_paragraph(list, {at.x + left, at.y + pad}, room, 17, headline, kLines);
    draw_paragraph(list, {at.x + left, at.y + pad + top + s.px(4)}, room, 13, reasons, kLines);
    ImGui::SetCursorPos({width - button, pad});
    if (toggle("Open in Bench", true, "The same kernel and value beside the others"))
      commands.push_back(ChooseWorkspace{Workspace::bench});
  }
  ImGui::EndChild();
  return height;
}

// Side by side: the roofline, and the two others over one another; else one under the other, and the page scrolls.
void draw_cards(const ProfileScene& scene, ImVec2 room, bool stacked) {
  const Style& s = style();
  const float gutter = s.px(kGutter);
  const bool empty = !scene.occupancy.empty.empty();
  const float occupancy = s.px(empty ? kEmptyCard : kMinOccupancy);
  if (stacked) {
    draw_roofline(scene.roof, {room.x, s.px(scene.roof.empty.empty() ? kMinRoofline : kEmptyCard)});
    draw_occupancy(scene.occupancy, {room.x, occupancy});
    draw_bytes(scene.bytes, {room.x, s.px(kMinBytes)});
    return;
  }
  const float left = std::floor((room.x - gutter) * 0.47F);
  const float height = std::max(room.y, occupancy + gutter + s.px(kMinBytes));
  draw_roofline(scene.roof, {left, height});
  ImGui::SameLine();
  ImGui::BeginGroup();
  // What is left goes to the staircases; where there are none, to the bytes.
  const float top = empty ? occupancy : std::max(occupancy, std::floor((height - gutter) / 2));
  const float above = std::min(top, height - gutter - s.px(kMinBytes));
  draw_occupancy(scene.occupancy, {room.x - left - gutter, above});
  draw_bytes(scene.bytes, {room.x - left - gutter, height - above - gutter});
  ImGui::EndGroup();
}

}  // namespace

void draw_profile(const State& state, const Model& model, ProfileHeld& held, Commands& commands) {
  const Style& s = style();
  const ProfileScene& scene = refreshed(held, state, model).scene;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const float gutter = s.px(kGutter), logical = size.x / s.scale;
  const bool with_panel = scene.empty.empty();
  const bool stacked = logical < kStacked;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(gutter, gutter));
  if (with_panel) {
    draw_profile_panel(scene, {std::min(s.px(kPanelWidth), std::floor(size.x * 0.4F)), size.y}, commands);
    ImGui::SameLine();
  }
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool open = ImGui::BeginChild("evidence", ImVec2(0, size.y));
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  if (open) {
    const float width = ImGui::GetContentRegionAvail().x;
    const float strip = draw_strip(scene, width, commands);
    if (with_panel) draw_cards(scene, {width, size.y - strip - gutter}, stacked);
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

}  // namespace attn
