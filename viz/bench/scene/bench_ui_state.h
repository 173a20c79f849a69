// What the Bench workspace remembers between frames and what is no part of the state: texts being typed, which lines
// are hidden, the scene and the estimate of the rows and the sweep that they were made for. The shell owns one for as
// long as it owns the ImGui context.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

namespace attn {

struct BenchCache;  // viz/bench/scene/bench_cache.h

struct BenchUiState {
  std::shared_ptr<BenchCache> cache;
  std::optional<std::size_t> only_chart;  // this chart fills the workspace: for a report
};

}  // namespace attn
