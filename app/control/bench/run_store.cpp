#include "app/control/bench/run_store.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/files.h"
#include "kernels/base/text.h"
#include "profiling/session/session.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRun = ".attn";
constexpr const char* kLock = ".lock";
constexpr const char* kKept = ".kept";

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
    return bad_input(phrase("{} holds {} runs, not one.", file.string(), session->runs.size()));
  return std::move(session->runs.front());
}

}  // namespace

RunWriter::RunWriter(fs::path file, SweepRun run, std::optional<FileLock> lock)
    : file_(std::move(file)), id_(run.id), run_(std::move(run)), lock_(std::move(lock)) {}

Result<void> RunWriter::write() {
  return write_session(file_, session_of(run_));
}

void RunWriter::set_provenance(Provenance p) {
  const std::lock_guard lock(mutex_);
  run_.provenance = std::move(p);
}

Result<void> RunWriter::add(const Measurement& m) {
  const std::lock_guard lock(mutex_);
  std::erase_if(run_.rows, [&](const Measurement& row) { return replaces(m, row); });
  run_.rows.push_back(m);
  return write();
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
  return fail(ErrorKind::cannot_run, tr("This run is being measured in another window: try again when it is done."));
}

RunStore::Listing RunStore::list() const {
  Listing listing;
  std::error_code error;
  if (!keeps() || !fs::is_directory(folder_, error)) return listing;
  sweep_temporaries(folder_);
  std::vector<fs::path> files, marks;
  std::set<std::string> ids;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const fs::path& entry = it->path();
    // A lock that can be taken is a dead process's: taken and let go, its file is gone.
    if (entry.extension() == kLock) (void)FileLock::take(entry);
    if (entry.extension() == kKept) marks.push_back(entry);
    if (entry.extension() != kRun || id_in(entry).empty()) continue;
    files.push_back(entry);
    ids.insert(id_in(entry));
  }
  // A process that was killed while it removed a run may have left the mark.
  for (const fs::path& mark : marks)
    if (is_run_id(mark.stem().string()) && !ids.contains(mark.stem().string())) fs::remove(mark, error);
  std::sort(files.begin(), files.end(), std::greater<>());  // names begin with the date
  for (const fs::path& file : files) {
    auto run = read_run(file);
    if (!run && !fs::exists(file, error)) continue;  // removed by another window meanwhile
    if (!run || run->id != id_in(file)) {
      listing.said.push_back(run ? phrase("{} is not the run that its name says.", file.string())
                                 : run.error().message);
      continue;
    }
    const std::string id = run->id;
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
  return std::make_unique<RunWriter>(file, std::move(run), std::move(*held));
}

Result<void> RunStore::rename(const std::string& id, const std::string& name) const {
  const auto held = lock(id);
  if (!held) return tl::unexpected(held.error());
  const auto file = find(id);
  if (!file) return bad_input(tr("The file of this run is gone: it was removed in another window."));
  auto run = read_run(*file);
  if (!run) return tl::unexpected(run.error());
  run->name = name;
  return write_session(*file, session_of(*run));
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
