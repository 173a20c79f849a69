#include "profiling/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/recording/file.h"
#include "profiling/session/measurement_json.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMeasurements = 100000;
constexpr std::size_t kMaxStateBytes = 8192;

json session_to_json(const Session& s, bool with_samples) {
  json j = {{"provenance", provenance_to_json(s.provenance)}, {"measurements", json::array()}};
  if (!s.state.empty()) j["state"] = s.state;
  for (const Measurement& m : s.measurements) j["measurements"].push_back(measurement_to_json(m, with_samples));
  return j;
}

// The file's list of that name; empty where it has none (a file of recordings alone).
Result<const json*> list_of(const json& session, const char* key, const std::string& name) {
  static const json none = json::array();
  const auto found = session.find(key);
  if (found == session.end()) return &none;
  if (!found->is_array()) return bad_input(fmt::format("{}: session.json: \"{}\" must be a list.", name, key));
  return &*found;
}

std::string joined(const std::vector<std::string>& words) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < words.size() && i < kShown; ++i) text += (i == 0 ? "" : ", ") + words[i].substr(0, 80);
  return words.size() > kShown ? text + " ..." : text;
}

Result<void> read_measurements(const json& session, const std::string& name, Session& s) {
  const auto list = list_of(session, "measurements", name);
  if (!list) return tl::unexpected(list.error());
  if ((*list)->size() > kMaxMeasurements)
    return bad_input(fmt::format("{} has {} measurements; {} can be read.", name, (*list)->size(), kMaxMeasurements));
  std::vector<std::string> unknown;
  bool samples_missing = false;
  for (const json& j : **list) {
    auto m = measurement_from_json(j, fmt::format("{}: measurement {}", name, s.measurements.size()), unknown);
    if (!m) return tl::unexpected(m.error());
    samples_missing |= m->time.n > 0 && m->samples_us.empty();
    s.measurements.push_back(std::move(*m));
  }
  if (!unknown.empty())
    s.notes.push_back(
        fmt::format("{} metrics that this version does not know were left out: {}", unknown.size(), joined(unknown)));
  if (samples_missing) s.notes.emplace_back("the single repeats are not in the file, their statistics are");
  return ok();
}

}  // namespace

std::string to_json(const Session& s) {
  return session_text(session_to_json(s, true));
}

Result<void> write_session(const std::filesystem::path& file, const Session& s) {
  Container c;
  json recordings = json::object();
  for (std::size_t i = 0; i < s.recordings.size(); ++i)
    if (auto added = add_recording(s.recordings[i], i, recordings, c); !added) return added;
  const std::uint64_t max = ContainerLimits{}.max_json_bytes;
  // A file that its own reader would refuse is no file: the single repeats go first.
  for (const bool with_samples : {true, false}) {
    json session = session_to_json(s, with_samples);
    session.update(recordings);
    c.session_json = session_text(session);
    if (c.session_json.size() <= max) break;
  }
  if (c.session_json.size() > max)
    return bad_input(
        fmt::format("{} was not written: the session's {} measurements need {} bytes of JSON, {} can be "
                    "read. Save fewer rows in a file.",
                    file.string(), s.measurements.size(), c.session_json.size(), max));
  const auto bytes = container_bytes(c);
  if (!bytes) return tl::unexpected(bytes.error());
  return write_file_atomically(file, *bytes);
}

Result<Session> read_session(const std::filesystem::path& file) {
  const std::string name = file.string();
  const auto container = read_container(file);
  if (!container) return tl::unexpected(container.error());
  const auto json_of_file = session_object(*container, name);
  if (!json_of_file) return tl::unexpected(json_of_file.error());
  Session s;
  if (json_of_file->contains("provenance")) {
    auto provenance = provenance_from_json(json_of_file->at("provenance"));
    if (!provenance) return bad_input(name + ": " + provenance.error().message);
    s.provenance = std::move(*provenance);
  } else {
    s.notes.emplace_back("the file does not say on which machine it was made");
  }
  s.provenance.loaded = true;
  s.provenance.file = name;
  if (const auto state = json_of_file->find("state"); state != json_of_file->end()) {
    if (!state->is_string() || state->get_ref<const std::string&>().size() > kMaxStateBytes)
      return bad_input(
          fmt::format("{}: session.json: \"state\" must be a text of {} bytes at most.", name, kMaxStateBytes));
    s.state = state->get<std::string>();
  }
  if (auto read = read_measurements(*json_of_file, name, s); !read) return tl::unexpected(read.error());
  auto recordings = recordings_of(*container, name);
  if (!recordings) return tl::unexpected(recordings.error());
  s.recordings = std::move(*recordings);
  return s;
}

}  // namespace attn
