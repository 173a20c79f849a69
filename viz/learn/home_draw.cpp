#include "viz/learn/home_draw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "imgui.h"
#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/learn/card/card_foot_draw.h"
#include "viz/learn/card/pen_draw.h"
#include "viz/learn/chapter_map.h"
#include "viz/learn/chapter_map_draw.h"

namespace attn {
namespace {

constexpr float kGutter = 12, kCardHeight = 118, kLeastColumn = 250, kHeroHeight = 104, kHeroNarrow = 172,
                kDoorWidth = 900, kPrintWidth = 560, kFindWidth = 640;

// Chapters under one heading.
struct Part {
  std::string title;
  std::vector<const ChapterScene*> chapters;
  int minutes = 0;
};

std::vector<Part> parts_of(const LearnScene& learn) {
  std::vector<Part> parts;
  for (const ChapterScene& c : learn.chapters) {
    const std::string title = c.own ? tr("Your own") : c.part;
    auto it = std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.title == title; });
    if (it == parts.end()) it = parts.insert(parts.end(), Part{title, {}, 0});
    it->chapters.push_back(&c);
    it->minutes += c.minutes;
  }
  return parts;
}

void draw_tick(ImDrawList* list, ImVec2 at, ImU32 ink) {
  const Style& s = style();
  list->AddLine({at.x, at.y}, {at.x + s.px(3.5F), at.y + s.px(4)}, ink, s.px(2));
  list->AddLine({at.x + s.px(3.5F), at.y + s.px(4)}, {at.x + s.px(10), at.y - s.px(4)}, ink, s.px(2));
}

// What the hero says of where one stands.
struct HeroWords {
  std::string place, minutes;
};
// `later`: some chapter was gone through before this one.
HeroWords hero_words(const ChapterScene& c, bool later, const LearnScene& learn) {
  // A checkpoint is no chapter, and its title stands below.
  const std::string named = c.number.empty() ? std::string() : ", chapter " + c.number;
  HeroWords words;
  words.place = learn.teach ? for_hands(tr("For a class: choose a chapter. Press Esc to leave. Nothing here is saved"),
                                        tr("For a class: choose a chapter. Nothing here is saved"))
                : c.last    ? phrase("You are here{}, {} of {}", named, c.seen, c.beats)
                : later     ? phrase("Next{}, {} minutes", named, c.minutes)
                            : phrase("Start here, {} minutes", c.minutes);
  const ChapterMap map = chapter_map(learn);
  if (map.minutes > 0) words.minutes = phrase("about {} of {} minutes done", map.walked_minutes, map.minutes);
  return words;
}

// Where rows are words: a learner's first door besides the chapters.
std::string words_door() {
  return tr("See it on a sentence");
}
void open_words(Commands& commands) {
  open_by_door("words", commands);
}
bool hero_has_door(const LearnScene& learn, float width) {
  return !learn.teach && width >= style().px(kDoorWidth);
}

// Of the chapter that is pointed at on the map, in the hero's place: nothing of the map is covered.
HeroWords told_words(const MapStop& stop, const ChapterScene& c) {
  HeroWords words;
  words.place = stop.needs.empty()
                    ? phrase("{} min", c.minutes)
                    : phrase("This chapter {}. You can start anyway: two lines explain what it builds on.", stop.needs);
  return words;
}

// What the hero says, beside its buttons.
void draw_hero_words(const ChapterScene& c, const Box& in, const HeroWords& said) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text(list, {in.min.x, in.min.y + s.px(14)}, Face::text, 13, colour_of(Token::dim),
            fitted_text(Face::text, 13, said.place, in.width()));
  draw_text(list, {in.min.x, in.min.y + s.px(33)}, Face::bold, 22, colour_of(Token::text),
            fitted_text(Face::bold, 22, c.title, in.width()));
  const ImVec2 goal{in.min.x, in.min.y + s.px(66)};
  if (text_width(Face::text, 15, c.goal) <= in.width())
    draw_text(list, goal, Face::text, 15, colour_of(Token::text), c.goal);
  else
    draw_paragraph(list, goal, in.width(), 15, {{c.goal, Face::text, Token::text, 0, false}},
                   in.height() >= s.px(kHeroNarrow) ? 2 : 1);
}

