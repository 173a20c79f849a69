// attnscope verify: kernels against the fp64 reference on the paired list of shapes.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/kernel_arguments.h"
#include "app/cli/arguments/output_argument.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/cli/verify/verify_check.h"
#include "app/cli/verify/verify_tuned.h"
#include "app/worker/client.h"

#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/shape_list.h"
#include "kernels/model/kernel.h"

namespace attn::cli {
namespace {

// Files and --kernel together; all of the device where neither names one.
Result<NamedKernels> chosen_kernels(const VerifyArguments& a) {
  std::vector<std::string> names = a.files;
  if (a.kernels != "all")
    for (std::string& name : split(a.kernels, ',')) names.push_back(std::move(name));
  for (const std::string& file : a.files)
    if (!gpu::is_own_file(file))
      return bad_input(
          phrase("{} is not a kernel file; use a name that ends in .cu, or --kernel for kernels on the ladder.", file));
  auto named = kernels_named("--kernel", names);
  if (!named) return named;
  // Those of the device where nobody named one: they are built as they ship.
  if (a.build.build.any() && named->rows.empty())
    return bad_input(tr("--maxrregcount and --fast-math apply only to kernels that you name."));
  if (auto r = a.build.apply_to(*named); !r) return tl::unexpected(r.error());
  return named;
}

std::vector<const KernelRow*> all_kernels(Processor processor, Pass pass) {
  std::vector<const KernelRow*> rows = ladder_of(pass);
  std::erase_if(rows, [processor](const KernelRow* row) { return row->processor != processor; });
  return rows;
}

Result<std::vector<DType>> chosen_dtypes(const std::string& names) {
  std::vector<DType> dtypes{DType::f32, DType::f16, DType::bf16};
  if (names == "all") return dtypes;
  if (auto r = check_once("--dtype", split(names, ',')); !r) return tl::unexpected(r.error());
  dtypes.clear();
  for (const std::string& name : split(names, ',')) {
    const auto t = dtype_from_name(name);
    if (!t) return bad_input(phrase("Unknown --dtype {}; use all, f32, f16 or bf16.", name));
    dtypes.push_back(*t);
  }
  return dtypes;
}

// The device that the kernels are tried on; opens the GPU's worker.
Result<void> open_device(Check& check, GpuClient& client, const std::stop_token& stop) {
  check.device = cpu_device();
  if (check.choice.processor == Processor::cpu) return ok();
  const auto hello = client.hello({kGpuSecondsOfCase, stop});
  if (!hello) return tl::unexpected(hello.error());
  if (hello->compiler.empty()) return fail(ErrorKind::cannot_run, hello->compiler_error);
  const auto index = static_cast<std::size_t>(check.choice.index);
  if (index >= hello->gpus.size()) {
    return fail(ErrorKind::cannot_run, phrase("there is no GPU {}: this machine has {}.", index, hello->gpus.size()));
  }
  check.device = device_of(hello->gpus[index]);
  check.gpu = &client;
  check.compiler = hello->compiler;
  say(phrase("On {} ({}), driver for CUDA {}.{}, {}", check.device.name, check.device.arch, hello->driver / 1000,
             hello->driver % 1000 / 10, hello->compiler));
  return ok();
}

// "2/4": every fourth case from the second on.
Result<std::pair<std::size_t, std::size_t>> part_of(const std::string& text) {
  const auto numbers = split(text, '/');
  if (numbers.size() == 2) {
    const auto n = parse_numbers("--part", numbers[0]), of = parse_numbers("--part", numbers[1]);
    if (n && of && n->size() == 1 && of->size() == 1 && (*n)[0] >= 1 && (*n)[0] <= (*of)[0]) {
      return std::pair{static_cast<std::size_t>((*n)[0]), static_cast<std::size_t>((*of)[0])};
    }
  }
  return bad_input(phrase("Invalid --part {}; use K/N, such as 2/4 for the second of 4 parts.", text));
}

// `tuned`: the problems that tiles are kept for come before the paired list, which seldom has one of them.
std::vector<CheckCase> list_of(const VerifyArguments& a, DType t, const TunedCases& tuned) {
  if (a.random > 0) return random_cases(t, a.random, a.seed);
  if (a.score_list) return score_cases(t);
  if (a.repeat_list || a.all_shapes) return a.repeat_list ? repeat_cases(t) : all_cases(t);
  std::vector<CheckCase> list = paired_cases(t);
  list.insert(list.begin(), tuned.cases.begin(), tuned.cases.end());
  std::erase_if(list, [t](const CheckCase& c) { return c.problem.dtype != t; });
  return list;
}

// The one kernel that is checked, where it is the user's own.
const gpu::OwnKernel* one_own(const NamedKernels& kernels) {
  return kernels.rows.size() == 1 && kernels.own.size() == 1 ? gpu::own_kernel(*kernels.own.front()) : nullptr;
}

Result<std::vector<CheckCase>> cases_of(const VerifyArguments& a, const std::vector<DType>& dtypes, Pass pass,
                                        const gpu::OwnKernel* own, const TunedCases& tuned) {
  const auto part = part_of(a.part);
  if (!part) return tl::unexpected(part.error());
  std::vector<CheckCase> cases;
  std::size_t n = 0;
  for (const DType t : dtypes) {
    if (own != nullptr && a.dtypes == "all" && std::ranges::find(own->dtypes, t) == own->dtypes.end()) continue;
    for (CheckCase& c : list_of(a, t, tuned)) {
      c.problem.pass = pass;
      const auto output = output_of(a.output, t);
      if (!output) return tl::unexpected(output.error());
      c.problem.output = *output;
      if (own != nullptr) c.problem = fitted(own->header, std::move(c.problem));
      if (a.longest != 0 && std::max(c.problem.Lq, c.problem.Lk) > a.longest) continue;
      if (n++ % part->second == part->first - 1) cases.push_back(std::move(c));
    }
  }
  return cases;
}

Result<int> verify_kernels(const VerifyArguments& a, Stopper& stopper) {
  const auto kernels = chosen_kernels(a);
  if (!kernels) return tl::unexpected(kernels.error());
  if (auto r = check_hang_limit(a.hang_limit); !r) return tl::unexpected(r.error());
  if (a.device == "cpu" && !kernels->own.empty())
    return bad_input(phrase("{} runs on a GPU, but --device cpu was given; use --device gpu.",
                            gpu::own_source(*kernels->own.front())->name));
  const auto choice = choose_device(a.device.empty() && !kernels->own.empty() ? "gpu" : a.device);
  if (!choice) return tl::unexpected(choice.error());
  if (auto r = stopper.limit_time(a.time_limit); !r) return tl::unexpected(r.error());
  if (a.rows != "sampled" && a.rows != "full") {
    return bad_input(phrase("Unknown --verify {}; use sampled or full.", a.rows));
  }
  if (a.traced && choice->processor == Processor::cpu) {
    return bad_input(tr("--traced is for GPU kernels, which have their own code for recording; add --device gpu."));
  }
  Problem of_pass;
  if (auto r = apply_pass(a.pass, of_pass, true); !r) return tl::unexpected(r.error());
  if (a.random < 0) return bad_input(phrase("--random {} must be at least 1.", a.random));
  if (a.repeats < 1) return bad_input(phrase("--repeats {} must be at least 1.", a.repeats));
  Check check;
  check.arguments = &a;
  check.choice = *choice;
  const auto limit = memory_limit_of(a.memory_limit);
  const auto dtypes = chosen_dtypes(a.dtypes);
  if (!limit) return tl::unexpected(limit.error());
  if (!dtypes) return tl::unexpected(dtypes.error());
  if (auto r = a.options.apply_to(check.options); !r) return tl::unexpected(r.error());
  check.memory_limit = *limit;
  check.kernels = kernels->rows.empty() ? all_kernels(choice->processor, of_pass.pass) : kernels->rows;
  if (check.kernels.empty())
    return fail(ErrorKind::cannot_run, phrase("No GPU kernel supports --pass {}; omit --device.", a.pass));
  if (auto r = a.options.check_read_by(check.kernels); !r) return tl::unexpected(r.error());
  GpuClient client;
  client.bring(kernels->own);
  if (auto r = open_device(check, client, stopper.token()); !r) {
    if (kernels->own.empty()) return tl::unexpected(r.error());
    return fail(r.error().kind,
                phrase("{} Without a GPU, attnscope inspect FILE.cu compiles your kernel.", r.error().message));
  }
  for (const KernelRow* row : check.kernels)
    if (const auto r = resolve(*row, check.options, check.device); !r) return tl::unexpected(r.error());

  const bool paired = a.random == 0 && !a.repeat_list && !a.score_list && !a.all_shapes;
  const TunedCases tuned = paired && a.options.tuned() ? tuned_cases(check.kernels, check.device) : TunedCases();
  for (const std::string& refused : tuned.refused) ++check.case_skips[refused];
  const auto list = cases_of(a, *dtypes, of_pass.pass, one_own(*kernels), tuned);
  if (!list) return tl::unexpected(list.error());
  const std::vector<CheckCase>& cases = *list;
  Result<void> done = ok();
  for (std::size_t n = 0; n < cases.size() && done; ++n) {
    say_progress(fmt::format("{}/{}  {}", n + 1, cases.size(), describe(cases[n])));
    done = check_case(cases[n], check, stopper.token());
  }
  say_progress("");
  if (auto r = print(summary(check)); !r) return tl::unexpected(r.error());
  if (!done) return tl::unexpected(done.error());
  std::int64_t passed = 0, failed = 0, not_judged = 0;
  for (const auto& [key, t] : check.tallies) {
    passed += t.passed;
    failed += t.failed;
    not_judged += t.not_judged;
  }
  if (failed > 0) return fail(ErrorKind::failed, phrase("{} of {} checks failed.", failed, passed + failed));
  if (not_judged > 0) {
    return fail(ErrorKind::failed, phrase("{} of {} checks could not be judged. The reasons are above.", not_judged,
                                          passed + failed + not_judged));
  }
  if (passed == 0)
    return fail(ErrorKind::cannot_run,
                tr("Nothing was checked because every case was skipped. The reasons are above."));
  say(phrase("All {} checks passed.", passed));
  return 0;
}

}  // namespace

Command add_verify(Parser program) {
  auto a = std::make_shared<VerifyArguments>();
  Parser parser = program.add_subcommand("verify", tr("Check kernels against the fp64 reference"));
  parser.add_values("file", a->files, tr("Your own kernels, FILE.cu, checked on the GPU (docs/own_kernel.md)"));
  parser.add_option("--kernel", a->kernels, tr("all, or kernels from `attnscope list`"))->type_name("ID,ID,...");
  add_pass(parser, a->pass, true);
  parser.add_option("--dtype", a->dtypes, tr("all, or any of f32, f16 and bf16"))->type_name("DTYPE,...");
  add_output(parser, a->output);
  parser.add_flag("--full", a->all_shapes,
                  tr("Check every combination of shape and head dimension instead of the paired list (takes hours)"));
  parser.add_option("--verify", a->rows, tr("If there are many output rows, which ones to check: sampled or full"))
      ->type_name("WHICH");
  parser.add_flag("--repeat-list", a->repeat_list,
                  tr("Instead of the paired list, check six shapes suited to many repeats"));
  parser.add_flag("--scores", a->score_list, tr("Instead of the paired list, check softcap and ALiBi with every mask"));
  parser
      .add_option("--random", a->random,
                  tr("Check this many random problems, with lengths up to 513, instead of the paired list"))
      ->type_name("N");
  parser.add_option("--seed", a->seed, tr("Seed for the random problems"))->type_name("N");
  parser
      .add_option("--part", a->part,
                  tr("Check only one part of the cases; 2/4 means every fourth case, starting with the second"))
      ->type_name("N/OF");
  parser.add_flag("--traced", a->traced,
                  tr("GPU: check that the recorded run gives the same bits as the plain run, and that its recording "
                     "can be replayed"));
  parser.add_option("--longest", a->longest, tr("Maximum number of queries and of keys; 0: no limit"))->type_name("N");
  parser.add_option("--repeats", a->repeats, tr("Number of runs of each case; all must give the same bits"))
      ->type_name("N");
  a->options.takes_tuned = true;
  a->options.add_to(parser, true);
  parser
      .add_option("--memory-limit", a->memory_limit,
                  tr("Skip cases that need more memory than this; default: free memory"))
      ->type_name("BYTES");
  a->build.add_to(parser);
  add_hang_limit(parser, a->hang_limit,
                 tr("GPU: stop a case after this many seconds, mark it as failed, and skip the kernel's other "
                    "cases; default: 120"));
  parser.add_option("--time-limit", a->time_limit, tr("Stop after this many seconds; 0: no limit"))
      ->type_name("SECONDS");
  add_device(parser, a->device);
  parser.footer(tr(
      "Exit code 1 if a kernel fails. Error and allowed error come from the case with the largest ratio of the two.\n"
      "Examples:\n"
      "  attnscope verify\n"
      "  attnscope verify --kernel cpu_flash --dtype f16 --tile 37x19 --repeats 3\n"
      "  attnscope verify my_attention.cu"));
  return {parser, [a](Stopper& stopper) { return verify_kernels(*a, stopper); }};
}

}  // namespace attn::cli
