#include "kernels/training.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/model/problem/validate.h"

namespace attn {
namespace {

constexpr Pass kTrainingAlone[] = {Pass::training};

template <class T>
std::vector<T> in_both(std::span<const T> a, std::span<const T> b) {
  std::vector<T> both;
  for (const T& value : a)
    if (std::ranges::find(b, value) != b.end()) both.push_back(value);
  return both;
}

Problem problem_of(const KernelRow& part, const Problem& p) {
  return with_pass(p, part.passes.front());
}

// What the step was asked for, as far as it is an option of the step: each rung chooses its own tile.
Options options_of(const KernelRow& step, const Options& asked) {
  Options o;
  for (const OptionSpec& spec : step.options) choose(o, *spec.option, chosen(asked, *spec.option));
  return o;
}

Result<void> supports(const KernelRow& step, const Problem& p, const Options& o, const Device& d) {
  if (auto good = check_takes(step, p); !good) return good;
  if (auto good = validate(p); !good) return good;
  const Options of_parts = options_of(step, o);
  for (const KernelRow* part : step.parts)
    if (auto good = part->supports(*part, problem_of(*part, p), of_parts, d); !good) return good;
  return ok();
}

Result<Plan> plan(const KernelRow& step, const Problem& p, const Options& o, const Device& d) {
  const auto resolved = resolve(step, o, d);
  if (!resolved) return tl::unexpected(resolved.error());
  Plan all;
  all.kernel = &step;
  all.problem = p;
  all.options = *resolved;
  for (const KernelRow* part : step.parts) {
    auto made = part->plan(*part, problem_of(*part, p), *resolved, d);
    if (!made) return made;
    all.launches.insert(all.launches.end(), made->launches.begin(), made->launches.end());
    all.parts.push_back(*std::move(made));
  }
  all.workspace_bytes = workspace_at(all, all.parts.size());
  return all;
}

// On the CPU.
using Steps = std::vector<Prepared>;

Result<Prepared> prepare(const Plan& plan, const Buffers& buffers, const Stream& stream) {
  Steps steps;
  for (std::size_t n = 0; n < plan.parts.size(); ++n) {
    const Plan& part = plan.parts[n];
    auto ready = part.kernel->prepare(part, buffers_of_part(plan, n, buffers), stream);
    if (!ready) return ready;
    steps.push_back(*std::move(ready));
  }
  return Prepared{plan, buffers, std::make_shared<const Steps>(std::move(steps))};
}

Result<void> launch(const Prepared& prepared, const Stream& stream) {
  for (const Prepared& part : *static_cast<const Steps*>(prepared.native.get()))
    if (auto done = part.plan.kernel->launch(part, stream); !done) return done;
  return ok();
}

}  // namespace

StepOf::StepOf(const KernelRow& forward, const KernelRow& backward)
    : parts_{&forward, &backward},
      dtypes_(in_both(forward.dtypes, backward.dtypes)),
      layouts_(in_both(forward.layouts, backward.layouts)),
      architectures_(in_both(forward.architectures, backward.architectures)) {
  // Those that mean the same to both, and the order of the backward's sums.
  for (const OptionSpec& spec : backward.options) {
    const bool threads = spec.is(Option::threads) && backward.processor == Processor::cpu;
    const bool sums = backward.deterministic != nullptr && spec.is(*backward.deterministic);
    if (threads || sums) options_.push_back(spec);
  }
  const TrainingStep& step = backward.training;
  row_.id = step.id;
  row_.title = step.title;
  row_.rung = step.rung;
  row_.order = backward.order;
  row_.processor = backward.processor;
  row_.architectures = architectures_;
  row_.dtypes = dtypes_;
  row_.passes = kTrainingAlone;
  row_.layouts = layouts_;
  row_.options = options_;
  row_.what = marked("One training step: the forward pass stores O and LSE, and the backward pass reads them.");
  row_.teaches = marked("Both passes in one chain of launches: what attention costs in one training step of a layer.");
  row_.source = backward.source;
  row_.stores_scores = backward.stores_scores;
  row_.score_reads = backward.score_reads;
  row_.products = backward.products;
  row_.elsewhere = backward.elsewhere;
  row_.deterministic = backward.deterministic;
  row_.supports = supports;
  row_.plan = plan;
  if (backward.processor == Processor::cpu) {
    row_.prepare = prepare;
    row_.launch = launch;
  }
  row_.parts = parts_;
}

}  // namespace attn
