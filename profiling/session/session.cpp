#include "profiling/session/session.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/json_fields.h"
#include "kernels/formats/json_reading.h"
#include "kernels/recording/file/recording_file.h"
#include "profiling/session/codes.h"
#include "profiling/session/contradictions.h"
#include "profiling/session/json/measurement_json.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMeasurements = 100000;
constexpr std::size_t kMaxRuns = 256;
constexpr std::size_t kMaxStateBytes = 8192;
constexpr std::size_t kMaxKernels = 64;
constexpr std::size_t kMaxKernelBytes = 1 << 20;

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

// The file's list of that name; empty where it has none (a file of recordings alone).
Result<const json*> list_of(const json& session, const char* key, const std::string& name) {
  static const json none = json::array();
  const auto found = session.find(key);
  if (found == session.end()) return &none;
  if (!found->is_array()) return bad_input(phrase("{}: session.json: \"{}\" must be a list.", name, key));
  return &*found;
}

std::string joined(const std::vector<std::string>& words) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < words.size() && i < kShown; ++i) text += (i == 0 ? "" : ", ") + words[i].substr(0, 80);
  return words.size() > kShown ? text + " ..." : text;
}

// Reads the rows of all runs; what is left out is told once for the file.
class RowReader {
 public:
  RowReader(std::string name, Codes codes) : name_(std::move(name)), codes_(std::move(codes)) {}

  Result<std::vector<Measurement>> rows(const json& holder) {
    const auto list = list_of(holder, "measurements", name_);
    if (!list) return tl::unexpected(list.error());
    std::vector<Measurement> rows;
    const std::size_t first = count_;
    for (const json& j : **list) {
      if (count_ >= kMaxMeasurements)
        return bad_input(phrase("{} has more than {} measurements.", name_, kMaxMeasurements));
      const std::string where = phrase("{}: measurement {}", name_, count_++);
      auto m = measurement_from_json(j, where, unknown_);
      if (!m) return tl::unexpected(m.error());
      if (auto code = take_code(j, codes_, where, *m); !code) return tl::unexpected(code.error());
      samples_missing_ |= m->time.n > 0 && m->samples_us.empty();
      rows.push_back(std::move(*m));
    }
    contradictions_.resolve(rows, first);
    return rows;
  }
  void add_notes(std::vector<std::string>& notes) const {
    if (!unknown_.empty())
      notes.push_back(phrase("{} metrics unknown to this version were omitted: {}", unknown_.size(), joined(unknown_)));
    if (samples_missing_) notes.emplace_back(tr("the file contains only statistics, not the individual repeats"));
    contradictions_.add_notes(notes);
  }

 private:
  std::string name_;
  Codes codes_;
  std::size_t count_ = 0;
  std::vector<std::string> unknown_;
  Contradictions contradictions_;
  bool samples_missing_ = false;
};

Result<Provenance> read_provenance(const json& holder, const std::string& name) {
  auto provenance = provenance_from_json(holder.at("provenance"));
  if (!provenance) return bad_input(name + ": " + provenance.error().message);
  provenance->loaded = true;
  provenance->file = name;
  return provenance;
}

// Version 1: the file is one run, which its own text names.
Result<void> read_version_1(const json& file, const std::string& name, const std::string& text, RowReader& reader,
                            Session& s) {
  SweepRun run;
  run.provenance.loaded = true;
  run.provenance.file = name;
  if (file.contains("provenance")) {
    auto provenance = read_provenance(file, name);
    if (!provenance) return tl::unexpected(provenance.error());
    run.provenance = std::move(*provenance);
  }
  auto rows = reader.rows(file);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return ok();
  if (!file.contains("provenance")) s.notes.emplace_back(tr("the file does not say which machine produced it"));
  run.id = run_id_of(text);
  run.date = run.provenance.date;
  run.spec = s.state;
  run.rows = std::move(*rows);
  s.runs.push_back(std::move(run));
  return ok();
}

