// What the user may choose of a kernel: named values. A kernel's row declares which it reads and which values it takes;
// CSV columns, session members, state keys, `--set`, tuner and window read the declaration. What a kernel does not read
// is left at its default and does not count for its identity.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/dtype.h"
#include "kernels/base/result.h"
#include "kernels/base/text.h"

namespace attn {

enum class KeyOrder : std::uint8_t { left_to_right, right_to_left };

// A value of an option that is no member of Options.
struct Setting {
  std::string name;
  std::int64_t value = 0;

  bool operator==(const Setting&) const = default;
};

struct Options {
  std::int32_t br = 0;       // query rows of a tile; 0 = the kernel's default
  std::int32_t bc = 0;       // keys of a tile; 0 = the kernel's default
  std::int32_t threads = 0;  // CPU: threads; GPU: threads of a block; 0 = the kernel's default (CPU: all cores)
  std::int32_t stages = 0;   // GPU: depth of the copy pipeline; 0 = the kernel's default
  // What-if switches of cpu_flash.
  bool subtract_max = true;                      // off: m stays 0, so large scores overflow
  KeyOrder key_order = KeyOrder::left_to_right;  // the order in which key tiles are visited
  DType accumulate = DType::f32;                 // l and O are rounded to this after every addition
  // Options that single kernels declare besides, by name, each once; one that is missing is the kernel's default.
  std::vector<Setting> further{};

  bool operator==(const Options&) const = default;
};

// An option apart from the kernels that read it: its name, its words and where its value lies. A text lives as long as
// the program. Names are [a-z][a-z0-9_]*, at most kLongestName characters, and no problem axis has them.
struct Option {
  static constexpr std::size_t kLongestName = 31;

  std::string_view name{};                      // "br": the spelling of CSV columns, JSON, state strings and --set
  std::string_view title{};                     // "Br": in the window and in sentences
  std::string_view unit{};                      // "query rows"; empty: a number of its own or a choice
  std::string_view help{};                      // one sentence: what it is
  std::span<const std::string_view> choices{};  // what the values 0, 1, ... are called; empty: whole numbers
  bool tile = false;                            // a side of the tile
  bool tuned = false;                           // tuning tries the values that a kernel takes
  bool compiled = true;                         // GPU: a constant of what is compiled; else of a launch alone
  std::span<const std::int64_t> swept{};        // a sweep along it begins with these; empty: doublings of its range
  // Where it lies, for members of Options; null: in `further`.
  std::int64_t (*get)(const Options&) = nullptr;
  void (*set)(Options&, std::int64_t) = nullptr;

  bool is(const Option& other) const { return name == other.name; }
  bool is_choice() const { return !choices.empty(); }

  static const Option br, bc, threads, stages, subtract_max, key_order, accumulate;
};

bool is_option_name(std::string_view name);

// The members of Options, in the order of CSV columns.
std::span<const Option* const> common_options();
// Null: none of them has the name.
const Option* common_option(std::string_view name);

// The value chosen; none: it is left to the kernel.
std::optional<std::int64_t> chosen(const Options& o, const Option& option);
// None: it is left to the kernel.
void choose(Options& o, const Option& option, std::optional<std::int64_t> value);

// "64", "right_to_left".
std::string value_text(const Option& option, std::int64_t value);
// What value_text() wrote; "auto" leaves it to the kernel. The error says what would do. No range is looked at:
// resolve() (kernel.h) knows the kernel's.
Result<std::optional<std::int64_t>> value_from_text(const Option& option, std::string_view text);

// One option that a kernel reads. `min`..`max` hold for the whole numbers, in steps of `step`; of choices they are the
// first and the last.
struct OptionSpec {
  const Option* option = nullptr;  // lives as long as the row
  std::int32_t min = 1;
  std::int32_t max = 1;
  std::int32_t step = 1;
  std::int32_t default_value = 1;  // what stands for no choice; less than `min`: as many as the device has cores

