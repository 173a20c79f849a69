#include "app/control/bench/run_list.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/control/bench/leftovers.h"
#include "app/state/apply/apply.h"
#include "app/state/string/state_string.h"
#include "app/system/assets.h"
#include "kernels/base/files.h"
#include "kernels/base/folders.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "profiling/session/layouts.h"
#include "profiling/session/run.h"
#include "profiling/session/session_reading.h"
#include "profiling/sweep/finished.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxRecent = 12;

bool taken_here(const SweepRun& run) {
  return run.provenance.host == provenance_here().host;
}

// As a run of this machine is drawn: its figures were taken here, whether in this hour or in another.
ListedRun listed(SweepRun run, RunFrom from, bool growing) {
  const bool local = taken_here(run);
  if (from == RunFrom::here && local) run.provenance.loaded = false;
  return {std::move(run), from, growing, local};
}

bool newer(const ListedRun& a, const ListedRun& b) {
  const bool late_a = a.from == RunFrom::bundled, late_b = b.from == RunFrom::bundled;
  return late_a != late_b ? late_b : a.run.date > b.run.date;
}

std::vector<fs::path> recent_files(const fs::path& list) {
  constexpr std::uint64_t kMaxBytes = 64 << 10;
  std::vector<fs::path> files;
  std::error_code error;
  if (!fs::is_regular_file(list, error)) return files;
  const auto bytes = read_file(list, kMaxBytes);
  if (!bytes) return files;
  std::string_view rest(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  while (!rest.empty() && files.size() < kMaxRecent) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!line.empty() && fs::is_regular_file(line, error)) files.emplace_back(line);
  }
  return files;
}

std::vector<fs::path> bundled_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".attn") files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

// What its rows have besides their times.
std::string held_words(const Session& s) {
  std::set<std::string_view> kernels;
  bool samples = false, heartbeat = false, counts = false;
  for (const SweepRun& run : s.runs) {
    for (const Measurement& m : run.rows) {
      kernels.insert(m.key.kernel);
      samples = samples || m.samples != nullptr;
      heartbeat = heartbeat || m.heartbeat != nullptr;
      counts = counts || m.counts != nullptr;
    }
  }
  std::string words = plural(kernels.size(), "Times of {} kernel", "Times of {} kernels");
  if (samples) words += tr(", stalls by line");
  if (heartbeat) words += tr(", heartbeat");
  if (counts) words += tr(", counts by instruction");
  return words;
}

std::string words_of_file(const Session& s) {
  if (s.runs.empty()) return {};
  const SweepRun& run = s.runs.front();
  return fmt::format("{}: {}{}, {}, {}", held_words(s), short_device(run.provenance.device),
                     s.runs.size() > 1 ? plural(s.runs.size() - 1, " and {} other run", " and {} other runs") : "",
                     plural(rows_of(s), "{} row", "{} rows"), run.date.substr(0, 10));
}

// Ids that the document names and `runs` lack.
std::vector<std::string> missing_in(const std::vector<ListedRun>& runs, const BenchRuns& wanted) {
  std::vector<std::string> ids;
  const auto look = [&](const std::string& id) {
    const bool there = std::any_of(runs.begin(), runs.end(), [&](const ListedRun& r) { return r.run.id == id; });
    if (!id.empty() && id != kPredictedRun && !there) ids.push_back(id);
  };
  for (const std::string& id : wanted.shown) look(id);
  look(wanted.reference);
  return ids;
}

std::size_t points_done(const SweepRun& run) {
  return static_cast<std::size_t>(std::count_if(run.rows.begin(), run.rows.end(),
                                                [](const Measurement& m) { return m.state != RowState::cancelled; }));
}

}  // namespace

std::string sweep_text(const SweepSpec& sweep) {
  State state = initial_state();
  state.view.workspace = Workspace::bench;
  state.document.sweep = sweep;
  const auto text = state_string(state);
  return text ? *text : std::string();  // too long for a string: no run is ever known to be of it
}

RunFolders run_folders() {
  RunFolders folders;
  if (const auto data = data_folder(); !data.empty())
    folders = {data / "runs", data / "autosave.attn", {}, data / "recent"};
  if (const auto sessions = find_asset("sessions")) folders.bundled = *sessions;
  return folders;
}

// As its file is called, and where that has several by their type: "h100-profile, f32".
std::string bundled_name(const fs::path& file, const SweepRun& run, bool several) {
  const std::string name = file.stem().string();
  return several && !run.rows.empty() ? fmt::format("{}, {}", name, name_of(run.rows.front().key.problem.dtype)) : name;
}