Result<void> read_runs(const json& file, const std::string& name, RowReader& reader, Session& s) {
  const auto list = list_of(file, "runs", name);
  if (!list) return tl::unexpected(list.error());
  if ((*list)->size() > kMaxRuns)
    return bad_input(phrase("{} has {} runs; the limit is {}.", name, (*list)->size(), kMaxRuns));
  for (const json& j : **list) {
    JsonFields fields(j, phrase("{}: run {}", name, s.runs.size()));
    SweepRun run;
    run.id = fields.text("id");
    if (!is_run_id(run.id)) fields.refuse("id", tr("must be 16 digits, 0 to 9 and a to f"));
    if (fields.has("name")) run.name = fields.text("name", kMaxRunName);
    run.date = fields.text("date");
    if (fields.has("spec")) run.spec = fields.text("spec", kMaxStateBytes);
    (void)fields.object("provenance");
    if (auto read = fields.result(); !read) return read;
    const bool twice = std::any_of(s.runs.begin(), s.runs.end(), [&](const SweepRun& r) { return r.id == run.id; });
    if (twice) return bad_input(phrase("{}: two runs have the id {}.", name, run.id));
    auto provenance = read_provenance(j, name);
    if (!provenance) return tl::unexpected(provenance.error());
    run.provenance = std::move(*provenance);
    auto rows = reader.rows(j);
    if (!rows) return tl::unexpected(rows.error());
    run.rows = std::move(*rows);
    s.runs.push_back(std::move(run));
  }
  return ok();
}

// Missing in files from before sessions kept them.
Result<void> read_kernels(const json& file, const std::string& name, Session& s) {
  const auto list = list_of(file, "kernels", name);
  if (!list) return tl::unexpected(list.error());
  if ((*list)->size() > kMaxKernels)
    return bad_input(phrase("{} contains {} kernels; the limit is {}.", name, (*list)->size(), kMaxKernels));
  for (const json& j : **list) {
    JsonFields fields(j, phrase("{}: kernel {}", name, s.kernels.size()));
    SessionKernel k;
    k.file = fields.text("file");
    k.text = fields.text("text", kMaxKernelBytes);
    if (auto read = fields.result(); !read) return read;
    s.kernels.push_back(std::move(k));
  }
  return ok();
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

Result<Session> read_session(const std::filesystem::path& file) {
  const auto container = read_container(file);
  if (!container) return tl::unexpected(container.error());
  return session_of(*container, file.string());
}

namespace {

Result<Session> read_whole(const Container& container, const std::string& name) {
  const auto json_of_file = session_object(container, name);
  if (!json_of_file) return tl::unexpected(json_of_file.error());
  Session s;
  if (const auto state = json_of_file->find("state"); state != json_of_file->end()) {
    if (!state->is_string() || state->get_ref<const std::string&>().size() > kMaxStateBytes)
      return bad_input(
          phrase("{}: session.json: \"state\" must be a string of at most {} bytes.", name, kMaxStateBytes));
    s.state = state->get<std::string>();
  }
  if (auto kernels = read_kernels(*json_of_file, name, s); !kernels) return tl::unexpected(kernels.error());
  auto codes = codes_in(*json_of_file, container, name);
  if (!codes) return tl::unexpected(codes.error());
  RowReader reader(name, *std::move(codes));
  const bool has_runs = json_of_file->at("version").get<std::uint64_t>() > 1;
  auto read = has_runs ? read_runs(*json_of_file, name, reader, s)
                       : read_version_1(*json_of_file, name, container.session_json, reader, s);
  if (!read) return tl::unexpected(read.error());
  reader.add_notes(s.notes);
  auto stored = stored_in(container, name);
  if (!stored) return tl::unexpected(stored.error());
  s.recordings = std::move(stored->recordings);
  s.tensors = std::move(stored->tensors);
  s.timelines = std::move(stored->timelines);
  return s;
}

}  // namespace

Result<Session> session_of(const Container& container, const std::string& name) {
  return reading(name, [&] { return read_whole(container, name); });
}

}  // namespace attn
