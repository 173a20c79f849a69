#include "profiling/session/session.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/recording/file/recording_file.h"
#include "profiling/session/codes.h"
#include "profiling/session/json/measurement_json.h"

namespace attn {
namespace {

using nlohmann::json;

// What is written beside the rows' own members.
struct Written {
  bool samples = true;
  const WrittenCodes* codes = nullptr;  // null: no machine code
};

json rows_to_json(const SweepRun& run, const Written& with) {
  json rows = json::array();
  for (const Measurement& m : run.rows) {
    rows.push_back(measurement_to_json(m, with.samples));
    if (with.codes == nullptr) continue;
    if (const auto code = with.codes->number_of(m)) rows.back()["code"] = *code;
  }
  return rows;
}

json run_to_json(const SweepRun& run, const Written& with) {
  json j = {{"id", run.id.empty() ? new_run_id() : run.id},
            {"date", run.date.empty() ? run.provenance.date : run.date},
            {"provenance", provenance_to_json(run.provenance)},
            {"measurements", rows_to_json(run, with)}};
  if (!run.name.empty()) j["name"] = run.name;
  if (!run.spec.empty()) j["spec"] = run.spec;
  return j;
}

json runs_to_json(const Session& s, const Written& with) {
  json j = json::object();
  if (!s.state.empty()) j["state"] = s.state;
  for (const SessionKernel& k : s.kernels) j["kernels"].push_back({{"file", k.file}, {"text", k.text}});
  if (s.runs.empty()) return j;
  j["runs"] = json::array();
  for (const SweepRun& run : s.runs) j["runs"].push_back(run_to_json(run, with));
  return j;
}

int version_of_rows(const Session& s) {
  int version = 1;
  for (const SweepRun& run : s.runs) {
    for (const Measurement& m : run.rows) version = std::max(version, attn_version_of(m));
  }
  return version;
}

int version_of(const Session& s) {
  int version = std::max(s.runs.empty() ? 1 : 2, version_of_rows(s));
  for (const Recording& rec : s.recordings) version = std::max(version, attn_version_of(rec));
  const bool coded = std::ranges::any_of(s.runs, [](const SweepRun& r) {
    return std::ranges::any_of(r.rows, [](const Measurement& m) { return m.code != nullptr; });
  });
  return s.tensors.empty() && s.timelines.empty() && !coded ? version : 3;
}

}  // namespace

Session session_of(Provenance provenance, std::vector<Measurement> rows) {
  Session s;
  SweepRun& run = s.runs.emplace_back();
  run.date = provenance.date;
  run.provenance = std::move(provenance);
  run.rows = std::move(rows);
  return s;
}

std::size_t rows_of(const Session& s) {
  std::size_t rows = 0;
  for (const SweepRun& run : s.runs) rows += run.rows.size();
  return rows;
}

std::string to_json(const Session& s) {
  const InEnglish recorded;
  // Version 1 has no word for softcap and ALiBi, and its readers would pass over them.
  const int version = std::max(s.runs.size() > 1 ? 2 : 1, version_of_rows(s));
  if (version > 1) return session_text(runs_to_json(s, {}), version);
  const SweepRun none;
  const SweepRun& run = s.runs.empty() ? none : s.runs.front();
  json j = {{"provenance", provenance_to_json(run.provenance)}, {"measurements", rows_to_json(run, {})}};
  if (!s.state.empty()) j["state"] = s.state;
  return session_text(j, 1);
}

Result<void> write_session(const std::filesystem::path& file, const Session& s) {
  Container c;
  json recordings = json::object();
  for (std::size_t i = 0; i < s.recordings.size(); ++i)
    if (auto added = add_recording(s.recordings[i], i, recordings, c); !added) return added;
  if (auto added = add_beside(s.tensors, s.timelines, recordings, c); !added) return added;
  const WrittenCodes codes(s);
  codes.add_to(recordings, c);
  const std::uint64_t max = ContainerLimits{}.max_json_bytes;
  // A file that its own reader would refuse is no file: the single repeats go first.
  for (const bool with_samples : {true, false}) {
    json session = runs_to_json(s, {with_samples, &codes});
    session.update(recordings);
    c.session_json = session_text(session, version_of(s));
    if (c.session_json.size() <= max) break;
  }
  if (c.session_json.size() > max)
    return bad_input(
        phrase("{} was not written: the session's {} measurements need {} bytes of JSON; the limit is {}. Save "
               "fewer rows per file.",
               file.string(), rows_of(s), c.session_json.size(), max));
  const auto bytes = container_bytes(c);
  if (!bytes) return tl::unexpected(bytes.error());
  return write_file_atomically(file, *bytes);
}

}  // namespace attn
