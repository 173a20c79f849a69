#include "viz/profile/timeline/keys_draw.h"

#include <algorithm>
#include <string>
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
constexpr float kBar = 18, kBelowBar = 4, kLine = 20, kSample = 18, kGap = 6, kBetween = 12;

// Entries side by side, in as many lines as they take: `place(n, left_top)`. Returns the height of all, pixels.
template <class Place>
float flow(const std::vector<std::string>& words, float sample, float width, Place place) {
  const Style& s = style();
  ImVec2 at(0, 0);
  for (std::size_t n = 0; n < words.size(); ++n) {
    const float own = s.px(sample + kGap) + text_width(Face::text, 12, words[n]);
    if (at.x > 0 && at.x + own > width) at = {0, at.y + s.px(kLine)};
    place(n, at);
    at.x += own + s.px(kBetween);
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
  if (!share.hatched) return list->AddRectFilled(part.min, part.max, hue);
  draw_hatch(list, part, faded(hue, 0.7F), 5);
  draw_outline(list, part, hue, 1, 1);
}

std::vector<std::string> key_words(const std::vector<KeyEntry>& entries) {
  std::vector<std::string> words;
  words.reserve(entries.size());
  for (const KeyEntry& e : entries) words.push_back(e.words);
  return words;
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
      return list->AddRectFilled(box.min, box.max, joined_ink());
    case KeyEntry::Of::operation:
    case KeyEntry::Of::look:
      return draw_stretch_sample(list, e, box);
  }
}

// The rows' axis is narrower than the card by their names.
constexpr float kNames = 148;

}  // namespace

float path_bar_height(const PipelineScene& scene) {
  return style().px(scene.shares.empty() ? kBelowWords : kBar + kBelowBar);
}

// In each part what it is, where there is room; all of them for the pointer.
void draw_path_bar(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width) {
  const Style& s = style();
  if (scene.shares.empty()) return;
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton("timeline_path", {width, s.px(kBar)});
  if (!scene.answers.empty()) tooltip(scene.answers.front().question + "\n" + scene.answers.front().why);
  float x = at.x;
  for (const PathShare& share : scene.shares) {
    const float wide = width * static_cast<float>(share.share);
    const Box part{{x, at.y}, {x + wide, at.y + s.px(kBar)}};
    draw_share(list, part, share);
    x += wide;
    for (const std::string& words : {fmt::format("{} {}", share.words, share.value), share.value}) {
      const float room = text_width(Face::text, 12, words) + s.px(8);
      if (room > wide) continue;
      const ImVec2 middle = part.centre();
      const Box patch{{middle.x - room / 2, part.min.y + s.px(1)}, {middle.x + room / 2, part.max.y - s.px(1)}};
      if (share.hatched) list->AddRectFilled(patch.min, patch.max, colour(s.theme, Token::card), s.px(2));
      draw_text_in(list, part, Align::centre, Face::text, 12,
                   share.hatched ? colour(s.theme, Token::text) : text_on(colour_of(share.ink)), words);
      break;
    }
  }
}

float timeline_key_height(const PipelineScene& scene, float width) {
  return flow(key_words(key_entries(scene, width - style().px(kNames))), kSample, width, [](std::size_t, ImVec2) {});
}

void draw_timeline_key(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width) {
  const Style& s = style();
  const std::vector<KeyEntry> entries = key_entries(scene, width - s.px(kNames));
  const std::vector<std::string> words = key_words(entries);
  flow(words, kSample, width, [&](std::size_t n, ImVec2 place) {
    const ImVec2 top{at.x + place.x, at.y + place.y};
    const float middle = top.y + s.px(kLine) / 2;
    draw_sample(list, entries[n], {{top.x, middle - s.px(5)}, {top.x + s.px(kSample), middle + s.px(5)}});
    draw_words(list, top, kSample, words[n]);
  });
}

}  // namespace attn