// The card with its buttons; returns where its words stand.
Box draw_hero(const ChapterScene& c, const Box& box, const HeroWords& said, bool with_door, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  const bool wide = box.width() >= s.px(620);
  const Box go{{wide ? box.max.x - s.px(24 + 190) : box.min.x + s.px(24), box.max.y - s.px(18 + for_finger(38))},
               {wide ? box.max.x - s.px(24) : box.min.x + s.px(24 + 190), box.max.y - s.px(18)}};
  Box door = go;
  if (with_door) {
    door.max.x = go.min.x - s.px(10);
    door.min.x = door.max.x - text_width(Face::text, 13, words_door()) - s.px(32);
  }
  const Box words{{box.min.x + s.px(24), box.min.y}, {(wide ? door.min.x : box.max.x) - s.px(24), box.max.y}};
  const float minutes = text_width(Face::text, 13, said.minutes);
  if (wide)
    draw_text(list, {box.max.x - s.px(24) - minutes, box.min.y + s.px(14)}, Face::text, 13, colour_of(Token::dim),
              said.minutes);
  bool begin = accent_button(go, "##learn_continue", c.seen > 0 ? tr("Continue") : tr("Start"), true);
  // Enter goes on unless a chapter or a button is chosen by the keyboard.
  const bool free = !ImGui::GetIO().WantTextInput && !ImGui::IsAnyItemFocused() &&
                    !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
  begin |= free && (key_pressed(ImGuiKey_Enter) || key_pressed(ImGuiKey_KeypadEnter));
  if (begin) commands.emplace_back(StartLesson{c.id, ""});
  if (!with_door) return words;
  if (box_button(door, "##learn_words", words_door().c_str())) open_words(commands);
  tooltip(tr(
      "Type a sentence and watch each word attend to the others. Opens Step with the preset \"Words of a sentence\""));
  return words;
}

void draw_chapter(const ChapterScene& c, const Box& box, bool next, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(box.min);
  const std::string id = "##chapter_" + c.id;
  // From the start where it was gone through, else where the learner stopped.
  if (ImGui::InvisibleButton(id.c_str(), {box.width(), box.height()}, ImGuiButtonFlags_EnableNav))
    commands.emplace_back(StartLesson{c.id, ""});
  const bool lit = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  draw_card(list, box);
  if (lit || next) draw_outline(list, box, colour_of(lit ? Token::text : Token::faint), 1.5F, 8);
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  const float x = box.min.x + s.px(16), right = box.max.x - s.px(16);
  draw_text(list, {right - text_width(Face::text, 14, c.number), box.min.y + s.px(15)}, Face::text, 14,
            colour_of(Token::dim), c.number);
  draw_text(list, {x, box.min.y + s.px(14)}, Face::bold, 15, colour_of(Token::text),
            fitted_text(Face::bold, 15, c.title, right - x - s.px(24)));
  draw_paragraph(list, {x, box.min.y + s.px(38)}, right - x, 14, {{c.goal, Face::text, Token::dim, 0, false}}, 2);
  const float y = box.max.y - s.px(30);
  draw_text(list, {x, y}, Face::text, 13, colour_of(Token::dim), phrase("{} min", c.minutes));
  const std::string words = progress_words(c);
  if (words.empty()) return;
  const float width = text_width(Face::text, 13, words);
  draw_text(list, {right - width, y}, Face::text, 13, colour_of(Token::text), words);
  if (c.known == c.questions && c.questions > 0)
    draw_tick(list, {right - width - s.px(18), y + s.px(9)}, colour_of(Token::text));
}

// Under the chapters: mistakes that were made more than once, the language, a way to forget.
void draw_home_foot(const LearnScene& learn, const Box& box, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  float x = box.min.x + s.px(4);
  if (!learn.misconceptions.empty()) {
    const std::string label = tr("Worth another look:");
    draw_text_in(list, {{x, box.min.y}, {x + s.px(200), box.max.y}}, Align::left, Face::text, 13, colour_of(Token::dim),
                 label);
    x += text_width(Face::text, 13, label) + s.px(10);
    for (const Misconception& m : learn.misconceptions) {
      const std::string words = phrase("{}, {} times", m.words, m.count);
      const float width = text_width(Face::text, 13, words) + s.px(24);
      if (x + width > box.max.x - s.px(320)) break;
      if (box_button({{x, box.min.y}, {x + width, box.max.y}}, ("##look_" + m.lesson + m.words).c_str(), words.c_str()))
        commands.emplace_back(StartLesson{m.lesson, ""});
      x += width + s.px(8);
    }
  }
  float right = box.max.x;
  const auto button = [&](const char* id, const std::string& words, bool on) {
    const float width = text_width(Face::text, 13, words) + s.px(24);
    const Box b{{right - width, box.min.y}, {right, box.max.y}};
    right = b.min.x - s.px(8);
    const bool clicked = box_button(b, id, words.c_str());
    if (on) draw_outline(list, b, colour_of(Token::dim), 1, 6);
    return clicked;
  };
  const bool begun =
      std::any_of(learn.chapters.begin(), learn.chapters.end(), [](const auto& c) { return c.seen > 0; });
  if (!learn.teach && !hero_has_door(learn, box.width()) && button("##learn_words", words_door(), false))
    open_words(commands);
  if (!learn.teach && box.width() >= s.px(kPrintWidth) &&
      std::ranges::any_of(learn.chapters, [](const auto& c) { return c.exercises > 0; })) {
    if (button("##learn_print", tr("Print a chapter"), false)) commands.emplace_back(Ask{Popup::print_chapter});
    tooltip(tr("A page of exercises for a learner or a class, as a PDF, with the answers in a second file"));
  }
  if (!learn.teach && box.width() >= s.px(kFindWidth)) {
    if (button("##learn_find", tr("Find a word"), false)) commands.emplace_back(Ask{Popup::palette});
    tooltip(for_hands(tr("What a letter or a term means, and the chapter that shows it: LSE, FLOP, √D. Ctrl+P"),
                      tr("What a letter or a term means, and the chapter that shows it: LSE, FLOP, √D")));
  }
  if (begun && button("##learn_forget", tr("Delete my answers"), false)) commands.emplace_back(ForgetLessons{});
  if (learn.languages.size() < 2) return;
  for (auto it = learn.languages.rbegin(); it != learn.languages.rend(); ++it)
    if (button(("##language_" + *it).c_str(), *it, *it == learn.language)) commands.emplace_back(ChooseLanguage{*it});
}

