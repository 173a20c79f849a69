#include "app/cli/bench/bench_file.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "app/state/string/state_string.h"
#include "kernels/base/text.h"
#include "profiling/session/layouts.h"
#include "profiling/session/run.h"

namespace attn::cli {
namespace {

namespace fs = std::filesystem;

bool same_machine(const Provenance& a, const Provenance& b) {
  return a.host == b.host && same_device(a.device, a.device_uuid, b.device, b.device_uuid);
}

// Of the runs of this device the last with this very sweep, else the last: several sweeps of one device go into one
// run, as they do without a file. None where the file has no run of this device.
std::optional<std::size_t> run_to_go_on(const Session& s, const std::string& spec, const Provenance& here) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < s.runs.size(); ++i) {
    if (!same_machine(s.runs[i].provenance, here)) continue;
    const bool better = !found || s.runs[i].spec == spec || s.runs[*found].spec != spec;
    if (better) found = i;
  }
  return found;
}

// The view that the file was saved from, over this sweep: the place in a recording stays.
std::string view_over(const std::string& saved, const std::string& spec) {
  auto view = parse_state_string(saved);
  const auto sweep = parse_state_string(spec);
  if (!view || !sweep) return spec;
  view->state.document.sweep = sweep->state.document.sweep;
  view->state.view.workspace = sweep->state.view.workspace;
  const std::string text = session_state(view->state);
  return text.empty() ? spec : text;
}

}  // namespace

Result<void> BenchFile::read() {
  std::error_code error;
  const fs::path& file = options_.file;
  const auto status = fs::status(file, error);
  if (!fs::exists(status)) return ok();
  if (!fs::is_regular_file(status)) return ok();  // /dev/null and the like hold nothing
  if (!options_.resume && !options_.force)
    return bad_input(
        phrase("{} already exists; use --resume to continue it or --force to replace it, or name another file.",
               file.string()));
  if (!options_.resume) return ok();
  auto session = read_session(file);
  if (!session) return tl::unexpected(session.error());
  session_ = std::move(*session);
  return ok();
}

Result<BenchFile> BenchFile::open(const BenchFileOptions& options, const std::string& spec, const Provenance& here) {
  BenchFile f(options);
  std::error_code error;
  const bool locks =
      !options.file.empty() && (!fs::exists(options.file, error) || fs::is_regular_file(options.file, error));
  if (locks) {
    auto lock = FileLock::of_file(options.file);
    if (!lock) return tl::unexpected(lock.error());
    f.lock_ = *std::move(lock);
  }
  if (!options.file.empty())
    if (auto read = f.read(); !read) return tl::unexpected(read.error());
  const auto at = run_to_go_on(f.session_, spec, here);
  f.at_ = at.value_or(f.session_.runs.size());
  if (!at) f.session_.runs.push_back(new_run(spec));
  SweepRun& run = f.session_.runs[f.at_];
  f.earlier_ = run.rows;
  run.spec = spec;
  run.provenance = here;
  f.session_.state = view_over(f.session_.state, spec);
  return f;
}

void BenchFile::add(Measurement m) {
  if (!options_.samples) m.samples_us.clear();
  std::vector<Measurement>& rows = session_.runs[at_].rows;
  // A row that was there takes the place of the new one's; the others that are no points of this sweep stay before it.
  std::erase_if(rows, [&](const Measurement& row) { return replaces(m, row); });
  rows.push_back(m);
  rows_.push_back(std::move(m));
}

bool BenchFile::is_due() const {
  using namespace std::chrono_literals;
  constexpr int kShare = 10;
  return options_.file.empty() || std::chrono::steady_clock::now() - written_ >=
                                      std::min<std::chrono::steady_clock::duration>(kShare * took_, 5s);
}

void BenchFile::relate() {
  relate_to_layouts(session_.runs);
}

Result<void> BenchFile::write() {
  if (options_.file.empty()) return ok();
  const auto begin = std::chrono::steady_clock::now();
  relate();
  auto written = write_session(options_.file, session_);
  written_ = std::chrono::steady_clock::now();
  took_ = written_ - begin;
  return written;
}

}  // namespace attn::cli
