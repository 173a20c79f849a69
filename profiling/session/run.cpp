#include "profiling/session/run.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/clock.h"
#include "kernels/base/hash.h"
#include "kernels/base/text.h"

namespace attn {

bool is_run_id(std::string_view text) {
  return text.size() == 16 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string new_run_id() {
  std::random_device random;  // the system's, 32 bits a call
  const auto high = static_cast<std::uint64_t>(random()) << 32;
  return fmt::format("{:016x}", high | random());
}

std::string utc_now() {
  return time_text(std::chrono::system_clock::now(), TimeZone::utc, "%Y-%m-%dT%H:%M:%SZ");
}

SweepRun new_run(std::string spec) {
  SweepRun run;
  run.id = new_run_id();
  run.date = utc_now();
  run.spec = std::move(spec);
  return run;
}

std::string run_words(const SweepRun& run) {
  if (!run.name.empty()) return run.name;
  std::string device = run.provenance.device.empty() ? tr("an unnamed machine") : run.provenance.device;
  const std::string& date = run.date.empty() ? run.provenance.date : run.date;
  if (date.size() < 16) return device;
  return fmt::format("{}, {} {}", device, date.substr(0, 10), date.substr(11, 5));
}

std::string run_id_of(std::string_view text) {
  return short_hash_of(text);
}

}  // namespace attn
