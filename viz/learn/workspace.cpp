#include "viz/learn/workspace.h"

#include <algorithm>

#include "imgui.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/learn/card/card_draw.h"
#include "viz/learn/card/card_head_draw.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/learn/card/number_bar_draw.h"
#include "viz/learn/card/question_map_draw.h"
#include "viz/learn/exercise_draw.h"
#include "viz/learn/home_draw.h"
#include "viz/learn/lesson/typed_number.h"
#include "viz/step/workspace.h"

namespace attn {
namespace {

constexpr float kCardWidth = 260, kClassCard = 350, kGutter = 12;
constexpr float kBoth = 560;  // below it card and run have no room beside one another, and each has the whole

// Step's own panels, in a box of their own.
void draw_stage(const State& state, const Model& model, const LearnScene& learn, const Box& box, StepUiState& step,
                Commands& commands) {
  step.hidden = learn.hidden;
  step.look = learn.look;
  ImGui::SetCursorScreenPos(box.min);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::BeginChild("stage", {box.width(), box.height()}, ImGuiChildFlags_NavFlattened,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  draw_step(state, model, step, commands);
  ImGui::EndChild();
}

// The open question's number has a field in its own cell too, with the text of the card's.
void lend_question(const CardScene& card, const CardUiState& ui, TilesUiState& tiles) {
  tiles.asked.reset();
  if (card.open && card.cell && ui.showing == card.number_of_showing)
    tiles.asked = AskedCell{*card.cell, ui.typed, card.teach, card.missed, false};
}

// The bar that is dragged on the card, in the chart of its row too.
void lend_bar(const CardScene& card, const CardUiState& ui, StepUiState& step) {
  step.asked_bar.reset();
  if (card.open && !card.teach && card.bar && card.bar->key >= 0 && ui.showing == card.number_of_showing)
    step.asked_bar = AskedBar{card.bar->key, typed_number(ui.typed), std::nullopt};
}

void take_bar(const CardScene& card, CardUiState& ui, StepUiState& step) {
  if (step.asked_bar && step.asked_bar->dragged_to) {
    const NumberScale& scale = card.bar->scale;
    ui.typed = dragged_text(scale.value_at(scale.share_of(*step.asked_bar->dragged_to)));
  }
  step.asked_bar.reset();
}

void take_answer(CardUiState& ui, TilesUiState& tiles, Commands& commands) {
  ui.in_cell = tiles.asked && tiles.asked_catches;
  if (tiles.asked) {
    ui.typed = tiles.asked->typed;
    if (tiles.asked->entered) commands.emplace_back(CheckAnswer{ui.typed});
  }
  tiles.asked.reset();
}

// What the beat speaks of: a run, or a figure.
void draw_run(const State& state, const Model& model, const Box& box, CardUiState& ui, StepUiState& step,
              Commands& commands, const DrawFigure& draw_figure) {
  const LearnScene& learn = *model.learn;
  if (learn.exercise) {
    step.tiles.focused = false;
    return draw_exercise(*learn.exercise, *learn.card, box, commands);
  }
  if (!learn.figure) {
    lend_question(*learn.card, ui, step.tiles);
    lend_bar(*learn.card, ui, step);
    draw_stage(state, model, learn, box, step, commands);
    take_bar(*learn.card, ui, step);
    return take_answer(ui, step.tiles, commands);
  }
  step.tiles.focused = false;
  constexpr float kLeast = 340;  // logical
  const float least = style().px(kLeast);
  if (!by_touch() || box.height() >= least) return draw_figure(*learn.figure, *learn.card, box, commands);
  // On a phone that lies it is scrolled rather than cut.
  ImGui::SetCursorScreenPos(box.min);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::BeginChild("figure", {box.width(), box.height()}, ImGuiChildFlags_NavFlattened, ImGuiWindowFlags_NoScrollbar);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_figure(*learn.figure, *learn.card, {at, {at.x + box.width(), at.y + least}}, commands);
  fade_where_more();
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({1, least});
  ImGui::EndChild();
}

}  // namespace

void draw_learn(const State& state, const Model& model, CardUiState& ui, StepUiState& step, Commands& commands,
                const DrawFigure& draw_figure) {
  if (model.learn == nullptr) return;
  const LearnScene& learn = *model.learn;
  step.hidden = {};
  step.look = {};
  step.alone = learn.teach;
  if (!learn.card) {
    step.tiles.focused = false;
    ui.on_map.reset();
    return draw_learn_home(learn, ui, commands);
  }
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  const Box all{at, {at.x + size.x, at.y + size.y}};
  const bool lying = by_touch() && !learn.teach && is_lying_phone(all.width() / s.scale, all.height() / s.scale);
  const bool alone = lying || all.width() < s.px(kBoth);
  // Another beat has another picture under a pointer that has only answered the last one.
  if (ui.showing != learn.card->number_of_showing) ui.run_shown = false, step.tiles.pointer_rests = true;
  const bool card_hidden = alone && ui.run_shown;
  const bool others = step.tiles.focused || step.tiles.tab_elsewhere || card_hidden || learn.figure.has_value() ||
                      learn.exercise.has_value();
  if (take_map_keys(*learn.card, others, ui, commands)) step.tiles.tab_elsewhere = true;  // of this frame
  take_bar_keys(*learn.card, step.tiles.focused || card_hidden, ui);
  if (alone) {
    const Box head{all.min, {all.max.x, all.min.y + s.px(for_finger(kRunHead))}};
    if (ui.run_shown) {
      draw_run_head(*learn.card, head, ui);
      draw_run(state, model, {{all.min.x, head.max.y + s.px(kGutter) / 2}, all.max}, ui, step, commands, draw_figure);
    } else {
      step.tiles.focused = false;
      draw_lesson_card(*learn.card, all, false, true, false, ui, commands);
    }
    ImGui::SetCursorScreenPos(all.min);
    ImGui::Dummy(size);
    return;
  }
  const bool right = state.preferences.card_right;
  // As wide as its sentences want, and never more than a third of the window.
  const float width = std::min(s.px(learn.card->teach ? kClassCard : kCardWidth), all.width() / 3),
              gutter = s.px(kGutter);
  const Box card = right ? Box{{all.max.x - width, all.min.y}, all.max} : Box{all.min, {all.min.x + width, all.max.y}};
  const Box rest =
      right ? Box{all.min, {card.min.x - gutter, all.max.y}} : Box{{card.max.x + gutter, all.min.y}, all.max};
  draw_run(state, model, rest, ui, step, commands, draw_figure);
  draw_lesson_card(*learn.card, card, right, false, step.tiles.focused, ui, commands);
  ImGui::SetCursorScreenPos(all.min);
  ImGui::Dummy(size);
}

}  // namespace attn
