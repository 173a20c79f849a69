#include "profiling/measure/repeat.h"

#include <fmt/format.h>

namespace attn {

namespace {

Result<void> warm_up(const std::function<Result<void>()>& run, double seconds, const Clock& clock,
                     const std::stop_token& stop) {
  if (seconds <= 0) return ok();
  const double begin = clock();
  do {
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "Cancelled while warming up.");
    if (auto done = run(); !done) return done;
  } while (clock() - begin < seconds);
  return ok();
}

}  // namespace

Result<std::vector<double>> time_repeats(const std::function<Result<void>()>& run, double warm_up_s, StopRule rule,
                                         const Clock& clock, const std::stop_token& stop,
                                         const std::function<void()>& warm) {
  if (auto done = warm_up(run, warm_up_s, clock, stop); !done) return tl::unexpected(done.error());
  if (warm) warm();
  std::vector<double> samples_us;
  const double begin = clock();
  double now = begin;
  while (!rule.stop({samples_us, now - begin})) {
    if (stop.stop_requested())
      return fail(ErrorKind::cancelled, fmt::format("Cancelled after {} repeats.", samples_us.size()));
    const double start = clock();
    if (auto done = run(); !done) return tl::unexpected(done.error());
    now = clock();
    samples_us.push_back((now - start) * 1e6);
  }
  return samples_us;
}

}  // namespace attn
