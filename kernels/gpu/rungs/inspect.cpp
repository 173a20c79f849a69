#include "kernels/gpu/rungs/inspect.h"

#include <algorithm>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/specialise.h"

namespace attn::gpu {

Result<std::vector<EntryReport>> report_entries(const Compiled& compiled, const Plan& plan, const Device& device) {
  const auto limits = limits_of(device.arch);
  if (!limits) return bad_input(phrase("nothing is known about {}", device.arch));
  std::vector<EntryReport> entries;
  for (const Launch& l : plan.launches) {
    const auto at = std::ranges::find(compiled.entries, l.name, &EntryFigures::name);
    if (at == compiled.entries.end()) {
      return fail(ErrorKind::failed, phrase("the compiler's log does not mention {}", l.name));
    }
    EntryReport e;
    e.figures = *at;
    e.threads = l.block[0] * l.block[1] * l.block[2];
    e.dynamic_bytes = l.shared_bytes;
    e.occupancy =
        occupancy(*limits, static_cast<std::int32_t>(e.threads), at->registers, at->shared_bytes + l.shared_bytes);
    if (l.name == plan.kernel->id) e.registers_then = register_words(*plan.kernel, plan.problem, plan.options);
    entries.push_back(std::move(e));
  }
  return entries;
}

namespace {

// Of all parts, one after the other. The code is each part's own.
Result<PlanReport> inspect_parts(CompileService& service, const Plan& plan, const Device& device,
                                 const std::filesystem::path& edited_kernels) {
  PlanReport all;
  for (const Plan& part : plan.parts) {
    auto report = inspect(service, part, device, edited_kernels);
    if (!report) return report;
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(all.entries, report->entries);
    append(all.compiled.entries, report->compiled.entries);
    append(all.compiled.warnings, report->compiled.warnings);
    append(all.compiled.losses, report->compiled.losses);
    all.compiled.seconds += report->compiled.seconds;
  }
  const auto hash = source_hash_of(*plan.kernel, plan.problem, edited_kernels);
  if (!hash) return tl::unexpected(hash.error());
  all.compiled.source_hash = *hash;
  return all;
}

}  // namespace

Result<PlanReport> inspect(CompileService& service, const Plan& plan, const Device& device,
                           const std::filesystem::path& edited_kernels) {
  if (!limits_of(device.arch)) return bad_input(phrase("nothing is known about {}", device.arch));
  if (!plan.parts.empty()) return inspect_parts(service, plan, device, edited_kernels);
  Result<KernelSource> source = source_of(*plan.kernel, plan.problem, edited_kernels);
  if (!source) return tl::unexpected(source.error());
  const auto defines = defines_of(plan, may_be_aligned(plan.problem));
  Result<Compiled> compiled = service.compile({std::move(*source), device.arch, defines});
  if (!compiled) return tl::unexpected(compiled.error());
  if (auto good = check_compiled(plan, compiled->entries, device.arch); !good) return tl::unexpected(good.error());
  if (auto good = check_parameters(plan, compiled->code); !good) return tl::unexpected(good.error());
  auto entries = report_entries(*compiled, plan, device);
  if (!entries) return tl::unexpected(entries.error());
  PlanReport report;
  report.entries = std::move(*entries);
  report.compiled = std::move(*compiled);
  return report;
}

}  // namespace attn::gpu