RunSearch::RunSearch(RunFolders folders, BenchRuns wanted) : folders_(std::move(folders)), wanted_(std::move(wanted)) {}

bool RunSearch::step() {
  if (bundled_ == nullptr) {
    look_here();
    bundled_ = std::make_unique<SessionsReading>(
        bundled_files(folders_.bundled), SessionPart::runs,
        [this](const fs::path& file, Result<Session> session) { take_bundled(file, std::move(session)); });
    return false;
  }
  if (!bundled_done_) bundled_done_ = bundled_->step();
  return bundled_done_ && look_in_recent();
}

// The runs of this machine.
void RunSearch::look_here() {
  const RunStore store(folders_.runs);
  if (const auto adopted = store.adopt(folders_.autosave); !adopted) found_.said.push_back(adopted.error().message);
  RunStore::Listing kept = store.list();
  found_.said.insert(found_.said.end(), kept.said.begin(), kept.said.end());
  found_.surplus = surplus_runs(kept.runs);
  for (StoredRun& r : kept.runs) found_.runs.push_back(listed(std::move(r.run), RunFrom::here, r.growing));
  recent_ = recent_files(folders_.recent);
  for (const fs::path& file : recent_) found_.files.push_back({file.string(), "", false});
}

void RunSearch::take_bundled(const fs::path& file, Result<Session> session) {
  if (!session || rows_of(*session) == 0) return;  // who opens it by hand is told why
  found_.files.push_back({file.string(), words_of_file(*session), true});
  for (SweepRun& run : session->runs) {
    run.name = bundled_name(file, run, session->runs.size() > 1);
    found_.runs.push_back(listed(std::move(run), RunFrom::bundled, false));
  }
}

// One file at a time, as long as something is missing. Whether that was the last.
bool RunSearch::look_in_recent() {
  const auto missing = missing_in(found_.runs, wanted_);
  if (missing.empty() || recent_.empty()) return true;
  const fs::path file = recent_.front();
  recent_.erase(recent_.begin());
  auto session = read_session(file);
  if (!session) return false;
  for (SweepRun& run : session->runs)
    if (std::find(missing.begin(), missing.end(), run.id) != missing.end())
      found_.runs.push_back(listed(std::move(run), RunFrom::file, false));
  return false;
}

FoundRuns RunSearch::take() {
  std::stable_sort(found_.runs.begin(), found_.runs.end(), newer);
  return std::move(found_);
}

FoundRuns find_runs(const RunFolders& folders, const BenchRuns& wanted) {
  RunSearch search(folders, wanted);
  while (!search.step()) {
  }
  return search.take();
}

Session session_of_runs(const State& state, const Model& model, const std::string& only) {
  Session session;
  const BenchRuns& list = state.document.runs;
  std::vector<const ListedRun*> runs = shown_runs(list, model);
  if (!only.empty()) {
    runs.clear();
    if (const ListedRun* run = find_run(model, only)) runs.push_back(run);
  }
  for (const ListedRun* r : runs) {
    SweepRun& run = session.runs.emplace_back(r->run);
    if (const auto given = list.names.find(run.id); given != list.names.end()) run.name = given->second;
  }
  relate_to_layouts(session.runs);
  return session;
}

RunList::RunList(const JobContext& context, RunFolders folders)
    : context_(context), folders_(std::move(folders)), store_(folders_.runs) {}

RunList::~RunList() {
  writer_.reset();
  const BenchRuns& runs = context_.state.document.runs;
  for (const std::string& id : runs.removed) (void)store_.remove(id);
  for (const std::string& id : surplus_) {
    const auto name = runs.names.find(id);
    const bool named = name != runs.names.end() && !name->second.empty();
    if (!named && !kept_.contains(id) && !is_shown(runs, id)) (void)store_.remove(id);
  }
}

ListedRun* RunList::find(const std::string& id) {
  const auto it = std::find_if(context_.model.runs.begin(), context_.model.runs.end(),
                               [&](const auto& r) { return r.run.id == id; });
  return it == context_.model.runs.end() ? nullptr : &*it;
}

void RunList::insert(ListedRun run) {
  names_[run.run.id] = run.run.name;
  const auto at = std::find_if(context_.model.runs.begin(), context_.model.runs.end(),
                               [&](const auto& r) { return newer(run, r); });
  context_.model.runs.insert(at, std::move(run));
}

