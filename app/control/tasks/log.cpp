#include "app/control/tasks/log.h"

#include <utility>

namespace attn {

void Log::say(LogLevel level, std::string text) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({++last_, level, std::chrono::system_clock::now(), std::move(text)});
  if (entries_.size() > kMaxEntries) entries_.pop_front();
}

std::vector<LogEntry> Log::after(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  std::vector<LogEntry> found;
  for (const LogEntry& entry : entries_) {
    if (entry.number > number) found.push_back(entry);
  }
  return found;
}

std::uint64_t Log::last_number() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

}  // namespace attn
