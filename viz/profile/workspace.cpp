#include "viz/profile/workspace.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "imgui.h"
#include "kernels/base/text.h"
#include "kernels/gpu/compile/listing/listing.h"
#include "viz/draw/canvas.h"
#include "viz/draw/figure_text.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/figures/bytes_and_pipes_draw.h"
#include "viz/profile/figures/findings_draw.h"
#include "viz/profile/heartbeat/heartbeat_draw.h"
#include "viz/profile/lab/lab_draw.h"
#include "viz/profile/occupancy/occupancy_draw.h"
#include "viz/profile/phases/mosaic_draw.h"
#include "viz/profile/phases/phase_table.h"
#include "viz/profile/phases/phase_table_draw.h"
#include "viz/profile/profile_cache.h"
#include "viz/profile/roofline/roofline_draw.h"
#include "viz/profile/source/code_draw.h"
#include "viz/profile/source/source_draw.h"
#include "viz/profile/strip/page_chips_draw.h"
#include "viz/profile/strip/panel_draw.h"
#include "viz/profile/timeline/recorded_panel_draw.h"
#include "viz/profile/timeline/timeline_draw.h"

namespace attn {
namespace {

// Logical pixels. Narrower than kCompact the panel becomes a line over the page; narrower than kStacked cards stand
// under one another; lower than kLow reasons and findings come behind the charts.
constexpr float kHint = 20;  // the line of the button that leads to the findings
constexpr float kGutter = 12, kPanelWidth = 304, kCompact = 1336, kStacked = 800, kLow = 560, kLowMosaic = 700;
constexpr float kMinRoofline = 296, kLeastRoofline = 210, kMinOccupancy = 280, kMinBytes = 304, kEmptyCard = 84,
                kMinLevels = 230;

constexpr float kSourceStacked = 460, kCodeStacked = 280;
constexpr float kLeastSource = 214;  // below it the page scrolls
// In a wide low room source, machine code and phases stand side by side; in a narrow low one the page scrolls, and
// machine code and phases, one under the other, have six rows each.
constexpr float kThreeWide = 1150, kThreeLow = 340, kSixRowsEach = 392;

// The pages and the way to Bench, the pages of figures only where there is a row.
std::vector<Chip> strip_chips(const ProfileScene& scene, ProfilePage page, const PipelineScene* timeline) {
  std::vector<Chip> chips = page_chips(page);
  if (!scene.empty.empty()) chips.erase(chips.begin(), chips.end() - 1);  // the lab stays
  const auto to_bench = [&] {
    chips.push_back({tr("Open in Bench"), tr("Shows this row among the sweep's other rows"), !scene.empty.empty(),
                     ChooseWorkspace{Workspace::bench}});
    if (!scene.stand_in.empty()) chips.back().before = TakeSweepOf{scene.stand_in};
  };
  const auto take = [&](RowDetail what, const char* words, const char* help) {
    if (scene.sample) {
      SampleRow row = *scene.sample;
      row.what = what;
      chips.push_back({words, help, true, row});
    } else if (scene.empty.empty() && !scene.arch.empty()) {
      chips.push_back({words, scene.why_no_sampling.c_str(), false, ChooseProfilePage{page}, false});
    }
  };
  if (page == ProfilePage::timeline) {
    if (timeline == nullptr || !timeline->of_other_kernel) to_bench();  // Bench has the kernel that is shown
    return chips;
  }
  if (page == ProfilePage::heartbeat) {
    take(RowDetail::heartbeat, tr("Read heartbeat"),
         tr("Runs the kernel on the GPU and samples every few microseconds how busy the GPU's pipes and memory are"));
  } else {
    take(RowDetail::samples, tr("Sample it"),
         tr("Runs the kernel on the GPU and samples where its warps wait, by phase and line"));
  }
  if (page == ProfilePage::source)
    take(RowDetail::counts, tr("Count it"),
         tr("Runs the kernel on the GPU and counts executions, bank conflicts and sectors for each instruction"));
  to_bench();
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
      if (toggle(label.c_str(), true, tr("Shows this run's rows and where their warps wait"))) {
        commands.push_back(TakeSweepOf{offer.id});
        commands.push_back(ChooseProfilePage{ProfilePage::source});
      }
    }
    x += width;
  }
  return s.px(24) * static_cast<float>(lines);
}

