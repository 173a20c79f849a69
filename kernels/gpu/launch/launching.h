// From a plan to kernels that run: prepare() and launch() of every rung of a GPU. They stand beside the rows, which are
// data and link without a driver. A rung says what parameters its kernels take; the rest is the same for all.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/device/driver.h"
#include "kernels/gpu/launch/parameters.h"
#include "kernels/model/kernel.h"

namespace attn::gpu {

// Compiles and loads ROW.cu where that was not done yet, lets its kernels ask for their
// shared memory, sends key lengths and slopes that are no tensors, and keeps the parameters.
Result<Prepared> prepare_with(ParametersFn parameters, const Plan& plan, const Buffers& buffers, const Stream& stream);
// The same by the row's own prepare(), of a rung that has parameters of its own; else of one whose kernels take Args
// (args.h), and of a backward BackwardArgs (backward_args.h).
Result<Prepared> prepare(const Plan& plan, const Buffers& buffers, const Stream& stream);
// One call of the driver a launch, in the queue's stream and the thread's context.
Result<void> launch(const Prepared& prepared, const Stream& stream);

// ---- for whoever launches one plan at addresses that change from launch to launch

// The rung takes Buffers::strides.
bool reads_strides(const KernelRow& row);
// Of a plan for these addresses the variant that reads several elements at once is compiled.
bool reads_aligned(const Plan& plan, const Buffers& buffers);

// A plan compiled and loaded, with all that addresses do not change. It is bound to its queue as Prepared is.
struct LoadedPlan {
  struct Entry {
    std::string name;
    Function function = nullptr;
    LaunchShape shape;
  };
  Plan plan;
  std::vector<Entry> entries;
  // The problem's key lengths and slopes on the device; null: it has none. Launches only read them, on any stream.
  std::shared_ptr<const Memory> key_lengths, slopes;

  // A graph that captured a launch reads memory of this object: it must outlive the graph.
  bool has_memory() const { return key_lengths != nullptr || slopes != nullptr; }
};
// Compiles and loads where that was not done yet, and waits until small arrays are on the device. Refused while the
// queue's stream is being captured. Of rungs alone, not of rows made of others or of a user's own files.
Result<LoadedPlan> load_plan(const Plan& plan, bool aligned, const Stream& stream);
// Sets counters to 0 if the rung has some, then one call of the driver a launch: all of it may be captured. The
// workspace's content is arbitrary. `buffers` are aligned if the plan was loaded so.
Result<void> launch_at(const LoadedPlan& loaded, const Buffers& buffers, const Stream& stream);

}  // namespace attn::gpu
