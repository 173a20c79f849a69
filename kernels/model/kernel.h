// What a kernel is to everyone else: one row of a table, the same for the CPU and the GPU. The table of all is
// kernels/ladder.h; there is no self-registration.
//
//   supports -> plan -> (memory check) -> prepare -> launch, launch ...    one answer each
//   record                                              every step of a small problem
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/base/stop.h"
#include "kernels/model/axis.h"
#include "kernels/model/experiment.h"
#include "kernels/model/options.h"
#include "kernels/model/order.h"
#include "kernels/model/problem/problem.h"
#include "kernels/model/problem/tensors.h"

namespace attn {

class WalkMark;  // kernels/base/pieces.h
class Recording;
class RecordingRun;     // kernels/recording/recording_run.h
struct FragmentLayout;  // kernels/model/fragments.h
namespace cpu {
class Crew;
struct RingTile;  // kernels/cpu/ring.h
}  // namespace cpu
namespace gpu {
struct TraceFacts;
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

// A cache of data that a CPU's core sees.
struct CacheLevel {
  std::int32_t level = 1;
  std::uint64_t bytes = 0;
  bool shared = false;  // by several cores
};

// One launch of a plan. CPU: grid = independent pieces of work, block = threads that share them.
struct Launch {
  std::string name;
  std::int64_t grid[3] = {1, 1, 1};
  std::int64_t block[3] = {1, 1, 1};
  std::int64_t shared_bytes = 0;  // GPU: dynamic shared memory a block
  // GPU: blocks that reach one another's shared memory, along each axis; 1 each: no cluster.
  std::int64_t cluster[3] = {1, 1, 1};
  // GPU: may start while the launch before it ends, and waits for that one's results itself (programmatic dependent
  // launch).
  bool early_start = false;
};

inline bool in_cluster(const Launch& l) {
  return l.cluster[0] != 1 || l.cluster[1] != 1 || l.cluster[2] != 1;
}

struct KernelRow;

// The step of training that a backward ends: a row of its own (kernels/training.h). Empty ids: there is none.
struct TrainingStep {
  std::string_view id, title, rung;  // the step's, as a row's
  std::string_view forward;          // the id of the rung that it begins with
};

// What prepare needs, decided before anything is allocated.
struct Plan {
  const KernelRow* kernel = nullptr;  // points into ladder(), which lives as long as the program
  Problem problem;
  Options options;  // every 0 replaced by the value used
  std::uint64_t workspace_bytes = 0;
  std::vector<Launch> launches;
  // Of a row that is made of others: theirs, in their order. Launches and workspaces follow one another in it.
  std::vector<Plan> parts = {};
};

// Where a plan's tensors lie in the memory of the device that it is for, by their names; null: not given. Not owned.
// Their shapes: tensors.h.
// Key lengths and slopes may be given too: they are read when a launch runs, and never visit the host. Not given,
// prepare sends the problem's. The problem must have some in either case: what is compiled depends on it. Lengths from
// 0 to Lk; on a GPU nobody checks them.
struct Buffers {
  ByTensor<const void*> in;
  ByTensor<void*> out;
  // Holds plan.workspace_bytes, 64-byte aligned, its content arbitrary. What was prepared on it keeps small arrays
  // there: no other launch may write it in between.
  void* workspace = nullptr;
  // Of Q, K, V and O that lie otherwise than the problem's layout says: elements from batch to batch, from head to head
  // and from row to row; a row has no gaps. All 0: as the layout says. Rungs alone that read strides may be given some
  // (gpu::reads_strides).
  ByTensor<std::array<std::int64_t, 3>> strides;