// The problem and the device behind the headline: the longest note that has room there; null where none has.
const std::string* note_that_fits(const ProfileScene& scene, float room) {
  const auto fits = [room](const std::string& note) { return text_width(Face::text, 12, note) <= room; };
  const auto note = std::ranges::find_if(scene.notes, fits);
  return note == scene.notes.end() ? nullptr : &*note;
}

void draw_note(const ProfileScene& scene, const std::string& note, ImVec2 at) {
  const Style& s = style();
  const ImVec2 size{text_width(Face::text, 12, note), line_height(12)};
  ImGui::SetCursorScreenPos(at);
  ImGui::PushItemFlag(ImGuiItemFlags_NoNav | ImGuiItemFlags_NoTabStop, true);
  ImGui::InvisibleButton("profile_problem", size);
  ImGui::PopItemFlag();
  tooltip(where_words(scene));
  draw_text(ImGui::GetWindowDrawList(), at, Face::text, 12, colour(s.theme, Token::dim), note);
}

bool has_reasons(const ProfileScene& scene, ProfilePage page) {
  return !scene.reasons.empty() && (page == ProfilePage::figures || scene.predicted);
}

struct StripPlace {
  ProfilePage page;
  const PipelineScene* timeline;  // on its page, where there is one: the strip speaks of it
  float width;
  bool low;    // without reasons and findings, which come behind the charts then
  bool noted;  // with the problem and the device, which no panel tells
};

// The paragraphs under the headline. Beside the source the reasons, which are of its figures, leave it their room.
std::vector<TextRuns> strip_words(const ProfileScene& scene, const StripPlace& place) {
  if (place.timeline != nullptr) {
    if (place.timeline->beside != nullptr) return {};  // they would be of the upper one alone
    const std::string more = place.timeline->strip_words.empty() ? "" : " " + place.timeline->strip_words;
    return {{{place.timeline->strip + more, Face::text, Token::dim, 0, false}}};
  }
  std::string dim = scene.to_do;
  if (has_reasons(scene, place.page) && !place.low) dim += (dim.empty() ? "" : " ") + scene.reasons;
  std::vector<TextRuns> words;
  if (!dim.empty()) words.push_back({{dim, Face::text, Token::dim, 0, false}});
  if (!scene.mosaic.headline.empty()) words.push_back(scene.mosaic.headline);
  return words;
}

