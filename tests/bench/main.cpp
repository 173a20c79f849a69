// attnscope_bench: micro-benchmarks, then the budgets and whether each holds on this machine.
//   attnscope_bench                                 all
//   attnscope_bench --benchmark_filter=NONE         the budgets alone
// A line each: "holds", "MISS", or "-" for what cannot be measured here, with why.
// Exit status 0 even where a budget does not hold: a busy machine breaks budgets that the program keeps.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "app/cli/cli.h"
#include "budget.h"
#include "profiling/session.h"

using attn::bench::Budget;

namespace {

const char* word_of(attn::bench::Outcome outcome) {
  switch (outcome) {
    case attn::bench::Outcome::holds:
      return "holds";
    case attn::bench::Outcome::missed:
      return "MISS";
    case attn::bench::Outcome::not_here:
      return "-";
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  // The GPU client starts its own program as worker.
  if (argc > 1 && std::string_view(argv[1]) == "worker") return attn::cli::run(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  attn::bench::register_kernels();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();

  const attn::Provenance here = attn::provenance_here();
  fmt::print("\nBudgets on {} ({}, {} cores), {} {}\n", here.device, here.device_arch, here.cores, here.program_version,
             here.commit);
  for (std::vector<Budget> (*part)() :
       {attn::bench::gui_budgets, attn::bench::recording_budgets, attn::bench::scrub_budgets, attn::bench::gpu_budgets,
        attn::bench::cpu_budgets}) {
    for (const Budget& b : part()) {
      fmt::print("{:5} {:58} {:>10}   {}\n", word_of(b.outcome), b.what, b.limit, b.measured);
      std::fflush(stdout);
    }
  }
}
