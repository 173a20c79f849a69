// Recordings of the presets by the real kernels, for the tests of Step's scenes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/device.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/recording/recording.h"
#include "tests/environment/paths.h"
#include "viz/state/state.h"
#include "viz/step/facts/texts.h"

namespace attn {

// A preset's numbers and tile with a problem that may differ from its own in mask and scores.
inline std::shared_ptr<const Recording> record_problem(const Preset& preset, const Problem& problem,
                                                       std::string_view kernel_id, Options options = {}) {
  const auto row = find_kernel(kernel_id);
  EXPECT_TRUE(row.has_value());
  options.br = preset.br;
  options.bc = preset.bc;
  InputSpec spec;
  spec.generator = preset.generator;
  spec.seed = preset.seed;
  const auto inputs = make_all_inputs(problem, spec, in_turn, 0, Stream{});
  EXPECT_TRUE(inputs.has_value());
  const auto resolved = resolve(**row, options, cpu_device());
  EXPECT_TRUE(resolved.has_value());
  auto rec = (*row)->record(**row, problem, *resolved, *inputs, {});
  EXPECT_TRUE(rec.has_value()) << (rec ? "" : rec.error().message);
  return std::make_shared<const Recording>(std::move(*rec));
}

inline std::shared_ptr<const Recording> record_preset(std::string_view preset_id, std::string_view kernel_id,
                                                      Options options = {}) {
  const auto preset = find_preset(preset_id);
  EXPECT_TRUE(preset.has_value());
  return record_problem(**preset, (*preset)->problem, kernel_id, options);
}

// Some orders read no pages.
inline bool takes_preset(std::string_view kernel_id, const Preset& preset) {
  const auto row = find_kernel(kernel_id);
  return row && check_takes(**row, preset.problem);
}

inline std::string read_asset(const std::string& name) {
  std::ifstream in(test::source_folder() + "/assets/" + name);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

inline StepTexts shipped_texts() {
  StepTexts all;
  for (const std::string_view file : kStepTextFiles) {
    auto texts = parse_step_texts(read_asset(std::string(file)), all);
    EXPECT_TRUE(texts.has_value()) << (texts ? "" : texts.error().message);
    if (texts) all = *std::move(texts);
  }
  return all;
}

inline Selection pinned_row(std::int32_t row) {
  Selection s;
  s.row = row;
  return s;
}

// What is known after a step: 0 in place of each number that a later one makes.
inline Recording known_after(Recording rec, EventIndex e) {
  for (const Version& v : rec.versions)
    if (v.made_by > e) std::fill_n(rec.arena.begin() + static_cast<std::ptrdiff_t>(v.offset), v.rows * v.cols, 0.0F);
  return rec;
}

inline constexpr const char* kRecordingKernels[] = {"cpu_sequential", "cpu_tiled", "cpu_flash1", "cpu_flash"};

}  // namespace attn