// Headline and reasons; what to do where there is nothing to show. `seek`: to what is behind the charts. Returns its
// height, pixels.
float draw_strip(const ProfileScene& scene, const StripPlace& place, bool& seek, Commands& commands) {
  const Style& s = style();
  const auto [page, timeline, width, low, of_problem] = place;
  const bool noted = of_problem && timeline == nullptr;
  const std::string& kernel = timeline != nullptr ? timeline->timeline->kernel : scene.kernel;
  const bool of_one_block =
      timeline != nullptr && !timeline->typical && !timeline->sms_shown && timeline->beside == nullptr;
  const TextRuns headline{{timeline != nullptr   ? verdict_of(*timeline)
                           : scene.empty.empty() ? scene.headline
                                                 : scene.empty,
                           Face::bold, of_one_block ? Token::dim : Token::text, 0, false}};
  std::vector<TextRuns> words = strip_words(scene, place);
  const bool findings = page != ProfilePage::heartbeat && page != ProfilePage::timeline && !scene.findings.empty(),
             with_findings = findings && !low;
  const bool hint = findings && low;
  constexpr int kLines = 12;
  const float left = s.px(20), pad = s.px(12), gap = s.px(4);
  const float first_button = left - s.px(6), last = width - s.px(16);
  std::vector<Chip> chips = strip_chips(scene, page, timeline);
  const ChipRow laid = draw_chips(chips, {first_button, 0}, last, false, commands);
  const float buttons = laid.width + s.px(40);
  // Beside the headline where it has room there, else over it.
  const float wanted = std::min(runs_width(headline, 17) + s.px(4), width * 0.45F);
  const bool over = width - left - buttons < std::max(wanted, s.px(220));
  const float whole = width - left - s.px(16), beside = over ? whole : width - left - buttons;
  // The pages at the end that stays, so that each is in one place on all of them.
  const bool at_right = laid.lines == 1;
  if (at_right) std::ranges::stable_partition(chips, &Chip::action);
  // Left of them where a line is theirs: the chart needs the height.
  const float free = last - laid.width - s.px(16);
  const bool hint_over = hint && over && at_right && left + text_width(Face::text, 12, findings_hint(scene)) < free;
  const float note_at = left + runs_width(headline, 17) + s.px(12);
  const std::string* note = noted ? note_that_fits(scene, left + beside - note_at) : nullptr;
  if (noted && note == nullptr && !scene.notes.empty())
    words.insert(words.begin(), {{scene.notes.front(), Face::text, Token::dim, 0, false}});
  const float first = pad + (over ? s.px(kChipLine) * static_cast<float>(laid.lines) : 0);
  const float top = draw_paragraph(nullptr, {}, beside, 17, headline, kLines, false);
  float height = first + top + pad;
  for (const TextRuns& w : words) height += gap + draw_paragraph(nullptr, {}, whole, 13, w, kLines, false);
  if (with_findings) height += draw_findings(scene, {left, 0}, whole, false, commands);
  const bool hint_below = hint && !hint_over;
  if (hint_below) height += gap + s.px(kHint);
  if (!scene.offers.empty()) height += gap + draw_offers(scene, {left, 0}, left + whole, false, commands);
  if (begin_card("profile_strip", {width, height})) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetWindowPos();
    const ImU32 bar = kernel.empty() ? colour(s.theme, Token::faint) : kernel_colour(s.theme, kernel);
    draw_card_edge(list, {at, {at.x + width, at.y + height}}, bar);
    draw_paragraph(list, {at.x + left, at.y + first}, beside, 17, headline, kLines);
    if (note != nullptr) draw_note(scene, *note, {at.x + note_at, at.y + first + s.px(3.5F)});
    float y = at.y + first + top;
    for (const TextRuns& w : words) y += gap + draw_paragraph(list, {at.x + left, y + gap}, whole, 13, w, kLines);
    if (with_findings) y += draw_findings(scene, {left, y - at.y}, whole, true, commands);
    const ImVec2 from(at_right ? last - laid.width : first_button, over ? s.px(8) : pad);
    if (hint_over) draw_findings_hint(scene, {left, from.y}, free, seek);
    if (hint_below) {
      draw_findings_hint(scene, {left, y - at.y + gap}, left + whole, seek);
      y += gap + s.px(kHint);
    }
    draw_offers(scene, {left, y - at.y + 2 * gap}, left + whole, true, commands);
    draw_chips(chips, from, over ? last : width, true, commands);
  }
  ImGui::EndChild();
  return height;
}

// What the strip had no room for.
void draw_more(const ProfileScene& scene, ProfilePage page, float width, Commands& commands) {
  const Style& s = style();
  const bool reasons = has_reasons(scene, page);
  if (!reasons && scene.findings.empty()) return;
  constexpr int kLines = 12;
  const float left = s.px(16), pad = s.px(12), whole = width - 2 * left;
  const TextRuns words{{scene.reasons, Face::text, Token::dim, 0, false}};
  const float above = reasons ? draw_paragraph(nullptr, {}, whole, 13, words, kLines, false) : 0;
  const float height = 2 * pad + above + draw_findings(scene, {left, 0}, whole, false, commands);
  if (begin_card("profile_more", {width, height})) {
    const ImVec2 at = ImGui::GetWindowPos();
    if (reasons) draw_paragraph(ImGui::GetWindowDrawList(), {at.x + left, at.y + pad}, whole, 13, words, kLines);
    draw_findings(scene, {left, pad + above}, whole, true, commands);
  }
  ImGui::EndChild();
}

