// The table of all kernels, of the CPU and of the GPU, in the order of the ladder. It knows every rung, so no rung and
// nothing that a rung is made of includes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/axis.h"
#include "kernels/model/kernel.h"

namespace attn {

namespace gpu {
// Kernels of the user's own files: each is the row of an OwnKernel (kernels/gpu/rungs/own_kernel.h), which own_kernel()
// gives.
using OwnKernels = std::vector<std::shared_ptr<const KernelRow>>;
}  // namespace gpu

// The CPU's rows, a table of its own (cpu_table.cpp); the GPU's are gpu::gpu_kernel_table() (kernels/gpu/rungs/rows.h).
std::span<const KernelRow> cpu_kernel_table();
// The CPU's rows of a backward (cpu_backward_table.cpp); those above are forwards.
std::span<const KernelRow> cpu_backward_table();
// The CPU's rungs, then the GPU's, then those of a backward. The rows live as long as the program.
std::vector<const KernelRow*> ladder();
// Training steps: pairs of rungs of the ladder that run as one chain (kernels/training.h), in the order of their
// backwards. A backward whose forward this program has not is left out. The rows live as long as the program.
std::span<const KernelRow> training_table();
// The ladder, then the training steps: all that can be measured.
std::vector<const KernelRow*> measured_rows();
// Those that take the pass, in the same order.
std::vector<const KernelRow*> ladder_of(Pass pass);
bool takes_pass(const KernelRow& row, Pass pass);
// Of both. The error lists the ids there are.
Result<const KernelRow*> find_kernel(std::string_view id);
// Of the user's own files, else of the table. The row lives as long as `own` or the program.
Result<const KernelRow*> find_kernel(std::string_view id, const gpu::OwnKernels& own);
// Place in measured_rows(); kernels that this program does not know come last.
std::size_t ladder_rank(std::string_view id);
// The highest rung that takes the problem on the device and is made for it; null: none. A GPU's rung that splits keys
// among blocks is made for few rows, or for whoever chooses `splits`: where there are many, blocks have work enough.
const KernelRow* best_rung(Processor processor, const Problem& p, const Options& o, const Device& d);
// The highest that takes it, made for it or not.
const KernelRow* highest_rung(Processor processor, const Problem& p, const Options& o, const Device& d);
// The first on the processor that runs in this order; null: none does.
const KernelRow* first_of(Order order, Processor processor);
// Those whose row says how tensor cores hold their tiles (KernelRow::fragments), in the order of the ladder.
std::vector<const KernelRow*> kernels_with_fragments();
// The one of that id among them, else the first; null: there is none.
const KernelRow* shown_fragments(std::string_view id);

// Every option that a row of the ladder declares, each once: those of all kernels' Options first, in their order.
std::vector<const Option*> declared_options();
// The error lists the names there are.
Result<const Option*> find_option(std::string_view name);

// What an axis is. One of the two; neither: no kernel of this program declares it.
struct AxisKind {
  const ProblemAxis* problem = nullptr;
  const Option* option = nullptr;
};
AxisKind kind_of(const Axis& axis);
// All: the problem's, then the options that are whole numbers.
std::vector<Axis> all_axes();
// The error lists the names there are.
Result<Axis> axis_from_name(std::string_view name);
// Does it change what this kernel does? Every kernel reads the problem's extents; an option that takes one value only
// (the threads of cpu_sequential) is no choice.
bool reads_axis(const KernelRow& row, const Axis& axis);
// What an option is for a kernel with these options: what was chosen, else the kernel's default, which rows and files
// do not spell out. None: the kernel does not read it, or its default hangs on the device. Of a kernel that this
// program does not know: what was chosen.
std::optional<std::int64_t> option_value(std::string_view kernel, const Option& option, const Options& o);
// Where a kernel stands on an axis; 0: nowhere, as it is the same all along it.
std::int64_t axis_value(const Axis& axis, std::string_view kernel, const Problem& p, const Options& o);

}  // namespace attn
