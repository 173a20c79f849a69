// The Preset menu, and the names of the generators. A new preset is one entry here; a new way to make numbers is also a
// Generator.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/model/inputs/input_spec.h"

#include "kernels/base/text.h"
#include "kernels/model/problem/pages.h"

namespace attn {
namespace {

const GeneratorName* find(Generator g) {
  const auto* at = std::ranges::find(kGeneratorNames, g, &GeneratorName::generator);
  return at == std::end(kGeneratorNames) ? nullptr : at;
}

Problem square(std::int64_t length, std::int64_t dim) {
  Problem p;
  p.Lq = p.Lk = length;
  p.D = p.Dv = dim;
  return p;
}

Problem with_mask(Problem p, Mask mask) {
  p.mask = std::move(mask);
  return p;
}

Problem with_bias(Problem p, std::vector<std::int64_t> shape) {
  p.bias_shape = std::move(shape);
  return p;
}

Problem with_heads(Problem p, std::int64_t batches, std::int64_t query_heads, std::int64_t key_heads) {
  p.B = batches;
  p.Hq = query_heads;
  p.Hkv = key_heads;
  return p;
}

Problem with_keys(Problem p, std::int64_t keys) {
  p.Lk = keys;
  return p;
}

Problem in_pages_of_four() {
  Problem p = square(2, 4);
  p.B = 2;
  p.Lk = 21;
  p.mask.key_lengths = {21, 10};
  return with_pages(p, 4);
}

std::vector<Preset> make_presets() {
  using G = Generator;
  Mask causal, window, padded;
  causal.causal = true;
  window.window_left = 4;
  window.window_right = 2;
  padded.key_lengths = {12, 0};
  return {
      {"blackboard", marked("Blackboard"),
       marked("4 rows of 2 numbers, small enough to check by hand: α falls as m rises."), G::blackboard, square(4, 2),
       2, 2, 0},
      {"words", marked("Words of a sentence"),
       marked("A closed-form toy: head 0 looks at the previous word, and head 1 looks at words with the same first "
              "letter. Nothing was trained."),
       G::words, problem_of_words({}), 4, 4, 0},
      {"random", marked("Random"), marked("Ordinary numbers: α is below 1 only where a key tile raises m."), G::normal,
       square(16, 8), 4, 4, 1},
      {"late_outlier", marked("Late outlier"),
       marked("One key in the last tile outscores all others: a tiny α discards nearly all of the ℓ and O summed "
              "before it."),
       G::late_outlier, square(16, 8), 4, 4, 1},
      {"causal", marked("Causal"),
       marked("No query sees a later key: tiles above the diagonal are skipped, and tiles on it are masked."),
       G::normal, with_mask(square(16, 8), causal), 4, 4, 1},
      {"ragged", marked("Ragged tiles"),
       marked("10 rows in tiles of 4: the last tiles are smaller, and nothing is padded."), G::normal, square(10, 6), 4,
       4, 1},
      {"large_logits", marked("Large scores"),
       marked("Scores far beyond 88, where exp overflows in fp32: subtracting m saves the row."), G::large_logits,
       square(16, 8), 4, 4, 1},
      {"equal_scores", marked("Equal scores"),
       marked("All scores of a row are equal: α is 1, every weight is 1/L, and O is the mean of V."), G::equal_scores,
       square(16, 8), 4, 4, 1},
      {"masked_row", marked("A row without keys"),
       marked("9 causal queries over 8 keys: row 0 sees no key, so its O is 0 and its LSE is −∞."), G::masked_row,
       with_mask(with_keys(square(9, 4), 8), causal), 4, 4, 1},
      {"non_finite", marked("±∞ and NaN"),
       marked("Infinities and NaN in Q, K and V: see which rows each value reaches."), G::non_finite,
       with_mask(square(8, 4), causal), 4, 4, 1},
      {"heads", marked("Grouped heads"),
       marked("Two batches, with 4 query heads over 2 KV heads: each KV head serves 2 query heads."), G::normal,
       with_heads(square(8, 4), 2, 4, 2), 4, 4, 1},
      {"window", marked("Sliding window"),
       marked("Each query sees 4 keys before its own and 2 after it, so most tiles are skipped."), G::normal,
       with_mask(square(24, 8), window), 4, 4, 1},
      {"padded", marked("Padded keys"),
       marked("Two batches that use 12 and 0 of 16 keys: the rest is padding that no query may see."), G::normal,
       with_mask(with_heads(square(16, 8), 2, 1, 1), padded), 4, 4, 1},
      {"pages", marked("Keys in pages"),
       marked(
           "Two requests of 21 and 10 keys in shuffled pages of 4. A table says where each key is, and rows that were "
           "never written are not read."),
       G::normal, in_pages_of_four(), 2, 8, 1},
      {"bias", marked("Distance bias"),
       marked("ALiBi: the score falls by 0.5 for each step between a query and a key."), G::normal,
       with_bias(square(16, 8), {1, 1, 16, 16}), 4, 4, 1},
      {"large", marked("Large"),
       marked("64 rows of 64 numbers in tiles of 16. The whole problem is as large as one tile of a real kernel."),
       G::normal, square(64, 64), 16, 16, 1},
      {"late_outlier_64", marked("Late outlier, 64 × 64"),
       marked("The outlier is in the last of 4 tiles of 16, the smallest tile that GPU kernels support. Recordings of "
              "GPU kernels are bundled."),
       G::late_outlier, square(64, 64), 16, 16, 1},
  };
}

}  // namespace

std::span<const Preset> presets() {
  static const std::vector<Preset> table = make_presets();
  return table;
}

Result<const Preset*> find_preset(std::string_view id) {
  std::vector<std::string_view> ids;
  for (const Preset& preset : presets()) {
    if (preset.id == id) return &preset;
    ids.push_back(preset.id);
  }
  return bad_input(phrase("Unknown preset '{}'; use {}.", id, fmt::join(ids, ", ")));
}

std::string_view name_of(Generator g) {
  const GeneratorName* row = find(g);
  return row == nullptr ? "?" : row->name;
}

std::optional<Generator> generator_from_name(std::string_view name) {
  const auto* at = std::ranges::find(kGeneratorNames, name, &GeneratorName::name);
  if (at == std::end(kGeneratorNames)) return std::nullopt;
  return at->generator;
}

std::span<const Generator> all_generators() {
  static const auto kAll = [] {
    std::array<Generator, std::size(kGeneratorNames)> all{};
    std::ranges::transform(kGeneratorNames, all.begin(), &GeneratorName::generator);
    return all;
  }();
  return kAll;
}

bool uses_seed(Generator g) {
  const GeneratorName* row = find(g);
  return row != nullptr && row->seeded;
}

}  // namespace attn
