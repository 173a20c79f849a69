#include "profiling/measure/stages.h"

#include <chrono>
#include <utility>

namespace attn {
namespace {

// The time of day once a row; what lies between the stages is told by a clock that is never set back.
std::int64_t unix_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

Stages::Stages(Measurement& m, Clock clock) : m_(m), clock_(std::move(clock)) {}

Stages::~Stages() {
  end();
}

void Stages::enter(std::string name) {
  end();
  if (m_.stages.empty()) {
    origin_ = clock_();
    m_.begun_unix_us = unix_us();
  }
  m_.stages.push_back({std::move(name), 1e6 * (clock_() - origin_), 0});
  going_on_ = true;
}

void Stages::end() {
  if (!going_on_) return;
  going_on_ = false;
  Stage& last = m_.stages.back();
  last.duration_us = 1e6 * (clock_() - origin_) - last.start_us;
}

}  // namespace attn
