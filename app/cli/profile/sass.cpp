// attnscope sass: the machine code of one kernel against that of another, compiled here or kept in a session; no GPU.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/kernel_arguments.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/worker/disassemble.h"
#include "kernels/base/text.h"
#include "kernels/gpu/compile/listing/machine_code.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/model/problem/validate.h"
#include "profiling/session/session.h"

namespace attn::cli {
namespace {

constexpr std::int64_t kLength = 4096;  // of the problem that is compiled for, where none is named

struct SassArguments {
  std::string first, second, arch;
  bool all = false;
  ProblemArguments problem;
};

struct NamedCode {
  std::string words;  // "flash_mma br=64 bc=64, sm_90a"
  gpu::MachineCode code;
};

// "KERNEL:NAME=VALUE,..." or "FILE.attn:KERNEL": what stands before the colon, and after it.
std::pair<std::string, std::string> parted(const std::string& text) {
  const std::size_t folder = text.rfind('/'), from = folder == std::string::npos ? 0 : folder;
  const std::size_t colon = text.find(':', from);
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string words_of(const Options& o) {
  std::string words;
  for (const Option* option : {&Option::br, &Option::bc, &Option::threads, &Option::stages})
    if (const auto value = chosen(o, *option); value && *value > 0)
      words += fmt::format(" {}={}", name_of(*option), *value);
  for (const Setting& s : o.further) words += fmt::format(" {}={}", s.name, s.value);
  return words;
}

// Of the rows of the kernel that have code the one of the longest problem, as `profile --session` takes it.
Result<NamedCode> kept_code(const std::string& file, const std::string& kernel) {
  if (kernel.empty()) return bad_input(phrase("{} is a session; name a kernel in it, as in {}:KERNEL.", file, file));
  const auto session = read_session(file);
  if (!session) return tl::unexpected(session.error());
  const Measurement* row = nullptr;
  bool any = false;
  for (const SweepRun& run : session->runs) {
    for (const Measurement& m : run.rows) {
      if (m.key.kernel != kernel) continue;
      any = true;
      if (m.code != nullptr && (row == nullptr || m.key.problem.Lk > row->key.problem.Lk)) row = &m;
    }
  }
  if (!any) return bad_input(phrase("{} has no row for {}.", file, kernel));
  if (row == nullptr)
    return bad_input(
        phrase("{} contains no machine code for {}: nvdisasm was missing when the kernel was measured, or the file is "
               "from an older version. To compile the kernel here, use `attnscope sass {}`.",
               file, kernel, kernel));
  return NamedCode{fmt::format("{}{}, {}, {}", kernel, words_of(row->key.options), row->code->arch, file), *row->code};
}

Result<NamedCode> compiled_code(const SassArguments& a, const std::string& kernel, const std::string& settings,
                                Stopper& stopper) {
  auto named = kernel_named(kernel);
  if (!named) return tl::unexpected(named.error());
  const KernelRow& row = *named->rows.front();
  if (row.processor != Processor::gpu)
    return bad_input(phrase("{} runs on the CPU: it has no GPU machine code.", kernel));
  gpu::ListingSubject subject{std::string(row.id), {}, {}, a.arch.empty() ? std::string(gpu::kArchRunOn) : a.arch};
  Problem& p = subject.problem;
  p.Lq = p.Lk = kLength;
  p.D = p.Dv = 64;
  p.dtype = row.dtypes.front();
  p.pass = row.passes.front();
  if (auto r = a.problem.apply_to(p); !r) return tl::unexpected(r.error());
  if (auto r = validate(p); !r) return tl::unexpected(r.error());
  OptionArguments options;
  for (const std::string& one : split(settings, ',')) {
    if (one.starts_with("tile="))
      options.tile = one.substr(5);
    else if (!one.empty())
      options.set.push_back(one);
  }
  const KernelRow* const rows[] = {&row};
  if (auto r = options.check_read_by(rows); !r) return tl::unexpected(r.error());
  if (auto r = options.apply_to(subject.options); !r) return tl::unexpected(r.error());
  const auto device = gpu::device_for(subject.arch);
  if (!device) return tl::unexpected(device.error());
  if (auto takes = row.supports(row, p, subject.options, *device); !takes) return tl::unexpected(takes.error());
  const auto plan = row.plan(row, p, subject.options, *device);
  if (!plan) return tl::unexpected(plan.error());
  subject.options = plan->options;
  say_progress(phrase("{} for {}", kernel, subject.arch));
  auto code = machine_code_here(row, subject, stopper.token());
  say_progress("");
  if (!code) return tl::unexpected(code.error());
  return NamedCode{fmt::format("{}{}, {}", kernel, words_of(subject.options), subject.arch), *std::move(code)};
}

Result<NamedCode> code_named(const SassArguments& a, const std::string& text, Stopper& stopper) {
  const auto [name, rest] = parted(text);
  return name.ends_with(".attn") ? kept_code(name, rest) : compiled_code(a, name, rest, stopper);
}

std::string text_of(const gpu::CodeDiffRow& row) {
  if (row.alike > 0) return plural(row.alike, "  ({} identical instruction)", "  ({} identical instructions)") + "\n";
  const char sign = row.side == gpu::CodeSide::both ? ' ' : row.side == gpu::CodeSide::first ? '-' : '+';
  return fmt::format("{} {}{}{}\n", sign, row.is_name ? "" : "  ", row.text, row.is_name ? ":" : "");
}

Result<int> show_sass(const SassArguments& a, Stopper& stopper) {
  const auto first = code_named(a, a.first, stopper);
  if (!first) return tl::unexpected(first.error());
  const auto second = code_named(a, a.second, stopper);
  if (!second) return tl::unexpected(second.error());
  const gpu::CodeDiff diff = gpu::diff_of(first->code, second->code);
  std::string text = phrase("--- {}: {} instructions\n+++ {}: {} instructions\n", first->words,
                            first->code.instructions(), second->words, second->code.instructions());
  text += diff.same() ? tr("The code is identical.") : phrase("{}. In common: {}.", gpu::words_of(diff), diff.common);
  text += "\n";
  if (a.all || !diff.same())
    for (const gpu::CodeDiffRow& row : a.all ? diff.rows : gpu::folded(diff)) text += text_of(row);
  if (auto r = print(text); !r) return tl::unexpected(r.error());
  return 0;
}

}  // namespace

Command add_sass(Parser program) {
  auto a = std::make_shared<SassArguments>();
  Parser parser = program.add_subcommand("sass", tr("Compare the machine code of two kernels; no GPU needed"));
  const char* type = "ID";
  parser
      .add_option("first", a->first,
                  tr("GPU kernel from `attnscope list`, or FILE.cu, with options after a colon: "
                     "flash_mma:tile=64x64,stages=3; or FILE.attn:ID for a kernel stored in a session"))
      ->required()
      ->type_name(type);
  parser.add_option("second", a->second, tr("The kernel to compare with, in the same format"))
      ->required()
      ->type_name(type);
  parser.add_option("--arch", a->arch, tr("Architecture to compile for; default: sm_90a"))->type_name("SM");
  parser.add_flag("--all", a->all, tr("Also print identical lines"));
  a->problem.add_to(parser, "--scale");
  parser.footer(
      tr("Addresses and label numbers are ignored, so identical code compares equal. The listing needs "
         "nvdisasm; install a\n"
         "CUDA toolkit or run `attnscope doctor --fetch-cuda`.\n"
         "Examples:\n"
         "  attnscope sass flash_mma:stages=2 flash_mma:stages=3 --d 64\n"
         "  attnscope sass flash_simt flash_mma --arch sm_80 --causal"));
  return {parser, [a](Stopper& stopper) { return show_sass(*a, stopper); }};
}

}  // namespace attn::cli
