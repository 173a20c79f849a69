// attnscope inspect: registers, shared memory, spills and theoretical occupancy of GPU kernels, with no GPU here.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/kernel_arguments.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/worker/user_compiler.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/model/problem/validate.h"

namespace attn::cli {
namespace {

constexpr double kCap = 30;
constexpr std::int64_t kLength = 4096;  // of the problem that is planned for; it changes no figure

struct InspectArguments {
  std::string kernels, archs, head_dims = "64", dtype, pass;
  bool causal = false, bias = false, softcap = false, alibi = false, as_json = false, no_cache = false;
  OptionArguments options;
  BuildArguments build;
};

// One kernel for one architecture and head dimension.
struct InspectPoint {
  const KernelRow* row = nullptr;
  Device device;
  Problem problem;
  Plan plan;
};

// One launch, with the width of its column: names of entries are as long as their kernels like.
std::string line_of(const InspectPoint& at, const gpu::EntryReport& e, std::size_t width) {
  const gpu::EntryFigures& f = e.figures;
  return phrase("{:<7} {:<{}} {:>4} {:>8} {:>10} {:>8} {:>8} {:>7} {:>6}  {:>5.1f} %  {:>2} x {:<2} warps  {}\n",
                at.device.arch, f.name, width, at.problem.D, e.threads, f.registers, f.shared_bytes, e.dynamic_bytes,
                f.stack_bytes, f.spill_store_bytes + f.spill_load_bytes, e.occupancy.percent(), e.occupancy.blocks,
                e.occupancy.blocks == 0 ? 0 : e.occupancy.warps / e.occupancy.blocks, e.occupancy.limiter);
}

nlohmann::json json_of(const InspectPoint& at, const Plan& plan, const gpu::PlanReport& report,
                       const gpu::EntryReport& e) {
  const gpu::EntryFigures& f = e.figures;
  return {{"kernel", at.row->id},
          {"entry", f.name},
          {"arch", at.device.arch},
          {"head_dim", at.problem.D},
          {"dtype", name_of(at.problem.dtype)},
          {"br", plan.options.br},
          {"bc", plan.options.bc},
          {"threads", e.threads},
          {"registers", f.registers},
          {"registers_then", e.registers_then},
          {"shared_static_bytes", f.shared_bytes},
          {"shared_dynamic_bytes", e.dynamic_bytes},
          {"stack_bytes", f.stack_bytes},
          {"spill_store_bytes", f.spill_store_bytes},
          {"spill_load_bytes", f.spill_load_bytes},
          {"occupancy_theoretical_pct", e.occupancy.percent()},
          {"blocks_per_sm", e.occupancy.blocks},
          {"limiter", e.occupancy.limiter},
          {"source_hash", report.compiled.source_hash},
          {"origin", "compiled"}};
}

// Planned before a compiler is looked for: what is asked for in vain is said on every machine.
Result<std::vector<InspectPoint>> points_of(const InspectArguments& a, const NamedKernels& kernels,
                                            const Options& options) {
  const auto named = dtype_from_name(a.dtype);
  if (!named && !a.dtype.empty()) {
    return bad_input(phrase("Unknown --dtype {}; use f32, f16 or bf16.", a.dtype));
  }
  for (const auto& [option, list] : {std::pair("--arch", a.archs), std::pair("--head-dim", a.head_dims)}) {
    if (auto r = check_once(option, split(list, ',')); !r) return tl::unexpected(r.error());
  }
  const auto dims = parse_numbers("--head-dim", a.head_dims);
  if (!dims) return tl::unexpected(dims.error());
  std::vector<InspectPoint> points;
  for (const KernelRow* row : kernels.rows) {
    if (row->processor != Processor::gpu)
      return bad_input(phrase("{} runs on the CPU: there is nothing to compile.", row->id));
    std::vector<std::string> archs(row->architectures.begin(), row->architectures.end());
    if (!a.archs.empty()) archs = split(a.archs, ',');
    for (const std::string& arch : archs) {
      const auto device = gpu::device_for(arch);
      if (!device) return tl::unexpected(device.error());
      for (const std::int64_t dim : *dims) {
        InspectPoint at{row, *device, {}, {}};
        at.problem.Lq = at.problem.Lk = kLength;
        at.problem.D = at.problem.Dv = dim;
        at.problem.dtype = named.value_or(row->dtypes.front());
        at.problem.pass = row->passes.front();
        if (auto good = apply_pass(a.pass, at.problem, true); !good) return tl::unexpected(good.error());
        at.problem.mask.causal = a.causal;
        if (a.bias) at.problem.bias_shape = {1, 1, kLength, kLength};
        if (a.softcap) at.problem.softcap = kCap;
        if (a.alibi) at.problem.alibi.emplace();
        if (auto good = validate(at.problem); !good) return tl::unexpected(good.error());
        if (auto good = row->supports(*row, at.problem, options, *device); !good) return tl::unexpected(good.error());
        auto plan = row->plan(*row, at.problem, options, *device);
        if (!plan) return tl::unexpected(plan.error());
        at.plan = std::move(*plan);
        points.push_back(std::move(at));
      }
    }
  }
  return points;
}

Result<int> inspect_kernels(const InspectArguments& a, const Stopper& stopper) {
  auto kernels = kernels_named("kernel", split(a.kernels, ','));
  if (!kernels) return tl::unexpected(kernels.error());
  if (auto r = a.build.apply_to(*kernels); !r) return tl::unexpected(r.error());
  Options options;
  if (auto r = a.options.apply_to(options); !r) return tl::unexpected(r.error());
  const auto points = points_of(a, *kernels, options);
  if (!points) return tl::unexpected(points.error());
  auto compiler = compilers_here()();
  if (!compiler) return tl::unexpected(compiler.error());
  (*compiler)->heed(stopper.token());
  gpu::CompileService service(**compiler, a.no_cache ? std::filesystem::path() : gpu::cubin_cache_folder());

  nlohmann::json all = nlohmann::json::array();
  std::vector<std::pair<const InspectPoint*, gpu::EntryReport>> lines;
  std::size_t width = 14;
  for (const InspectPoint& at : *points) {
    if (stopper.token().stop_requested()) return fail(ErrorKind::cancelled, tr("inspect was cancelled"));
    say_progress(phrase("{} for {}", at.row->id, at.device.arch));
    const auto report = gpu::inspect(service, at.plan, at.device, gpu::edited_kernels_folder());
    if (!report) return tl::unexpected(report.error());
    for (const gpu::EntryReport& e : report->entries) {
      lines.emplace_back(&at, e);
      width = std::max(width, e.figures.name.size());
      all.push_back(json_of(at, at.plan, *report, e));
    }
    for (const std::string& warning : report->compiled.warnings) say(warning);
  }
  say_progress("");
  std::string text = fmt::format("{:<7} {:<{}} {:>4} {:>8} {:>10} {:>8} {:>8} {:>7} {:>6}  {:>7}  {:<12}  {}\n", "arch",
                                 "entry", width, "D", "threads", "registers", "static B", "dyn B", "stack B", "spill",
                                 "occup.", tr("per SM"), tr("limited by"));
  for (const InspectPoint& at : *points)
    if (at.row->reason != nullptr)
      text += fmt::format("{} at D = {}, L = {}: {}\n", at.row->id, at.problem.D, kLength,
                          at.row->reason(at.problem, at.plan.options, at.device));
  std::set<std::string_view> others;
  for (const auto& [at, e] : lines) {
    text += line_of(*at, e, width);
    if (at->device.arch != gpu::kArchRunOn && gpu::own_source(*at->row) == nullptr) others.insert(at->device.arch);
  }
  if (!others.empty()) text += phrase("Compiled but never run on: {}.\n", fmt::join(others, ", "));
  if (auto r = a.as_json ? print_data(all.dump(2) + "\n") : print(text); !r) return tl::unexpected(r.error());
  return 0;
}

}  // namespace

Command add_inspect(Parser program) {
  auto a = std::make_shared<InspectArguments>();
  Parser parser = program.add_subcommand("inspect", tr("Show what the compiler says about GPU kernels; no GPU needed"));
  parser.add_option("kernel", a->kernels, tr("GPU kernels from `attnscope list`, or your own FILE.cu"))
      ->required()
      ->type_name("ID,ID,...");
  parser.add_option("--arch", a->archs, tr("Architectures; default: all that the kernel supports"))
      ->type_name("SM,SM,...");
  parser.add_option("--head-dim", a->head_dims, tr("Head dimensions, 1 to 256"))->type_name("N,N,...");
  parser.add_option("--dtype", a->dtype, tr("f32, f16 or bf16; default: the first type that the kernel supports"))
      ->type_name("DTYPE");
  parser.add_option("--pass", a->pass, tr("forward, backward or training; default: the kernel's own"))
      ->type_name("PASS");
  parser.add_flag("--causal", a->causal, tr("With a mask"));
  parser.add_flag("--bias", a->bias, tr("With a bias"));
  parser.add_flag("--softcap", a->softcap, tr("Compile with a softcap; its value does not affect the code"));
  parser.add_flag("--alibi", a->alibi, tr("With ALiBi slopes"));
  a->options.add_to(parser, false);
  a->build.add_to(parser);
  parser.add_flag("--json", a->as_json, tr("Print JSON"));
  parser.add_flag("--no-cache", a->no_cache, tr("Recompile without the cache"));
  parser.footer(
      tr("The compiler reports registers, shared memory and spills, from which occupancy is computed. These figures "
         "have the origin \"compiled\".\n"
         "Examples:\n"
         "  attnscope inspect flash_simt --arch sm_75,sm_80,sm_90a --head-dim 64\n"
         "  attnscope inspect naive,tiled --arch sm_90a --head-dim 128 --dtype f16 --json\n"
         "  attnscope inspect my_attention.cu"));
  return {parser, [a](Stopper& stopper) { return inspect_kernels(*a, stopper); }};
}

}  // namespace attn::cli
