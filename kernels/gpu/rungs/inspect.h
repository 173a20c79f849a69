// What the compiler and the occupancy table say of a plan, with no GPU in the machine.
#pragma once

#include <string>
#include <vector>

#include "kernels/gpu/compile/occupancy.h"
#include "kernels/gpu/compile/service.h"
#include "kernels/model/kernel.h"

namespace attn::gpu {

// One launch of the plan.
struct EntryReport {
  EntryFigures figures;
  std::int64_t threads = 0;        // a block
  std::int64_t dynamic_bytes = 0;  // shared memory that the launch asks for
  Occupancy occupancy;
  std::string registers_then;  // register_words() of common.h, of the entry that moves them
};

struct PlanReport {
  std::vector<EntryReport> entries;  // in the order of the launches
  Compiled compiled;
};

// Of a plan that is compiled already.
Result<std::vector<EntryReport>> report_entries(const Compiled& compiled, const Plan& plan, const Device& device);

// `aligned`: pointers of 16 bytes, as every allocation of ours has them.
Result<PlanReport> inspect(CompileService& service, const Plan& plan, const Device& device,
                           const std::filesystem::path& edited_kernels);

}  // namespace attn::gpu
