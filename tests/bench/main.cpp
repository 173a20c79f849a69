// attnscope_bench: micro-benchmarks, then the budgets and whether each holds on this machine.
//   attnscope_bench                                 all
//   attnscope_bench --benchmark_filter=NONE         the budgets alone
//   attnscope_bench --budgets=scrub                 the budgets of one part alone: gui, recording, scrub, gpu or cpu
// A line each: "holds", "MISS", or "-" for what cannot be measured here, with why.
// Exit status 0 even where a budget does not hold: a busy machine breaks budgets that the program keeps.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <vector>

#include "app/cli/cli.h"
#include "budget.h"
#include "profiling/session/session.h"

using attn::bench::Budget;

namespace {

struct Part {
  std::string_view name;
  std::vector<Budget> (*budgets)();
};
constexpr Part kParts[] = {{"gui", attn::bench::gui_budgets},
                           {"recording", attn::bench::recording_budgets},
                           {"scrub", attn::bench::scrub_budgets},
                           {"gpu", attn::bench::gpu_budgets},
                           {"cpu", attn::bench::cpu_budgets}};
constexpr std::string_view kBudgets = "--budgets=";

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
  std::string_view only;
  if (argc == 2 && std::string_view(argv[1]).starts_with(kBudgets)) {
    only = std::string_view(argv[1]).substr(kBudgets.size());
    argc = 1;
    const bool known = std::any_of(std::begin(kParts), std::end(kParts), [&](const Part& p) { return p.name == only; });
    if (!known) {
      fmt::print(stderr, "--budgets={}: the parts are gui, recording, scrub, gpu and cpu\n", only);
      return 2;
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (only.empty()) {
    attn::bench::register_kernels();
    benchmark::RunSpecifiedBenchmarks();
  }
  benchmark::Shutdown();

  const attn::Provenance here = attn::provenance_here();
  fmt::print("\nBudgets on {} ({}, {} cores), {} {}\n", here.device, here.device_arch, here.cores, here.program_version,
             here.commit);
  for (const Part& part : kParts) {
    if (!only.empty() && part.name != only) continue;
    for (const Budget& b : part.budgets()) {
      fmt::print("{:5} {:58} {:>10}   {}\n", word_of(b.outcome), b.what, b.limit, b.measured);
      std::fflush(stdout);
    }
  }
}