void RunList::install(FoundRuns found) {
  for (const std::string& said : found.said) context_.log.warn(said);
  // A run that another window deleted stays as long as it is shown; what is measured here is newer than its file.
  std::erase_if(context_.model.runs, [&](const ListedRun& r) {
    const bool there =
        std::any_of(found.runs.begin(), found.runs.end(), [&](const auto& f) { return f.run.id == r.run.id; });
    return r.from == RunFrom::here && !there && r.run.id != writing_ &&
           !is_shown(context_.state.document.runs, r.run.id);
  });
  for (ListedRun& r : found.runs) {
    if (r.run.id == writing_) continue;
    if (ListedRun* known = find(r.run.id)) {
      names_[r.run.id] = r.run.name;
      *known = std::move(r);
    } else {
      insert(std::move(r));
    }
  }
  if (!found.files.empty()) context_.model.files = std::move(found.files);
  for (const std::string& id : missing_in(context_.model.runs, context_.state.document.runs))
    if (said_missing_.insert(id).second)
      context_.log.warn(phrase("Run {} is not on this machine; open its file. The other runs are shown.", id));
  const bool news = surplus_.empty() && !found.surplus.empty();
  surplus_.insert(found.surplus.begin(), found.surplus.end());
  if (news)
    context_.log.note(plural(found.surplus.size(),
                             "{} run will be deleted when this window closes: it is older than the newest {} and not "
                             "named, saved or ticked. To keep the run, tick or name it.",
                             "{} runs will be deleted when this window closes: they are older than the newest {} and "
                             "not named, saved or ticked. To keep a run, tick or name it.",
                             RunStore::kNewest));
}

void RunList::look() {
  std::error_code error;
  seen_ = fs::last_write_time(folders_.runs, error);
  looked_ = std::chrono::steady_clock::now();
  const auto search = std::make_shared<RunSearch>(folders_, context_.state.document.runs);
  search_ = search;
  const auto work = [search](TaskHandle&) -> Result<bool> { return search->step(); };
  looking_ = context_.tasks.start_sliced(tr("Looking for runs"), work, [this, search](const Result<void>& looked) {
    looked ? install(search->take()) : context_.log.warn(looked.error().message);
  });
}

void RunList::look_again() {
  if (!store_.keeps() || context_.tasks.running(looking_)) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < std::chrono::seconds(2)) return;
  looked_ = now;
  std::error_code error;
  const auto changed = fs::last_write_time(folders_.runs, error);
  if (!error && changed != seen_ && writing_.empty()) look();
}

void RunList::follow(const BenchRuns& before) {
  const BenchRuns& now = context_.state.document.runs;
  if (before == now) return;
  for (const ListedRun& r : context_.model.runs) {
    if (r.from != RunFrom::here) continue;
    const auto given = now.names.find(r.run.id);
    const std::string& name = given == now.names.end() ? r.run.name : given->second;
    if (names_[r.run.id] != name) write_name(r.run.id, name);
  }
}

void RunList::write_name(const std::string& id, const std::string& name) {
  names_[id] = name;
  {
    const std::lock_guard lock(wanted_->mutex);
    wanted_->names[id] = name;
  }
  const auto work = [id, wanted = wanted_, store = store_, writer = id == writing_ ? writer_ : nullptr](TaskHandle&) {
    // Two names given one after the other are written one after the other, each task the newest.
    const std::lock_guard lock(wanted->mutex);
    const std::string& newest = wanted->names[id];
    if (writer != nullptr) return writer->rename(newest);
    if (auto kept = store.keep(id); !kept) return kept;
    return store.rename(id, newest);
  };
  context_.tasks.start(tr("Naming the run"), work, [this](const Result<void>& written) {
    if (!written) context_.log.warn(phrase("The name was not saved in the run's file: {}", written.error().message));
  });
}

void RunList::keep(const std::string& id) {
  const ListedRun* run = find(id);
  if (run == nullptr || run->from != RunFrom::here || !kept_.insert(id).second) return;
  if (const auto kept = store_.keep(id); !kept) context_.log.warn(kept.error().message);
}

