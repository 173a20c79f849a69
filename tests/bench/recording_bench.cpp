// Recordings: the largest that the cap lets through, made and walked.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "budget.h"
#include "kernels/base/clock.h"
#include "kernels/cpu/device.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/size.h"
#include "longest.h"

namespace attn::bench {

Problem square(std::int64_t L) {
  Problem p;
  p.Lq = p.Lk = L;
  p.D = p.Dv = 64;
  return p;
}

Result<Recording> record_flash(const Problem& p) {
  const auto row = find_kernel("cpu_flash");
  if (!row) return tl::unexpected(row.error());
  InputSpec spec;
  spec.generator = Generator::normal;
  const auto inputs = make_inputs(p, spec);
  if (!inputs) return tl::unexpected(inputs.error());
  return (*row)->record(**row, p, {}, *inputs, {});
}

Result<std::int64_t> longest_recordable() {
  const auto row = find_kernel("cpu_flash");
  if (!row) return tl::unexpected(row.error());
  const auto options = resolve(**row, {}, cpu_device());
  if (!options) return tl::unexpected(options.error());
  std::int64_t fits = 1, too_long = 1 << 16;
  while (too_long - fits > 1) {
    const std::int64_t mid = (fits + too_long) / 2;
    (check_recordable((*row)->order, square(mid), *options) ? fits : too_long) = mid;
  }
  return fits;
}

namespace {

// Every slot at every event: what a frame asks while a person scrubs, many times over.
void walk(benchmark::State& state) {
  const auto rec = record_flash(square(256));
  if (!rec) {
    state.SkipWithError("could not be recorded");
    return;
  }
  for (auto _ : state) {
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      for (std::size_t slot = 0; slot < kSlots; ++slot)
        benchmark::DoNotOptimize(rec->before(e, static_cast<Slot>(slot)));
      benchmark::DoNotOptimize(rec->find(rec->events[e].id, rec->events[e].pass));
    }
  }
  state.counters["steps/s"] = benchmark::Counter(
      static_cast<double>(rec->events.size()) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(walk)->Unit(benchmark::kMicrosecond);

}  // namespace

std::vector<Budget> recording_budgets() {
  const auto L = longest_recordable();
  if (!L) return {{"largest recording", "made", L.error().message, Outcome::missed}};
  const double begin = steady_seconds();
  const auto rec = record_flash(square(*L));
  const double seconds = steady_seconds() - begin;
  if (!rec) return {{"largest recording", "made", rec.error().message, Outcome::missed}};
  return {{fmt::format("largest recording (L = {}, {} events)", *L, rec->events.size()), "<= 64 MiB",
           fmt::format("{:.1f} MiB in {:.2f} s", static_cast<double>(rec->bytes()) / (1 << 20), seconds),
           held(rec->bytes() <= kRecordingLimit)}};
}

}  // namespace attn::bench
