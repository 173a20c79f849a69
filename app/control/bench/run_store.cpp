#include "app/control/bench/run_store.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/files.h"
#include "kernels/base/text.h"
#include "profiling/figures/baseline.h"
#include "profiling/session/session.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRun = ".attn";
constexpr const char* kLock = ".lock";
constexpr const char* kKept = ".kept";
constexpr const char* kRow = ".row";

// "2026-11-21T14:05:33Z" as "20261121T140533Z"; what is no such date, as nothing.
std::string file_date(const std::string& date) {
  std::string text;
  for (const char c : date)
    if ((c >= '0' && c <= '9') || c == 'T' || c == 'Z') text += c;
  return text;
}

// The id that ends the stem of a file's name; empty where there is none.
std::string id_in(const fs::path& file) {
  const std::string stem = file.stem().string();
  const std::string id = stem.substr(stem.rfind('-') + 1);
  return is_run_id(id) ? id : std::string();
}

Session session_of(const SweepRun& run) {
  Session s;
  s.state = run.spec;
  s.runs.push_back(run);
  return s;
}

Result<SweepRun> read_run(const fs::path& file) {
  auto session = read_session(file);
  if (!session) return tl::unexpected(session.error());
  if (session->runs.size() != 1)
    return bad_input(phrase("{} contains {} runs; the file of a run must contain exactly one.", file.string(),
                            session->runs.size()));
  return std::move(session->runs.front());
}

// "0123456789abcdef.000012.row"; the digits keep the order.
fs::path row_file(const fs::path& folder, const std::string& id, std::size_t n) {
  return folder / fmt::format("{}.{:06}{}", id, n, kRow);
}

// The run whose row it is; empty: it is none.
std::string id_of_row(const fs::path& file) {
  const std::string stem = file.stem().string();
  const std::string id = stem.substr(0, stem.find('.'));
  return file.extension() == kRow && is_run_id(id) ? id : std::string();
}

// In the order in which they were measured.
std::vector<fs::path> row_files(const fs::path& folder, const std::string& id) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (id_of_row(it->path()) == id) files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

void remove_all(const std::vector<fs::path>& files) {
  std::error_code error;
  for (const fs::path& file : files) fs::remove(file, error);
}

void remove_rows(const fs::path& folder, const std::string& id) {
  remove_all(row_files(folder, id));
}

void put(SweepRun& run, const Measurement& m) {
  std::erase_if(run.rows, [&](const Measurement& row) { return replaces(m, row); });
  run.rows.push_back(m);
}

// A run with the rows that lie beside it. One that cannot be read is left out: it was being written, or is gone.
Result<SweepRun> read_whole(const fs::path& file, const std::vector<fs::path>& rows) {
  auto run = read_run(file);
  if (!run) return run;
  bool added = false;
  for (const fs::path& row : rows) {
    const auto beside = read_run(row);
    if (!beside || beside->id != run->id) continue;
    for (const Measurement& m : beside->rows) put(*run, m);
    run->provenance = beside->provenance;
    added = true;
  }
  if (added) relate_to_baseline(run->rows);
  return run;
}

// What lies in the folder of runs, by one walk through it.
struct Found {
  std::vector<fs::path> files, marks;
  std::set<std::string> ids;                            // of the files
  std::map<std::string, std::vector<fs::path>> rows{};  // beside a run, by its id

  const std::vector<fs::path>& rows_of(const std::string& id) const {
    static const std::vector<fs::path> kNone;
    const auto at = rows.find(id);
    return at == rows.end() ? kNone : at->second;
  }
};

// Locks of processes that are dead go.
Found walk(const fs::path& folder) {
  Found found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path& entry = it->path();
    // A lock that can be taken is a dead process's: taken and let go, its file is gone.
    if (entry.extension() == kLock) (void)FileLock::take(entry);
    if (entry.extension() == kKept) found.marks.push_back(entry);
    if (const std::string id = id_of_row(entry); !id.empty()) found.rows[id].push_back(entry);
    if (entry.extension() != kRun || id_in(entry).empty()) continue;
    found.files.push_back(entry);
    found.ids.insert(id_in(entry));
  }
  std::sort(found.files.begin(), found.files.end(), std::greater<>());  // names begin with the date
  for (auto& [id, files] : found.rows) std::sort(files.begin(), files.end());
  return found;
}

}  // namespace

RunWriter::RunWriter(fs::path file, SweepRun run, std::optional<FileLock> lock)
    : file_(std::move(file)), id_(run.id), run_(std::move(run)), lock_(std::move(lock)) {}

RunWriter::~RunWriter() {
  const std::lock_guard lock(mutex_);
  // Where it cannot be written the rows stay where they are, and whoever reads the run finds them.
  if (beside_ > 0) (void)write();
}

Result<void> RunWriter::write() {
  const auto begin = std::chrono::steady_clock::now();
  auto written = write_session(file_, session_of(run_));
  written_ = std::chrono::steady_clock::now();
  took_ = written_ - begin;
  if (written && std::exchange(beside_, 0) > 0) remove_rows(file_.parent_path(), id_);
  return written;
}

// The whole is written for a tenth of the time at most.
bool RunWriter::is_due() const {
  constexpr int kShare = 10;
  return std::chrono::steady_clock::now() - written_ >= kShare * took_;
}

void RunWriter::set_provenance(Provenance p) {
  const std::lock_guard lock(mutex_);
  run_.provenance = std::move(p);
}

