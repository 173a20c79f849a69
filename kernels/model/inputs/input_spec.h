// What determines the inputs of a problem: a preset, a seeded generator, files, typed cells. Plain values;
// kernels/model/inputs/inputs.h makes the numbers. Seeded generators use no libm and no std distribution, so a seed
// gives the same numbers on every machine and compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/problem/problem.h"

namespace attn {

// How the numbers are made; generators.cpp says it exactly. They are made in fp32 and rounded to the problem's dtype.
// Where L x D is at most 4096, they have one decimal, so that a sum can be checked by hand. A generated bias is
// ALiBi: minus half the distance of query and key in head 0, a quarter in head 1 ...
enum class Generator : std::uint8_t {
  blackboard,    // Q = 1, 2, 3 ...; K = 0.5, 1.5, 2.5 ...; V = 0.1, 0.2, 0.3 ...; takes no seed
  uniform,       // [-1, 1)
  normal,        // mean 0, deviation 1, within -6..6
  late_outlier,  // normal, but one late key scores far above every other: m changes late
  large_logits,  // scores far beyond 88 at the default scale: exp without the maximum overflows
  equal_scores,  // all scores of a row equal: every weight the same
  masked_row,    // normal; the preset's mask leaves row 0 no key, and so does a generated bias with one row a query
  non_finite,    // normal with +inf, -inf and NaN planted in Q, K and V of the first head
  words,         // of a sentence: two heads in closed form, "previous word" and "same letter"; takes no seed
};
// Each is named here and nowhere else; the formulas are in generators.cpp.
struct GeneratorName {
  Generator generator;
  std::string_view name;  // the CLI, presets and state strings
  bool seeded = true;     // false: every seed gives the same numbers
};
inline constexpr GeneratorName kGeneratorNames[] = {
    {Generator::blackboard, "blackboard", false},
    {Generator::uniform, "uniform"},
    {Generator::normal, "normal"},
    {Generator::late_outlier, "late_outlier"},
    {Generator::large_logits, "large_logits"},
    {Generator::equal_scores, "equal_scores"},
    {Generator::masked_row, "masked_row"},
    {Generator::non_finite, "non_finite"},
    {Generator::words, "words", false},
};
std::string_view name_of(Generator g);  // "late_outlier"
std::optional<Generator> generator_from_name(std::string_view name);
std::span<const Generator> all_generators();
bool uses_seed(Generator g);

// A generator with the shape and options that show it best: what the window's Preset menu lists.
struct Preset {
  std::string_view id;     // "blackboard"
  std::string_view title;  // "blackboard"
  std::string_view what;   // one sentence: what to look for
  Generator generator = Generator::blackboard;
  Problem problem;
  std::int32_t br = 0, bc = 0;
  std::uint64_t seed = 0;
};
std::span<const Preset> presets();
Result<const Preset*> find_preset(std::string_view id);  // the error lists the ids there are

// Which array a cell belongs to.
enum class InputTensor : std::uint8_t { q, k, v, bias, d_o };

// One typed cell: overrides the generator at a flat index.
struct CellEdit {
  InputTensor tensor = InputTensor::q;
  std::int64_t index = 0;
  float value = 0;
  bool operator==(const CellEdit&) const = default;
};

// How the table names the pages of the pool: in an order of which nothing follows, or one after the other.
enum class PageOrder : std::uint8_t { shuffled, in_order };

// Everything that determines the inputs of a problem. Files win over the generator, edits over both.
struct InputSpec {
  Generator generator = Generator::blackboard;
  std::uint64_t seed = 0;
  std::string q_file, k_file, v_file, bias_file;  // .npy; empty = generated
  std::vector<CellEdit> edits;                    // sorted by (tensor, index)
  std::string sentence = {};                      // of `words`; empty: kUsualSentence
  PageOrder pages = PageOrder::shuffled;          // of keys in pages
  bool operator==(const InputSpec&) const = default;
};

// Key lengths of a batch whose sequences are not alike; ragged.h makes them.
enum class Ragged : std::uint8_t {
  none,      // no key lengths: every batch has Lk keys
  uniform,   // spread evenly from Lk / B to Lk
  zipf,      // Lk / 1, Lk / 2, Lk / 3 ...
  even,      // alike, with as many keys in all as zipf has
  one_long,  // one of Lk keys, the others of Lk / 64
};

// What `words` is made of: words with blanks between them, in UTF-8. Empty stands for the usual one.
inline constexpr std::string_view kUsualSentence = "the cat sat on the mat and the small cat sang too";
inline constexpr std::size_t kMinWords = 2, kMaxWords = 24, kMaxWordLetters = 16, kMaxSentenceBytes = 1024;
inline constexpr double kSameLetter = 3;  // the score of two words that begin alike
// The error says what is wrong with the sentence, and where.
Result<std::vector<std::string>> sentence_words(std::string_view sentence);
// The shape, mask and scale that show a sentence; dtype, layout and pass as in `p`. A sentence that sentence_words()
// refuses counts as the usual one.
Problem problem_of_words(std::string_view sentence, Problem p = {});
// Whether the problem's numbers are the toy's as it is described: shape and scale are those of the sentence.
bool is_of_words(const Problem& p, const InputSpec& spec);

}  // namespace attn
