#include "viz/profile/workspace.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "imgui.h"
#include "viz/bench/scene.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/bytes_draw.h"
#include "viz/profile/cache.h"
#include "viz/profile/chips_draw.h"
#include "viz/profile/code_draw.h"
#include "viz/profile/heartbeat_draw.h"
#include "viz/profile/lab_draw.h"
#include "viz/profile/mosaic_draw.h"
#include "viz/profile/occupancy_draw.h"
#include "viz/profile/panel_draw.h"
#include "viz/profile/roofline_draw.h"
#include "viz/profile/source_draw.h"

namespace attn {
namespace {

constexpr float kGutter = 12, kPanelWidth = 304, kStacked = 1000;  // logical pixels
constexpr float kMinRoofline = 296, kMinOccupancy = 280, kMinBytes = 304, kEmptyCard = 84, kLaunch = 38;

constexpr float kPhaseRow = 18, kPhaseHeads = 92, kLeastCode = 150, kSourceStacked = 460, kCodeStacked = 280;
constexpr float kLeastSource = 300;  // below it the page scrolls

// "At most 1.77 times as fast: It reaches ... Try: ..."
Runs finding_runs(const Finding& f) {
  Runs runs;
  if (f.at_most > 0) runs.push_back({"At most " + times_text(f.at_most) + "×:", Face::bold, Token::text, 0, false});
  if (f.seen > 0) runs.push_back({times_text(f.seen) + "× in this session:", Face::bold, Token::text, 0, false});
  runs.push_back({(runs.empty() ? "" : " ") + f.text + " ", Face::text, Token::dim, 0, false});
  runs.push_back({"Try " + f.experiment + ".", Face::text, Token::text, 0, false});
  return runs;
}

// What one click does for a finding.
struct Attempt {
  std::string label;
  const char* help;
  Commands commands;
};
Attempt attempt_of(const Finding& f, const std::string& kernel) {
  const ChooseProfilePage lab{ProfilePage::lab};
  const std::string label = attempt_label(f);
  if (!f.prepared.empty())
    return {label,
            "The lab opens with this prepared experiment, which tests the finding",
            {lab, OpenExperiment{f.prepared}}};
  if (f.max_registers > 0)
    return {label, "The lab opens with this limit of registers", {lab, LimitRegisters{kernel, f.max_registers}}};
  if (!f.other_kernel.empty()) return {label, "That kernel here, in place of this one", {ChooseKernel{f.other_kernel}}};
  return {label, "With the text of this kernel as it is", {lab}};
}

// At the right end of the finding's first line. Returns its width with what parts it from the words, pixels.
float draw_attempt(const Finding& f, const std::string& kernel, ImVec2 right_top, bool draw, Commands& commands) {
  const Style& s = style();
  const Attempt attempt = attempt_of(f, kernel);
  const float width = text_width(Face::text, 12, attempt.label) + s.px(12);
  if (draw) {
    ImGui::SetCursorPos({right_top.x - width, right_top.y});
    ImGui::PushID(f.rule.data(), f.rule.data() + f.rule.size());
    if (small_button(attempt.label.c_str(), true, attempt.help))
      commands.insert(commands.end(), attempt.commands.begin(), attempt.commands.end());
    ImGui::PopID();
  }
  return width + s.px(12);
}

// The pages and the way to Bench, the pages of figures only where there is a row.
std::vector<Chip> strip_chips(const ProfileScene& scene, ProfilePage page) {
  std::vector<Chip> chips = page_chips(page);
  if (!scene.empty.empty()) chips.erase(chips.begin(), chips.end() - 1);  // the lab stays
  const auto take = [&](RowDetail what, const char* words, const char* help) {
    if (scene.sample) {
      SampleRow row = *scene.sample;
      row.what = what;
      chips.push_back({words, help, true, row});
    } else if (scene.empty.empty() && !scene.arch.empty()) {
      chips.push_back({words, scene.why_no_sampling.c_str(), false, ChooseProfilePage{page}, false});
    }
  };
  if (page == ProfilePage::heartbeat) {
    take(RowDetail::heartbeat, "Listen to it",
         "Runs it on the GPU and reads its pipes and memories every few microseconds");
  } else {
    take(RowDetail::samples, "Sample it", "Runs it on the GPU and asks its warps where they wait, by phase and line");
  }
  if (page == ProfilePage::source)
    take(RowDetail::counts, "Count it",
         "Runs it on the GPU and counts at each instruction: how often it is executed, bank conflicts, sectors");
  chips.push_back({"Open in Bench", "The same kernel and value beside the others", !scene.empty.empty(),
                   ChooseWorkspace{Workspace::bench}});
  return chips;
}

// Sampled runs to look at where nothing was measured. Returns its height, pixels.
float draw_offers(const ProfileScene& scene, ImVec2 at, float right, bool draw, Commands& commands) {
  const Style& s = style();
  if (scene.offers.empty()) return 0;
  float x = at.x;
  int lines = 1;
  for (const SampledOffer& offer : scene.offers) {
    const float width = text_width(Face::text, 12, offer.words) + s.px(16);
    if (x > at.x && x + width > right) {
      x = at.x;
      ++lines;
    }
    if (draw) {
      ImGui::SetCursorPos({x, at.y + s.px(24) * static_cast<float>(lines - 1)});
      const std::string label = fmt::format("{}##sampled_{}", offer.words, offer.id);
      if (toggle(label.c_str(), true, "Shows its rows, with where their warps wait")) {
        commands.push_back(TakeSweepOf{offer.id});
        commands.push_back(ChooseProfilePage{ProfilePage::source});
      }
    }
    x += width;
  }
  return s.px(24) * static_cast<float>(lines);
}

// A paragraph each, its chip at the right. Returns their height, pixels.
float draw_findings(const ProfileScene& scene, ImVec2 from, float width, bool draw, Commands& commands) {
  const Style& s = style();
  constexpr int kLines = 12;
  const ImVec2 window = ImGui::GetWindowPos();
  float y = from.y;
  for (const Finding& f : scene.findings) {
    y += s.px(4);
    const float chip = draw_attempt(f, scene.kernel, {from.x + width, y - s.px(2)}, draw, commands);
    ImDrawList* list = draw ? ImGui::GetWindowDrawList() : nullptr;
    y += draw_paragraph(list, {window.x + from.x, window.y + y}, width - chip, 13, finding_runs(f), kLines, draw);
  }
  return y - from.y;
}

// Headline and reasons; what to do where there is nothing to show. Returns its height, pixels.
float draw_strip(const ProfileScene& scene, ProfilePage page, float width, Commands& commands) {
  const Style& s = style();
  const Runs headline{{scene.empty.empty() ? scene.headline : scene.empty, Face::bold, Token::text, 0, false}};
  // Beside the source the reasons, which are of its figures, leave it their room.
  std::vector<Runs> words;
  if (!scene.reasons.empty() && (page == ProfilePage::figures || scene.predicted))
    words.push_back({{scene.reasons, Face::text, Token::dim, 0, false}});
  if (page != ProfilePage::heartbeat) {
    if (!scene.mosaic.headline.empty()) words.push_back(scene.mosaic.headline);
  }
  const bool with_findings = page != ProfilePage::heartbeat;
  constexpr int kLines = 12;
  const float left = s.px(20), pad = s.px(12), gap = s.px(4);
  const float first_button = left - s.px(6), last = width - s.px(16);
  std::vector<Chip> chips = strip_chips(scene, page);
  const ChipRow laid = draw_chips(chips, {first_button, 0}, last, false, commands);
  const float buttons = laid.width + s.px(40);
  // Beside the headline where it has room there, else over it.
  const bool over = width - left - buttons < s.px(220);
  const float whole = width - left - s.px(16), beside = over ? whole : width - left - buttons;
  // The pages at the end that stays, so that each is in one place on all of them.
  if (!over) std::ranges::stable_partition(chips, &Chip::action);
  const float first = pad + (over ? s.px(kChipLine) * static_cast<float>(laid.lines) : 0);
  const float top = draw_paragraph(nullptr, {}, beside, 17, headline, kLines, false);
  float height = first + top + pad;
  for (const Runs& w : words) height += gap + draw_paragraph(nullptr, {}, whole, 13, w, kLines, false);
  if (with_findings) height += draw_findings(scene, {left, 0}, whole, false, commands);
  if (!scene.offers.empty()) height += gap + draw_offers(scene, {left, 0}, left + whole, false, commands);
  if (begin_card("profile_strip", {width, height})) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetWindowPos();
    const ImU32 bar = scene.kernel.empty() ? colour(s.theme, Token::faint) : kernel_colour(s.theme, scene.kernel);
    draw_card_edge(list, {at, {at.x + width, at.y + height}}, bar);
    draw_paragraph(list, {at.x + left, at.y + first}, beside, 17, headline, kLines);
    float y = at.y + first + top;
    for (const Runs& w : words) y += gap + draw_paragraph(list, {at.x + left, y + gap}, whole, 13, w, kLines);
    if (with_findings) y += draw_findings(scene, {left, y - at.y}, whole, true, commands);
    draw_offers(scene, {left, y - at.y + 2 * gap}, left + whole, true, commands);
    const ImVec2 from = over ? ImVec2(first_button, s.px(8)) : ImVec2(last - laid.width, pad);
    draw_chips(chips, from, over ? last : width, true, commands);
  }
  ImGui::EndChild();
  return height;
}

// Side by side: the roofline, and the two others over one another; else one under the other, and the page scrolls.
void draw_cards(const ProfileScene& scene, bool by_level, ImVec2 room, bool stacked, Commands& commands) {
  const Style& s = style();
  const float gutter = s.px(kGutter);
  const bool empty = !scene.occupancy.empty.empty();
  const float launches = kLaunch * static_cast<float>(scene.occupancy.launches.size());
  const float occupancy = s.px(empty ? kEmptyCard + launches : kMinOccupancy);
  if (stacked) {
    draw_roofline(scene.roof, by_level, {room.x, s.px(scene.roof.empty.empty() ? kMinRoofline : kEmptyCard)}, commands);
    draw_occupancy(scene.occupancy, {room.x, occupancy});
    draw_bytes(scene.bytes, {room.x, s.px(kMinBytes)});
    return;
  }
  if (!scene.roof.empty.empty()) {
    // Nothing to draw is no reason for half a page: it says so above the bytes.
    const float half = std::floor((room.x - gutter) / 2);
    const float rest = std::max(room.y - s.px(kEmptyCard) - gutter, s.px(kMinBytes));
    ImGui::BeginGroup();
    draw_roofline(scene.roof, by_level, {half, s.px(kEmptyCard)}, commands);
    if (!empty) draw_bytes(scene.bytes, {half, rest});
    ImGui::EndGroup();
    ImGui::SameLine();
    draw_occupancy(scene.occupancy,
                   {room.x - half - gutter, empty ? s.px(kEmptyCard) : s.px(kEmptyCard) + gutter + rest});
    if (empty) draw_bytes(scene.bytes, {room.x, rest});
    return;
  }
  const float left = std::floor((room.x - gutter) * 0.47F);
  const float height = std::max(room.y, occupancy + gutter + s.px(kMinBytes));
  draw_roofline(scene.roof, by_level, {left, height}, commands);
  ImGui::SameLine();
  ImGui::BeginGroup();
  // What is left goes to the staircases; where there are none, to the bytes.
  const float top = empty ? occupancy : std::max(occupancy, std::floor((height - gutter) / 2));
  const float above = std::min(top, height - gutter - s.px(kMinBytes));
  draw_occupancy(scene.occupancy, {room.x - left - gutter, above});
  draw_bytes(scene.bytes, {room.x - left - gutter, height - above - gutter});
  ImGui::EndGroup();
}

// The source, and beside it what its line became and the phases; else one under the other, and the page scrolls.
void draw_source_page(ProfileCache& cache, const ProfileView& view, ImVec2 room, bool stacked, Commands& commands) {
  const Style& s = style();
  const float gutter = s.px(kGutter);
  const gpu::CodePhase shown = phase_shown(cache.source, view);
  const float whole = s.px(kPhaseHeads + kPhaseRow * static_cast<float>(1 + cache.source.phases.size()));
  if (stacked) {
    draw_source(cache.source, view, cache.source_held, {room.x, s.px(kSourceStacked)}, commands);
    draw_code(cache.code, view.code, {room.x, s.px(kCodeStacked)}, commands);
    draw_phases(cache.source, cache.source_held, shown, cache.scene.to_step, {room.x, whole}, commands);
    return;
  }
  const float left = std::floor((room.x - gutter) * 0.6F), right = room.x - gutter - left;
  draw_source(cache.source, view, cache.source_held, {left, room.y}, commands);
  ImGui::SameLine();
  ImGui::BeginGroup();
  // What a line became and what the phases did share the height; neither takes more than it can fill.
  const float half = std::floor((room.y - gutter) / 2);
  const float phases = std::min(whole, std::max(s.px(kLeastCode), half));
  draw_code(cache.code, view.code, {right, room.y - gutter - phases}, commands);
  draw_phases(cache.source, cache.source_held, shown, cache.scene.to_step, {right, phases}, commands);
  ImGui::EndGroup();
}

}  // namespace

