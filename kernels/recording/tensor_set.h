// Tensors of a problem with their numbers, by name, and the tokens that stand at their rows and columns: what a file
// of version 3 keeps beside the steps of a run (docs/attn.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/array.h"
#include "kernels/base/result.h"
#include "kernels/model/problem/problem.h"
#include "kernels/model/problem/tensors.h"

namespace attn {

// The numbers of one tensor in C order of its shape, whatever the problem's layout. Tables (i32) are whole numbers;
// all others are in `numbers`.
struct NamedTensor {
  Tensor tensor = Tensor::q;
  Array numbers;
  std::vector<std::int32_t> table;
  bool operator==(const NamedTensor&) const = default;
};

// Words that stand at the rows (queries) and columns (keys) of S: Lq and Lk of them, or B times as many, batch after
// batch. Empty: no words there.
struct Labels {
  std::vector<std::string> rows, columns;
  bool operator==(const Labels&) const = default;
  bool any() const { return !rows.empty() || !columns.empty(); }
};

// Tensors without steps: captured ones, those of a backward, parts before their merge.
struct TensorSet {
  std::string name;  // what it is called; may be empty
  Problem problem;
  std::int64_t splits = 1;  // above 1: the partial tensors have so many parts
  std::vector<NamedTensor> tensors;
  Labels labels;
  bool operator==(const TensorSet&) const = default;
};

constexpr std::int64_t kMaxSplits = 4096;
constexpr std::size_t kMaxLabels = 65536;    // of rows or of columns
constexpr std::size_t kMaxLabelBytes = 256;  // of one
constexpr std::size_t kMaxTensorSets = 256;  // in a file, of kRecordingLimit bytes each

// In words: the problem does not have the tensor, or says its values itself (lengths, slopes).
Error no_tensor(const Problem& p, Tensor t, const std::string& where);
// Each tensor is one of tensors_of(p, splits), in its shape and type, once; those that stand in the problem are none.
// Entries of a page table that key lengths reach name pages of the pool, others may be -1. `where` is for messages.
Result<void> check_named_tensors(const Problem& p, std::int64_t splits, std::span<const NamedTensor> tensors,
                                 const std::string& where);
Result<void> check_labels(const Problem& p, const Labels& labels, const std::string& where);
Result<void> check_tensor_set(const TensorSet& set, const std::string& where);

}  // namespace attn