// The chapters as cards under their headings, where a map has no room. Returns where they end.
float draw_chapter_cards(const LearnScene& learn, const std::vector<Part>& parts, ImVec2 at, float width,
                         std::optional<std::size_t> next, Commands& commands) {
  const Style& s = style();
  const float gutter = s.px(kGutter);
  float y = at.y;
  const auto columns =
      static_cast<std::size_t>(std::clamp(std::floor((width + gutter) / (s.px(kLeastColumn) + gutter)), 1.0F,
                                          static_cast<float>(std::max<std::size_t>(parts.size(), 1))));
  const float column = (width - gutter * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  for (std::size_t first = 0; first < parts.size(); first += columns) {
    float lowest = y;
    for (std::size_t n = first; n < std::min(first + columns, parts.size()); ++n) {
      const float x = at.x + static_cast<float>(n - first) * (column + gutter);
      float top = y;
      const Box title{{x + s.px(4), top}, {x + column - s.px(4), top + s.px(22)}};
      draw_text_in(ImGui::GetWindowDrawList(), title, Align::left, Face::bold, 14, colour_of(Token::text),
                   parts[n].title);
      draw_text_in(ImGui::GetWindowDrawList(), title, Align::right, Face::text, 13, colour_of(Token::dim),
                   phrase("{} min", parts[n].minutes));
      top += s.px(28);
      for (const ChapterScene* c : parts[n].chapters) {
        draw_chapter(*c, {{x, top}, {x + column, top + s.px(kCardHeight)}}, next && c == &learn.chapters[*next],
                     commands);
        top += s.px(kCardHeight) + gutter;
      }
      lowest = std::max(lowest, top);
    }
    y = lowest + s.px(8);
  }
  return y;
}

}  // namespace

void draw_learn_home(const LearnScene& learn, CardUiState& ui, Commands& commands) {
  const Style& s = style();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::BeginChild("home", size, ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float bar = ImGui::GetScrollMaxY() > 0 ? s.px(14) : 0, width = size.x - bar, foot = s.px(for_finger(30) + 4);
  float y = at.y;
  HeroWords said;
  Box words;
  const auto next = next_chapter(learn);
  const bool later = std::any_of(learn.chapters.begin(), learn.chapters.end(), gone_through);
  if (!next) {
    draw_text(ImGui::GetWindowDrawList(), {at.x + s.px(16), y + s.px(16)}, Face::text, 15, colour_of(Token::dim),
              for_hands(tr("There are no chapters here. To open your own, press Ctrl+O."),
                        tr("There are no chapters here. You can open your own like any other file.")));
  } else {
    const ChapterScene& c = learn.chapters[*next];
    const float hero = s.px(width >= s.px(620) ? kHeroHeight : kHeroNarrow);
    said = hero_words(c, later, learn);
    words = draw_hero(c, {{at.x, y}, {at.x + width, y + hero}}, said, hero_has_door(learn, width), commands);
    y += hero + s.px(kGutter);
  }
  std::optional<std::size_t> told;
  const Box map{{at.x, y}, {at.x + width, at.y + size.y - foot - s.px(8)}};
  std::vector<Part> parts = parts_of(learn);
  if (map_has_room(map) && next) {
    if (!ui.roads) ui.roads = std::make_shared<MapRoads>();
    const ChapterMap stops = chapter_map(learn);
    if (const auto lit = draw_chapter_map(learn, stops, map, *ui.roads, commands)) {
      told = stops.stops[*lit].chapter;
      if (told != next) said = told_words(stops.stops[*lit], learn.chapters[*told]);
    }
    y = map.max.y + s.px(kGutter);
    // Chapters without a place stand below it.
    std::erase_if(parts, [](Part& p) {
      std::erase_if(p.chapters, [](const ChapterScene* c) { return c->x > 0 && !c->own; });
      return p.chapters.empty();
    });
  }
  if (next) draw_hero_words(learn.chapters[told.value_or(*next)], words, said);
  if (!parts.empty()) y = draw_chapter_cards(learn, parts, {at.x, y}, width, next, commands);
  draw_home_foot(learn, {{at.x, y}, {at.x + width, y + s.px(for_finger(30))}}, commands);
  y += foot;
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({1, y - at.y - s.px(4)});
  fade_page();
  ImGui::EndChild();
}

}  // namespace attn
