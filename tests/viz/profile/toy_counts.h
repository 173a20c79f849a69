// What a chip might have counted at the instructions of the toy kernel (toy_kernel.h).
#pragma once

#include "profiling/figures/counts.h"

namespace attn::profile_test {

// Line 5 (S) executes 30000 instructions with 3000 conflicts, line 7 (P) 10000 by half their threads with 700 sectors
// beyond the ideal.
inline KernelCounts toy_counts() {
  const auto at = [](std::uint32_t address, gpu::CodePhase phase, std::uint32_t line, std::uint64_t executed,
                     std::uint64_t threads, std::uint64_t shared, std::uint64_t sectors) {
    CountedInstruction i{address, phase, {{0, line}}, {}};
    i.counts[InstructionCounter::executed] = executed;
    i.counts[InstructionCounter::threads] = threads;
    i.counts[InstructionCounter::shared] = shared;
    i.counts[InstructionCounter::shared_ideal] = shared / 4;
    i.counts[InstructionCounter::sectors] = sectors;
    i.counts[InstructionCounter::sectors_ideal] = sectors / 8;
    return i;
  };
  KernelCounts c;
  c.method = "a profiler, SASS metrics";
  c.chip = "GX999";
  c.text_hash = "44556677";
  c.files = {"kernels/gpu/toy.cu"};
  for (const InstructionCounterRow& row : instruction_counter_table())
    c.metrics.at(static_cast<std::size_t>(row.counter)) = row.metrics.front();
  using gpu::CodePhase;
  c.functions = {{"toy",
                  {at(0x20, CodePhase::s, 5, 10000, 320000, 4000, 0), at(0x30, CodePhase::s, 5, 20000, 640000, 0, 0),
                   at(0x50, CodePhase::p, 7, 10000, 160000, 0, 800)}}};
  return c;
}

}  // namespace attn::profile_test
