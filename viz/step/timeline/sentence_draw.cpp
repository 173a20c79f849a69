#include "viz/step/timeline/sentence_draw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/timeline/map.h"

namespace attn {
namespace {

constexpr float kLine = 18, kWord = 26, kShare = 15, kMostGap = 8, kShareGap = 7;  // logical
constexpr float kNote = 12.5F;                                                     // letters

struct Frame {
  ImDrawList* list;
  const SentenceScene& scene;
  const Style& s;
  std::vector<Box> words;  // the keys'
  Box query;               // where arcs begin: one of the words, or a plate of its own
  float line_top = 0, line_bottom = 0;
  float top = 0, bottom = 0;  // of the arcs
};

// Between two words, of a word and what is free beside it.
float gap_of(float pitch) {
  return std::min(style().px(kMostGap), pitch * 0.14F);
}

constexpr float kLeastWord = 10, kLikedWord = 11;  // letters

// What a word takes with letters of that size, and what is free around it.
float word_width(const std::string& word, float size) {
  constexpr float kInside = 7;  // logical
  return text_width(Face::text, size, word) + style().px(kInside);
}

// The longest give way, each to the same width.
std::vector<float> with_short_words_whole(std::vector<float> pitches, float width) {
  std::vector<float*> by_length;
  by_length.reserve(pitches.size());
  for (float& pitch : pitches) by_length.push_back(&pitch);
  std::ranges::sort(by_length, {}, [](const float* pitch) { return *pitch; });
  auto others = static_cast<float>(pitches.size());
  for (float* pitch : by_length) {
    *pitch = std::min(*pitch, width / others);
    width -= *pitch;
    others -= 1;
  }
  return pitches;
}

// As wide as one another where that holds each of them whole, else as wide as the word is long.
std::vector<float> word_pitches(const SentenceScene& scene, bool own, float width) {
  std::vector<const std::string*> words;
  words.reserve(scene.words.size() + 1);
  for (const SentenceWord& word : scene.words) words.push_back(&word.word);
  if (own) words.push_back(&scene.query);
  const auto count = static_cast<float>(std::max<std::size_t>(words.size(), 1));
  const float even = std::min(width / count, style().px(118)), gap = gap_of(even);
  std::vector<float> pitches(words.size(), even);
  const auto all = [&](float size) {
    float sum = 0;
    for (std::size_t n = 0; n < words.size(); ++n) sum += pitches[n] = word_width(*words[n], size) + gap;
    return sum;
  };
  if (std::ranges::all_of(words, [&](const auto* word) { return word_width(*word, kLeastWord) + gap <= even; }))
    return pitches;
  float sum = all(kLikedWord);
  if (sum > width) sum = all(kLeastWord);
  if (sum > width) return with_short_words_whole(std::move(pitches), width);
  for (float& pitch : pitches) pitch += (width - sum) / count;
  return pitches;
}

// The words stand side by side on one line; a query that is no key has a place of its own at the end.
void place_words(Frame& f, const Box& in) {
  const bool own = !f.scene.query_place.has_value();
  const std::vector<float> pitches = word_pitches(f.scene, own, in.width());
  const float all = std::accumulate(pitches.begin(), pitches.end(), 0.0F);
  const float gap = gap_of(all / static_cast<float>(std::max<std::size_t>(pitches.size(), 1)));
  float x = in.min.x + (in.width() - all) / 2;
  const bool below = f.scene.heads.size() > 1;
  f.top = in.min.y + f.s.px(kLine);
  f.bottom = in.max.y - f.s.px(below ? kLine : 0);
  const float middle = below ? (f.top + f.bottom) / 2 : f.bottom - f.s.px(kWord / 2);
  f.line_top = middle - f.s.px(kWord / 2);
  f.line_bottom = middle + f.s.px(kWord / 2);
  for (const float pitch : pitches) {
    f.words.push_back({{x + gap / 2, f.line_top}, {x + pitch - gap / 2, f.line_bottom}});
    x += pitch;
  }
  f.query = own ? f.words.back() : f.words[static_cast<std::size_t>(*f.scene.query_place)];
  if (own) f.words.pop_back();
}

void draw_word(const Frame& f, const Box& box, const std::string& word, bool query, WordLook look) {
  const float inside = box.width() - f.s.px(6);
  ImU32 ink = colour_of(Token::text);
  if (query) {
    const ImU32 fill = colour_of(TensorColour::q);
    f.list->AddRectFilled(box.min, box.max, fill, f.s.px(5));
    ink = text_on(fill);
  } else if (look == WordLook::hidden) {
    ink = colour_of(Token::dim);
    draw_hatch(f.list, box, faded(colour_of(Token::faint), 0.5F));
  } else if (look == WordLook::to_come) {
    ink = colour_of(Token::dim);
    draw_dashed(f.list, box, colour_of(Token::faint));
  } else {
    f.list->AddRectFilled(box.min, box.max, faded(colour_of(TensorColour::k), look == WordLook::live ? 0.34F : 0.16F),
                          f.s.px(5));
    if (look == WordLook::live) draw_outline(f.list, box, colour_of(TensorColour::k), 1, 5);
  }
  float size = 14;
  while (size > 10 && text_width(Face::text, size, word) > inside) size -= 1;
  const std::string fits = elided_text(Face::text, size, word, inside);
  if (look == WordLook::hidden && !query) {  // on a patch: hatching crosses no letters
    const float width = text_width(Face::text, size, fits) + f.s.px(4);
    f.list->AddRectFilled({box.centre().x - width / 2, box.min.y + f.s.px(3)},
                          {box.centre().x + width / 2, box.max.y - f.s.px(3)}, colour_of(Token::card));
  }
  draw_text_in(f.list, box, Align::centre, Face::text, size, ink, fits);
}

// The frame around the words of the key tile at hand.
void draw_live_frame(const Frame& f) {
  const Box* first = nullptr;
  const Box* last = nullptr;
  for (std::size_t n = 0; n < f.words.size(); ++n) {
    if (f.scene.words[n].look != WordLook::live) continue;
    if (first == nullptr) first = &f.words[n];
    last = &f.words[n];
  }
  if (first == nullptr) return;
  draw_outline(f.list, Box{first->min, last->max}.grown(f.s.px(4)), colour_of(Token::text), 2, 8);
}

// What stands between a word and the end of its arc; empty: there is no room for it, apart from its neighbour's. Where
// the words are too narrow for the sign of any of them, none has one.
std::string share_at(const Frame& f, const SentenceArc& arc) {
  float pitch = f.words[0].width();
  for (std::size_t n = 1; n < f.words.size(); ++n) {
    const float apart = f.words[n].centre().x - f.words[n - 1].centre().x;
    pitch = n == 1 ? apart : std::min(pitch, apart);
  }
  return arc_share_text(arc.share, pitch - f.s.px(kShareGap),
                        [](const std::string& text) { return text_width(Face::mono, 11, text); });
}

struct Curve {
  ImVec2 a, b, c, d;
};

// From the query over to a key; the further, the higher. To itself it is a small loop. An arc ends at the share that
// stands at the word: `from`, `to`: whether one does.
Curve curve_of(const Frame& f, bool above, std::int32_t key, bool from, bool to) {
  const Box& word = f.words[static_cast<std::size_t>(key)];
  const float away = above ? -1.0F : 1.0F, line = above ? f.line_top : f.line_bottom;
  const auto edge = [&](bool share) { return line + away * f.s.px(5 + (share ? kShare : 0)); };
  const float room = above ? edge(true) - f.top - f.s.px(4) : f.bottom - edge(true) - f.s.px(4);
  const float from_x = f.query.centre().x, to_x = word.centre().x, far = std::fabs(from_x - to_x);
  const float most = std::max(f.words.back().max.x - f.words.front().min.x, 1.0F);
  const float up = away * room * std::min(1.30F, 0.42F + 0.95F * far / most);
  const float crest = edge(true) + up;
  if (far < 1) {
    const float side = f.s.px(13);
    return {{from_x - side / 2, edge(to)},
            {from_x - side * 1.7F, edge(true) + up * 0.8F},
            {from_x + side * 1.7F, edge(true) + up * 0.8F},
            {from_x + side / 2, edge(to)}};
  }
  const float lean = (to_x - from_x) * 0.06F;
  return {{from_x, edge(from)}, {from_x + lean, crest}, {to_x - lean, crest}, {to_x, edge(to)}};
}

void draw_arcs(const Frame& f, const SentenceHead& head, bool above) {
  // As thick as the room lets them be told apart.
  constexpr float kThickest = 11, kFullRoom = 44;
  const float room = (above ? f.line_top - f.top : f.bottom - f.line_bottom) - f.s.px(5 + kShare);
  const float thickest = kThickest * std::clamp(room / f.s.px(kFullRoom), 0.4F, 1.0F);
  const auto at_query = [&](const SentenceArc& arc) {
    return std::fabs(f.words[static_cast<std::size_t>(arc.key)].centre().x - f.query.centre().x) < 1;
  };
  const auto own = std::ranges::find_if(head.arcs, at_query);
  const bool from = own != head.arcs.end() && !share_at(f, *own).empty();
  // The thin ones first, so that they cross none that counts.
  std::vector<SentenceArc> arcs = head.arcs;
  std::ranges::stable_sort(arcs, {}, &SentenceArc::share);
  for (const SentenceArc& arc : arcs) {
    if (!std::isfinite(arc.share)) continue;
    const auto share = static_cast<float>(arc.share);
    const Curve c = curve_of(f, above, arc.key, from, !share_at(f, arc).empty());
    const float strength = (arc.live ? 1.0F : 0.62F) * (share < kFaintBelow ? 0.45F : 1.0F);
    f.list->AddBezierCubic(c.a, c.b, c.c, c.d, faded(colour_of(TensorColour::p), strength),
                           f.s.px(std::max(1.0F, thickest * share)));
  }
  // A share stands at its word, where the arc ends.
  for (const SentenceArc& arc : head.arcs) {
    const Box& box = f.words[static_cast<std::size_t>(arc.key)];
    const float y = above ? f.line_top - f.s.px(3 + kShare) : f.line_bottom + f.s.px(4);
    draw_text_in(f.list, {{box.min.x, y}, {box.max.x, y + f.s.px(kShare - 1)}}, Align::centre, Face::mono, 11,
                 colour_of(arc.live ? Token::text : Token::dim), share_at(f, arc));
  }
  if (!head.arcs.empty() && head.finite) return;
  const float y = above ? (f.top + f.line_top) / 2 - f.s.px(8) : (f.bottom + f.line_bottom) / 2 - f.s.px(8);
  draw_text_in(f.list, {{f.words.front().min.x, y}, {f.words.back().max.x, y + f.s.px(16)}}, Align::centre, Face::text,
               13, colour_of(Token::dim),
               head.finite ? tr("no weights in this row yet") : tr("the sum of this row's weights is not a number"));
}

void draw_head_line(const Frame& f, const Box& in, const SentenceHead& head, bool above) {
  const float y = above ? in.min.y : in.max.y - f.s.px(kLine - 2);
  const float sums = runs_width(head.sums, 13);
  const bool both = runs_width(head.title, 13) + sums + f.s.px(16) <= in.width();
  TextRuns title = head.title;
  while (title.size() > 1 && runs_width(title, 13) > in.width()) title.pop_back();
  draw_runs(f.list, {in.min.x, y}, 13, title);
  if (both) draw_runs(f.list, {in.max.x - sums, y}, 13, head.sums);
}

// The last step of a query tile: all that its rows may see is weighed by then.
std::optional<EventIndex> last_event_of(const Recording& rec, const StepPlace& at, std::int32_t i) {
  for (EventIndex e = rec.events.size(); e-- > 0;) {
    const EventId& id = rec.events[e].id;
    if (id.b == at.b && id.h == at.h && id.i == i) return e;
  }
  return std::nullopt;
}

// A word is a button: it asks next.
void take_pointer(const Frame& f, const Recording& rec, const StepPlace& at, const Selection& selection,
                  Commands& commands) {
  for (std::size_t n = 0; n < f.words.size(); ++n) {
    const Box& box = f.words[n];
    ImGui::PushID(static_cast<int>(n));
    ImGui::SetCursorScreenPos(box.min);
    const bool clicked =
        ImGui::InvisibleButton("##sentence_word", {box.width(), box.height()}, ImGuiButtonFlags_EnableNav);
    if (ImGui::IsItemFocused()) draw_outline(f.list, box.grown(f.s.px(2)), colour_of(Token::text), 1, 6);
    if (ImGui::IsItemHovered()) {
      std::string words;
      for (const SentenceHead& head : f.scene.heads)
        words += arc_words(f.scene, head, static_cast<std::int32_t>(n)) + ".\n";
      show_tooltip(words + for_hands(tr("Click to follow this word."), tr("Tap to follow this word.")));
    }
    ImGui::PopID();
    const std::int64_t row = static_cast<std::int64_t>(n) - rec.problem.Lk + rec.problem.Lq;
    if (!clicked || row < 0) continue;
    Selection pinned = selection;
    pinned.b = at.b, pinned.h = at.h, pinned.row = static_cast<std::int32_t>(row);
    commands.emplace_back(Select{pinned});
    const std::int32_t i = pinned.row / std::max(at.br, 1);
    if (i == at.i) continue;
    if (const auto e = last_event_of(rec, at, i)) commands.emplace_back(GoToEvent{*e});
  }
}

}  // namespace

void draw_sentence(const Box& in, const SentenceScene& scene, const Recording& rec, const StepPlace& at,
                   const Selection& selection, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (!scene.too_many.empty()) {
    draw_text_in(list, in, Align::centre, Face::text, 13, colour_of(Token::dim), scene.too_many);
    return;
  }
  Frame f{list, scene, s, {}, {}};
  Box area = in;
  const bool note = in.height() >= s.px(185);  // below, the arcs need its line
  const int lines = runs_width(scene.note, kNote) > in.width() ? 2 : 1;
  const float note_height = s.px(kLine) + line_height(kNote) * static_cast<float>(lines - 1);
  if (note) area.max.y -= note_height;
  place_words(f, area);
  for (std::size_t n = 0; n < scene.heads.size(); ++n) draw_arcs(f, scene.heads[n], n == 0);
  for (std::size_t n = 0; n < f.words.size(); ++n) {
    const bool query = scene.query_place && static_cast<std::size_t>(*scene.query_place) == n;
    draw_word(f, f.words[n], scene.words[n].word, query, scene.words[n].look);
  }
  if (!scene.query_place) draw_word(f, f.query, scene.query, true, WordLook::weighed);
  draw_live_frame(f);
  for (std::size_t n = 0; n < scene.heads.size(); ++n) draw_head_line(f, area, scene.heads[n], n == 0);
  const ImVec2 foot{in.min.x, in.max.y - note_height + s.px(4)};
  if (note && lines == 1) draw_runs(list, foot, kNote, scene.note);
  if (note && lines > 1) draw_paragraph(list, foot, in.width(), kNote, scene.note, lines);
  take_pointer(f, rec, at, selection, commands);
}

}  // namespace attn
