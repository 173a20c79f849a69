#include "viz/step/timeline/transport_draw.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/state/view_step.h"

namespace attn {
namespace {

constexpr float kSecondRow = 24, kRowGap = 6, kGap = 4;

struct Transport {
  const State& state;
  const TimelineScene& scene;
  Commands& commands;
  ImDrawList* list;
  const Style& s;
  float x, y, height;

  Box next(float width, float gap = kGap) {
    const Box box{{x, y}, {x + s.px(width), y + s.px(height)}};
    x += s.px(width + gap);
    return box;
  }
  ImU32 ink(bool enabled) const { return colour_of(enabled ? Token::text : Token::faint); }
};

bool button(const Transport& t, const char* id, const Box& box, bool enabled, const std::string& tip,
            bool primary = false) {
  ImGui::SetCursorScreenPos(box.min);
  ImGui::BeginDisabled(!enabled);
  const bool pressed = ImGui::InvisibleButton(id, {box.width(), box.height()}, ImGuiButtonFlags_EnableNav);
  const bool warm = ImGui::IsItemHovered(), held = ImGui::IsItemActive();
  ImGui::EndDisabled();
  tooltip(tip);
  ImU32 fill = colour_of(primary ? Token::text : Token::field);
  if (warm && !primary) fill = colour_of(Token::line);
  if (held || !enabled)
    fill = faded(fill, 0.6F);
  else if (warm && primary)
    fill = faded(fill, 0.85F);
  t.list->AddRectFilled(box.min, box.max, fill, t.s.px(primary || box.height() > t.s.px(28) ? 6 : 5));
  return pressed && enabled;
}

void arrow_button(Transport& t, const char* id, float width, float size, Arrow arrow, bool enabled,
                  const std::string& tip, const Command& command, float gap = kGap) {
  const Box box = t.next(for_finger(width), gap);
  if (button(t, id, box, enabled, tip)) t.commands.push_back(command);
  draw_arrow(t.list, box.centre(), size, arrow, t.ink(enabled));
}

constexpr float kPlay = 58, kGaps = 4 * 6;
constexpr float kNextLeast = 72, kNextBare = 43;  // of its word and arrow, and of the word alone

float play_width() {
  return by_touch() ? kPlay + 8 : kPlay;
}

// What the others leave of a row that wide.
float next_width(float width) {
  return width - 2 * for_finger(34) - play_width() - for_finger(28) - kGaps;
}

// `narrow`: there is a chip behind it, and Next has what the others leave of the width. Where that is too little for
// its word, as at 150 %, what is pressed least often goes first: the first step, Next's arrow, Play, the chip. Whether
// the chip has its place.
bool step_row(Transport& t, bool narrow, float width) {
  const bool back = t.scene.event > 0, forth = t.scene.event + 1 < t.scene.events;
  float room = narrow ? next_width(width) : kNextLeast;
  const bool first = room >= kNextLeast;
  if (!first) room += for_finger(34) + 6;
  const bool plays = room >= kNextBare;
  if (!plays) room += play_width() + 6;
  const bool chip = narrow && room >= kNextBare;
  if (narrow && !chip) room += for_finger(28) + 6;
  if (first)
    arrow_button(t, "##step_first", 34, 12, Arrow::first, back, with_key(tr("First step"), tr("Home")), GoToEnd{false},
                 6);
  arrow_button(t, "##step_previous", 34, 12, Arrow::left, back, with_key(tr("Previous phase"), tr("left arrow")),
               StepBy{StepUnit::phase, -1}, 6);
  Box box = t.next(narrow ? std::max(room, kNextBare) : 90, 6);
  // Beside the card of a lesson the one thing to press next is the card's, and so is that word.
  const bool primary = t.state.view.workspace != Workspace::learn;
  if (button(t, "##step_next", box, forth, with_key(tr("Next phase"), tr("right arrow or Space")), primary))
    t.commands.emplace_back(StepBy{StepUnit::phase, 1});
  const ImU32 next = primary ? colour_of(Token::ground) : t.ink(forth);
  const bool bare = box.width() < t.s.px(kNextLeast - 1);
  const float inset = box.width() < t.s.px(84) ? 12 : 20;
  const char* words = primary ? tr("Next") : tr("Step");
  draw_text_in(t.list, box, bare ? Align::centre : Align::left, Face::bold, 14, next, words, inset);
  if (!bare) draw_arrow(t.list, {box.max.x - t.s.px(inset < 20 ? 14 : 20), box.centre().y}, 12, Arrow::right, next);
  if (!plays) return chip;
  box = t.next(narrow ? play_width() : 76, narrow ? 6 : kGap);
  const bool playing = t.state.view.step.playing;
  if (button(t, "##step_play", box, forth || playing, with_key(tr("Play, pause"), "P")))
    t.commands.emplace_back(Play{!playing});
  draw_text_in(t.list, box, Align::centre, Face::text, 14, t.ink(forth || playing), playing ? tr("Pause") : tr("Play"));
  return chip;
}

// Back and forth through the steps where m of the pinned row grows; the letter between them says what.
void m_group(Transport& t) {
  const auto& steps = t.scene.m_changes;
  arrow_button(t, "##step_m_previous", 22, 8, Arrow::left, !steps.empty() && steps.front() < t.scene.event,
               with_key(tr("Previous step in which the row's m changes"), "Shift+M"),
               GoToLandmark{Landmark::m_change, -1}, 0);
  const Box box = t.next(20, 0);
  draw_runs_in(t.list, box, Align::centre, 14, {{"m", Face::maths, TensorColour::m, 0, false}});
  arrow_button(t, "##step_m_next", 22, 8, Arrow::right, !steps.empty() && steps.back() > t.scene.event,
               with_key(tr("Next step in which the row's m changes"), "M"), GoToLandmark{Landmark::m_change, 1}, 10);
}

void bookmark_group(Transport& t) {
  const auto& marks = t.scene.bookmarks;
  const bool here = std::binary_search(marks.begin(), marks.end(), t.scene.event);
  arrow_button(t, "##bookmark_previous", 22, 8, Arrow::left, !marks.empty() && marks.front() < t.scene.event,
               with_key(tr("Previous bookmark"), "Shift+N"), GoToLandmark{Landmark::bookmark, -1}, 2);
  const Box box = t.next(for_finger(24), 2);
  if (button(t, "##bookmark", box, true,
             here ? with_key(tr("Remove the bookmark"), "B") : with_key(tr("Bookmark this step"), "B")))
    t.commands.emplace_back(ToggleBookmark{t.scene.event});
  draw_ribbon(t.list, {box.centre().x, box.centre().y - t.s.px(6)}, 12, t.ink(true), here);
  arrow_button(t, "##bookmark_next", 22, 8, Arrow::right, !marks.empty() && marks.back() > t.scene.event,
               with_key(tr("Next bookmark"), "N"), GoToLandmark{Landmark::bookmark, 1}, 2);
  arrow_button(t, "##bookmark_list", 18, 7, Arrow::down, !t.state.view.step.bookmarks.empty(),
               with_key(tr("All bookmarks"), "Ctrl+B"), Ask{Popup::bookmarks}, 10);
}

void speed_group(Transport& t) {
  const float now = t.state.view.step.play_steps_per_second;
  const auto side = [&](const char* id, const char* sign, int direction, const std::string& tip, float gap) {
    const Box box = t.next(for_finger(20), gap);
    const float next = next_speed(now, direction);
    if (button(t, id, box, next != now, tip)) t.commands.emplace_back(SetPlaySpeed{next});
    draw_text_in(t.list, box, Align::centre, Face::bold, 14, t.ink(next != now), sign);
  };
  side("##speed_slower", "−", -1, with_key(tr("Play slower"), "["), 0);
  const Box box = t.next(38, 0);
  draw_text_in(t.list, box, Align::centre, Face::mono, 12, colour_of(Token::dim), speed_text(now));
  side("##speed_faster", "+", 1, with_key(tr("Play faster"), "]"), 0);
}

void key_hints(ImDrawList* list, ImVec2 at, const TimelineScene& scene) {
  const Style& s = style();
  const ImU32 key = colour_of(Token::text), what = colour_of(Token::dim);
  draw_arrow(list, {at.x + s.px(4), at.y + s.px(7)}, 8, Arrow::left, key);
  draw_arrow(list, {at.x + s.px(17), at.y + s.px(7)}, 8, Arrow::right, key);
  float x = at.x + s.px(28);
  const auto words = [&](Face face, ImU32 c, std::string_view text, float gap) {
    draw_text(list, {x, at.y}, face, 12, c, text);
    x += text_width(face, 12, text) + s.px(gap);
  };
  words(Face::text, what, tr("phase"), 12);
  words(Face::mono, key, tr("Shift"), 5);
  words(Face::text, what, scene.by_shift, 12);
  words(Face::mono, key, tr("Ctrl"), 5);
  words(Face::text, what, scene.by_ctrl, 0);
}

}  // namespace

void draw_ribbon(ImDrawList* list, ImVec2 top, float size, ImU32 c, bool filled) {
  const Style& s = style();
  const float half = s.px(size * 0.36F), height = s.px(size), notch = s.px(size * 0.3F);
  const ImVec2 points[] = {{top.x - half, top.y},
                           {top.x + half, top.y},
                           {top.x + half, top.y + height},
                           {top.x, top.y + height - notch},
                           {top.x - half, top.y + height}};
  if (filled) {
    list->AddConcavePolyFilled(points, std::size(points), c);
  } else {
    list->AddPolyline(points, std::size(points), c, ImDrawFlags_Closed, std::max(1.0F, s.px(1.3F)));
  }
}

TransportSize transport_size(float given) {
  const TransportSize usual;
  constexpr float kForFingers = 322;
  if (given > 0) return {given, for_finger(usual.row), false};
  return by_touch() ? TransportSize{kForFingers, for_finger(usual.row), false} : usual;
}

bool draw_transport(const Box& box, const State& state, const TimelineScene& scene, Commands& commands,
                    const TransportSize& size, Box& more) {
  const Style& s = style();
  Transport t{state, scene, commands, ImGui::GetWindowDrawList(), s, box.min.x, box.min.y, size.row};
  const float second = box.min.y + s.px(size.row + kRowGap);
  const bool narrow = !size.marks || second + s.px(kSecondRow) > box.max.y + 1;
  const bool chip = step_row(t, narrow, size.width);
  if (narrow && !chip) return false;
  if (narrow) {
    more = t.next(for_finger(28));
    const bool pressed =
        button(t, "##timeline_more", more, true, tr("Bookmarks, changes in m, speed and the whole run"));
    for (const float x : {-6.0F, 0.0F, 6.0F})
      t.list->AddCircleFilled({more.centre().x + s.px(x), more.centre().y}, s.px(1.75F), t.ink(true));
    return pressed;
  }
  draw_transport_marks({{box.min.x, second}, box.max}, state, scene, commands);
  const float hints = second + s.px(kSecondRow + 7);
  if (!by_touch() && hints + s.px(13) <= box.max.y) key_hints(t.list, {box.min.x, hints}, t.scene);
  return false;
}

float transport_marks_height() {
  return by_touch() ? 2 * kFinger + kRowGap : kSecondRow;
}

void draw_transport_marks(const Box& box, const State& state, const TimelineScene& scene, Commands& commands) {
  const float row = for_finger(kSecondRow);
  Transport t{state, scene, commands, ImGui::GetWindowDrawList(), style(), box.min.x, box.min.y, row};
  m_group(t);
  if (!by_touch()) {
    bookmark_group(t);
    return speed_group(t);
  }
  speed_group(t);
  t.x = box.min.x;
  t.y += t.s.px(row + kRowGap);
  bookmark_group(t);
}

}  // namespace attn
