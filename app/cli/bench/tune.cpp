// attnscope tune: the tiles, threads and stages of one kernel on one problem, and which of them is fastest.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/cli/bench/tune_text.h"
#include "app/state/apply/apply.h"
#include "app/worker/tuner.h"
#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "profiling/tune/export.h"

namespace attn::cli {
namespace {

struct TuneArguments {
  std::string kernel, device, arch, csv, json, generator, seed, memory_limit;
  bool plan = false, compile = false, warm_l2 = false;
  double budget = TuneSpec().budget_s, each = TuneSpec().seconds_per_point;
  std::int32_t best = TuneSpec().finalists;
  std::optional<std::int32_t> threads, stages;
  ProblemArguments problem;
  OptionArguments options;  // of which --set alone is asked for
};

Result<TuneSpec> spec_of(const TuneArguments& a, const KernelRow& row) {
  TuneSpec s;
  s.kernel = a.kernel;
  s.problem = initial_state().document.sweep.base;
  s.problem.dtype = row.dtypes.front();
  if (auto r = a.problem.apply_to(s.problem); !r) return tl::unexpected(r.error());
  const auto device = choose_device(a.device);
  if (!device) return tl::unexpected(device.error());
  if (a.device == "cpu" && row.processor == Processor::gpu)
    return bad_input(phrase("{} runs on a GPU, but --device cpu was given; use --device gpu.", row.id));
  s.gpu = device->index;
  s.l2 = a.warm_l2 ? L2State::warm : L2State::cold;
  OptionArguments options = a.options;
  options.threads = a.threads;
  options.stages = a.stages;
  const KernelRow* const rows[] = {&row};
  if (auto r = options.check_read_by(rows); !r) return tl::unexpected(r.error());
  if (auto r = options.apply_to(s.options); !r) return tl::unexpected(r.error());
  if (!a.generator.empty()) {
    const auto g = generator_from_name(a.generator);
    if (!g) return bad_input(phrase("Unknown --generator {}; use normal, for example.", a.generator));
    s.generator = *g;
  }
  if (!a.seed.empty()) {
    const auto seed = parse_seed(a.seed, std::numeric_limits<std::uint64_t>::max());
    if (!seed) return tl::unexpected(seed.error());
    s.seed = *seed;
  }
  const auto limit = memory_limit_of(a.memory_limit);
  if (!limit) return tl::unexpected(limit.error());
  s.memory_limit = *limit;
  s.budget_s = a.budget;
  s.seconds_per_point = a.each;
  s.finalists = a.best;
  if (!(a.each > 0 && a.each <= 60)) return bad_input(phrase("Invalid --each {}; use 0 to 60.", a.each));
  if (auto r = validate(s); !r) return tl::unexpected(r.error());
  return s;
}

Result<void> check_outputs(const TuneArguments& a) {
  if (a.compile && !a.plan)
    return bad_input(tr("--compile works only with --plan: without --plan, every candidate is compiled anyway."));
  if (!a.arch.empty() && !a.plan)
    return bad_input(tr("--arch works only with --plan: without --plan, candidates run on this machine's GPU."));
  if (a.csv == "-" && a.json == "-") return bad_input(tr("Only one of --csv - and --json - can use stdout."));
  for (const auto& [option, file] : {std::pair("--csv", a.csv), std::pair("--json", a.json)})
    if (!file.empty())
      if (auto r = check_writable(option, file); !r) return r;
  return check_distinct({}, {{"--csv", a.csv}, {"--json", a.json}});
}

Result<void> write_outputs(const TuneArguments& a, const KernelRow& row, const TuneResult& r) {
  if (!a.csv.empty())
    if (auto w = write_text(a.csv, tiles_to_csv(r)); !w) return w;
  if (!a.json.empty())
    if (auto w = write_text(a.json, tiles_to_json_text(r)); !w) return w;
  if (a.csv == "-" || a.json == "-") return ok();
  return print(a.plan ? plan_text(row, r) : result_text(row, r));
}

void tell(const TuneProgress& p) {
  const std::string left = p.seconds_left < 0 ? "" : phrase(", {:.0f} s left", p.seconds_left);
  say_progress(fmt::format("{}/{}  {}{}", p.done, p.total, p.now, left));
}

// An architecture that is named needs no GPU; one that is not is that of the GPU here.
Result<Device> planned_device(const TuneArguments& a, const KernelRow& row, Tuner& tuner, const TuneSpec& spec,
                              const std::stop_token& stop) {
  if (row.processor == Processor::cpu) return cpu_device();
  if (!a.arch.empty()) return gpu::device_for(a.arch);
  const auto here = tuner.place(row, spec.gpu, stop);
  if (!here)
    return fail(here.error().kind, phrase("{}; to plan for another GPU, add --arch sm_90a", here.error().message));
  return here->device;
}

Result<int> tune_kernel(const TuneArguments& a, const Stopper& stopper) {
  const auto row = find_kernel(a.kernel);
  if (!row) return tl::unexpected(row.error());
  const auto spec = spec_of(a, **row);
  if (!spec) return tl::unexpected(spec.error());
  if (auto r = check_outputs(a); !r) return tl::unexpected(r.error());
  GpuBench gpu;
  CpuBench cpu;
  Tuner tuner(&gpu, tuned_folder(), &cpu);
  if (a.plan) {
    const auto device = planned_device(a, **row, tuner, *spec, stopper.token());
    if (!device) return tl::unexpected(device.error());
    const auto result = tuner.plan(*spec, *device, a.compile, tell, stopper.token());
    say_progress("");
    if (!result) return tl::unexpected(result.error());
    if (auto r = write_outputs(a, **row, *result); !r) return tl::unexpected(r.error());
    return 0;
  }
  const auto result = tuner.tune(*spec, {tell, {}}, stopper.token());
  say_progress("");
  if (!result) return tl::unexpected(result.error());
  if (auto r = write_outputs(a, **row, *result); !r) return tl::unexpected(r.error());
  if (stopper.token().stop_requested())
    return fail(ErrorKind::cancelled, tr("Cancelled. The results so far were written, but no choice was stored."));
  const bool wrong = std::ranges::any_of(result->tiles, [](const TriedTile& t) { return t.fate == TileFate::wrong; });
  if (wrong) return fail(ErrorKind::failed, tr("Some tiles gave wrong results and are marked."));
  if (!result->decision) return fail(ErrorKind::cannot_run, result->words);
  return 0;
}

}  // namespace

Command add_tune(Parser program) {
  auto a = std::make_shared<TuneArguments>();
  Parser parser = program.add_subcommand("tune", tr("Find the fastest tile, threads and stages of a kernel"));
  parser.add_option("kernel", a->kernel, tr("Kernel from `attnscope list` that has tiles"))
      ->required()
      ->type_name("ID");
  a->problem.add_to(parser, "--scale");
  parser.add_option("--threads", a->threads, tr("Keep the number of threads fixed"))->type_name("N");
  parser.add_option("--stages", a->stages, tr("Keep the number of pipeline stages fixed"))->type_name("N");
  a->options.add_set_to(parser);
  parser.add_flag("--plan", a->plan, tr("Run nothing; list the candidates with their shared memory and occupancy"));
  parser.add_flag("--compile", a->compile, tr("With --plan: also list registers and spills, from the compiler"));
  parser.add_option("--arch", a->arch, tr("With --plan: plan for this architecture; no GPU needed"))->type_name("SM");
  parser.add_option("--budget", a->budget, tr("Total time in seconds; candidates not tried by then are marked"))
      ->type_name("SECONDS");
  parser.add_option("--each", a->each, tr("Seconds for a tile's first, short series of repeats"))->type_name("SECONDS");
  parser.add_option("--best", a->best, tr("Number of finalists; each is timed again, alternating with the usual tile"))
      ->type_name("N");
  parser.add_option("--generator", a->generator, tr("How to generate the numbers; default: normal"))->type_name("NAME");
  parser.add_option("--seed", a->seed, tr("Seed of the generator"))->type_name("N");
  parser
      .add_option("--memory-limit", a->memory_limit,
                  tr("Reject candidates that need more memory than this; default: free memory"))
      ->type_name("BYTES");
  parser.add_option("--device", a->device, tr("gpu:1 for the second GPU"))->type_name("NAME");
  parser.add_flag("--warm-l2", a->warm_l2, tr("GPU: leave the L2 cache as the previous repeat left it"));
  parser.add_option("--csv", a->csv, tr("Write every tile as CSV; -: stdout"))->type_name("FILE");
  parser.add_option("--json", a->json, tr("Write every tile and the decision as JSON; -: stdout"))->type_name("FILE");
  parser.footer(
      tr("The choice is cached for `bench --tile tuned`. Ctrl+C writes the results so far.\n"
         "Examples:\n"
         "  attnscope tune cpu_flash --l 1024 --d 64 --hq 8 --budget 10\n"
         "  attnscope tune flash_mma --dtype f16 --l 4096 --d 128 --hq 16 --causal --csv surface.csv\n"
         "  attnscope tune flash_mma --dtype f16 --l 4096 --d 64 --plan --arch sm_90a"));
  return {parser, [a](Stopper& stopper) { return tune_kernel(*a, stopper); }};
}

}  // namespace attn::cli
