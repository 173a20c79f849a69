#include "profiling/session/session_reading.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/base/files.h"
#include "kernels/base/text.h"
#include "kernels/formats/container_reading.h"
#include "kernels/formats/json_fields.h"
#include "kernels/formats/json_reading.h"
#include "kernels/recording/file/recording_file.h"
#include "profiling/session/codes.h"
#include "profiling/session/contradictions.h"
#include "profiling/session/json/beside_figures_json.h"
#include "profiling/session/json/measurement_json.h"
#include "profiling/session/layouts.h"
#include "profiling/session/session.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMeasurements = 100000;
constexpr std::size_t kMaxRuns = 256;
constexpr std::size_t kMaxStateBytes = 8192;
constexpr std::size_t kMaxKernels = 64;
constexpr std::size_t kMaxKernelBytes = 1 << 20;

// The file's list of that name; null where it has none (a file of recordings alone).
Result<json*> list_of(json& session, const char* key, const std::string& name) {
  const auto found = session.find(key);
  if (found == session.end()) return nullptr;
  if (!found->is_array()) return bad_input(phrase("{}: session.json: \"{}\" must be a list.", name, key));
  return &*found;
}

std::string joined(const std::vector<std::string>& words) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < words.size() && i < kShown; ++i) text += (i == 0 ? "" : ", ") + words[i].substr(0, 80);
  return words.size() > kShown ? text + " ..." : text;
}

Result<Provenance> read_provenance(const json& holder, const std::string& name) {
  auto provenance = provenance_from_json(holder.at("provenance"));
  if (!provenance) return bad_input(name + ": " + provenance.error().message);
  provenance->loaded = true;
  provenance->file = name;
  return provenance;
}

// Reads the rows of all runs, a piece of one a step; what is left out is told once for the file.
class RowReader {
 public:
  RowReader(std::string name, Codes codes, bool keeps_json)
      : name_(std::move(name)), codes_(std::move(codes)), keeps_json_(keeps_json) {}

  // The rows of a run come next.
  Result<void> begin(json& holder) {
    const auto list = list_of(holder, "measurements", name_);
    if (!list) return tl::unexpected(list.error());
    list_ = *list;
    rows_.clear();
    computed_ = 0;
    first_ = count_;
    return ok();
  }
  // Whether all rows of the run are read.
  Result<bool> step() {
    if (row_) {
      if (auto more = read_more((*list_)[rows_.size()]); !more) return tl::unexpected(more.error());
      return false;
    }
    if (list_ != nullptr && rows_.size() < list_->size()) {
      if (auto row = read((*list_)[rows_.size()]); !row) return tl::unexpected(row.error());
      return false;
    }
    if (computed_ == rows_.size()) return true;
    contradictions_.compute(rows_[computed_], rows_, first_ + computed_);
    ++computed_;
    return false;
  }
  std::vector<Measurement> take() { return std::exchange(rows_, {}); }

  void add_notes(std::vector<std::string>& notes) const {
    if (!unknown_.empty())
      notes.push_back(phrase("{} metrics unknown to this version were omitted: {}", unknown_.size(), joined(unknown_)));
    if (samples_missing_) notes.emplace_back(tr("the file contains only statistics, not the individual repeats"));
    contradictions_.add_notes(notes);
  }

 private:
  Result<void> read(json& j) {
    if (count_ >= kMaxMeasurements)
      return bad_input(phrase("{} has more than {} measurements.", name_, kMaxMeasurements));
    const std::string where = phrase("{}: measurement {}", name_, count_++);
    auto m = figures_of_measurement(j, where, unknown_);
    if (!m) return tl::unexpected(m.error());
    row_ = std::move(*m);
    beside_.emplace();
    return ok();
  }
  // What was recorded beside the figures of the row, a piece a step, then the rest of it.
  Result<void> read_more(json& j) {
    const std::string where = phrase("{}: measurement {}", name_, count_ - 1);
    if (beside_) {
      const auto all = beside_->step(j, where, *row_);
      if (!all) return tl::unexpected(all.error());
      if (*all) beside_.reset();
      return ok();
    }
    if (auto code = take_code(j, codes_, where, *row_); !code) return code;
    samples_missing_ |= row_->time.n > 0 && row_->samples_us.empty();
    contradictions_.judge(*row_, count_ - 1);
    if (!keeps_json_) j = nullptr;  // here, for all at once takes long
    rows_.push_back(*std::exchange(row_, std::nullopt));
    return ok();
  }

  std::string name_;
  Codes codes_;
  bool keeps_json_;
  json* list_ = nullptr;
  std::vector<Measurement> rows_;
  std::optional<Measurement> row_;  // that is being read
  std::optional<BesideFigures> beside_;
  std::size_t count_ = 0, first_ = 0, computed_ = 0;
  std::vector<std::string> unknown_;
  Contradictions contradictions_;
  bool samples_missing_ = false;
};

