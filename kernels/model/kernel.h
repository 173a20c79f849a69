// What a kernel is to everyone else: one row of a table, the same for the CPU and the GPU. The table of all is
// kernels/ladder.h; there is no self-registration.
//
//   supports -> plan -> (memory check) -> enqueue        one answer
//   record                                              every step of a small problem
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/options.h"
#include "kernels/model/order.h"
#include "kernels/model/problem.h"

namespace attn {

class Recording;
namespace cpu {
class Crew;
}

enum class Processor : std::uint8_t { cpu, gpu };

// Where a kernel runs. `arch` is the CPU's vector target ("AVX3") or the GPU's ("sm_90a").
struct Device {
  Processor processor = Processor::cpu;
  std::int32_t index = 0;
  std::string name;
  std::string arch;
  std::int32_t cores = 1;          // CPU: logical processors this process may use; GPU: SMs
  std::uint64_t memory_bytes = 0;  // physical memory of the device
};

// One launch of a plan. CPU: grid = independent pieces of work, block = threads that share them.
struct Launch {
  std::string name;
  std::int64_t grid[3] = {1, 1, 1};
  std::int64_t block[3] = {1, 1, 1};
  std::int64_t shared_bytes = 0;  // GPU: dynamic shared memory a block
};

struct KernelRow;

// What enqueue needs, decided before anything is allocated.
struct Plan {
  const KernelRow* kernel = nullptr;  // points into ladder(), which lives as long as the program
  Problem problem;
  Options options;  // every 0 replaced by the value used
  std::uint64_t workspace_bytes = 0;
  std::vector<Launch> launches;
};

// Pointers in the memory of the device that the plan is for. Not owned. Layouts: problem.h.
// `workspace` holds plan.workspace_bytes, 64-byte aligned, its content arbitrary.
struct Buffers {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  const float* bias = nullptr;  // null = no bias
  void* out = nullptr;
  float* lse = nullptr;
  void* workspace = nullptr;
};

// The queue that work goes to. The CPU runs in the calling thread and its helpers and looks at `stop`
// between tiles; a GPU worker puts its gpu::Queue into `native`. Not owned.
struct Stream {
  std::stop_token stop;
  void* native = nullptr;
  cpu::Crew* crew = nullptr;  // the CPU's threads from an earlier call; null: the call starts and ends its own
};

using SupportsFn = Result<void> (*)(const KernelRow&, const Problem&, const Options&, const Device&);
using PlanFn = Result<Plan> (*)(const KernelRow&, const Problem&, const Options&, const Device&);
using EnqueueFn = Result<void> (*)(const Plan&, const Buffers&, const Stream&);
using RecordFn = Result<Recording> (*)(const KernelRow&, const Problem&, const Options&, const Inputs&,
                                       std::stop_token);

// The pipe that the two products of a GPU kernel run on: its peak bounds the kernel. tensor_half: f16 and bf16, fp32
// sums.
enum class Pipe : std::uint8_t { multiply_add, tensor_half, tensor_tf32 };
struct Products {
  Pipe pipe = Pipe::multiply_add;
  std::int32_t each = 1;  // products of the pipe for one of the formula: 3 where an fp32 number is split in two
};

struct KernelRow {
  std::string_view id;     // "cpu_flash": the CLI, CSV and session key
  std::string_view title;  // what the window calls it
  std::string_view rung;   // "0", "1", "1b" ...: its place on the ladder
  Order order = Order::naive;
  Processor processor = Processor::cpu;
  std::span<const std::string_view> architectures;  // GPU: "sm_80" ...; CPU: empty = any
  std::span<const DType> dtypes;
  std::span<const OptionSpec> options;
  std::string_view what;         // one sentence: what it is
  std::string_view teaches;      // one sentence: what is new against the rung before
  std::string_view source;       // paper and section, or "definition"
  bool stores_scores = false;    // S and P go to the device's memory and come back
  std::int32_t score_reads = 0;  // then: how often S is read back (traffic prediction)
  Products products;
  SupportsFn supports = nullptr;
  PlanFn plan = nullptr;
  EnqueueFn enqueue = nullptr;
  RecordFn record = nullptr;  // null: this kernel cannot be recorded, and the window says so
};

// The problem's dtype is one that the row takes, or which would do.
Result<void> check_dtype(const KernelRow& row, const Problem& p);

// The option's place where it is a whole number (Br, Bc, threads, stages); else null.
std::int32_t* whole_number(Options& o, Option option);

// Options with every 0 replaced, or which value is out of range and what would do.
Result<Options> resolve(const KernelRow& row, const Options& o, const Device& d);

}  // namespace attn
