// Compiles kernels into the cache on disk on threads of their own, so that who measures one after the other finds them
// there and never waits for the compiler.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/model/kernel.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

class CompileAhead {
 public:
  using CompilerOpener = std::function<Result<std::unique_ptr<gpu::Compiler>>()>;
  // `threads` compilers at once, each with a compiler of its own.
  CompileAhead(std::vector<Point> points, Device device, CompilerOpener open, std::filesystem::path cache,
               unsigned threads);
  ~CompileAhead();  // what is being compiled is finished, the rest left
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;

  // What the compiler said of point `n`: waits until it has, or until the stop.
  Result<gpu::PlanReport> report(std::size_t n, std::stop_token stop = {});

 private:
  void work(const std::stop_token& stop);
  std::optional<std::size_t> take();
  void put(std::size_t n, Result<gpu::PlanReport> report);

  std::vector<Point> points_;
  Device device_;
  CompilerOpener open_;
  std::filesystem::path cache_;
  std::mutex mutex_;  // guards the two below
  std::size_t next_ = 0;
  std::vector<std::optional<Result<gpu::PlanReport>>> reports_;
  std::condition_variable_any changed_;
  std::vector<std::jthread> threads_;  // last: ends before what it uses
};

}  // namespace attn
