#include "kernels/gpu/rungs/trace/trace.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/gpu/compile/hooks.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/trace/trace_layout.h"
#include "kernels/model/traffic.h"
#include "kernels/recording/size.h"

namespace attn::gpu {
namespace {

std::int64_t tiles_of(std::int64_t n, std::int64_t tile) {
  return (n + tile - 1) / tile;
}

}  // namespace

TraceFacts stored_facts(const Problem& p) {
  TraceFacts facts;
  facts.p = {.normalised = true};
  facts.p_dtype = p.dtype;
  return facts;
}

TraceFacts flash_facts(std::int32_t lanes) {
  TraceFacts facts;
  facts.s = facts.m = {.base2 = true};
  facts.exp2 = true;
  facts.lanes = lanes;
  return facts;
}

TraceFacts fragment_facts(const Problem& p) {
  // The scale enters with the exponential, unless scaled scores change on their way (flash_tile.cuh).
  TraceFacts facts = flash_facts(4);
  facts.products = true;
  facts.s = p.changes_scores() ? Holds{.base2 = true} : Holds{.scaled = false};
  facts.slack = 8;
  facts.first_m = -3.0e38F;
  facts.sign_in_q = !p.changes_scores() && p.effective_scale() <= 0;
  facts.p_dtype = p.dtype;
  return facts;
}

std::optional<TraceFacts> trace_facts(const KernelRow& row, const Problem& p, const Options& o) {
  return row.trace == nullptr ? std::nullopt : std::optional(row.trace(p, o));
}

std::uint64_t trace_floats(const Plan& plan, const TraceFacts& facts) {
  const Problem& p = plan.problem;
  // Saturates far above the limit: no problem that comes here is as large.
  if (static_cast<double>(p.B * p.Hq) * static_cast<double>(p.Lq) * static_cast<double>(p.Lk + p.Dv) > 1e12) {
    return kTraceLimit;
  }
  if (stores_scores(plan.kernel->order)) {
    return static_cast<std::uint64_t>(stored_trace(p.B * p.Hq * p.Lq, p.Lk, p.Dv).total);
  }
  const Options& o = plan.options;
  const FlashTrace at = flash_trace(static_cast<int>(p.Dv), o.br, o.bc, facts.lanes);
  return static_cast<std::uint64_t>(
      flash_trace_places(at, p.B * p.Hq * tiles_of(p.Lq, o.br), tiles_of(p.Lk, o.bc), o.threads).total);
}

bool has_recorder(const KernelRow& row, const Problem& p, const Options& resolved) {
  return trace_facts(row, p, resolved).has_value();
}

Options smallest_tile(const KernelRow& row) {
  Options o;
  for (const OptionSpec& spec : row.options) {
    if (spec.is(Option::br)) o.br = spec.min;
    if (spec.is(Option::bc)) o.bc = spec.min;
  }
  return o;
}

Options cut_for_recording(Options resolved) {
  if (resolved.br <= 0) resolved.br = kTraceCut;
  if (resolved.bc <= 0) resolved.bc = kTraceCut;
  return resolved;
}

Options recorded_options(const Plan& plan) {
  Options o = plan.options;
  if (stores_scores(plan.kernel->order)) o.br = o.bc = kTraceCut;
  const auto facts = trace_facts(*plan.kernel, plan.problem, plan.options);
  if (facts && facts->right_to_left) o.key_order = KeyOrder::right_to_left;
  return o;
}

Result<void> check_traceable(const Plan& plan, const KernelSource& source) {
  const auto facts = trace_facts(*plan.kernel, plan.problem, plan.options);
  if (!facts) {
    return fail(ErrorKind::cannot_run, phrase("{} cannot record itself on a GPU yet.", plan.kernel->id));
  }
  if (!can_record(source, plan.kernel->id)) {
    return fail(ErrorKind::cannot_run,
                phrase("{} cannot record itself: its source ({}) has no hooks (lines with ATTN_TRACE(...)). Copy the "
                       "ATTN_TRACE lines from the original source, or move your copy away.",
                       source.label(plan.kernel->id), source.name));
  }
  if (auto fits = check_recordable(plan.kernel->order, plan.problem, recorded_options(plan)); !fits) return fits;
  if (const std::uint64_t bytes = 4 * trace_floats(plan, *facts); bytes > kTraceLimit) {
    return bad_input(
        phrase("{} on {} would write {} while recording itself, more than the limit of {}; use a smaller L "
               "or larger tiles.",
               plan.kernel->id, describe(plan.problem), format_bytes(bytes), format_bytes(kTraceLimit)));
  }
  return ok();
}

void add_traced_defines(const Plan& plan, std::vector<std::string>& defines) {
  defines.emplace_back(kTracedDefine);
  const auto facts = trace_facts(*plan.kernel, plan.problem, plan.options);
  if (facts && facts->lanes > 0) defines.push_back(fmt::format("ATTN_TRACE_LANES={}", facts->lanes));
}

}  // namespace attn::gpu
