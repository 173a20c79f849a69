// A session read in pieces, for where a large file must not hold up a frame. read_session() is all of it at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/formats/container.h"
#include "profiling/session/session_data.h"

namespace attn {

enum class SessionPart : std::uint8_t { all, runs };  // runs: recordings, sets of tensors and timelines stay unread

class SessionReading {
 public:
  explicit SessionReading(std::filesystem::path file, SessionPart part = SessionPart::all);
  // Of a container in memory, which must outlive it; `name` is for messages, and of each run provenance.file.
  SessionReading(const Container& container, std::string name);
  ~SessionReading();
  SessionReading(const SessionReading&) = delete;
  SessionReading& operator=(const SessionReading&) = delete;

  // Reads the next piece: a part of an entry or of the JSON, a row, a recording. Whether all is read.
  Result<bool> step();
  // Once.
  Session take();

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

// Several files, one after the other.
class SessionsReading {
 public:
  using Take = std::function<void(const std::filesystem::path& file, Result<Session> session)>;
  SessionsReading(std::vector<std::filesystem::path> files, SessionPart part, Take take);
  // Whether all are read.
  bool step();

 private:
  std::vector<std::filesystem::path> files_;
  SessionPart part_;
  Take take_;
  std::size_t next_ = 0;
  std::unique_ptr<SessionReading> reading_;  // of the file next_
};

}  // namespace attn
