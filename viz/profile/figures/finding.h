// What was found to hold a kernel back, and what a rule reads to find it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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

// What a rule reads beside the figures.
struct FindingContext {
  std::string arch;                                 // that the row was compiled for; empty = not known
  std::int32_t sms = 0;                             // of its device; 0 = not known
  std::span<const Measurement* const> others = {};  // rows of the same problem and device
};

}  // namespace attn