Result<void> RunWriter::add(const Measurement& m) {
  const std::lock_guard lock(mutex_);
  put(run_, m);
  if (is_due()) return write();
  SweepRun one = run_;
  one.rows.assign(1, m);
  if (auto written = write_session(row_file(file_.parent_path(), id_, beside_), session_of(one)); !written)
    return written;
  ++beside_;
  return ok();
}

Result<void> RunWriter::rename(std::string name) {
  const std::lock_guard lock(mutex_);
  run_.name = std::move(name);
  return write();
}

RunStore::RunStore(fs::path folder) : folder_(std::move(folder)) {}

fs::path RunStore::file_of(const SweepRun& run) const {
  return folder_ / fmt::format("{}-{}{}", file_date(run.date), run.id, kRun);
}

fs::path RunStore::beside(const std::string& id, const char* extension) const {
  return folder_ / (id + extension);
}

std::optional<fs::path> RunStore::find(const std::string& id) const {
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == kRun && id_in(it->path()) == id) return it->path();
  return std::nullopt;
}

Result<FileLock> RunStore::lock(const std::string& id) const {
  auto taken = FileLock::take(beside(id, kLock), FileLock::kTries);
  if (!taken) return tl::unexpected(taken.error());
  std::optional<FileLock> held = *std::move(taken);
  if (held) return *std::move(held);
  return fail(ErrorKind::cannot_run, tr("Another window is measuring this run; try again when the run is done."));
}

RunStore::Listing RunStore::list() const {
  Listing listing;
  std::error_code error;
  if (!keeps() || !fs::is_directory(folder_, error)) return listing;
  sweep_temporaries(folder_);
  const Found found = walk(folder_);
  // A process that was killed while it removed a run may have left the mark.
  for (const fs::path& mark : found.marks)
    if (is_run_id(mark.stem().string()) && !found.ids.contains(mark.stem().string())) fs::remove(mark, error);
  // Rows of a run that is gone. One that is being replaced may be missed by the walk above.
  for (const auto& [id, rows] : found.rows)
    if (!found.ids.contains(id) && !find(id) && !fs::exists(beside(id, kLock), error)) remove_all(rows);
  for (const fs::path& file : found.files) {
    const std::vector<fs::path>& rows = found.rows_of(id_in(file));
    auto run = read_whole(file, rows);
    if (!run && !fs::exists(file, error)) continue;  // removed by another window meanwhile
    if (!run || run->id != id_in(file)) {
      listing.said.push_back(run ? phrase("{} does not contain the run that its name indicates.", file.string())
                                 : run.error().message);
      continue;
    }
    const std::string id = run->id;
    // A process that was killed left them: they go into the file.
    if (!fs::exists(beside(id, kLock), error) && !rows.empty())
      if (const auto held = lock(id); held && write_session(file, session_of(*run))) remove_all(rows);
    listing.runs.push_back(
        {*std::move(run), file, fs::exists(beside(id, kKept), error), fs::exists(beside(id, kLock), error)});
  }
  return listing;
}

Result<std::unique_ptr<RunWriter>> RunStore::write(SweepRun run) const {
  if (auto made = make_folder(folder_); !made) return tl::unexpected(made.error());
  auto held = lock(run.id);
  if (!held) return tl::unexpected(held.error());
  const fs::path file = find(run.id).value_or(file_of(run));
  if (auto written = write_session(file, session_of(run)); !written) return tl::unexpected(written.error());
  remove_rows(folder_, run.id);  // they are among those that it goes on with
  return std::make_unique<RunWriter>(file, std::move(run), std::move(*held));
}

Result<void> RunStore::rename(const std::string& id, const std::string& name) const {
  const auto held = lock(id);
  if (!held) return tl::unexpected(held.error());
  const auto file = find(id);
  if (!file) return bad_input(tr("This run's file is gone: another window deleted it."));
  auto run = read_whole(*file, row_files(folder_, id));
  if (!run) return tl::unexpected(run.error());
  run->name = name;
  auto written = write_session(*file, session_of(*run));
  if (written) remove_rows(folder_, id);
  return written;
}

Result<void> RunStore::keep(const std::string& id) const {
  std::error_code error;
  if (!keeps() || fs::exists(beside(id, kKept), error)) return ok();
  return write_file_atomically(beside(id, kKept), std::span<const std::byte>());
}

Result<void> RunStore::remove(const std::string& id) const {
  std::error_code error;
  if (!keeps() || !fs::is_directory(folder_, error)) return ok();
  const auto held = lock(id);
  if (!held) return tl::unexpected(held.error());
  if (const auto file = find(id); file && !fs::remove(*file, error) && error)
    return fail(ErrorKind::io, phrase("Cannot delete {}: {}.", file->string(), error.message()));
  fs::remove(beside(id, kKept), error);
  remove_rows(folder_, id);
  return ok();
}

Result<std::string> RunStore::adopt(const fs::path& autosave) const {
  std::error_code error;
  if (!keeps() || autosave.empty() || !fs::exists(autosave, error)) return std::string();
  auto session = read_session(autosave);
  if (!session) return tl::unexpected(session.error());
  if (session->runs.empty()) return std::string();
  SweepRun run = std::move(session->runs.front());
  const std::string id = run.id;
  if (!find(id)) {
    if (auto written = write(std::move(run)); !written) return tl::unexpected(written.error());
  }
  fs::remove(autosave, error);
  return id;
}

std::vector<std::string> surplus_runs(const std::vector<StoredRun>& runs) {
  std::vector<std::string> ids;
  std::size_t loose = 0;
  for (const StoredRun& r : runs)
    if (!r.kept && r.run.name.empty() && !r.growing && ++loose > RunStore::kNewest) ids.push_back(r.run.id);
  return ids;
}

}  // namespace attn
