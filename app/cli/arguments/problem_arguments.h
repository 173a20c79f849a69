// The options that say what is computed, on which numbers and how: shared by step, bench and shot. They change a state
// through the window's own commands, so that both accept and refuse the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/parser.h"
#include "app/cli/arguments/pass_argument.h"
#include "kernels/base/result.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/problem.h"
#include "viz/state/state.h"

namespace attn::cli {

struct MaskArguments {
  bool causal = false;
  std::string window, key_lengths;

  void add_to(Parser parser);
  // What was given is changed, the rest stays.
  Result<void> apply_to(Mask& mask) const;
};

struct OptionArguments {
  std::string tile, accumulate;
  std::vector<std::string> set;  // NAME=VALUE
  std::optional<std::int32_t> threads, stages;
  bool keep_max_at_zero = false, right_to_left = false;
  bool takes_tuned = false;  // the command knows what to do with `--tile tuned`; the others refuse it

  void add_to(Parser parser, bool what_if);
  void add_set_to(Parser parser);  // --set alone
  // `--tile tuned` sets no number: tuned() says that it was asked for.
  Result<void> apply_to(Options& options) const;
  bool tuned() const;
  // Refuses an option that was given and that none of these kernels reads: it would change nothing.
  Result<void> check_read_by(std::span<const KernelRow* const> rows) const;
};

// What changes scores without an array of their shape.
struct ScoreArguments {
  std::optional<double> softcap;
  bool alibi = false;
  std::string slopes;  // FILE.npy

  void add_to(Parser parser);
  // H and B of the problem are set.
  Result<void> apply_to(Problem& problem) const;
};

// "--layout": the order of the axes of Q, K, V, O and their gradients.
void add_layout(Parser parser, std::string& layout, const std::string& what);
Result<AxisOrder> layout_of(const std::string& layout);

struct ProblemArguments {
  std::optional<std::int64_t> B, Hq, Hkv, Lq, Lk, D, Dv, page;
  std::string dtype, bias_shape, pass;
  std::optional<double> scale;
  bool training = false;  // --pass takes it
  MaskArguments mask;
  ScoreArguments scores;

  // `scale_option`: "--scale", or another name where that is the size of the picture.
  void add_to(Parser parser, const std::string& scale_option);
  Result<void> apply_to(Problem& problem) const;
};

// Where the numbers come from, for what is recorded.
struct DocumentArguments {
  std::string state, preset, kernel, generator, seed, q, k, v, bias;
  std::optional<std::string> sentence;
  bool pages_in_order = false;
  ProblemArguments problem;
  OptionArguments options;

  void add_to(Parser parser, const std::string& scale_option = "--scale");
  // The state that the options describe, starting from --state, else from --preset, else the first window's.
  // `shows_step`: a --kernel that cannot be recorded is refused; Bench takes every kernel.
  Result<State> state_of(bool shows_step = true) const;
};

// The files that a state reads its numbers from, for check_distinct().
std::vector<NamedFile> input_files_of(const State& state);

// "--device": where a kernel runs.
struct DeviceChoice {
  Processor processor = Processor::cpu;
  std::int32_t index = 0;  // which GPU
};
void add_device(Parser parser, std::string& device);
// "cpu", "gpu", "gpu:1".
Result<DeviceChoice> choose_device(const std::string& device);
// For commands that run on the CPU alone: why another device would not do.
Result<void> check_device(const std::string& device);

}  // namespace attn::cli
