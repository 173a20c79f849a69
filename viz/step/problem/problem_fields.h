// The problem as texts that a person reads and types: one field a quantity, what each text does to the document, and
// what a menu offers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/order.h"
#include "viz/draw/inks.h"
#include "viz/draw/text_runs.h"
#include "viz/state/state.h"
#include "viz/step/charts/error.h"
#include "viz/step/orders/look.h"  // LetterWords

namespace attn {

struct KernelRow;  // kernels/model/kernel.h

// The words why the recording of `document` cannot be made; none where it can.
std::optional<std::string> why_not_recordable(const Document& document);
// The kernel whose recording can show the problem: `usual` where it takes the pass and the storage, else the first that
// does; null: none does.
const KernelRow* recorded_by(const Problem& p, std::string_view usual);
// The same in the place of a chosen kernel that does not take them; null too where it does.
const KernelRow* recorded_instead(const Document& d);
// The whole numbers in a text, signs included: "2 x 4/2" gives 2, 4, 2. None where something else is in it.
std::optional<std::vector<std::int64_t>> whole_numbers(std::string_view text);
// Document with the text of one field put in; the error says what is wrong with it.
enum class ProblemField : std::uint8_t {
  heads,
  length,
  dim,
  tile,
  window,
  key_lengths,
  page,
  softcap,
  scale,
  seed,
  sentence
};
Result<Document> with_field(Document document, ProblemField field, std::string_view text);
std::string field_text(const Document& document, ProblemField field);

// "late outlier: 16 × 8, tile 4 × 4, causal": the chip that the panel folds into.
std::string problem_words(const Document& d);

// One entry of a menu or one switch: what it says, whether it holds now, and the document once it is taken.
struct ProblemChoice {
  std::string words;
  bool on = false;
  Document changed;
  std::string help;
  const char* id = "";  // of a switch
  std::string brief;    // its words beside the one before it, on the same line; empty: it has a line of its own
};
std::vector<ProblemChoice> dtype_choices(const Document& d);
// The pass; the kernel follows it.
std::vector<ProblemChoice> pass_choices(const Document& d);
// Each kind of mask is switched on and off by itself; they hold together.
std::vector<ProblemChoice> mask_choices(const Document& d);
// The bias, and what changes scores without one: ALiBi and softcap, each switched on and off by itself.
std::vector<ProblemChoice> bias_choices(const Document& d);
std::vector<ProblemChoice> generator_choices(const Document& d);
// What-if switches that run the kernel again: flash's, or those of a backward that its kernel reads.
std::vector<ProblemChoice> what_if_choices(const Document& d);
// Parts of the keys that run side by side, and how they are merged; empty where the kernel does not split.
std::vector<ProblemChoice> split_choices(const Document& d);
// The size of a page of keys; empty where the kernel reads no pages.
std::vector<ProblemChoice> page_choices(const Document& d);
// Ranks of a ring, and how tiles are dealt to them.
std::vector<ProblemChoice> ring_choices(const Document& d);
std::vector<ProblemChoice> deal_choices(const Document& d);
// How a recording goes through its steps; with a tile that makes the two consumers of the recorded pipeline.
std::vector<ProblemChoice> pipeline_choices(const Document& d);
// Which tile is outside; empty where the kernel leaves no choice.
std::vector<ProblemChoice> loop_choices(const Document& d);

// What came of the what-if that is on, in a line.
struct WhatIfOutcome {
  std::string_view choice;  // id of its switch
  TextRuns words;
  Commands go_there;  // to the step that shows it
};
// Without the maximum: the first number that is wrong. None while rows are left to compare, or where none is.
std::optional<WhatIfOutcome> first_wrong_outcome(const ErrorScan& scan, const Selection& selection);
// Of keys in parts: the factors that merge the first two. None of another run.
std::optional<WhatIfOutcome> merge_outcome(const Recording& rec, const Selection& selection);

// What each letter stands for in an order: in one that stores S, m is the whole row's and nothing is rescaled.
std::vector<LetterWords> letter_words(Order order);

bool has_window(const Mask& m);
// Every kind of mask that holds, and what else changes the scores.
std::vector<std::string> masks_of(const Problem& p);
std::vector<std::string> biases_of(const Document& d);
std::string generator_words(const InputSpec& inputs);
// "late outlier", or "your own".
std::string_view preset_title(const Document& d);

// A field that is being typed in.
struct TypedField {
  ProblemField field = ProblemField::heads;
  std::string text;
};
// What the Problem panel remembers between frames.
struct ProblemEditing {
  std::string error;  // why the last edit was refused
  std::optional<TypedField> typed;
  int gesture = 0;  // number of the current drag; 0 between drags
  int last_gesture = 0;
  int dragged = 0;  // steps that the current drag has made
};

}  // namespace attn