// Of several launches, which have no staircases to show: both rooflines over one another, and at the right what each
// launch did, and all of the bytes.
void draw_both_roofs(const ProfileScene& scene, ImVec2 room, float left) {
  const Style& s = style();
  const float right = room.x - left - s.px(kGutter);
  const float occupancy = std::max(s.px(kEmptyCard), occupancy_words_height(scene.occupancy, right));
  const float levels = std::max(s.px(kMinLevels), std::floor(room.y * 0.4F));
  ImGui::BeginGroup();
  draw_roofline(scene.roof, false, {left, room.y - levels - s.px(kGutter)});
  draw_roofline(scene.roof, true, {left, levels});
  ImGui::EndGroup();
  ImGui::SameLine();
  ImGui::BeginGroup();
  draw_occupancy(scene.occupancy, {right, occupancy});
  draw_bytes(scene.bytes, {right, std::max(bytes_height(scene.bytes, right), room.y - occupancy - s.px(kGutter))});
  ImGui::EndGroup();
}

// Side by side: the roofline, and the two others over one another; else one under the other, and the page scrolls.
void draw_cards(const ProfileScene& scene, bool by_level, ImVec2 room, bool stacked, Commands& commands) {
  const Style& s = style();
  const float gutter = s.px(kGutter);
  const bool empty = !scene.occupancy.empty.empty();
  const float left = std::floor((room.x - gutter) * 0.47F), right = room.x - left - gutter;
  const float wide = stacked ? room.x : right;
  const float occupancy =
      empty ? std::max(s.px(kEmptyCard), occupancy_words_height(scene.occupancy, wide)) : s.px(kMinOccupancy);
  const float bytes = std::max(s.px(kMinBytes), bytes_height(scene.bytes, wide));
  if (stacked) {
    // As high as the first screen where that is enough; between a phone's edges names stand under one another.
    constexpr float kPhone = 480;  // logical
    const float least = room.x < s.px(kPhone) ? kMinRoofline : kLeastRoofline;
    const float chart = std::clamp(room.y, s.px(least), s.px(kMinRoofline));
    draw_roofline(scene.roof, by_level, {room.x, scene.roof.empty.empty() ? chart : s.px(kEmptyCard)}, commands);
    draw_occupancy(scene.occupancy, {room.x, occupancy});
    draw_bytes(scene.bytes, {room.x, bytes});
    return;
  }
  if (!scene.roof.empty.empty()) {
    // Nothing to draw is no reason for half a page: it says so above the bytes.
    const float half = std::floor((room.x - gutter) / 2);
    const float top = empty ? occupancy : s.px(kEmptyCard);
    const float rest = std::max(room.y - top - gutter, bytes_height(scene.bytes, empty ? room.x : half));
    ImGui::BeginGroup();
    draw_roofline(scene.roof, by_level, {half, top}, commands);
    if (!empty) draw_bytes(scene.bytes, {half, rest});
    ImGui::EndGroup();
    ImGui::SameLine();
    draw_occupancy(scene.occupancy, {room.x - half - gutter, empty ? top : top + gutter + rest});
    if (empty) draw_bytes(scene.bytes, {room.x, rest});
    return;
  }
  if (empty && scene.roof.levels.size() > 1 && room.y >= s.px(kMinRoofline + kMinLevels) + gutter)
    return draw_both_roofs(scene, {room.x, room.y}, left);
  const float height = std::max(room.y, occupancy + gutter + bytes);
  // Within the first screen, though the page may scroll.
  draw_roofline(scene.roof, by_level, {left, std::max(room.y, s.px(kMinRoofline))}, commands);
  ImGui::SameLine();
  ImGui::BeginGroup();
  // What is left goes to the staircases; where there are none, to the bytes.
  const float top = empty ? occupancy : std::max(occupancy, std::floor((height - gutter) / 2));
  const float above = std::min(top, height - gutter - bytes);
  draw_occupancy(scene.occupancy, {right, above});
  draw_bytes(scene.bytes, {right, height - above - gutter});
  ImGui::EndGroup();
}

