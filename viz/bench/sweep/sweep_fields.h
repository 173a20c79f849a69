// The sweep as texts that a person reads and types: one field a quantity, and what each text does to the sweep.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/spec/sweep_spec.h"

namespace attn {

// Axis values: "512, 1024, 2048" as they stand, "512..16384" doubling, "64..256 step 64". "4k" is 4096.
Result<std::vector<std::int64_t>> parse_axis_values(std::string_view text);
// The shortest text that parse_axis_values() reads back.
std::string axis_values_text(std::span<const std::int64_t> values);

// "512", "1k", "16k", "1000": multiples of 1024 in short.
std::string short_count(std::int64_t n);
// "length L", "batch B", ...: what the window calls an axis; "L", "Br", "threads" stand for it in sentences.
std::string axis_title(const Axis& a);
std::string axis_letter(const Axis& a);

// `further`: an option that a kernel declares beside the common ones; SweepFieldText::option names it.
enum class SweepField : std::uint8_t {
  values,
  length,
  batch,
  tokens,
  heads,
  dims,
  tile,
  threads,
  stages,
  seconds,
  further,
  page
};

// One line of the sweep panel. `text` is what the field shows; `help` says what may be typed.
struct SweepFieldText {
  SweepField field = SweepField::values;
  std::string label, text, help;
  std::string option{};
};
// The fields that the axis leaves to choose, in the order of the panel.
std::vector<SweepFieldText> sweep_fields(const SweepSpec& s);

// The sweep with a field's text taken over, or what would do. Does not judge the sweep as a whole (validate does).
// `option`: which, where the field is `further`.
Result<SweepSpec> with_field(SweepSpec s, SweepField field, std::string_view text, std::string_view option = {});
// The sweep along another axis, with values that suit it.
SweepSpec with_axis(SweepSpec s, const Axis& a);
// The kernel added, or taken out, in the order of the table.
SweepSpec with_kernel(SweepSpec s, std::string_view id, bool on);

// Tells one sweep from another: equal texts, equal sweeps.
std::string sweep_key(const SweepSpec& s);

}  // namespace attn
