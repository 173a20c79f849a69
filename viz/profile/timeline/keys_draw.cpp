#include "viz/profile/timeline/keys_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/timeline/rows_draw.h"
#include "viz/profile/timeline/scene/key_entries.h"

namespace attn {
namespace {

// Logical pixels: the bar, a line of words, a sample with the space behind it, between two entries.
constexpr float kBelowWords = 8;  // where there is no bar
constexpr float kBar = 18, kBelowBar = 4, kLine = 20, kSample = 18, kBarSample = 10, kGap = 6, kBetween = 12;
constexpr float kMostBeside = 0.45F;  // of the width: names beside the bar

// Entries side by side, in as many lines as they take: `place(n, left_top)`. Returns the height of all, pixels.
template <class Place>
float flow(const std::vector<std::string>& words, float sample, float between, float width, Place place) {
  const Style& s = style();
  ImVec2 at(0, 0);
  for (std::size_t n = 0; n < words.size(); ++n) {
    const float own = s.px(sample + kGap) + text_width(Face::text, 12, words[n]);
    if (at.x > 0 && at.x + own > width) at = {0, at.y + s.px(kLine)};
    place(n, at);
    at.x += own + s.px(between);
  }
  return words.empty() ? 0 : at.y + s.px(kLine);
}

void draw_words(ImDrawList* list, ImVec2 at, float sample, const std::string& words) {
  const Style& s = style();
  const float left = at.x + s.px(sample + kGap);
  draw_text_in(list, {{left, at.y}, {left, at.y + s.px(kLine)}}, Align::left, Face::text, 12,
               colour(s.theme, Token::dim), words);
}

void draw_share(ImDrawList* list, const Box& part, const PathShare& share) {
  const ImU32 hue = colour_of(share.ink);
  if (share.hollow) return draw_outline(list, part, hue, 1, 1);
  if (!share.hatched) return list->AddRectFilled(part.min, part.max, hue);
  draw_hatch(list, part, faded(hue, 0.7F), 5);
  draw_outline(list, part, hue, 1, 1);
}

struct KeyForm {
  bool brief = false;
  float sample = kSample, between = kBetween;
  std::vector<std::string> words(const std::vector<KeyEntry>& entries) const {
    std::vector<std::string> all;
    all.reserve(entries.size());
    for (const KeyEntry& e : entries) all.push_back(brief && !e.brief.empty() ? e.brief : e.words);
    return all;
  }
  float height(const std::vector<KeyEntry>& entries, float width) const {
    return flow(words(entries), sample, between, width, [](std::size_t, ImVec2) {});
  }
};

// All of the words, unless the brief ones take fewer lines: the same whatever is lit or in sight, so that no lane
// moves.
KeyForm key_form(const std::vector<KeyEntry>& at_most, float width) {
  constexpr std::array kForms{KeyForm{}, KeyForm{true, 15, 10}, KeyForm{true, 13, 7}};
  return *std::ranges::min_element(kForms, {}, [&](const KeyForm& form) { return form.height(at_most, width); });
}

// What it looks like is the state; of no tensor, but where it is what a lane does.
void draw_stretch_sample(ImDrawList* list, const KeyEntry& e, const Box& box) {
  static const PipelineScene kNone;
  TimelineStretch sample;
  sample.look = e.look;
  sample.ink = e.ink;
  if (e.look != StretchLook::read) return draw_stretch(list, kNone, sample, box);
  // Of two consumers, one behind the other.
  const float half = box.height() / 2, quarter = box.width() / 4;
  sample.look = StretchLook::landed;
  draw_stretch(list, kNone, sample, box);
  sample.look = StretchLook::read;
  draw_stretch(list, kNone, sample, {box.min, {box.max.x - quarter, box.min.y + half}});
  draw_stretch(list, kNone, sample, {{box.min.x + quarter, box.min.y + half}, box.max});
}

void draw_sample(ImDrawList* list, const KeyEntry& e, const Box& box) {
  const Style& s = style();
  const float middle = box.centre().y;
  switch (e.of) {
    case KeyEntry::Of::path:
      return list->AddLine({box.min.x, middle}, {box.max.x, middle}, colour(s.theme, Token::text), s.px(2));
    case KeyEntry::Of::release: {
      const ImU32 ink = colour(s.theme, Token::dim);
      const float tip = box.max.x, half = s.px(3);
      list->AddLine({box.min.x, middle}, {tip - s.px(5), middle}, ink, s.px(1));
      return list->AddTriangleFilled({tip, middle}, {tip - s.px(5), middle - half}, {tip - s.px(5), middle + half},
                                     ink);
    }
    case KeyEntry::Of::idle:
      return draw_outline(list,
                          {{box.centre().x - s.px(5), middle - s.px(7)}, {box.centre().x + s.px(5), middle + s.px(7)}},
                          faded(colour(s.theme, Token::dim), 0.75F), 1, 3);
    case KeyEntry::Of::joined:
      return draw_joined(list, box);
    case KeyEntry::Of::operation:
    case KeyEntry::Of::look:
      return draw_stretch_sample(list, e, box);
  }
}

// The rows' axis is narrower than the card by their names.
constexpr float kNames = 148;

}  // namespace

namespace {

std::string named(const PathShare& share) {
  return fmt::format("{} {}", share.words, share.value);
}
// Its name and share by the longest words that fit; empty: none do.
std::string name_in(const PathShare& share, float width) {
  for (const std::string& words : {named(share), fmt::format("{} {}", share.brief, share.value)})
    if ((words == named(share) || !share.brief.empty()) && text_width(Face::text, 12, words) + style().px(8) <= width)
      return words;
  return {};
}

// Every part has its name: in the bar, or where it is too narrow beside it.
struct BarLayout {
  float bar = 0;                           // pixels
  std::vector<const PathShare*> beside{};  // the bar, by their names
  bool below = false;                      // there is no room beside it
};
BarLayout layout_of(const PipelineScene& scene, float width) {
  const Style& s = style();
  const auto laid = [&](float bar) {
    BarLayout out{bar};
    float names = 0;
    for (const PathShare& share : scene.shares) {
      if (!name_in(share, out.bar * static_cast<float>(share.share)).empty()) continue;
      out.beside.push_back(&share);
      names += s.px(kBarSample + kGap + kBetween) + text_width(Face::text, 12, named(share));
    }
    return std::pair(out, names);
  };
  // The more names stand beside it, the shorter the bar, the fewer it holds.
  float names = 0;
  while (true) {
    auto [out, wide] = laid(width - names);
    if (wide > kMostBeside * width) break;
    if (wide <= names) return out;
    names = wide;
  }
  BarLayout all = laid(width).first;
  all.below = true;
  return all;
}

std::vector<std::string> words_of(const std::vector<const PathShare*>& shares) {
  std::vector<std::string> words;
  words.reserve(shares.size());
  for (const PathShare* const share : shares) words.push_back(named(*share));
  return words;
}

// The part under the pointer, and what all of them are.
std::string bar_tip(const PipelineScene& scene, const PathShare& share) {
  std::string words = fmt::format("{}: {}, {}", share.words, share.value,
                                  duration_text(scene, std::llround(share.share * static_cast<double>(scene.length))));
  if (!scene.answers.empty()) words += "\n" + scene.answers.front().question + "\n" + scene.answers.front().why;
  return words;
}

void draw_part(ImDrawList* list, const PathShare& share, const Box& part) {
  const Style& s = style();
  draw_share(list, part, share);
  const std::string words = name_in(share, part.width());
  if (words.empty()) return;
  const ImVec2 middle = part.centre();
  const float room = text_width(Face::text, 12, words) + s.px(8);
  const Box patch{{middle.x - room / 2, part.min.y + s.px(1)}, {middle.x + room / 2, part.max.y - s.px(1)}};
  if (share.hatched) list->AddRectFilled(patch.min, patch.max, colour(s.theme, Token::card), s.px(2));
  draw_text_in(list, part, Align::centre, Face::text, 12,
               share.hatched || share.hollow ? colour(s.theme, Token::text) : text_on(colour_of(share.ink)), words);
}

}  // namespace

float path_bar_height(const PipelineScene& scene, float width) {
  const Style& s = style();
  if (scene.shares.empty()) return s.px(kBelowWords);
  const BarLayout layout = layout_of(scene, width);
  const float names =
      layout.below ? flow(words_of(layout.beside), kBarSample, kBetween, width, [](std::size_t, ImVec2) {}) : 0;
  return s.px(kBar + kBelowBar) + names;
}

void draw_path_bar(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width) {
  const Style& s = style();
  if (scene.shares.empty()) return;
  const BarLayout layout = layout_of(scene, width);
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton("timeline_path", {layout.bar, s.px(kBar)});
  const float pointer = ImGui::GetIO().MousePos.x;
  float x = at.x;
  for (const PathShare& share : scene.shares) {
    const float wide = layout.bar * static_cast<float>(share.share);
    draw_part(list, share, {{x, at.y}, {x + wide, at.y + s.px(kBar)}});
    if (pointer >= x && pointer < x + wide) tooltip(bar_tip(scene, share));
    x += wide;
  }
  const ImVec2 names =
      layout.below ? ImVec2(at.x, at.y + s.px(kBar)) : ImVec2(at.x + layout.bar + s.px(kBetween), at.y);
  const float room = layout.below ? width : at.x + width - names.x + s.px(kBetween);
  flow(words_of(layout.beside), kBarSample, kBetween, room, [&](std::size_t n, ImVec2 place) {
    const ImVec2 top{names.x + place.x, names.y + place.y};
    const float middle = top.y + s.px(layout.below ? kLine : kBar) / 2;
    draw_share(list, {{top.x, middle - s.px(5)}, {top.x + s.px(kBarSample), middle + s.px(5)}}, *layout.beside[n]);
    draw_words(list, {top.x, middle - s.px(kLine) / 2}, kBarSample, named(*layout.beside[n]));
  });
}

float timeline_key_height(const PipelineScene& scene, float width) {
  const std::vector<KeyEntry> at_most = key_entries(scene, width - style().px(kNames), true);
  return key_form(at_most, width).height(at_most, width);
}

void draw_timeline_key(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width) {
  const Style& s = style();
  const std::vector<KeyEntry> entries = key_entries(scene, width - s.px(kNames));
  const KeyForm form = key_form(key_entries(scene, width - s.px(kNames), true), width);
  const std::vector<std::string> words = form.words(entries);
  flow(words, form.sample, form.between, width, [&](std::size_t n, ImVec2 place) {
    const ImVec2 top{at.x + place.x, at.y + place.y};
    const float middle = top.y + s.px(kLine) / 2;
    draw_sample(list, entries[n], {{top.x, middle - s.px(5)}, {top.x + s.px(form.sample), middle + s.px(5)}});
    draw_words(list, top, form.sample, words[n]);
  });
  if (!form.brief) return;
  // In brief: all of the words where the pointer rests.
  std::string all;
  for (const KeyEntry& e : entries) all += (all.empty() ? "" : "; ") + e.words;
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton("timeline_key", {width, form.height(entries, width)});
  tooltip(all + ".");
}

}  // namespace attn