// The source, and beside it what its line became and the phases; in a narrow room one under the other, and the page
// scrolls.
void draw_source_page(ProfileCache& cache, const ProfileView& view, ImVec2 room, bool stacked, Commands& commands) {
  const Style& s = style();
  const float gutter = s.px(kGutter);
  SourceUiState& ui = cache.source_ui;
  const PhasesPlace place{phase_shown(cache.source, view), cache.scene.to_step};
  const float code = s.px(code_height(cache.code)), phases = s.px(phases_height(cache.source));
  const auto phases_card = [&](ImVec2 size) {
    draw_phases(cache.source, cache.scene.mosaic, place, ui, size, commands);
  };
  // What is compared is all of the kernel: it takes the room of the phases, too.
  const bool diff = view.code == CodeKind::diff;
  if (diff && !stacked) {
    const float left = std::floor((room.x - gutter) * 0.5F);
    const float height = std::max(room.y, s.px(kThreeLow));
    draw_source(cache.source, view, ui, {left, height}, commands);
    ImGui::SameLine();
    return draw_code(cache.code, view.code, ui, {room.x - gutter - left, height}, commands);
  }
  if (stacked) {
    draw_source(cache.source, view, ui, {room.x, s.px(kSourceStacked)}, commands);
    draw_code(cache.code, view.code, ui, {room.x, std::min(code, s.px(kCodeStacked))}, commands);
    return phases_card({room.x, phases});
  }
  if (room.x >= s.px(kThreeWide) && room.y < s.px(kThreeLow)) {
    const float third = std::floor((room.x - 2 * gutter) * 0.295F);
    draw_source(cache.source, view, ui, {room.x - 2 * (third + gutter), room.y}, commands);
    ImGui::SameLine();
    draw_code(cache.code, view.code, ui, {third, room.y}, commands);
    ImGui::SameLine();
    return phases_card({third, room.y});
  }
  if (room.y < s.px(kThreeLow)) room.y = s.px(kSixRowsEach);
  const float left = std::floor((room.x - gutter) * 0.57F), right = room.x - gutter - left;
  draw_source(cache.source, view, ui, {left, room.y}, commands);
  ImGui::SameLine();
  ImGui::BeginGroup();
  const SharedHeight heights = share_height(room.y - gutter, code, phases);
  draw_code(cache.code, view.code, ui, {right, std::floor(heights.first)}, commands);
  phases_card({right, std::floor(heights.second)});
  ImGui::EndGroup();
}

// What is over the source: where the time goes. Returns the height that it takes, pixels.
float draw_mosaic_card(const ProfileCache& cache, const ProfileView& view, float width, bool low, Commands& commands) {
  const Style& s = style();
  const MosaicScene& mosaic = cache.scene.mosaic;
  const float height = s.px(mosaic_height(mosaic, width, low));
  if (height <= 0) return 0;
  draw_mosaic(mosaic, {phase_shown(cache.source, view), cache.scene.to_step, low}, {width, height}, commands);
  return height + s.px(kGutter);
}

