// Training steps: a forward and its backward as one chain of launches. The forward writes O and LSE, and the backward
// reads them where they lie. Each is a row like any other, made of the two rungs that a backward's row pairs
// (KernelRow::training); no text is compiled and no kernel written for it. The table is training_table()
// (kernels/ladder.h).
#pragma once

#include <string_view>
#include <vector>

#include "kernels/model/kernel.h"

namespace attn {

// A step of these two: its rungs live as long as the row.
class StepOf {
 public:
  StepOf(const KernelRow& forward, const KernelRow& backward);
  StepOf(const StepOf&) = delete;  // its row views its own lists
  StepOf& operator=(const StepOf&) = delete;
  const KernelRow& row() const { return row_; }

 private:
  const KernelRow* parts_[2];
  std::vector<DType> dtypes_;
  std::vector<AxisOrder> layouts_;
  std::vector<std::string_view> architectures_;
  std::vector<OptionSpec> options_;
  KernelRow row_;
};

}  // namespace attn
