#include "kernels/model/fits.h"

#include <algorithm>
#include <limits>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/tensors.h"
#include "kernels/model/problem/validate.h"

namespace attn {
namespace {

constexpr std::uint64_t kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
// Longer than any sequence that fits a machine of today; beyond it the search for the largest L gives up.
constexpr std::int64_t kLongest = std::int64_t{1} << 40;

// The problem with Lq = Lk = L. Key lengths are cut to L; bias axes that repeat go on repeating; a pool of pages holds
// every batch's keys apart.
Problem with_length(const Problem& p, std::int64_t L) {
  Problem changed = p;
  changed.Lq = changed.Lk = L;
  for (std::int64_t& n : changed.mask.key_lengths) n = std::min(n, L);
  if (KvStorage& s = changed.storage; s.kind() == Storage::paged) {
    s.pages = static_cast<std::int64_t>(saturating_product({{p.B, L / s.page + (L % s.page != 0 ? 1 : 0)}}));
  }
  if (changed.bias_shape.size() == 4) {
    for (const std::size_t axis : {std::size_t{2}, std::size_t{3}}) {
      if (changed.bias_shape[axis] != 1) changed.bias_shape[axis] = L;
    }
  }
  return changed;
}

std::uint64_t bytes_of(const Plan& plan, const BytesBeside& beside) {
  return saturating_sum(bytes_needed(plan), beside ? std::min(beside(plan.problem), kMax) : 0);
}

bool fits(const Plan& plan, const Device& d, std::int64_t L, std::uint64_t limit, const BytesBeside& beside) {
  const Problem changed = with_length(plan.problem, L);
  if (!validate(changed)) return false;
  const Result<Plan> smaller = plan.kernel->plan(*plan.kernel, changed, plan.options, d);
  return smaller && bytes_of(*smaller, beside) <= limit;
}

// 0 when not even L = 1 fits.
std::int64_t largest_length(const Plan& plan, const Device& d, std::uint64_t limit, const BytesBeside& beside) {
  if (!fits(plan, d, 1, limit, beside)) return 0;
  std::int64_t low = 1, high = 2;
  while (high < kLongest && fits(plan, d, high, limit, beside)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const std::int64_t mid = low + (high - low) / 2;
    (fits(plan, d, mid, limit, beside) ? low : high) = mid;
  }
  return low;
}

const char* limit_words(std::uint64_t limit, const Device& d) {
  if (limit == 0) return tr("the free memory");
  return limit == d.memory_bytes ? tr("all of its memory") : tr("the memory limit");
}

}  // namespace

std::uint64_t tensor_bytes(const Problem& p) {
  std::uint64_t bytes = 0;
  for (const TensorSpec& t : tensors_of(p)) {
    if (t.role != Role::scratch && !t.in_problem) bytes = saturating_sum(bytes, t.bytes());
  }
  return bytes;
}

std::uint64_t bytes_needed(const Plan& plan) {
  return saturating_sum(tensor_bytes(plan.problem), std::min(plan.workspace_bytes, kMax));
}

std::int64_t longest_that_fits(const Plan& plan, const Device& d, std::uint64_t limit) {
  return largest_length(plan, d, limit, {});
}

Result<void> check_memory(const Plan& plan, const Device& d, std::uint64_t limit, const BytesBeside& beside) {
  const std::uint64_t room = limit != 0 ? limit : free_memory();
  const std::uint64_t needed = bytes_of(plan, beside);
  if (needed <= room) return ok();

  const std::int64_t largest = largest_length(plan, d, room, beside);
  const std::string advice = largest == 0
                                 ? tr("Not even L = 1 fits; raise the memory limit, or reduce B, H or D.")
                                 : phrase("The largest L that fits is {} (Lq = Lk, the rest unchanged).", largest);
  const std::uint64_t check = needed - bytes_needed(plan);
  const std::string tensors = format_bytes(tensor_bytes(plan.problem)), space = format_bytes(plan.workspace_bytes);
  const std::string parts = check == 0 ? phrase("{} of tensors, {} of workspace", tensors, space)
                                       : phrase("{} of tensors, {} of workspace, {} to check the output", tensors,
                                                space, format_bytes(check));
  return fail(ErrorKind::cannot_run,
              phrase("{} on {} needs {} ({} bytes: {}); {} is {}. {}", plan.kernel->id, describe(plan.problem),
                     format_bytes(needed), needed, parts, limit_words(limit, d), format_bytes(room), advice));
}

}  // namespace attn
