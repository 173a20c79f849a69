// The work of `attnscope verify`: kernels tried on a case, and what came of it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/arguments/kernel_arguments.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/worker/client.h"
#include "kernels/base/dtype.h"
#include "kernels/base/result.h"
#include "kernels/model/inputs/shape_list.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/tensors.h"

namespace attn::cli {

struct VerifyArguments {
  std::vector<std::string> files;
  std::string pass, output, kernels = "all", dtypes = "all", rows = "sampled", memory_limit, device;
  bool all_shapes = false;
  bool repeat_list = false, score_list = false;
  bool traced = false;
  std::int64_t random = 0;
  std::uint64_t seed = 1;
  std::string part = "1/1";
  std::int32_t repeats = 1;
  std::int64_t longest = 0;
  double time_limit = 0, hang_limit = 0;
  OptionArguments options;
  BuildArguments build;
};

// The largest share of what is allowed that an output had, over all cases.
struct WorstOf {
  double ratio = -1, error = 0, allowed = 0;
};

// What one kernel did in one dtype.
struct Tally {
  std::int64_t passed = 0, failed = 0, skipped = 0, not_judged = 0;
  double worst = -1;  // largest error / allowed
  double error = 0, allowed = 0;
  std::string worst_case;
  std::map<Tensor, WorstOf> outputs;                    // of a backward: each gradient is judged apart
  std::map<std::string, std::int64_t> skips, unjudged;  // reason: how many
  double plain_us = 0, traced_us = 0;                   // of all traced cases together
};

struct Check {
  const VerifyArguments* arguments = nullptr;
  std::vector<const KernelRow*> kernels;
  std::set<std::string_view> hung;  // kernels that gave no answer in time: none of their cases is tried any more
  // Of the case at hand: with --tile tuned the tile is the one that was kept for the kernel and the case.
  Options options;
  std::uint64_t memory_limit = 0;
  Device device;
  std::string compiler;  // of the GPU's worker; empty on the CPU
  DeviceChoice choice;
  GpuClient* gpu = nullptr;  // null on the CPU
  std::map<std::pair<std::string_view, DType>, Tally> tallies;
  std::map<std::string, std::int64_t> case_skips;  // a case that no kernel was tried on: reason
};

constexpr double kGpuSecondsOfCase = 120;  // compilation and all repeats

// Tries every kernel on the case and counts in `check.tallies`. The error is that of a cancel.
Result<void> check_case(const CheckCase& c, Check& check, const std::stop_token& stop);
std::string summary(const Check& check);

}  // namespace attn::cli