void draw_profile(const State& state, const Model& model, ProfileHeld& held, Commands& commands) {
  const Style& s = style();
  ProfileCache& cache = refreshed(held, state, model);
  const ProfileScene& scene = cache.scene;
  const ProfileView& view = state.view.profile;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (view.page == ProfilePage::lab) {
    refresh_lab(cache, model);
    return draw_lab(cache.lab, model.lab, scene.empty.empty(), cache.lab_held, size, commands);
  }
  const float gutter = s.px(kGutter), logical = size.x / s.scale;
  const bool with_panel = scene.empty.empty();
  const bool stacked = logical < kStacked;
  // The source is shown, and the machine code names what the samples of the headline wait for.
  const bool listed = view.page == ProfilePage::source || (scene.row != nullptr && scene.row->samples != nullptr);
  if (with_panel && listed && scene.subject && model.listing.of != gpu::key_of(*scene.subject))
    commands.push_back(ListKernel{*scene.subject});
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
    const float strip = draw_strip(scene, view.page, width, commands);
    const ImVec2 room{width, size.y - strip - gutter};
    if (with_panel && view.page == ProfilePage::figures) draw_cards(scene, view.roof_levels, room, stacked, commands);
    if (with_panel && view.page == ProfilePage::heartbeat) {
      const float least = heartbeat_height(scene.heartbeat, room.x);
      draw_heartbeat(scene.heartbeat, {room.x, scene.heartbeat.there ? std::max(room.y, least) : least}, commands);
    }
    if (with_panel && view.page == ProfilePage::source) {
      refresh_source(cache, state, model);
      if (const auto line = line_of_sought(cache.source, view)) commands.push_back(*line);
      const float mosaic = s.px(mosaic_height(scene.mosaic));
      if (mosaic > 0)
        draw_mosaic(scene.mosaic, {phase_shown(cache.source, view), scene.to_step}, {room.x, mosaic}, commands);
      const float above = mosaic > 0 ? mosaic + gutter : 0;
      draw_source_page(cache, view, {room.x, std::max(room.y - above, s.px(kLeastSource))}, stacked, commands);
    }
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

}  // namespace attn