  bool is(const Option& other) const { return option != nullptr && option->is(other); }
  bool takes(std::int64_t value) const { return value >= min && value <= max && (value - min) % step == 0; }
};
// "1 to 4", "16 to 256 in steps of 16", "f32, f16 or bf16".
std::string range_words(const OptionSpec& spec);

// "br", "bc", ...
inline std::string_view name_of(const Option& o) {
  return o.name;
}

namespace known {
inline constexpr std::string_view kNoYes[] = {"false", "true"};
inline constexpr std::string_view kKeyOrders[] = {"left_to_right", "right_to_left"};
inline constexpr std::string_view kTypes[] = {"f32", "f16", "bf16"};
inline constexpr std::string_view kMergeOrders[] = {"index", "tree"};
inline constexpr std::string_view kPipelines[] = {"none", "hopper", "hopper_one_slot", "hopper_late_load",
                                                  "hopper_no_turns"};
inline constexpr std::int64_t kSides[] = {16, 32, 64, 128};
inline constexpr std::int64_t kCounts[] = {1, 2, 4, 8};
inline constexpr std::int64_t kSplits[] = {1, 2, 4, 8, 16, 32, 64};
}  // namespace known

// Of kernels that cut the keys of a head into parts and merge what they make of each (kernels/arithmetic/merge.h).
inline constexpr Option kSplits{
    .name = "splits",
    .title = marked("splits"),
    .unit = marked("parts"),
    .help = marked("Number of parts that the keys are split into; each has its own m, l and O, merged in key order"),
    .compiled = false,
    .swept = known::kSplits};

// In which order the parts are merged: along a line, or pairs first, then pairs of pairs.
inline constexpr Option kMerge{.name = "merge",
                               .title = marked("merge"),
                               .help = marked("The order in which the parts are merged"),
                               .choices = known::kMergeOrders,
                               .compiled = false};

// What-if: K and V in pages are loaded as they lie, whatever follows a batch's last key in its page.
inline constexpr Option kZeroTail{.name = "zero_tail",
                                  .title = marked("zero tail"),
                                  .help = marked("Whether the rest of a page after the last key is set to 0 on chip"),
                                  .choices = known::kNoYes,
                                  .compiled = false};

// Of a CPU kernel that also records its steps in the order in which a pipelined GPU kernel took them
// (kernels/orders/hopper/recorded.h), or would take them with one thing changed (derived.h).
inline constexpr Option kPipeline{.name = "pipeline",
                                  .title = marked("pipeline"),
                                  .help = marked("The kernel whose pipeline the steps of a recording follow"),
                                  .choices = known::kPipelines,
                                  .compiled = false};

inline constexpr Option Option::br{.name = "br",
                                   .title = "Br",
                                   .unit = marked("query rows"),
                                   .help = marked("Query rows per tile"),
                                   .tile = true,
                                   .tuned = true,
                                   .swept = known::kSides,
                                   .get = [](const Options& o) -> std::int64_t { return o.br; },
                                   .set = [](Options& o, std::int64_t v) { o.br = static_cast<std::int32_t>(v); }};
inline constexpr Option Option::bc{.name = "bc",
                                   .title = "Bc",
                                   .unit = "keys",
                                   .help = marked("Keys per tile"),
                                   .tile = true,
                                   .tuned = true,
                                   .swept = known::kSides,
                                   .get = [](const Options& o) -> std::int64_t { return o.bc; },
                                   .set = [](Options& o, std::int64_t v) { o.bc = static_cast<std::int32_t>(v); }};
inline constexpr Option Option::threads{
    .name = "threads",
    .title = "threads",
    .unit = "threads",
    .help = marked("Threads per block; on the CPU, the total number of threads"),
    .tuned = true,
    .swept = known::kCounts,
    .get = [](const Options& o) -> std::int64_t { return o.threads; },
    .set = [](Options& o, std::int64_t v) { o.threads = static_cast<std::int32_t>(v); }};
inline constexpr Option Option::stages{
    .name = "stages",
    .title = "stages",
    .unit = "tiles",
    .help = marked("Number of K and V tiles in shared memory at once"),
    .tuned = true,
    .swept = known::kCounts,
    .get = [](const Options& o) -> std::int64_t { return o.stages; },
    .set = [](Options& o, std::int64_t v) { o.stages = static_cast<std::int32_t>(v); }};
inline constexpr Option Option::subtract_max{
    .name = "subtract_max",
    .title = marked("subtract max"),
    .help = marked("Whether the maximum is subtracted"),
    .choices = known::kNoYes,
    .get = [](const Options& o) -> std::int64_t { return o.subtract_max ? 1 : 0; },
    .set = [](Options& o, std::int64_t v) { o.subtract_max = v != 0; }};
inline constexpr Option Option::key_order{
    .name = "key_order",
    .title = marked("key order"),
    .help = marked("The order in which key tiles are visited"),
    .choices = known::kKeyOrders,
    .get = [](const Options& o) { return static_cast<std::int64_t>(o.key_order); },
    .set = [](Options& o, std::int64_t v) { o.key_order = static_cast<KeyOrder>(v); }};
inline constexpr Option Option::accumulate{
    .name = "accumulate",
    .title = "accumulate",
    .help = marked("The type of l and O between steps"),
    .choices = known::kTypes,
    .get = [](const Options& o) { return static_cast<std::int64_t>(o.accumulate); },
    .set = [](Options& o, std::int64_t v) { o.accumulate = static_cast<DType>(v); }};

// ---- keys cut into parts, whole key tiles each: who splits the keys and who shows it cut them in the same places.

struct KeyParts {
  std::int64_t tiles = 1, parts = 1;  // key tiles, and parts of them; a part may be empty where there are more

  std::int64_t first(std::int64_t part) const { return tiles * part / parts; }
  std::int64_t end(std::int64_t part) const { return first(part + 1); }
  std::int64_t of_tile(std::int64_t tile) const { return ((tile + 1) * parts - 1) / tiles; }
};

inline std::int64_t splits_of(const Options& o) {
  return chosen(o, kSplits).value_or(1);
}

inline bool zeroes_tail(const Options& o) {
  return chosen(o, kZeroTail).value_or(1) != 0;
}

inline bool follows_pipeline(const Options& o) {
  return chosen(o, kPipeline).value_or(0) != 0;
}

inline bool merges_as_tree(const Options& o) {
  return chosen(o, kMerge).value_or(0) != 0;
}

// Two neighbours become one: the second's m, l and O go into the first's.
struct MergeStep {
  std::int64_t into = 0, from = 0;  // parts
};
// In the order of the keys, or as a tree: pairs first, then pairs of pairs. `use(MergeStep)`.
template <class Use>
void for_each_merge(std::int64_t parts, bool tree, const Use& use) {
  for (std::int64_t step = tree ? 1 : parts; step < parts; step *= 2)
    for (std::int64_t p = 0; p + step < parts; p += 2 * step) use(MergeStep{p, p + step});
  for (std::int64_t p = 1; !tree && p < parts; ++p) use(MergeStep{0, p});
}

}  // namespace attn
