#include "viz/profile/timeline/keys_draw.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/theme.h"
#include "viz/profile/timeline/rows_draw.h"

namespace attn {
namespace {

// Logical pixels: the bar, a line of words, a sample with the space behind it, between two entries.
constexpr float kBelowWords = 8;  // where there is no bar
constexpr float kBar = 14, kLine = 20, kSample = 22, kSwatch = 10, kGap = 6, kBetween = 14;

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

std::vector<std::string> share_words(const PipelineScene& scene) {
  std::vector<std::string> words;
  words.reserve(scene.shares.size());
  for (const PathShare& share : scene.shares) words.push_back(fmt::format("{} {}", share.words, share.value));
  return words;
}

void draw_share(ImDrawList* list, const Box& part, const PathShare& share) {
  const Style& s = style();
  const ImU32 hue = colour_of(share.ink);
  if (!share.hatched) return list->AddRectFilled(part.min, part.max, hue);
  draw_hatch(list, part, faded(hue, 0.7F), 5);
  draw_outline(list, part, hue, s.px(1), 1);
}

struct KeyEntry {
  enum class Of : std::uint8_t { look, path, release, idle, tensors };
  Of of = Of::look;
  StretchLook look = StretchLook::work;
};

constexpr std::array kHues{TensorColour::q, TensorColour::k, TensorColour::v,
                           TensorColour::s, TensorColour::p, TensorColour::o};

// Of what the rows have: no slot of a ring is explained where there is no ring.
std::vector<KeyEntry> key_entries(const PipelineScene& scene) {
  std::vector<KeyEntry> entries;
  for (const StretchLook look : {StretchLook::work, StretchLook::wait, StretchLook::flight, StretchLook::landed,
                                 StretchLook::read, StretchLook::nothing})
    if (std::ranges::any_of(scene.rows, [&](const TimelineRow& row) {
          return std::ranges::find(row.stretches, look, &TimelineStretch::look) != row.stretches.end();
        }))
      entries.push_back({KeyEntry::Of::look, look});
  if (!scene.idle.empty()) entries.push_back({KeyEntry::Of::idle});
  if (scene.with_path && !scene.path.empty()) entries.push_back({KeyEntry::Of::path});
  if (scene.follow >= 0 && !scene.releases.empty()) entries.push_back({KeyEntry::Of::release});
  entries.push_back({KeyEntry::Of::tensors});
  return entries;
}

std::string words_of(const KeyEntry& e) {
  if (e.of == KeyEntry::Of::path) return tr("the critical path");
  if (e.of == KeyEntry::Of::release) return tr("who released whom");
  if (e.of == KeyEntry::Of::idle) return tr("surely idle");
  if (e.of == KeyEntry::Of::tensors) return tr("colour: Q, K, V, S, P or O");
  switch (e.look) {
    case StretchLook::work:
      return tr("its instructions run");
    case StretchLook::wait:
      return tr("waits for that");
    case StretchLook::flight:
      return tr("in flight, for at most this long");
    case StretchLook::landed:
      return tr("landed");
    case StretchLook::read:
      return tr("read");
    case StretchLook::nothing:
      return tr("free");
  }
  return {};
}

std::vector<std::string> key_words(const PipelineScene& scene) {
  std::vector<std::string> words;
  for (const KeyEntry& e : key_entries(scene)) words.push_back(words_of(e));
  return words;
}

}  // namespace

float path_bar_height(const PipelineScene& scene, float width) {
  if (scene.shares.empty()) return style().px(kBelowWords);
  return style().px(kBar) + flow(share_words(scene), kSwatch, width, [](std::size_t, ImVec2) {});
}

void draw_path_bar(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width) {
  const Style& s = style();
  float x = at.x;
  for (const PathShare& share : scene.shares) {
    const float wide = width * static_cast<float>(share.share);
    draw_share(list, {{x, at.y}, {x + wide, at.y + s.px(kBar)}}, share);
    x += wide;
  }
  const std::vector<std::string> words = share_words(scene);
  flow(words, kSwatch, width, [&](std::size_t n, ImVec2 place) {
    const ImVec2 top{at.x + place.x, at.y + s.px(kBar) + place.y};
    const float middle = top.y + s.px(kLine) / 2, half = s.px(kSwatch) / 2;
    draw_share(list, {{top.x, middle - half}, {top.x + 2 * half, middle + half}}, scene.shares[n]);
    draw_words(list, top, kSwatch, words[n]);
  });
}

float timeline_key_height(const PipelineScene& scene, float width) {
  return flow(key_words(scene), kSample, width, [](std::size_t, ImVec2) {});
}

void draw_timeline_key(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width) {
  const Style& s = style();
  const std::vector<KeyEntry> entries = key_entries(scene);
  const std::vector<std::string> words = key_words(scene);
  static const PipelineScene kNone;
  flow(words, kSample, width, [&](std::size_t n, ImVec2 place) {
    const ImVec2 top{at.x + place.x, at.y + place.y};
    const float middle = top.y + s.px(kLine) / 2;
    if (entries[n].of == KeyEntry::Of::path) {
      list->AddLine({top.x, middle}, {top.x + s.px(kSample), middle}, colour(s.theme, Token::text), s.px(2));
    } else if (entries[n].of == KeyEntry::Of::release) {
      const ImU32 ink = colour(s.theme, Token::dim);
      const float tip = top.x + s.px(kSample), half = s.px(3);
      list->AddLine({top.x, middle}, {tip - s.px(5), middle}, ink, s.px(1));
      list->AddTriangleFilled({tip, middle}, {tip - s.px(5), middle - half}, {tip - s.px(5), middle + half}, ink);
    } else if (entries[n].of == KeyEntry::Of::idle) {
      draw_outline(list, {{top.x + s.px(4), middle - s.px(7)}, {top.x + s.px(14), middle + s.px(7)}},
                   faded(colour(s.theme, Token::dim), 0.75F), s.px(1), 3);
    } else if (entries[n].of == KeyEntry::Of::tensors) {
      const float each = s.px(kSample) / static_cast<float>(kHues.size());
      for (std::size_t t = 0; t < kHues.size(); ++t)
        list->AddRectFilled({top.x + each * static_cast<float>(t), middle - s.px(5)},
                            {top.x + each * static_cast<float>(t + 1), middle + s.px(5)}, colour_of(kHues.at(t)));
    } else {
      // Of no tensor: what it looks like is the state, the colour is the tensor's.
      TimelineStretch sample;
      sample.look = entries[n].look;
      sample.ink = Token::dim;
      draw_stretch(list, kNone, sample, {{top.x, middle - s.px(5)}, {top.x + s.px(kSample), middle + s.px(5)}});
    }
    draw_words(list, top, kSample, words[n]);
  });
}

}  // namespace attn