void RunList::remember(const fs::path& file) {
  std::error_code error;
  const fs::path path = fs::absolute(file, error);
  if (error || folders_.recent.empty() || path.native().find('\n') != std::string::npos) return;
  std::vector<fs::path> files = recent_files(folders_.recent);
  std::erase(files, path);
  files.insert(files.begin(), path);
  if (files.size() > kMaxRecent) files.resize(kMaxRecent);
  std::string text;
  for (const fs::path& each : files) text += each.string() + "\n";
  // Said nowhere where it fails: the list is a convenience, and the file itself was read or written.
  if (make_folder(folders_.recent.parent_path()))
    (void)write_file_atomically(folders_.recent, std::as_bytes(std::span(text.data(), text.size())));
  std::erase_if(context_.model.files, [&](const KnownFile& f) { return !f.bundled; });
  std::vector<KnownFile> known;
  known.reserve(files.size());
  for (const fs::path& each : files) known.push_back({each.string(), "", false});
  context_.model.files.insert(context_.model.files.begin(), known.begin(), known.end());
}

void RunList::add(std::vector<SweepRun> runs, RunFrom from) {
  std::vector<SweepRun> unused;
  for (SweepRun& run : runs) {
    const std::string id = run.id;
    if (ListedRun* known = find(id)) {
      if (known->from == RunFrom::file) run = std::exchange(*known, listed(std::move(run), from, false)).run;
      unused.push_back(std::move(run));
    } else {
      insert(listed(std::move(run), from, false));
    }
    show_run(context_.state.document.runs, id);
  }
  free_in_pieces(std::move(unused), context_.tasks);
}

void RunList::prepare(const StateCommand& command) {
  if (const auto* named = command_as<RenameRun>(command))
    if (const ListedRun* run = find(named->id))
      context_.state.document.runs.names.try_emplace(named->id, run->run.name);
  if (const auto* ticked = command_as<ShowRun>(command); ticked != nullptr && ticked->on) keep(ticked->id);
}

void RunList::take_sweep_of(const std::string& id) {
  const ListedRun* run = find(id);
  if (run == nullptr) return context_.log.warn(tr("This run no longer exists."));
  keep(id);
  const HistoryEntry before = entry_of(context_.state);
  restore_bench(run->run.spec, context_.state);
  show_run(context_.state.document.runs, id);
  context_.state.view.bench.value.reset();
  context_.history.changed(before, context_.state.document, 0);
}

RunList::Begun RunList::begin(const SweepSpec& sweep, bool restart) {
  Begun begun;
  const std::string spec = sweep_text(sweep);
  const Device gpu = gpu_device(sweep, context_.model.gpu);
  const std::size_t points = count_finished(sweep, {}, gpu).points;
  const bool has_own =
      std::ranges::any_of(sweep.kernels, [](const std::string& id) { return !gpu::own_stem(id).empty(); });
  for (const ListedRun& r : context_.model.runs) {
    const bool usable = !restart && r.local && !r.growing && !context_.state.document.runs.removed.contains(r.run.id);
    if (!usable) continue;
    // A state string does not tell sweeps apart by kernels of the user's own.
    if (r.from == RunFrom::here && !spec.empty() && !has_own && r.run.spec == spec && points_done(r.run) < points) {
      begun.run = r.run;
      begun.goes_on = true;
      // What was refused or cancelled is tried again.
      std::erase_if(begun.run.rows, [](const Measurement& m) { return m.state != RowState::done; });
      begun.kept = begun.run.rows;
      break;
    }
    const SweepCount count = count_finished(sweep, r.run.rows, gpu);
    if (begun.kept.empty() && count.finished > 0 && count.finished < count.points) begun.kept = r.run.rows;
  }
  if (!begun.goes_on) begun.run = new_run(spec);
  begun.run.provenance = provenance_here();
  if (const SweepCount count = count_finished(sweep, begun.kept, gpu); count.finished > 0)
    context_.log.note(plural(count.points, "Resuming: {1} of {0} point is finished.",
                             "Resuming: {1} of {0} points are finished.", count.finished));
  writing_ = begun.run.id;
  if (ListedRun* known = find(writing_)) {
    *known = {begun.run, RunFrom::here, true, true};
  } else {
    insert({begun.run, RunFrom::here, true, true});
  }
  show_run(context_.state.document.runs, writing_);
  return begun;
}

void RunList::set_provenance(const std::string& id, const Provenance& p) {
  if (ListedRun* run = find(id)) run->run.provenance = p;
}

void RunList::add_row(const std::string& id, const Measurement& m) {
  ListedRun* run = find(id);
  if (run == nullptr) return;
  std::erase_if(run->run.rows, [&](const Measurement& row) { return replaces(m, row); });
  run->run.rows.push_back(m);
}

void RunList::set_writer(const std::string& id, std::shared_ptr<RunWriter> writer) {
  if (id == writing_) writer_ = std::move(writer);
}

}  // namespace attn
