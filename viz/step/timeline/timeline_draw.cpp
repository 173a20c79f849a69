#include "viz/step/timeline/timeline_draw.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/step/timeline/transport_draw.h"

namespace attn {
namespace {

constexpr float kKnob = 8;  // logical: the scrubber's, under the pointer

// Logical: maths letters of a chip, and words such as out.
constexpr float kLetters = 16, kLettersBesideFolds = 14, kLeastLetters = 12, kWords = 12, kLeastWords = 11;
constexpr float kRounding = 0.1F;  // pixels

// Of a fold from one tile to another as long.
float fold_width(const std::string& tile) {
  return text_width(Face::text, kWords, tile + "–" + tile) + style().px(6);
}

// An italic letter's ink reaches beyond its advance.
float letter_width(bool maths, float size, std::string_view text) {
  return text_width(maths ? Face::maths : Face::text, size, text) + style().px(maths ? 3 : 2);
}

// What a chip needs for its letters, with the space to the next.
float chip_width(const TrackChip& chip, float letters) {
  const float space = style().px(1);
  if (chip.skipped) return fold_width("") + space;
  if (chip.two) return 2 * std::max(letter_width(true, letters, "K"), letter_width(true, letters, "V")) + space;
  return letter_width(chip.maths, chip.maths ? letters : kLeastWords, chip.letter) + space;
}

// The letters' size in a chip, or in half of one, so wide; 0: they have no room.
float letters_in(const TrackChip& chip, std::string_view text, float width, float letters) {
  const auto fits = [&](float size) { return letter_width(chip.maths, size, text) <= width + kRounding; };
  float size = chip.maths ? letters : kWords;
  if (!chip.maths && !fits(size)) size = kLeastWords;
  return fits(size) ? size : 0;
}

// Free between its letters and either edge.
float free_in(const TrackChip& chip, const Box& box, float letters) {
  const float width = chip.two ? box.width() / 2 : box.width();
  const std::string_view text = chip.two ? std::string_view("K") : std::string_view(chip.letter);
  const float size = chip.skipped ? 0 : letters_in(chip, text, width, letters);
  return size > 0 ? (width - text_width(chip.maths ? Face::maths : Face::text, size, text)) / 2 : width;
}

// Draws one chip; a chip of K and V is two halves.
void draw_chip(ImDrawList* list, const Box& box, const TrackChip& chip, float letters) {
  const Style& s = style();
  const float rounding = box.width() > s.px(8) ? s.px(2) : 0;
  if (chip.skipped) {
    draw_hatch(list, box, colour_of(Token::faint), 5);
    return;
  }
  const float strength = chip.past ? 1.0F : 0.22F;
  const ImU32 left = faded(colour_of(chip.ink), strength), right = faded(colour_of(chip.ink2), strength);
  const float middle = (box.min.x + box.max.x) / 2;
  if (chip.two) {
    list->AddRectFilled(box.min, {middle, box.max.y}, left, rounding, ImDrawFlags_RoundCornersLeft);
    list->AddRectFilled({middle, box.min.y}, box.max, right, rounding, ImDrawFlags_RoundCornersRight);
  } else {
    list->AddRectFilled(box.min, box.max, left, rounding);
  }
  const auto letter = [&](const Box& b, std::string_view text, Ink ink) {
    const Face face = chip.maths ? Face::maths : Face::text;
    const float size = letters_in(chip, text, b.width(), letters);
    if (size == 0) {
      if (text == "mask") draw_hatch(list, b, faded(text_on(colour_of(ink)), chip.past ? 0.8F : 0.3F), 4);
      return;
    }
    const ImU32 c = chip.past ? text_on(colour_of(ink)) : colour_of(Token::dim);
    draw_text_in(list, b, Align::centre, face, size, c, text);
  };
  if (chip.two) {
    letter({box.min, {middle, box.max.y}}, "K", chip.ink);
    letter({{middle, box.min.y}, box.max}, "V", chip.ink2);
  } else {
    letter(box, chip.letter, chip.ink);
  }
}

struct TrackLayout {
  std::vector<Box> boxes;  // by chip; those of a fold share one
  std::vector<TrackFold> folds;
  float letters = kLetters;
  bool folded(std::size_t group) const {
    return std::ranges::any_of(folds, [&](const TrackFold& f) { return group - f.first < f.count; });
  }
};

Track track_with(const TimelineScene& scene, float width, float letters) {
  const Style& s = style();
  const auto groups = static_cast<float>(std::max<std::size_t>(scene.groups.size(), 1));
  TrackRoom room{width, std::min(s.px(9), width * 0.15F / groups), 0, {}};
  for (const TrackGroup& g : scene.groups) room.fold = std::max(room.fold, fold_width(g.tile));
  for (const TrackChip& chip : scene.chips) room.least.push_back(chip_width(chip, letters));
  return lay_out_track(scene, room);
}

// Chips share the width; a group is set off by a gap. Where tiles are folded, the others have larger letters.
TrackLayout layout_track(const TimelineScene& scene, const Box& box) {
  const Style& s = style();
  Track track = track_with(scene, box.width(), kLeastLetters);
  if (!track.folds.empty())
    if (Track roomy = track_with(scene, box.width(), kLettersBesideFolds); !roomy.tight) track = std::move(roomy);
  TrackLayout out{{}, track.folds};
  for (const TrackSpan& span : track.chips) {
    const float width = span.to - span.from;
    const float space = width > s.px(8) ? s.px(1) : 0;
    out.boxes.push_back(
        {{box.min.x + span.from, box.min.y}, {box.min.x + span.from + std::max(width - space, 0.5F), box.max.y}});
  }
  const auto fit = [&] {
    for (std::size_t g = 0; g < scene.groups.size(); ++g) {
      const TrackGroup& group = scene.groups[g];
      for (std::size_t c = group.first; c < group.first + group.count && !out.folded(g); ++c)
        if (chip_width(scene.chips[c], out.letters) > out.boxes[c].width() + s.px(1) + kRounding) return false;
    }
    return true;
  };
  while (out.letters > kLeastLetters && !fit()) --out.letters;
  return out;
}

// Around the live chip, clear of its neighbours' letters.
Box live_frame(const TimelineScene& scene, const TrackLayout& layout, std::size_t n) {
  const Style& s = style();
  constexpr float kBeyond = 3, kLeast = 0.5F, kLine = 1.5F;  // logical: half of the frame's, and a little
  const Box& box = layout.boxes[n];
  const auto beyond = [&](std::size_t other, float gap) {
    const float room = gap + free_in(scene.chips[other], layout.boxes[other], layout.letters) - s.px(kLine);
    return std::clamp(room, s.px(kLeast), s.px(kBeyond));
  };
  Box frame = box.grown(s.px(kBeyond));
  if (n > 0) frame.min.x = box.min.x - beyond(n - 1, box.min.x - layout.boxes[n - 1].max.x);
  if (n + 1 < layout.boxes.size()) frame.max.x = box.max.x + beyond(n + 1, layout.boxes[n + 1].min.x - box.max.x);
  return frame;
}

// Tiles without room for their letters: a cell with their numbers.
void draw_fold(ImDrawList* list, const Box& box, const TrackFold& fold) {
  if (fold.past)
    list->AddRectFilled(box.min, box.max, colour_of(Token::field), style().px(2));
  else
    draw_dashed(list, box, colour_of(Token::faint));
  draw_text_in(list, box, Align::centre, Face::text, kWords, colour_of(Token::dim),
               fitted_text(Face::text, kWords, fold.tiles, box.width()));
}

// The live tile is always named: where there is no room beside the name of the track, both are brief.
void draw_group_titles(ImDrawList* list, const TimelineScene& scene, const TrackLayout& layout, const Box& box) {
  const Style& s = style();
  const auto wide = [](const std::string& words) { return text_width(Face::text, 13, words); };
  const auto put = [&](float x, const std::string& words, bool live) {
    draw_text(list, {x, box.min.y}, Face::text, 13, colour_of(live ? Token::text : Token::dim), words);
  };
  const auto ends_of = [&](const TrackGroup& g) {
    return std::pair(layout.boxes[g.first].min.x, layout.boxes[g.first + g.count - 1].max.x);
  };
  const float gap = s.px(10);
  std::string outer = scene.outer;
  Box taken{{0, 0}, {0, 0}};  // by the live one
  for (const TrackGroup& g : scene.groups) {
    if (g.title.empty() || !g.live) continue;
    const auto [a, b] = ends_of(g);
    std::string text = g.title;
    if (wide(outer) + gap + wide(text) > box.width()) text = brief_title(text);
    if (wide(outer) + gap + wide(text) > box.width()) outer = brief_title(outer);
    const float least = box.min.x + wide(outer) + gap;
    const float x = std::max(least, std::min((a + b - wide(text)) / 2, box.max.x - wide(text)));
    put(x, text, true);
    taken = {{x - gap, 0}, {x + wide(text) + gap, 0}};
  }
  put(box.min.x, outer, true);
  float outer_end = box.min.x + wide(outer) + gap;
  for (std::size_t n = 0; n < scene.groups.size(); ++n) {
    const TrackGroup& g = scene.groups[n];
    if (g.title.empty() || g.live || layout.folded(n)) continue;
    const auto [a, b] = ends_of(g);
    std::string text = g.title;
    if (wide(text) > b - a) text = text.substr(text.rfind(' ') + 1);
    const float x = (a + b - wide(text)) / 2;
    const bool meets = x < taken.max.x && x + wide(text) > taken.min.x;
    if (wide(text) > b - a + s.px(6) || x < outer_end || meets) continue;
    put(x, text, false);
    outer_end = x + wide(text) + s.px(6);  // groups come from left to right
  }
}

// A wedge in m's colour whose point stands at `tip`: m of the followed row changes here.
void draw_m_mark(ImDrawList* list, ImVec2 tip, float size) {
  const float w = style().px(size);
  list->AddTriangleFilled({tip.x - w, tip.y - 1.5F * w}, {tip.x + w, tip.y - 1.5F * w}, tip,
                          colour_of(TensorColour::m));
}

// The marks on the scrubber; where they stand closer than their width, one stands for its neighbours.
template <class XOf>
void draw_m_marks(ImDrawList* list, const TimelineScene& scene, float y, XOf x_of) {
  float last = -1e9F;
  for (const EventIndex e : scene.m_changes) {
    const float x = x_of(e);
    if (x < last + style().px(4)) continue;
    last = x;
    draw_m_mark(list, {x, y}, 4);
  }
}

}  // namespace

void draw_scrubber(const Box& box, const TimelineScene& scene, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float y = box.min.y + s.px(8), last = static_cast<float>(std::max<EventIndex>(scene.events, 2) - 1);
  // The knob stays within the track at both ends.
  const float knob = s.px(kKnob), first_x = box.min.x + knob, run = box.width() - 2 * knob;
  const auto x_of = [&](EventIndex e) { return first_x + run * static_cast<float>(e) / last; };
  ImGui::SetCursorScreenPos({box.min.x - s.px(8), box.min.y - s.px(4)});
  ImGui::InvisibleButton("##step_scrubber", {box.width() + s.px(16), s.px(24)});
  if (ImGui::IsItemActive() && scene.events > 1) {
    const float share = std::clamp((ImGui::GetMousePos().x - first_x) / run, 0.0F, 1.0F);
    const auto e = static_cast<EventIndex>(std::lround(share * last));
    if (e != scene.event) commands.push_back(GoToEvent{e});
  }
  const bool warm = ImGui::IsItemActive() || ImGui::IsItemHovered();
  list->AddRectFilled({box.min.x, y - s.px(2)}, {box.max.x, y + s.px(2)}, colour_of(Token::line), s.px(2));
  list->AddRectFilled({box.min.x, y - s.px(2)}, {x_of(scene.event), y + s.px(2)}, colour_of(Token::dim), s.px(2));
  float spoken = -1e9F;
  for (std::size_t n = 0; n < scene.marks.size(); ++n) {
    const ScrubberMark& m = scene.marks[n];
    const float a = x_of(m.event), b = n + 1 < scene.marks.size() ? x_of(scene.marks[n + 1].event) : box.max.x;
    if (scene.marks.size() <= 64)
      list->AddLine({a, y - s.px(6)}, {a, y + s.px(6)}, colour_of(Token::faint), std::max(1.0F, s.px(1)));
    const float width = text_width(Face::text, 12, m.title);
    if (width > b - a - s.px(4) && !m.live) continue;
    const float x = std::clamp((a + b - width) / 2, box.min.x, box.max.x - width);
    if (x < spoken + s.px(8)) continue;
    spoken = x + width;
    draw_text(list, {x, box.min.y + s.px(16)}, Face::text, 12, colour_of(m.live ? Token::text : Token::dim), m.title);
  }
  draw_m_marks(list, scene, y - s.px(3), x_of);
  for (const EventIndex e : scene.bookmarks)
    draw_ribbon(list, {x_of(e), y - s.px(14)}, 10, colour_of(Token::text), true);
  list->AddCircleFilled({x_of(scene.event), y}, s.px(warm ? kKnob : kKnob - 1), colour_of(Token::text));
}

void draw_track(const Box& box, const TimelineScene& scene, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool low = box.height() < s.px(90);
  // The titles' tails and the wedges of m have room above the chips.
  const Box chips{{box.min.x, box.min.y + s.px(low ? 20 : 22)}, {box.max.x, box.min.y + s.px(low ? 43 : 47)}};
  const TrackLayout layout = layout_track(scene, chips);
  draw_group_titles(list, scene, layout, box);
  for (const TrackFold& fold : layout.folds) draw_fold(list, layout.boxes[scene.groups[fold.first].first], fold);
  for (std::size_t g = 0; g < scene.groups.size(); ++g) {
    const TrackGroup& group = scene.groups[g];
    for (std::size_t c = group.first; c < group.first + group.count && !layout.folded(g); ++c)
      draw_chip(list, layout.boxes[c], scene.chips[c], layout.letters);
  }
  for (std::size_t n = 0; n < scene.chips.size(); ++n) {
    if (scene.chips[n].live) draw_outline(list, live_frame(scene, layout, n), colour_of(Token::text), 2, 5);
    if (scene.chips[n].raises_m) draw_m_mark(list, {layout.boxes[n].centre().x, layout.boxes[n].min.y + s.px(1)}, 3.5F);
  }
  ImGui::SetCursorScreenPos(chips.min);
  if (ImGui::InvisibleButton("##step_track", {chips.width(), chips.height()})) {
    const float x = ImGui::GetMousePos().x;
    for (std::size_t n = 0; n < scene.chips.size(); ++n) {
      if (x >= layout.boxes[n].min.x && x <= layout.boxes[n].max.x + s.px(2)) {
        commands.push_back(GoToEvent{scene.chips[n].event});
        break;
      }
    }
  }
  // Where there is no room the chips alone are pressed.
  if (chips.max.y + s.px(24) <= box.max.y + 1)
    draw_scrubber({{box.min.x, chips.max.y + s.px(low ? 6 : 13)}, box.max}, scene, commands);
}

}  // namespace attn
