#include "viz/step/bars/refused_draw.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_runs.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/bars/areas_draw.h"
#include "viz/step/bars/strip.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {
namespace {

constexpr float kTop = 18, kTitle = 32, kBelow = 16, kButton = 28, kBetween = 10, kNarrow = 480;  // logical

// What can be done instead.
struct Offer {
  const char* id;
  std::string words, brief;  // the latter where there is no room for the former
  Command command;
};

std::vector<Offer> offers_of(const Document& document, const KernelRow* never) {
  std::vector<Offer> offers;
  if (never == nullptr) {
    const KernelRow* other = recorded_instead(document);
    if (other != nullptr)
      offers.push_back({"##use_other", phrase("Use {}", other->id), "", ChooseKernel{std::string(other->id)}});
    return offers;
  }
  const auto like = [&](const KernelRow* row) { return row->record != nullptr && row->order == never->order; };
  const std::vector<const KernelRow*> all = ladder();
  if (const auto other = std::ranges::find_if(all, like); other != all.end()) {
    const std::string_view id = (*other)->id;
    offers.push_back({"##step_like", phrase("Step through {}, a CPU kernel with the same order", id),
                      phrase("Step through {}", id), ChooseKernel{std::string(id)}});
  }
  offers.push_back({"##measure_it", tr("Measure it in Bench"), "", MeasureInBench{}});
  return offers;
}

// Side by side, or below each other where there is no room for that.
struct Placed {
  const Offer* offer;
  std::string words;
  Box box;
};

std::vector<Placed> place_offers(const std::vector<Offer>& offers, const ImVec2& at, float width) {
  const Style& s = style();
  std::vector<Placed> placed;
  const float high = s.px(for_finger(kButton));
  float x = at.x, y = at.y;
  for (const Offer& offer : offers) {
    const auto wide = [&](const std::string& words) { return text_width(Face::text, 13, words) + s.px(28); };
    const std::string& words = wide(offer.words) > width && !offer.brief.empty() ? offer.brief : offer.words;
    if (x > at.x && x + wide(words) > at.x + width) x = at.x, y += high + s.px(kBetween);
    placed.push_back({&offer, words, {{x, y}, {x + wide(words), y + high}}});
    x += wide(words) + s.px(kBetween);
  }
  return placed;
}

// A card at the top of `all`; returns where it ends. `why`: the recording's error.
float draw_refused(const Box& all, const State& state, const std::string& why, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto kernel = find_kernel(state.document.kernel);
  const KernelRow* never = kernel && (*kernel)->record == nullptr ? *kernel : nullptr;
  const bool narrow = all.width() < s.px(kNarrow);
  const float side = s.px(narrow ? 18 : 24), width = all.width() - 2 * side;
  const ImVec2 title_at{all.min.x + side, all.min.y + s.px(kTop)};
  const TextRuns title{
      {never != nullptr ? tr("This kernel is not recorded step by step") : tr("This problem cannot be recorded"),
       Face::bold, Token::text, 0, false}};
  const TextRuns words{{recording_words(why), Face::text, Token::dim, 0, false}};
  const int most = narrow ? 10 : 3;
  const float head = std::max(s.px(kTitle), draw_paragraph(list, title_at, width, 18, title, 2, false) + s.px(6));
  const ImVec2 words_at{title_at.x, title_at.y + head};
  const float said = draw_paragraph(list, words_at, width, 14, words, most, false);
  const std::vector<Offer> offers = offers_of(state.document, never);
  const float least = s.px(offers.empty() ? 70 : 56);  // of three lines
  const std::vector<Placed> buttons =
      place_offers(offers, {words_at.x, words_at.y + std::max(said + s.px(6), least)}, width);
  const float foot =
      buttons.empty() ? words_at.y + std::max(said + s.px(kBelow), least) : buttons.back().box.max.y + s.px(kTop);
  draw_card(list, {all.min, {all.max.x, foot}});
  draw_paragraph(list, title_at, width, 18, title, 2);
  draw_paragraph(list, words_at, width, 14, words, most);
  for (const Placed& button : buttons)
    if (box_button(button.box, button.offer->id, button.words.c_str())) commands.push_back(button.offer->command);
  return foot;
}

// Why above the problem where both have no room side by side; there the page is scrolled.
void draw_page(const ProblemPanel& problem, const Box& all) {
  StepAreas areas;
  areas.phone = true;
  areas.page = areas.tiles = all;
  begin_page(areas);
  const Style& s = style();
  const Box& page = areas.tiles;
  const float foot = draw_refused(page, problem.state, problem.model.recording_error, problem.commands);
  const float top = foot + s.px(kPhoneGutter);
  areas.tiles.max.y = top + problem_panel_height(problem.state) + s.px(24);
  draw_problem_panel(problem, {{page.min.x, top}, page.max}, true);
  end_page(areas);
}

}  // namespace

void draw_unrecorded(const ProblemPanel& problem, const Box& all) {
  constexpr float kBeside = 560;  // logical
  const Style& s = style();
  if (all.width() < s.px(kBeside)) return draw_page(problem, all);
  const float width = std::min(s.px(kProblemWidth), all.width() / 3);
  draw_problem_panel(problem, {all.min, {all.min.x + width, all.max.y}}, true);
  draw_refused({{all.min.x + width + s.px(kStepGutter), all.min.y}, all.max}, problem.state,
               problem.model.recording_error, problem.commands);
}

}  // namespace attn