// Version 1: the file is one run, which its own text names.
Result<SweepRun> version_1(const json& file, const std::string& name) {
  SweepRun run;
  run.provenance.loaded = true;
  run.provenance.file = name;
  if (!file.contains("provenance")) return run;
  auto provenance = read_provenance(file, name);
  if (!provenance) return tl::unexpected(provenance.error());
  run.provenance = std::move(*provenance);
  return run;
}

// Without its rows.
Result<SweepRun> run_from(const json& j, const std::string& name, std::span<const SweepRun> before) {
  JsonFields fields(j, phrase("{}: run {}", name, before.size()));
  SweepRun run;
  run.id = fields.text("id");
  if (!is_run_id(run.id)) fields.refuse("id", tr("must be 16 digits, 0 to 9 and a to f"));
  if (fields.has("name")) run.name = fields.text("name", kMaxRunName);
  run.date = fields.text("date");
  if (fields.has("spec")) run.spec = fields.text("spec", kMaxStateBytes);
  (void)fields.object("provenance");
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  const bool twice = std::ranges::any_of(before, [&](const SweepRun& r) { return r.id == run.id; });
  if (twice) return bad_input(phrase("{}: two runs have the id {}.", name, run.id));
  auto provenance = read_provenance(j, name);
  if (!provenance) return tl::unexpected(provenance.error());
  run.provenance = std::move(*provenance);
  return run;
}

// Missing in files from before sessions kept them.
Result<void> read_kernels(json& file, const std::string& name, Session& s) {
  const auto list = list_of(file, "kernels", name);
  if (!list) return tl::unexpected(list.error());
  if (*list == nullptr) return ok();
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

// "r0/q.npy", "t1/q.npy", "l2/events.npy": of a recording, a set of tensors, a timeline.
bool is_beside_runs(const std::string& entry) {
  const std::size_t end = entry.find_first_not_of("0123456789", 1);
  return std::string_view("rtl").find(entry[0]) != std::string_view::npos && end > 1 && end < entry.size() &&
         entry[end] == '/';
}

}  // namespace

class SessionReading::Reader {
 public:
  Reader(std::filesystem::path file, SessionPart part)
      : name_(file.string()), part_(part), file_(std::move(file)), next_(&Reader::read_bytes) {}
  Reader(const Container& container, std::string name)
      : name_(std::move(name)), given_(&container), next_(&Reader::read_head) {}

  Result<bool> step() {
    return reading(name_, [&]() -> Result<bool> {
      if (auto read = (this->*next_)(); !read) return tl::unexpected(read.error());
      return next_ == nullptr;
    });
  }
  Session take() { return std::move(s_); }

 private:
  // Each reads a piece and says what comes next; nullptr: nothing.
  using Next = Result<void> (Reader::*)();
  Result<void> then(Next next) {
    next_ = next;
    return ok();
  }
  const Container& container() const { return given_ != nullptr ? *given_ : container_; }

  Result<void> read_bytes() {
    const ContainerLimits limits;
    auto bytes = read_file(file_, limits.max_file_bytes);
    if (!bytes) return tl::unexpected(bytes.error());
    bytes_ = *std::move(bytes);
    using Wanted = std::function<bool(const std::string&)>;
    entries_.emplace(
        bytes_, name_, limits,
        part_ == SessionPart::all ? Wanted() : [](const auto& entry) { return !is_beside_runs(entry); });
    return then(&Reader::read_entries);
  }

  Result<void> read_entries() {
    const auto done = entries_->step();
    if (!done) return tl::unexpected(done.error());
    if (!*done) return ok();
    container_ = entries_->take();
    entries_.reset();
    bytes_ = {};
    return then(&Reader::read_head);
  }

  Result<void> read_head() {
    auto session = session_object(container(), name_);
    if (!session) return tl::unexpected(session.error());
    json_ = *std::move(session);
    if (const auto state = json_->find("state"); state != json_->end()) {
      if (!state->is_string() || state->get_ref<const std::string&>().size() > kMaxStateBytes)
        return bad_input(
            phrase("{}: session.json: \"state\" must be a string of at most {} bytes.", name_, kMaxStateBytes));
      s_.state = state->get<std::string>();
    }
    if (auto kernels = read_kernels(*json_, name_, s_); !kernels) return kernels;
    return then(&Reader::read_codes);
  }

