#include "kernels/base/on_threads.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace attn {

namespace {

void take_on(std::int64_t most, std::int64_t pieces, const std::function<void(std::int64_t piece)>& work) {
  std::atomic<std::int64_t> next{0};
  const auto take = [&] {
    for (std::int64_t piece = next++; piece < pieces; piece = next++) work(piece);
  };
  std::vector<std::jthread> helpers;
  for (std::int64_t n = 1; n < std::min(pieces, most); ++n) helpers.emplace_back(take);
  take();
}

}  // namespace

void on_threads(std::int64_t pieces, const std::function<void(std::int64_t piece)>& work) {
  take_on(std::max<std::int64_t>(1, std::thread::hardware_concurrency()), pieces, work);
}

TakePieces as_many_threads(std::int32_t threads) {
  return [threads](std::int64_t pieces, const std::function<void(std::int64_t piece)>& work) {
    take_on(threads, pieces, work);
  };
}

}  // namespace attn
