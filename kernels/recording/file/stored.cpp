// What a container holds beside measurements: recordings, and of version 3 sets of tensors and timelines.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/model/problem_json.h"
#include "kernels/recording/file/entries.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/file/tensor_set_json.h"
#include "kernels/recording/file/timeline_json.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxRecordings = 256;

// Keeps what was read, or hands its error on.
template <class T>
Result<void> keep(Result<T> read, std::vector<T>& kept) {
  if (!read) return tl::unexpected(read.error());
  kept.push_back(*std::move(read));
  return ok();
}

}  // namespace

int attn_version_of(const Recording& rec) {
  const bool newest = rec.splits > 1 || !rec.tensors.empty() || rec.labels.any() || rec.timeline != nullptr;
  return newest ? 3 : std::max({rec.gpu ? 2 : 1, attn_version_of(rec.problem), attn_version_of(rec.options)});
}

Result<void> add_beside(std::span<const TensorSet> tensors, std::span<const Timeline> timelines, json& session,
                        Container& c) {
  for (std::size_t n = 0; n < tensors.size(); ++n) {
    auto set = tensor_set_to_json(tensors[n], fmt::format("t{}/", n), c);
    if (!set) return tl::unexpected(set.error());
    session["tensors"].push_back(*std::move(set));
  }
  for (std::size_t n = 0; n < timelines.size(); ++n) {
    auto timeline = timeline_to_json(timelines[n], fmt::format("l{}/", n), c);
    if (!timeline) return tl::unexpected(timeline.error());
    session["timelines"].push_back(*std::move(timeline));
  }
  return ok();
}

StoredReading::StoredReading(const json& session, const Container& c, std::string name)
    : session_(session), name_(std::move(name)), version_(session.at("version").get<int>()), entries_(c) {}

// The element `next_` of the list `key`, read by `read(object, where)`; where the list has no more the next list's turn
// comes.
template <class Read>
Result<void> StoredReading::one_of(const char* key, std::size_t most, Read read) {
  const auto list = session_.find(key);
  if (list != session_.end() && (!list->is_array() || list->size() > most))
    return bad_input(phrase("{}: \"{}\" must be a list of at most {}.", name_, key, most));
  if (list == session_.end() || next_ == list->size()) {
    next_ = 0;
    ++list_;
    return ok();
  }
  const std::size_t n = next_++;
  return read((*list)[n], fmt::format("{}: {}[{}]", name_, key, n));
}

Result<bool> StoredReading::step() {
  const auto read = [&]() -> Result<void> {
    switch (list_) {
      case 0:
        return one_of("recordings", kMaxRecordings, [&](const json& j, const std::string& where) {
          return keep(recording_from_json(j, where, version_, entries_), stored_.recordings);
        });
      case 1:
        return one_of("tensors", kMaxTensorSets, [&](const json& j, const std::string& where) {
          return keep(tensor_set_from_json(j, where, entries_), stored_.tensors);
        });
      default:
        return one_of("timelines", kMaxTimelines, [&](const json& j, const std::string& where) {
          return keep(timeline_from_json(j, where, entries_), stored_.timelines);
        });
    }
  }();
  if (!read) return tl::unexpected(read.error());
  return list_ == (version_ >= 3 ? 3 : 1);
}

Result<Stored> stored_in(const Container& c, const std::string& name) {
  const auto session = session_object(c, name);
  if (!session) return tl::unexpected(session.error());
  StoredReading reading(**session, c, name);
  for (;;) {
    const Result<bool> done = reading.step();
    if (!done) return tl::unexpected(done.error());
    if (*done) return reading.take();
  }
}

Result<std::vector<Recording>> recordings_of(const Container& c, const std::string& name) {
  Result<Stored> stored = stored_in(c, name);
  if (!stored) return tl::unexpected(stored.error());
  return std::move(stored->recordings);
}

Result<void> write_recording(const std::filesystem::path& file, const Recording& rec) {
  json session = json::object();
  Container c;
  if (auto r = add_recording(rec, 0, session, c); !r) return r;
  c.session_json = session_text(session, attn_version_of(rec));
  const Result<std::vector<std::byte>> bytes = container_bytes(c);
  if (!bytes) return tl::unexpected(bytes.error());
  return write_file_atomically(file, *bytes);
}

Result<Recording> read_recording(const std::filesystem::path& file) {
  const Result<Container> c = read_container(file);
  if (!c) return tl::unexpected(c.error());
  Result<std::vector<Recording>> recordings = recordings_of(*c, file.string());
  if (!recordings) return tl::unexpected(recordings.error());
  if (recordings->empty()) {
    return bad_input(phrase("{} contains no recording; save one from the Step workspace.", file.string()));
  }
  return std::move(recordings->front());
}

}  // namespace attn