  template <class T>
  const T* read(Tensor t) const {
    return static_cast<const T*>(in[t]);
  }
  template <class T>
  T* write(Tensor t) const {
    return static_cast<T*>(out[t]);
  }
};
// The host's own arrays, for the CPU.
Buffers buffers_of(const Inputs& in, Outputs& out, void* workspace);
// Those of one of a plan's parts: its piece of the workspace, and what the part before it writes.
Buffers buffers_of_part(const Plan& plan, std::size_t part, const Buffers& all);
// Where a part's piece of the workspace begins.
std::uint64_t workspace_at(const Plan& plan, std::size_t part);

// The queue that work goes to. The CPU runs in the calling thread and its helpers and looks at `stop`
// between tiles; a GPU worker puts its gpu::Queue into `native`. Not owned.
struct Stream {
  Stop stop;
  void* native = nullptr;
  cpu::Crew* crew = nullptr;  // the CPU's threads (kernels/cpu/thread_crew.h); null: the calling thread alone
  // The calling thread alone takes pieces, until whoever reads on says that it is enough for now; null: to the end.
  WalkMark* mark = nullptr;
};

// A plan made ready for its buffers: a value, for as many launches as are asked. It owns no memory of the device. What
// it points to outlives it: the plan's row, the buffers and, on a GPU, the queue that it was prepared on, whose modules
// hold its functions; a graph that captured a launch needs them as long.
struct Prepared {
  Plan plan;
  Buffers buffers;
  std::shared_ptr<const void> native;  // what the row's prepare() left for its launch(); CPU: null
};

// Options of some value let a kernel walk in another order than its row's first.
struct OrderChoice {
  const Option* option = nullptr;  // lives as long as the row
  std::int64_t from = 1;           // of this value, or more
  Order order = Order::naive;
};

using SupportsFn = Result<void> (*)(const KernelRow&, const Problem&, const Options&, const Device&);
using PlanFn = Result<Plan> (*)(const KernelRow&, const Problem&, const Options&, const Device&);
using PrepareFn = Result<Prepared> (*)(const Plan&, const Buffers&, const Stream&);
using LaunchFn = Result<void> (*)(const Prepared&, const Stream&);
using RecordFn = Result<Recording> (*)(const KernelRow&, const Problem&, const Options&, const Inputs&, Stop);
using BeginRecordingFn = Result<std::unique_ptr<RecordingRun>> (*)(const KernelRow&, const Problem&, const Options&,
                                                                   Inputs, Stop);

// The pipe that the two products of a GPU kernel run on: its peak bounds the kernel. tensor_half: f16 and bf16, fp32
// sums, by mma.sync. warpgroup_half: the same by wgmma, which reaches half as much again.
enum class Pipe : std::uint8_t { multiply_add, tensor_half, tensor_tf32, warpgroup_half };
struct Products {
  Pipe pipe = Pipe::multiply_add;
  std::int32_t each = 1;  // products of the pipe for one of the formula: 3 where an fp32 number is split in two
};

// What a row takes that says nothing else.
inline constexpr Pass kForwardAlone[] = {Pass::forward};
inline constexpr Storage kDenseAlone[] = {Storage::dense};
inline constexpr Storage kDenseOrPaged[] = {Storage::dense, Storage::paged};
inline constexpr AxisOrder kBhldAlone[] = {AxisOrder::bhld};
inline constexpr OutputType kAsInputsAlone[] = {OutputType::as_inputs};
inline constexpr OutputType kAnyOutput[] = {OutputType::as_inputs, OutputType::f32};

// What the numbers that a traced run writes are (kernels/gpu/rungs/trace/trace.h); of resolved options.
using TraceFn = gpu::TraceFacts (*)(const Problem&, const Options&);
// What a run that stamps its pipeline's moments will write (kernels/gpu/rungs/stamps/stamps.h).
struct StampSizes {
  std::int32_t lanes = 0;        // of a block
  std::int32_t copies = 0;       // of them, the first: those that copy; the others compute
  bool warps = false;            // the others are warps that do all themselves
  std::int64_t query_tiles = 0;  // of the whole launch
  std::int64_t key_tiles = 0;    // of a query tile, at most
  // Of a kernel of the user's own: the launch that is recorded, and what its states are called.
  std::string_view entry;
  std::span<const std::string> states;
};
using StampsFn = StampSizes (*)(const Plan&);

// Options that tuning tries on a problem, resolved or not; `fixed` are those that somebody chose.
using TilesFn = std::vector<Options> (*)(const Problem&, const Options& fixed, const Device&);
// Why resolved options are what they are, in words.
using ReasonFn = std::string (*)(const Problem&, const Options&, const Device&);
// Registers that threads of a block have once they have moved them among themselves (setmaxnreg), role by role; of
// resolved options.
struct RegisterShare {
  std::string_view role;  // "compute", for tr_of()
  std::int32_t threads = 0, registers = 0;
};
using RegistersFn = std::vector<RegisterShare> (*)(const Problem&, const Options&);
// Floats of a query row in which a backward sums dQ in its workspace; of resolved options.
using SumsFn = std::int64_t (*)(const Problem&, const Options&);
// What of a problem it is compiled for beside what all rungs are: "NAME=VALUE".
using DefinesFn = std::vector<std::string> (*)(const Problem&);

// Rungs that do better where this one is known to fall short, by id: what a finding of measured figures proposes.
// Empty: none.
struct Betters {
  std::string_view reads_together;  // threads beside one another read elements that lie so
  std::string_view copies_ahead;    // one key tile more is on its way while another is used
};

struct KernelRow {
  std::string_view id;     // "cpu_flash": the CLI, CSV and session key
  std::string_view title;  // what the window calls it
  std::string_view rung;   // "0", "1", "1b" ...: its place on the ladder
  Order order = Order::naive;
  std::span<const OrderChoice> other_orders = {};  // the first whose option is chosen so
  Processor processor = Processor::cpu;
  std::span<const std::string_view> architectures;  // GPU: "sm_80" ...; CPU: empty = any
  std::span<const DType> dtypes;
  std::span<const Pass> passes = kForwardAlone;
  std::span<const Storage> storages = kDenseAlone;
  std::span<const AxisOrder> layouts = kBhldAlone;
  std::span<const OutputType> outputs = kAsInputsAlone;
  std::span<const OptionSpec> options;
  std::span<const ProblemAxis> axes;  // that a sweep may vary beside L, B, H and D; mostly none
  std::string_view what;              // one sentence: what it is
  std::string_view teaches;           // one sentence: what is new against the rung before
  std::string_view source;            // paper and section, or "definition"
  bool stores_scores = false;         // S and P go to the device's memory and come back
  std::int32_t score_reads = 0;       // then: how often S is read back (traffic prediction)
  std::int32_t counters = 0;          // GPU: numbers that it keeps in the workspace, 0 before and after each launch
  Products products;
  const FragmentLayout* fragments = nullptr;  // null: not on tensor cores, or nobody says how they hold a tile
  Betters betters;
  std::span<const Experiment> experiments;  // the lab's, on its source
  std::string_view elsewhere;   // GPU: a clause for where it does not run: why, and what does best there; mostly empty
  TilesFn tiles = nullptr;      // null: tuning tries every combination of the values that its options declare
  ReasonFn reason = nullptr;    // null: its options have no reason of their own
  DefinesFn defines = nullptr;  // GPU: null: nothing besides
  RegistersFn registers = nullptr;  // GPU: null: each thread keeps those that it begins with
  SupportsFn supports = nullptr;
  PlanFn plan = nullptr;
  // How it runs on the CPU. The GPU's rungs of the table have neither: kernels/gpu/launch prepares and launches all of
  // them, and with these a driver would be linked to whatever reads a row.
  // All that a launch must not do: on a GPU compile, load, ask for shared memory, send small arrays.
  PrepareFn prepare = nullptr;
  // The plan's launches alone, in their order.
  LaunchFn launch = nullptr;
  RecordFn record = nullptr;  // null: this kernel cannot be recorded, and the window says so
  // The same, some of it at a time; null: only in one go.
  BeginRecordingFn begin_recording = nullptr;
  TraceFn trace = nullptr;    // GPU: null: the rung has no recorder
  SumsFn d_q_sums = nullptr;  // GPU, backward: null: no sums of dQ in the workspace
  // Blocks zero sums of dQ for others that come later, and count in the workspace that they have.
  bool zeroes_ahead = false;
  // The option, false or true, without which blocks add in whatever order they come: null: the bits always repeat.
  const Option* deterministic = nullptr;
  StampsFn stamps = nullptr;            // GPU: null: no recorder of its pipeline
  const cpu::RingTile* ring = nullptr;  // CPU: what a rank of a ring makes of a query tile; null: it walks no ring
  TrainingStep training = {};           // a backward's
  // Of a training step: its forward, then its backward, which run as one chain. Empty: it is a kernel of its own.
  std::span<const KernelRow* const> parts = {};
};

// What its products run on in that type: rows of tensor_half or warpgroup_half that take f32 multiply and add there.
Products products_of(const KernelRow& row, DType dtype);

// Prepare, then launch, on the CPU.
Result<void> enqueue(const Plan& plan, const Buffers& buffers, const Stream& stream);

// Lengths and slopes come as tensors only where the problem has some; for the rows' prepare().
Result<void> check_tensors(const Plan& plan, const Buffers& buffers);

// The problem's dtype, pass, storage, layout and output are ones that the row takes, or which would do. Every row's
// `supports` asks it.
Result<void> check_takes(const KernelRow& row, const Problem& p);

// In which order it walks with these options, resolved or not.
Order order_of(const KernelRow& row, const Options& o);
// Options by which it walks in the order; none: it never does.
std::optional<Options> options_for(const KernelRow& row, Order order, Options o = {});

// What the row says of the option; null: it does not read it.
const OptionSpec* spec_of(const KernelRow& row, const Option& option);
// It reads the option and takes more than one value.
bool varies(const KernelRow& row, const Option& option);
// Two runs of the same problem give the same bits; of resolved options.
bool repeats_bits(const KernelRow& row, const Options& o);
// Tuning varies it: it may be more than one value, and is no number of the CPU's threads.
bool tunes(const KernelRow& row, const Option& option);
// "br (16 to 256 in steps of 16), threads (32 to 1024)"; "no option".
std::string declared_words(const KernelRow& row);

// Options with a value of every option that the row declares, or which value is out of range and what would do.
Result<Options> resolve(const KernelRow& row, const Options& o, const Device& d);

}  // namespace attn
