// What holds a kernel back, in sentences made of its figures: the rules stand in one table. A rule says nothing where a
// figure that it needs is missing. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/figures/measurement.h"

namespace attn {

struct Finding {
  std::string_view rule;   // "bank_conflicts"
  std::string text;        // what was found, with its figures
  std::string experiment;  // what would test it
  // One click tries it: a prepared experiment of the lab by its id, a limit of registers there, or another kernel here.
  // All empty: the lab opens with the kernel as it is.
  std::string prepared;
  std::int32_t max_registers = 0;
  std::string other_kernel;
  double at_most = 0;  // how many times as fast it could be at most; 0 = its figures do not say
  double seen = 0;     // how many times as fast `other_kernel` was on the same problem in this session; 0 = it was not
};

// What the chip of a finding is called: the attempt itself, in words that stand in `experiment` as well.
std::string attempt_label(const Finding& f);

// What a rule reads beside the figures.
struct FindingContext {
  std::string arch;                                 // that the row was compiled for; empty = not known
  std::int32_t sms = 0;                             // of its device; 0 = not known
  std::span<const Measurement* const> others = {};  // rows of the same problem and device
};

struct FindingRule {
  std::string_view id;
  // The metrics without which it is silent.
  std::span<const std::string_view> needs;
  // An empty text: nothing was found.
  Finding (*look)(const Measurement&, const FindingContext&);
};
std::span<const FindingRule> finding_rules();

// At most `max` findings of a row that was timed, what could bring or did bring most first; what no figure bounds comes
// last.
std::vector<Finding> findings_of(const Measurement& m, const FindingContext& context, std::size_t max = 3);

}  // namespace attn
