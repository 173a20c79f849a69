// Time to the right; who computes above, what lies in memory below, so that a release is a vertical line. All of
// that is on one screen: lanes take the height that is left.
#include "viz/profile/timeline/timeline_draw.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/timeline/ahead_draw.h"
#include "viz/profile/timeline/answers_draw.h"
#include "viz/profile/timeline/blocks_draw.h"
#include "viz/profile/timeline/choices_draw.h"
#include "viz/profile/timeline/keys_draw.h"
#include "viz/profile/timeline/lanes_draw.h"
#include "viz/profile/timeline/recorded_panel_draw.h"
#include "viz/profile/timeline/sms_draw.h"

namespace attn {
namespace {

// Logical pixels.
constexpr float kHead = 24, kWordsGap = 6, kBelowKey = 4, kOverviewGap = 8, kLine = 20, kLabel = 148,
                kLabelNarrow = 104, kNarrowCard = 640, kPads = 24, kBehindName = 16, kDoor = 28, kDoorSides = 24,
                kPanel = 304, kPanelHeight = 640;
constexpr float kPageFade = 26;                            // where more of the page follows, its last lines are pale
constexpr int kMostTail = 4, kMostWords = 6, kAllOf = 12;  // lines

// Over all SMs: nothing of the one block, so that they have the room.
TextRuns tail_runs(const PipelineScene& scene) {
  const std::string words = scene.beside == nullptr
                                ? scene.tail
                                : phrase("Above: {}", scene.tail) + " " + phrase("Below: {}", scene.beside->tail);
  return {{words, Face::text, Token::dim, 0, false}};
}
float door_height(const PipelineScene& scene) {
  return scene.door ? style().px(kDoor + kWordsGap) : 0;
}
// To a recording that says what this one does not.
void draw_door(const PipelineScene& scene, ImVec2 at, Commands& commands) {
  if (!scene.door) return;
  const float width = text_width(Face::text, 13, scene.door->words) + style().px(kDoorSides);
  if (box_button({at, {at.x + width, at.y + style().px(kDoor)}}, "##timeline_door", scene.door->words.c_str()))
    commands.push_back(ChooseTimeline{scene.door->id});
  tooltip(scene.door->tip);
}

// All of the words where the pointer rests on the room that holds some of them.
void tell_all(const char* id, const Box& room, const std::string& words) {
  ImGui::SetCursorScreenPos(room.min);
  ImGui::InvisibleButton(id, {room.width(), room.height()});
  tooltip(words);
}

// The longest of these, the longest first, that a line has room for: all of it where the pointer rests.
void draw_one_line(ImDrawList* list, const char* id, const Box& line, Token token,
                   const std::vector<std::string>& forms, const std::string& all) {
  const Style& s = style();
  const auto fits = std::ranges::find_if(
      forms, [&](const std::string& words) { return text_width(Face::text, 12, words) <= line.width(); });
  const std::string& words = fits == forms.end() ? forms.back() : *fits;
  draw_text_in(list, line, Align::left, Face::text, 12, colour(s.theme, token),
               fitted_text(Face::text, 12, words, line.width()));
  tell_all(id, line, all);
}

std::string words_below_answers(const PipelineScene& scene) {
  return scene.beside != nullptr ? scene.beside_words : scene.words;
}

// What two recordings leave out where both are not in sight otherwise.
struct Fold {
  bool words = false;     // have one line
  bool overview = false;  // of the whole block: none
  bool q = false;         // no lane that copies Q alone
};

TextRuns dim_runs(const std::string& words) {
  return {{words, Face::text, Token::dim, 0, false}};
}

float below_height(const PipelineScene& scene, float width, Fold fold) {
  if (fold.words) return style().px(kLine);
  return std::max(style().px(kLine),
                  draw_paragraph(nullptr, {}, width, 12, dim_runs(words_below_answers(scene)), kAllOf, false));
}

float words_height(const PipelineScene& scene, float width, Fold fold) {
  const Style& s = style();
  if (scene.sms_shown) return draw_paragraph(nullptr, {}, width, 13, tail_runs(scene), kMostTail, false);
  if (scene.answers.empty() && scene.beside == nullptr) {
    return draw_paragraph(nullptr, {}, width, 13, dim_runs(scene.words), kMostWords, false) + s.px(kWordsGap) +
           door_height(scene);
  }
  return (scene.beside == nullptr ? answers_height(scene, width) : 0) +
         (words_below_answers(scene).empty() ? 0 : below_height(scene, width, fold)) + s.px(kWordsGap);
}

void draw_words(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width, Fold fold, Commands& commands) {
  const Style& s = style();
  if (scene.sms_shown) {
    draw_paragraph(list, at, width, 13, tail_runs(scene), kMostTail);
    return;
  }
  if (scene.answers.empty() && scene.beside == nullptr) {
    at.y += draw_paragraph(list, at, width, 13, dim_runs(scene.words), kMostWords) + s.px(kWordsGap);
    return draw_door(scene, at, commands);
  }
  if (scene.beside == nullptr) {
    draw_answers(list, scene, at, width, commands);
    at.y += answers_height(scene, width);
  }
  if (fold.words && scene.beside != nullptr)
    return draw_one_line(list, "timeline_compared", {at, {at.x + width, at.y + s.px(kLine)}}, Token::dim,
                         scene.beside_forms, scene.beside_words);
  if (const std::string words = words_below_answers(scene); !words.empty())
    draw_paragraph(list, at, width, 12, dim_runs(words), kAllOf);
}

// What is shown, and how one moves there; without that where it has no room.
std::vector<std::string> title_words(const PipelineScene& scene) {
  if (scene.sms_shown) return {sms_words()};
  std::string words = scene.title;
  if (scene.follow >= 0) words += phrase("; key tile {} is lit", scene.follow);
  words += ".";
  return {words + " " +
              for_hands(tr("Drag or Ctrl+wheel zooms, Shift+drag measures, a click follows a tile."),
                        tr("Tap a tile to follow it.")),
          words};
}

void draw_title(ImDrawList* list, const PipelineScene& scene, const Box& line, float right) {
  const Style& s = style();
  draw_text_in(list, line, Align::left, Face::bold, 13, colour(s.theme, Token::text), tr("Timeline"));
  const float left = line.min.x + text_width(Face::bold, 13, tr("Timeline")) + s.px(12);
  if (right - left < s.px(60)) return;
  const std::vector<std::string> words = title_words(scene);
  draw_one_line(list, "timeline_title", {{left, line.min.y}, {right - s.px(8), line.max.y}}, Token::dim, words,
                words.front());
}

constexpr const char* kRecorded = "timeline_recorded";

// The panel, where it has no room beside the page.
void draw_recorded_popup(const PipelineScene& scene, const Box& line, Commands& commands) {
  const Style& s = style();
  const ImVec2 window = ImGui::GetMainViewport()->Size;
  const ImVec2 size{s.px(kPanel), std::min(s.px(kPanelHeight), window.y - line.max.y - s.px(kPads))};
  ImGui::SetNextWindowPos({line.max.x - size.x, line.max.y + s.px(2)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool open = ImGui::BeginPopup(kRecorded);
  ImGui::PopStyleVar();
  if (!open) return;
  draw_recorded_panel(scene, size, commands);
  ImGui::EndPopup();
}

// Title, what to press.
void draw_head(ImDrawList* list, const PipelineScene& scene, const Box& line, bool with_panel, Commands& commands) {
  const Style& s = style();
  float right = line.max.x;
  const auto button = [&](const char* label, bool on, const char* help, const char* widest = nullptr) {
    const float width = text_width(Face::text, 12, widest == nullptr ? label : widest) + s.px(12);
    right -= width;
    ImGui::SetCursorScreenPos(
        {right + width - text_width(Face::text, 12, label) - s.px(12), line.centre().y - s.px(7)});
    const bool clicked = toggle(label, on, help);
    right -= s.px(6);
    return clicked;
  };
  button("?", false, scene.notes.c_str());
  if (!with_panel &&
      button(tr("Recording"), ImGui::IsPopupOpen(kRecorded), tr("What was recorded, its figures, and how to save it")))
    ImGui::OpenPopup(kRecorded);
  draw_recorded_popup(scene, line, commands);
  if (button(tr("All SMs"), scene.sms_shown, tr("All blocks of the launch: gaps and the tail")))
    commands.push_back(ShowAllSms{!scene.sms_shown});
  if (scene.sms_shown) return draw_title(list, scene, line, right);
  const bool net = scene.path_wanted && !scene.with_path;
  if (!scene.path.empty() &&
      button(tr("Path"), scene.with_path,
             net ? tr("Zoom in to see the critical path: it has too many segments at this scale")
                 : tr("The critical path: what determines how long the block takes")) &&
      !net)
    commands.push_back(ShowTimePath{!scene.path_wanted});
  // Whichever it is, it takes the same room, so that the button beside it stays where it is.
  const char* const whole = tr("Whole block");
  const char* const some = tr("Some tiles");
  const char* const wider = text_width(Face::text, 12, whole) > text_width(Face::text, 12, some) ? whole : some;
  if (!scene.whole && button(whole, false,
                             for_hands(tr("Shows the whole block, as does a double click"),
                                       tr("Shows the whole block, as does a double tap")),
                             wider))
    commands.push_back(whole_block(scene));
  if (scene.whole && button(some, false, tr("Shows some key tiles in the middle of the block"), wider))
    commands.push_back(ChooseTimeSpan{});
  if (scene.follow >= 0 && button(tr("All tiles"), false, tr("Follows no key tile")))
    commands.push_back(FollowKeyTile{});
  draw_title(list, scene, line, right);
}

float above_height(const PipelineScene& scene, float width, Fold fold) {
  return style().px(kHead + kTimelineChoices) + words_height(scene, width, fold);
}

// Head, menus, answers. Returns the y below them.
float draw_above(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width, Fold fold, bool with_panel,
                 Commands& commands) {
  const Style& s = style();
  const float right = at.x + width;
  draw_head(list, scene, {at, {right, at.y + s.px(kHead)}}, with_panel, commands);
  float y = at.y + s.px(kHead);
  draw_timeline_choices(scene, {{at.x, y}, {right, y + s.px(kTimelineChoices)}}, commands);
  y += s.px(kTimelineChoices);
  draw_words(list, scene, {at.x, y}, width, fold, commands);
  return y + words_height(scene, width, fold);
}

float label_width(float width) {
  return style().px(width < style().px(kNarrowCard) ? kLabelNarrow : kLabel);
}

// The path's shares are of one recording: two are compared by the panel.
float shares_height(const PipelineScene& scene, float width) {
  return scene.beside == nullptr ? path_bar_height(scene, width) : 0;
}

// The card but for its rows; `width` within its pads.
float frame_height(const PipelineScene& scene, float width, Fold fold) {
  const Style& s = style();
  const float overview = fold.overview ? 0 : overview_height(scene) + s.px(kOverviewGap);
  const float height = above_height(scene, width, fold) + shares_height(scene, width) +
                       timeline_key_height(scene, width) + overview + s.px(kPads + kBelowKey + kTimeAxis);
  return scene.beside == nullptr ? height : height + s.px(kLine + kLine + kOverviewGap + kTimeAxis);
}

std::vector<const PipelineScene*> halves_of(const PipelineScene& scene) {
  std::vector<const PipelineScene*> halves{&scene};
  if (scene.beside != nullptr) halves.push_back(scene.beside.get());
  return halves;
}

// The card's form on a page so high: rows end above where the page fades.
struct LanesForm {
  Fold fold;
  RowHeights heights;
};
LanesForm form_of(const PipelineScene& scene, float width, float page) {
  constexpr std::array kFolds{Fold{}, Fold{true, false, false}, Fold{true, true, false}, Fold{true, true, true}};
  const std::vector<const PipelineScene*> halves = halves_of(scene);
  const auto room = [&](Fold fold) {
    return (page - style().px(kPageFade) - frame_height(scene, width, fold)) / style().scale;
  };
  const auto fits = [&](Fold fold) { return least_rows_height(halves, fold.q) <= room(fold); };
  const auto at = scene.beside == nullptr ? kFolds.begin() : std::ranges::find_if(kFolds, fits);
  const Fold fold = at == kFolds.end() ? kFolds.back() : *at;
  return {fold, row_heights(halves, room(fold), fold.q)};
}

// Which of two a half is, by what differs. Returns the x behind it.
float draw_half_name(ImDrawList* list, const PipelineScene& scene, const Box& line, const char* half,
                     const std::string& what) {
  const Style& s = style();
  draw_text_in(list, line, Align::left, Face::bold, 13, colour(s.theme, Token::text), half);
  const float left = line.min.x + text_width(Face::bold, 13, half) + s.px(8);
  draw_text_in(list, {{left, line.min.y}, line.max}, Align::left, Face::text, 13,
               kernel_colour(s.theme, scene.timeline->kernel), fitted_text(Face::text, 13, what, line.max.x - left));
  return std::min(line.max.x, left + text_width(Face::text, 13, what) + s.px(kBehindName));
}

// The key, and the whole block above the rows. Returns the y below them.
float draw_above_rows(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width, Fold fold,
                      Commands& commands) {
  const Style& s = style();
  const float right = at.x + width, label = label_width(width);
  if (scene.beside == nullptr) draw_path_bar(list, scene, at, width);
  float y = at.y + shares_height(scene, width);
  draw_timeline_key(list, scene, {at.x, y}, width);
  y += timeline_key_height(scene, width) + style().px(kBelowKey);
  if (fold.overview) return y;
  const float over = overview_height(scene);
  draw_text_in(list, {{at.x, y}, {at.x + label, y + over}}, Align::left, Face::text, 12, colour(s.theme, Token::dim),
               fitted_text(Face::text, 12, scene.beside == nullptr ? tr("whole block") : tr("whole block, above"),
                           label - s.px(6)));
  draw_overview(list, scene, {{at.x + label, y}, {right, y + over}}, commands);
  return y + over + s.px(kOverviewGap);
}

void draw_one(ImDrawList* list, const Chart& chart, float left, Commands& commands) {
  draw_time_axis(list, chart, chart.plot.min.y - style().px(kTimeAxis), &commands);
  draw_chart(list, chart, left);
  follow_pointer(list, chart, commands);
}

void draw_two(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float right, float label,
              const RowHeights& heights, Commands& commands) {
  const Style& s = style();
  const Box upper{at, {right, at.y + s.px(kLine)}};
  const float named = draw_half_name(list, scene, upper, tr("Above"), scene.above_label);
  draw_paragraph(list, {named, upper.centre().y - s.px(12) / 2}, right - named, 12, alignment_words(scene), 1);
  Chart above = chart_at(scene, {at.x + label, upper.max.y + s.px(kTimeAxis)}, right, heights);
  const float top = above.plot.max.y + s.px(kOverviewGap);
  const Box lower{{at.x, top}, {right, top + s.px(kLine)}};
  Chart below = chart_at(*scene.beside, {at.x + label, lower.max.y + s.px(kTimeAxis)}, right, heights);
  add_moments(scene, above, below);
  draw_one(list, above, at.x, commands);
  const float taken = draw_half_name(list, *scene.beside, lower, tr("Below"), scene.beside_label);
  draw_time_axis(list, below, lower.max.y, nullptr);
  draw_chart(list, below, at.x);
  if (const auto ahead = ahead_of(scene))
    draw_ahead(list, {above, below}, *ahead, {{taken, lower.min.y}, lower.max}, ahead_words(scene, *ahead));
  else
    draw_no_bracket(list, {{taken, lower.min.y}, lower.max}, why_no_bracket(scene));
  point_below(list, below);
}

void draw_lanes(const PipelineScene& scene, float page, bool with_panel, Commands& commands) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, right = at.x + width, label = label_width(width);
  const auto [fold, heights] = form_of(scene, width, page);
  float y = draw_above(list, scene, at, width, fold, with_panel, commands);
  y = draw_above_rows(list, scene, {at.x, y}, width, fold, commands);
  if (scene.beside != nullptr) return draw_two(list, scene, {at.x, y}, right, label, heights, commands);
  draw_one(list, chart_at(scene, {at.x + label, y + style().px(kTimeAxis)}, right, heights), at.x, commands);
}

void draw_sms_page(const PipelineScene& scene, bool with_panel, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  float y = draw_above(list, scene, at, room.x, {}, with_panel, commands);
  draw_sms_key(list, scene, {at.x, y}, room.x);
  y += sms_key_height(scene, room.x) + s.px(kOverviewGap);
  draw_all_sms(list, scene, {{at.x, y}, {at.x + room.x, at.y + room.y}}, commands);
}

float sms_page_height(const PipelineScene& scene, float width) {
  const Style& s = style();
  const float inner = width - 2 * s.px(kCardSide);
  return s.px(kPads + kOverviewGap) + above_height(scene, inner, {}) + sms_key_height(scene, inner) + sms_height(scene);
}

float lanes_card_height(const PipelineScene& scene, ImVec2 room) {
  const float inner = room.x - 2 * style().px(kCardSide);
  const auto [fold, heights] = form_of(scene, inner, room.y);
  float height = frame_height(scene, inner, fold);
  for (const PipelineScene* const half : halves_of(scene)) height += style().px(all_rows_height(*half, heights));
  return height;
}

}  // namespace

void draw_timeline(const PipelineScene& scene, ImVec2 room, bool with_panel, Commands& commands) {
  const Style& s = style();
  if (!scene.there) {
    if (begin_card("profile_timeline", {room.x, s.px(92)})) {
      heading(tr("Timeline"));
      dim_text(scene.empty);
    }
    return ImGui::EndChild();
  }
  if (scene.sms_shown) {
    const float least = sms_page_height(scene, room.x), other = least - sms_height(scene);
    // No higher than its lines; a pixel more, since the first one begins on a whole pixel.
    const float height = std::min(other + sms_height_in(scene, std::max(room.y, least) - other) + 1, room.y);
    if (begin_card("profile_timeline", {room.x, std::max(height, least)})) draw_sms_page(scene, with_panel, commands);
    return ImGui::EndChild();
  }
  if (begin_card("profile_timeline", {room.x, lanes_card_height(scene, room)}))
    draw_lanes(scene, room.y, with_panel, commands);
  ImGui::EndChild();
  draw_blocks(scene, {room.x, blocks_height(scene, room.x)}, commands);
}

}  // namespace attn
