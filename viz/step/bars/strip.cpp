#include "viz/step/bars/strip.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"
#include "kernels/museum/museum.h"
#include "kernels/recording/lanes.h"
#include "viz/step/facts/code_phase.h"
#include "viz/step/facts/letters.h"
#include "viz/step/facts/side_by_side.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

std::string position_words(const Recording& rec, const StepPlace& at) {
  std::string words = phrase("Step {} of {}", at.event + 1, rec.events.size());
  const OrderRow& order = order_row(rec.order);
  if (const auto position = side_by_side_of(rec).position) return words + position(rec, at);
  const bool ranks = order.abreast == Abreast::ranks;
  if (ranks)
    if (const std::int64_t turn = turn_of(rec, rec.events[at.event].id); turn < ranks_of(rec.options))
      words += phrase(", turn {}", turn);
  if (rec.problem.B > 1) words += phrase(", batch {}", at.b);
  if (rec.problem.Hq > 1) words += phrase(", query head {}", at.h);
  const Phase phase = rec.events[at.event].id.phase;
  if (at.i >= 0 && order.of_query_tile(phase))
    words += order_look(rec.order).row_by_row && at.br == 1 ? phrase(", query row {}", at.i)
                                                            : phrase(", query tile {}", at.i);
  const auto lane = rec.lane_of(at.event);
  if (lane && ranks)
    words += phrase(", rank {}", *lane);
  else if (lane)
    words += phrase(", part {}", *lane + 1);
  if (const auto merged = merged_parts(rec, at.event);
      at.j >= 0 && merged && merged->numbered && order.of_query_tile(phase))
    words += !order.phase(phase)->brings.empty() ? phrase(", part {}", part_of(rec, at.j) + 1)
                                                 : phrase(", {} and {}", merged->first, merged->second);
  // A merge is of parts, and what a rank sends of all its keys, not of the key tile that names its event.
  const bool of_tile = takes_all_keys(rec, at.event) ? false
                       : order.keys_outside          ? !order.sends(phase)
                       : ranks                       ? order.in_lane[static_cast<std::size_t>(phase)]
                                                     : lane.has_value() || order.abreast != Abreast::parts;
  if (at.j >= 0 && rec.key_tiles() > 1 && of_tile) words += phrase(", key tile {}", at.j);
  if (const auto named = row_word(rec, at.b, at.row); !named.empty()) words += phrase(", row {} “{}”", at.row, named);
  return words + ": " + letter_of_step(rec, at.event);
}

// The tile and the phase are what changes: they must not be the part that is cut off.
std::string narrow_position(const Recording& rec, const StepPlace& at) {
  std::string place;
  if (rec.problem.B > 1) place += fmt::format(" b {}", at.b);
  if (rec.problem.Hq > 1) place += fmt::format(" h {}", at.h);
  if (at.i >= 0 && order_row(rec.order).of_query_tile(rec.events[at.event].id.phase))
    place += fmt::format(" q {}", at.i);
  if (at.j >= 0 && rec.key_tiles() > 1 && !takes_all_keys(rec, at.event)) place += fmt::format(" k {}", at.j);
  return fmt::format("{}/{} ·{}{} {}", at.event + 1, rec.events.size(), place, place.empty() ? "" : " ·",
                     brief_letter_of_step(rec, at.event));
}

// Where the texts have none of this phase: what its row says, else its name and bytes.
void say_of_row(const Recording& rec, const StepPlace& at, const StepValues& values, StripScene& scene) {
  const Phase phase = rec.events[at.event].id.phase;
  const OrderPhase* of_order = order_row(rec.order).phase(phase);
  const bool own = order_row(rec.order).own(phase).has_value();
  if (of_order == nullptr || (!own && of_order->title.empty())) {
    scene.headline = {{std::string(name_of(phase)), Face::bold, Token::text, 0, false}};
    return;
  }
  const std::string title(of_order->title.empty() ? name_of(phase) : of_order->title);
  const std::uint64_t bytes = event_bytes(rec, at.event);
  std::string sentence(of_order->sentence);
  if (sentence.empty())
    sentence = bytes > 0 ? tr("{bytes} B move to and from HBM in this step.") : tr("This step does not access HBM.");
  scene.headline = runs_of(title, values, Face::bold, Token::text);
  scene.sentence = runs_of(sentence, values, Face::text, Token::dim);
  const auto others = side_by_side_of(rec).meanwhile;
  TextRuns meanwhile = others != nullptr ? others(rec, at.event) : TextRuns();
  if (!meanwhile.empty()) scene.sentence.push_back({" ", Face::text, Token::dim, 0, false});
  for (TextRun& run : meanwhile) scene.sentence.push_back(std::move(run));
  scene.formula = runs_of(of_order->formula, values, Face::text, Token::dim);
}

}  // namespace

std::string stand_in_words(const State& state) {
  const std::string& chosen = state.view.bench.kernel;
  if (chosen.empty() || chosen == state.document.kernel) return {};
  const auto row = find_kernel(chosen), shown = find_kernel_or_piece(state.document.kernel);
  if (!row || !shown || (*row)->record != nullptr) return {};
  const char* how = (*row)->order == (*shown)->order ? tr("which has the same order") : tr("which has another order");
  return phrase("{} runs on a GPU and is not recorded: this is {} on the CPU, {}", chosen, (*shown)->id, how);
}

std::string recording_words(std::string why) {
  if (why.empty()) return tr("It is being recorded.");
  if (why[0] >= 'a' && why[0] <= 'z' && !find_kernel(why.substr(0, why.find(' '))))
    why[0] = static_cast<char>(why[0] - 'a' + 'A');
  if (!why.ends_with('.')) why += '.';
  return why;
}

StripScene strip_scene(const Recording& rec, const StepPlace& at, const StepValues& values, const StepTexts& texts) {
  StripScene scene;
  const Phase phase = rec.events[at.event].id.phase;
  scene.position = position_words(rec, at);
  scene.narrow = narrow_position(rec, at);
  scene.accent = ink_of(phase);
  if (const auto code = code_phase_of(phase))
    scene.door = phrase("{} in Profile: the lines of a GPU kernel that perform this step, and their machine code",
                        gpu::name_of(*code));
  const std::vector<StepText>* list = texts.find(rec.order, phase);
  if (list == nullptr) {
    say_of_row(rec, at, values, scene);
    return scene;
  }
  for (const StepText& text : *list) {
    if (!holds(text.when, values)) continue;
    scene.headline = runs_of(text.headline, values, Face::bold, Token::text);
    scene.sentence = runs_of(text.sentence, values, Face::text, Token::dim);
    scene.formula = runs_of(text.formula, values, Face::text, Token::dim);
    scene.why = runs_of(text.why.empty() ? list->back().why : text.why, values, Face::text, Token::text);
    break;
  }
  return scene;
}

}  // namespace attn
