// The words of the Step workspace: a headline, a sentence and a formula for every phase of every order. They live in
// assets/step_texts.json, so that a teacher can change them; the shell reads the file and hands its text in.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/order.h"

namespace attn {

// One text. `when` names the conditions under which it is taken (see kStepConditions); empty = always. `why` is the
// reason behind the step, shown when it is asked for; a text without one has that of its phase's last text, if any.
// In all of them, {name} stands for a value of this step (see kStepPlaceholders) and [S] or [m|old] for a tensor's
// letter, with a subscript, in its colour; in the formula ^(...) raises. In the file {@name} stands for a whole
// sentence or formula of its "shared", which is written once.
struct StepText {
  std::string when;
  std::string headline;
  std::string sentence;
  std::string formula;
  std::string why;
};

struct StepTexts {
  // Key: "flash/rescale". The first text whose condition holds is taken.
  std::map<std::string, std::vector<StepText>, std::less<>> texts;
  // Sentences and formulas that several texts have, by name.
  std::map<std::string, std::string, std::less<>> shared;

  // Null: no text. An order that lacks one has that of an order that works alike.
  const std::vector<StepText>* find(Order order, Phase phase) const;
};

// Names that texts may use; a text that uses another is refused.
extern const std::vector<std::string_view> kStepConditions;
extern const std::vector<std::string_view> kStepPlaceholders;

// The files of the texts, in the order in which they are read: one may ask for what those before it share.
inline constexpr std::string_view kStepTextFiles[] = {"step_texts.json", "step_texts_backward.json",
                                                      "step_texts_split.json", "step_texts_ring.json"};
// Added to those of the files before. The error names the text and what is wrong with it. Texts without a condition
// must come last in their list.
Result<StepTexts> parse_step_texts(std::string_view json, StepTexts before = {});

}  // namespace attn