// The page under the strip, in what it leaves of the height.
// `with_panel`: it stands beside the page.
void draw_page(ProfileCache& cache, const State& state, const Model& model, ImVec2 room, bool with_panel,
               Commands& commands) {
  const Style& s = style();
  const ProfileScene& scene = cache.scene;
  const ProfileView& view = state.view.profile;
  const bool stacked = room.x < s.px(kStacked);
  if (view.page == ProfilePage::figures) draw_cards(scene, view.roof_levels, room, stacked, commands);
  if (view.page == ProfilePage::heartbeat) {
    const float least = heartbeat_height(scene.heartbeat, room.x);
    draw_heartbeat(scene.heartbeat, {room.x, scene.heartbeat.there ? std::max(room.y, least) : least}, commands);
  }
  if (view.page == ProfilePage::timeline) {
    draw_timeline(cache.timeline, room, with_panel, commands);
  }
  if (view.page != ProfilePage::source) return;
  refresh_source(cache, state, model);
  if (view.code == CodeKind::diff && must_be_listed(other_side(cache.scene, model)))
    commands.push_back(ListKernel{*cache.scene.other_subject, true});
  if (const auto line = line_of_sought(cache.source, view)) commands.push_back(*line);
  const bool low = ImGui::GetWindowHeight() < s.px(kLowMosaic);
  const float above = draw_mosaic_card(cache, view, room.x, low, commands);
  draw_source_page(cache, view, {room.x, std::max(room.y - above, s.px(kLeastSource))}, stacked, commands);
}

}  // namespace

void draw_profile(const State& state, const Model& model, ProfileUiState& ui, Commands& commands) {
  const Style& s = style();
  ProfileCache& cache = refreshed(ui, state, model);
  const ProfileScene& scene = cache.scene;
  const ProfileView& view = state.view.profile;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (view.page == ProfilePage::lab) {
    refresh_lab(cache, model);
    return draw_lab(cache.lab, model.lab, scene.empty.empty(), cache.lab_ui, size, commands);
  }
  if (view.page == ProfilePage::timeline && !model.timelines.looked) commands.push_back(FindTimelines{});
  const float gutter = s.px(kGutter);
  const bool with_panel = scene.empty.empty(), compact = size.x < s.px(kCompact);
  // The source is shown, and the machine code names what the samples of the headline wait for.
  const bool listed = view.page == ProfilePage::source || (scene.row != nullptr && scene.row->samples != nullptr);
  if (with_panel && listed && scene.subject && model.listing.of != gpu::key_of(*scene.subject))
    commands.push_back(ListKernel{*scene.subject});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(gutter, gutter));
  float height = size.y;
  if (view.page == ProfilePage::timeline) refresh_timeline(cache, view, model);
  // The panel of another page speaks of another run.
  const bool of_recording = view.page == ProfilePage::timeline && cache.timeline.timeline != nullptr;
  if (of_recording) {
    if (!compact) {
      draw_recorded_panel(cache.timeline, {s.px(kPanelWidth), size.y}, commands);
      ImGui::SameLine();
    }
  } else if (with_panel && compact) {
    draw_profile_bar(scene, size.x, commands);
    height -= profile_bar_height(scene, size.x) + gutter;
  } else if (with_panel) {
    draw_profile_panel(scene, {s.px(kPanelWidth), size.y}, commands);
    ImGui::SameLine();
  }
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool open = ImGui::BeginChild("evidence", ImVec2(0, height), ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  if (open) {
    const float width = ImGui::GetContentRegionAvail().x;
    const bool low = with_panel && height < s.px(kLow);
    bool seek = false;
    const bool recorded = view.page == ProfilePage::timeline && cache.timeline.there;
    const StripPlace place{view.page, recorded ? &cache.timeline : nullptr, width, low,
                           with_panel && compact && !of_recording};
    const float strip = draw_strip(scene, place, seek, commands);
    if (with_panel || view.page == ProfilePage::timeline)
      draw_page(cache, state, model, {width, height - strip - gutter}, !compact, commands);
    if (low && view.page != ProfilePage::heartbeat && view.page != ProfilePage::timeline)
      draw_more(scene, view.page, width, commands);
    if (seek) ImGui::SetScrollHereY(1);
    fade_page();
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

}  // namespace attn
