// What holds a kernel back, in sentences made of its figures: the rules stand in one table. A rule says nothing where a
// figure that it needs is missing. Plain values.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/figures/measurement.h"
#include "viz/profile/figures/finding.h"

namespace attn {

// What the chip of a finding is called: the attempt itself, in words that stand in `experiment` as well.
std::string attempt_label(const Finding& f);

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
