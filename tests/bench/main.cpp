// attnscope_bench: micro-benchmarks, then the budgets and whether each holds on this machine.
//   attnscope_bench                                 all
//   attnscope_bench --benchmark_filter=NONE         the budgets alone
// Exit status 0 even where a budget does not hold: a busy machine breaks budgets that the program keeps.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "budget.h"
#include "profiling/session.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  attn::bench::register_kernels();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();

  const attn::Provenance here = attn::provenance_here();
  fmt::print("\nBudgets on {} ({}, {} cores), {} {}\n", here.device, here.device_arch, here.cores, here.program_version,
             here.commit);
  using attn::bench::Budget;
  for (std::vector<Budget> (*part)() : {attn::bench::cpu_budgets, attn::bench::recording_budgets}) {
    for (const Budget& b : part())
      fmt::print("{:5} {:52} {:>12}   {}\n", b.holds ? "holds" : "MISS", b.what, b.limit, b.measured);
  }
}
