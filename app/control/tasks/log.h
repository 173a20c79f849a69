// What the program said, newest last. Any thread may speak; the log panel shows it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace attn {

enum class LogLevel : std::uint8_t { note, warning, error };

struct LogEntry {
  std::uint64_t number = 0;  // 1, 2, 3 ... over the program's life
  LogLevel level = LogLevel::note;
  std::chrono::system_clock::time_point when;
  std::string text;
};

class Log {
 public:
  // The oldest entries go when there are more.
  static constexpr std::size_t kMaxEntries = 1000;

  void say(LogLevel level, std::string text);
  void note(std::string text) { say(LogLevel::note, std::move(text)); }
  void warn(std::string text) { say(LogLevel::warning, std::move(text)); }
  void error(std::string text) { say(LogLevel::error, std::move(text)); }

  // Entries after `number`, oldest first.
  std::vector<LogEntry> after(std::uint64_t number) const;
  std::uint64_t last_number() const;

 private:
  mutable std::mutex mutex_;
  std::deque<LogEntry> entries_;
  std::uint64_t last_ = 0;
};

}  // namespace attn
