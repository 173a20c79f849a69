#include "kernels/recording/tensor_set.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/validate.h"

namespace attn {
namespace {

std::string words_of_shape(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Result<void> check_tensor(const Problem& p, const TensorSpec& spec, const NamedTensor& t, const std::string& where) {
  if (spec.type == ElementType::i32) {
    if (static_cast<std::int64_t>(t.table.size()) != element_count(spec.shape)) {
      return bad_input(phrase("{}: {} has {} numbers, but the problem needs {}.", where, words_of(t.tensor),
                              t.table.size(), words_of_shape(spec.shape)));
    }
    return check_page_table(p, t.table, where);
  }
  if (t.numbers.shape() == spec.shape && element_type_of(t.numbers.dtype()) == spec.type) return ok();
  return bad_input(phrase("{}: {} is {} {}, but the problem needs {} {}.", where, words_of(t.tensor),
                          name_of(t.numbers.dtype()), words_of_shape(t.numbers.shape()), name_of(spec.type),
                          words_of_shape(spec.shape)));
}

// Labels of one side: none, `each`, or `each` a batch.
bool fits(const std::vector<std::string>& words, std::int64_t each, std::int64_t batches) {
  const auto count = static_cast<std::int64_t>(words.size());
  return count == 0 || count == each || (count % batches == 0 && count / batches == each);
}

}  // namespace

Error no_tensor(const Problem& p, Tensor t, const std::string& where) {
  return {ErrorKind::bad_input,
          phrase("{}: {} cannot be stored with {}: the problem has no such tensor or defines it itself.", where,
                 words_of(t), describe(p))};
}

Result<void> check_named_tensors(const Problem& p, std::int64_t splits, std::span<const NamedTensor> tensors,
                                 const std::string& where) {
  if (splits < 1 || splits > kMaxSplits) {
    return bad_input(phrase("{}: {} splits; use 1 to {}.", where, splits, kMaxSplits));
  }
  const std::vector<TensorSpec> specs = tensors_of(p, splits);
  std::set<Tensor> seen;
  for (const NamedTensor& t : tensors) {
    const TensorSpec* spec = find(specs, t.tensor);
    if (spec == nullptr || spec->in_problem) return tl::unexpected(no_tensor(p, t.tensor, where));
    if (!seen.insert(t.tensor).second) {
      return bad_input(phrase("{}: {} appears twice.", where, words_of(t.tensor)));
    }
    if (auto good = check_tensor(p, *spec, t, where); !good) return good;
  }
  return ok();
}

Result<void> check_labels(const Problem& p, const Labels& labels, const std::string& where) {
  for (const auto& [what, words, each] : {std::tuple{"rows", &labels.rows, p.Lq}, {"columns", &labels.columns, p.Lk}}) {
    if (words->size() > kMaxLabels || !fits(*words, each, p.B)) {
      return bad_input(phrase("{}: {} labels for {}; use {} (one batch) or {} (all batches), but at most {}.", where,
                              words->size(), what, each, each * p.B, kMaxLabels));
    }
    const auto longest = std::ranges::max_element(*words, {}, [](const std::string& word) { return word.size(); });
    if (longest != words->end() && longest->size() > kMaxLabelBytes) {
      return bad_input(
          phrase("{}: a label of {} has {} bytes; the limit is {}.", where, what, longest->size(), kMaxLabelBytes));
    }
  }
  return ok();
}

Result<void> check_tensor_set(const TensorSet& set, const std::string& where) {
  if (auto good = validate(set.problem); !good) return bad_input(where + ": " + good.error().message);
  if (auto good = check_named_tensors(set.problem, set.splits, set.tensors, where); !good) return good;
  return check_labels(set.problem, set.labels, where);
}

}  // namespace attn