  Result<void> read_codes() {
    const auto all = more_codes(*json_, container(), name_, codes_);
    if (!all) return tl::unexpected(all.error());
    if (!*all) return ok();
    rows_.emplace(name_, std::move(codes_), given_ != nullptr);
    if (json_->at("version").get<std::uint64_t>() == 1) return begin_version_1();
    const auto runs = list_of(*json_, "runs", name_);
    if (!runs) return tl::unexpected(runs.error());
    runs_ = *runs;
    if (runs_ != nullptr && runs_->size() > kMaxRuns)
      return bad_input(phrase("{} has {} runs; the limit is {}.", name_, runs_->size(), kMaxRuns));
    return then(&Reader::begin_run);
  }

  Result<void> begin_version_1() {
    auto run = version_1(*json_, name_);
    if (!run) return tl::unexpected(run.error());
    run_ = *std::move(run);
    if (auto begun = rows_->begin(*json_); !begun) return begun;
    return then(&Reader::read_version_1);
  }

  Result<void> read_version_1() {
    const auto done = rows_->step();
    if (!done) return tl::unexpected(done.error());
    if (!*done) return ok();
    run_.rows = rows_->take();
    if (run_.rows.empty()) return end_runs();
    if (!json_->contains("provenance")) s_.notes.emplace_back(tr("the file does not say which machine produced it"));
    run_.id = run_id_of(container().session_json);
    run_.date = run_.provenance.date;
    run_.spec = s_.state;
    s_.runs.push_back(std::move(run_));
    return end_runs();
  }

  Result<void> begin_run() {
    if (runs_ == nullptr || s_.runs.size() == runs_->size()) return end_runs();
    json& j = (*runs_)[s_.runs.size()];
    auto run = run_from(j, name_, s_.runs);
    if (!run) return tl::unexpected(run.error());
    run_ = *std::move(run);
    if (auto begun = rows_->begin(j); !begun) return begun;
    return then(&Reader::read_run);
  }

  Result<void> read_run() {
    const auto done = rows_->step();
    if (!done) return tl::unexpected(done.error());
    if (!*done) return ok();
    run_.rows = rows_->take();
    s_.runs.push_back(std::move(run_));
    return then(&Reader::begin_run);
  }

  Result<void> end_runs() {
    rows_->add_notes(s_.notes);
    relate_to_layouts(s_.runs);
    if (part_ == SessionPart::runs) return then(nullptr);
    beside_.emplace(*json_, container(), name_);
    return then(&Reader::read_beside);
  }

  Result<void> read_beside() {
    const auto done = beside_->step();
    if (!done) return tl::unexpected(done.error());
    if (!*done) return ok();
    Stored stored = beside_->take();
    s_.recordings = std::move(stored.recordings);
    s_.tensors = std::move(stored.tensors);
    s_.timelines = std::move(stored.timelines);
    return then(nullptr);
  }

  const std::string name_;
  const SessionPart part_ = SessionPart::all;
  const std::filesystem::path file_;
  std::vector<std::byte> bytes_;
  std::optional<ContainerReading> entries_;
  Container container_;
  const Container* given_ = nullptr;
  std::shared_ptr<json> json_;
  json* runs_ = nullptr;
  Codes codes_;
  std::optional<RowReader> rows_;
  SweepRun run_;  // that is being read
  std::optional<StoredReading> beside_;
  Session s_;
  Next next_;
};

SessionReading::SessionReading(std::filesystem::path file, SessionPart part)
    : reader_(std::make_unique<Reader>(std::move(file), part)) {}

SessionReading::SessionReading(const Container& container, std::string name)
    : reader_(std::make_unique<Reader>(container, std::move(name))) {}

SessionReading::~SessionReading() = default;

Result<bool> SessionReading::step() {
  return reader_->step();
}

Session SessionReading::take() {
  Session session = reader_->take();
  reader_.reset();
  return session;
}

SessionsReading::SessionsReading(std::vector<std::filesystem::path> files, SessionPart part, Take take)
    : files_(std::move(files)), part_(part), take_(std::move(take)) {}

bool SessionsReading::step() {
  if (next_ == files_.size()) return true;
  if (reading_ == nullptr) reading_ = std::make_unique<SessionReading>(files_[next_], part_);
  const Result<bool> done = reading_->step();
  if (done && !*done) return false;
  const auto reading = std::exchange(reading_, nullptr);
  take_(files_[next_++], done ? Result<Session>(reading->take()) : Result<Session>(tl::unexpected(done.error())));
  return next_ == files_.size();
}

namespace {

Result<Session> whole(SessionReading& reading) {
  for (;;) {
    const Result<bool> done = reading.step();
    if (!done) return tl::unexpected(done.error());
    if (*done) return reading.take();
  }
}

}  // namespace

Result<Session> read_session(const std::filesystem::path& file) {
  SessionReading reading(file);
  return whole(reading);
}

Result<Session> session_of(const Container& container, const std::string& name) {
  SessionReading reading(container, name);
  return whole(reading);
}

}  // namespace attn
