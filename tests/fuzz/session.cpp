// No bytes make the reader of sessions crash, and a session that it accepts is written and read back with the same
// rows.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "profiling/figures/metrics.h"
#include "profiling/session/session.h"
#include "tests/fuzz/container_of.h"

namespace {

// What cannot be: a derived figure that is not what its own row gives, or an error beyond what is allowed that passes.
void check(const attn::Measurement& m) {
  if (m.figures.size() != attn::metric_table().size()) std::abort();
  if (m.verdict && m.verdict->pass && !(m.verdict->error() <= m.verdict->allowed())) std::abort();
  const attn::Figure& median = attn::figure(m, "time_us_median");
  if (median.available() && median.value != m.time.median) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto c = attn::fuzz::container_of({reinterpret_cast<const std::byte*>(data), size});
  if (!c) return c.error().message.empty() ? (std::abort(), 0) : 0;
  const auto session = attn::session_of(*c, "fuzz.attn");
  if (!session) return session.error().message.empty() ? (std::abort(), 0) : 0;
  for (const attn::SweepRun& run : session->runs)
    for (const attn::Measurement& m : run.rows) check(m);
  attn::Container again;
  again.session_json = attn::to_json(*session);
  const auto back = attn::session_of(again, "again.attn");
  if (!back || attn::rows_of(*back) != attn::rows_of(*session)) std::abort();
  (void)attn::to_csv(*session);
  return 0;
}
