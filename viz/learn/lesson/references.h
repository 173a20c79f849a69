// What the references of lesson expressions name in a recording: `S[0,*]@i0j2`, `bytes()`, `Lk`. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/recording/recording.h"
#include "profiling/figures/measurement.h"
#include "profiling/session/session_data.h"
#include "viz/learn/lesson/lesson_place.h"

namespace attn {

// Which rows or columns of a tensor: from first to last, both included.
struct IndexRange {
  std::int64_t first = 0, last = 0;
  bool contains(std::int64_t n) const { return n >= first && n <= last; }
};

struct TensorReference {
  std::string_view name;
  IndexRange rows, cols;
  LessonPlace place;
};
struct ReadValues {
  std::vector<double> values;  // by row, then column, then key tile
  EventIndex latest = 0;       // made the newest of them; 0 of inputs, which are given
  std::optional<Slot> slot;    // whose they are; none for the output
};
// Q K V S P weight m l O alpha m_old l_old O_old out lse.
Result<ReadValues> read_tensor(const Recording& rec, const TensorReference& reference);
bool is_tensor_name(std::string_view name);

// B Hq Lq Lk D Dv Br Bc, or none.
std::optional<double> extent_named(const Recording& rec, std::string_view name);
// bytes bytes_q ... bytes_stats once chip tiles skipped masked, or none.
std::optional<double> count_named(const Recording& rec, std::string_view name);

}  // namespace attn
