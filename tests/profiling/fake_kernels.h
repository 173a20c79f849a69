// Kernel rows for failure injection: the CPU's sequential kernel with one thing gone wrong.
#pragma once

#include <new>
#include <stop_token>
#include <thread>

#include "kernels/ladder.h"
#include "kernels/model/kernel.h"

namespace attn::test {

inline const KernelRow& real_row() {
  return **find_kernel("cpu_sequential");
}

inline Result<Plan> plan_like_the_real_one(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  auto plan = real_row().plan(real_row(), p, o, d);
  if (plan) plan->kernel = &row;
  return plan;
}

// A right kernel under another name.
inline KernelRow right_kernel(std::string_view id = "right") {
  KernelRow row = real_row();
  row.id = id;
  row.plan = plan_like_the_real_one;
  return row;
}

inline KernelRow kernel_with(std::string_view id, LaunchFn launch) {
  KernelRow row = right_kernel(id);
  row.launch = launch;
  return row;
}

inline KernelRow out_of_memory_kernel() {
  return kernel_with("out_of_memory", [](const Prepared&, const Stream&) -> Result<void> { throw std::bad_alloc(); });
}

inline KernelRow failing_kernel() {
  return kernel_with("failing", [](const Prepared&, const Stream&) -> Result<void> {
    return fail(ErrorKind::failed, "the third tile did not come back");
  });
}

// Does nothing: what it leaves in the outputs is the poison.
inline KernelRow idle_kernel() {
  return kernel_with("idle", [](const Prepared&, const Stream&) -> Result<void> { return ok(); });
}

inline KernelRow refusing_kernel() {
  KernelRow row = right_kernel("refusing");
  row.supports = [](const KernelRow&, const Problem&, const Options&, const Device&) -> Result<void> {
    return bad_input("refusing takes no problem at all");
  };
  return row;
}

// Works until the stop, as a long kernel does.
inline KernelRow endless_kernel() {
  return kernel_with("endless", [](const Prepared&, const Stream& stream) -> Result<void> {
    while (!stream.stop.stop_requested()) std::this_thread::yield();
    return fail(ErrorKind::cancelled, "stopped between two tiles");
  });
}

// Claims a workspace that no machine has.
inline KernelRow greedy_kernel() {
  KernelRow row = right_kernel("greedy");
  row.plan = [](const KernelRow& self, const Problem& p, const Options& o, const Device& d) -> Result<Plan> {
    auto plan = plan_like_the_real_one(self, p, o, d);
    if (plan) plan->workspace_bytes = 1ULL << 60;
    return plan;
  };
  return row;
}

inline Problem small_problem(std::int64_t L = 16) {
  Problem p;
  p.Lq = p.Lk = L;
  p.D = p.Dv = 8;
  return p;
}

}  // namespace attn::test
