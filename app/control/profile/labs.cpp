#include "app/control/profile/labs.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "app/state/apply/apply.h"
#include "kernels/base/clock.h"
#include "kernels/base/files.h"
#include "kernels/base/folders.h"
#include "kernels/base/text.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/own_kernel/build_line.h"
#include "kernels/lab/experiments.h"
#include "kernels/ladder.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxDraftBytes = 2 << 20;
constexpr std::size_t kMostTries = 50;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string stem_of(const std::string& kernel) {
  const std::string_view own = gpu::own_stem(kernel);
  return own.empty() ? kernel : std::string(own);
}

// The tile in a line of its own, then the text with its build line: half-typed texts are kept too, a header that cannot
// be read among them.
std::string draft_text(const LabChange& change) {
  const Options& o = change.options;
  return fmt::format("// attn-draft: {} {} {} {}\n", o.br, o.bc, o.threads, o.stages) +
         gpu::with_build_line({"", change.build}, change.text);
}

Result<LabChange> draft_from(std::string_view text, const std::string& name) {
  constexpr std::string_view kMark = "// attn-draft: ";
  const std::size_t end = text.find('\n');
  LabChange change;
  Options& o = change.options;
  if (!text.starts_with(kMark) || end == text.npos) return bad_input(phrase("{} is not a draft from the lab.", name));
  std::string_view numbers = text.substr(kMark.size(), end - kMark.size());
  for (std::int32_t* number : {&o.br, &o.bc, &o.threads, &o.stages}) {
    const auto [next, code] = std::from_chars(numbers.data(), numbers.data() + numbers.size(), *number);
    if (code != std::errc()) return bad_input(phrase("{} is not a draft from the lab.", name));
    numbers.remove_prefix(static_cast<std::size_t>(next - numbers.data()));
    numbers.remove_prefix(numbers.starts_with(' ') ? 1 : 0);
  }
  auto built = gpu::split_build_line(text.substr(end + 1), name);
  if (!built) return tl::unexpected(built.error());
  change.build = built->line.build;
  change.text = std::move(built->text);
  return change;
}

std::string when_of(const fs::path& file) {
  std::error_code error;
  const auto at = fs::last_write_time(file, error);
  if (error) return {};
  const auto system = std::chrono::file_clock::to_sys(at);
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", std::chrono::floor<std::chrono::seconds>(system));
}

}  // namespace

fs::path drafts_folder() {
  const fs::path data = data_folder();
  return data.empty() ? data : data / "drafts";
}

Result<const KernelRow*> Labs::row() const {
  return find_kernel(context_.model.lab.kernel, context_.state.document.sweep.own);
}

Result<std::shared_ptr<const gpu::OwnKernel>> Labs::edited() const {
  const auto base = row();
  if (!base) return tl::unexpected(base.error());
  const LabView& lab = context_.model.lab;
  return gpu::edit_of(**base, lab.now.text, lab.now.build);
}

void Labs::follow() {
  const View& view = context_.state.view;
  if (view.workspace == Workspace::profile && view.profile.page == ProfilePage::lab) {
    if (std::string key = lab_subject_key(context_.state, context_.model); key != subject_key_) {
      subject_key_ = std::move(key);
      subject_ = lab_subject(context_.state, context_.model);
    }
    LabView& lab = context_.model.lab;
    if (lab.kernel != subject_.kernel) open(subject_.kernel);
    if (!(lab.problem == subject_.problem) || lab.arch != subject_.arch) {
      // What was measured is of another problem.
      lab.problem = subject_.problem;
      lab.arch = subject_.arch;
      lab.before.reset();
      lab.tries.clear();
      lab.marks.clear();
    }
  }
  if (draft_changed_ && !drafts_.empty() && !context_.tasks.running(draft_task_)) write_draft();
}

void Labs::open(const std::string& kernel) {
  LabView& lab = context_.model.lab;
  if (!lab.kernel.empty()) left_[lab.kernel] = std::move(lab);
  typed_at_ = 0;
  if (const auto left = left_.find(kernel); left != left_.end()) {
    lab = std::move(left->second);
    left_.erase(left);
    lab.put = ++puts_;
    return;
  }
  lab = {};
  lab.kernel = kernel;
  lab.put = ++puts_;
  const auto base = row();
  const auto source = base ? gpu::text_to_edit(**base) : Result<gpu::KernelSource>(tl::unexpected(base.error()));
  if (!source) {
    lab.error = source.error().message;
    return;
  }
  lab.original.text = source->text;
  lab.options.assign((*base)->options.begin(), (*base)->options.end());
  if (const gpu::OwnKernel* own = gpu::own_kernel(**base)) lab.original.build = own->build;
  lab.now = lab.original;
  look_for_draft();
}

void Labs::look_for_draft() {
  if (drafts_.empty()) return;
  const LabView& lab = context_.model.lab;
  const auto work = [this, kernel = lab.kernel, original = lab.original,
                     file = drafts_ / (stem_of(lab.kernel) + ".cu")](TaskHandle& task) -> Result<void> {
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return ok();
    const auto bytes = read_file(file, kMaxDraftBytes);
    if (!bytes) return tl::unexpected(bytes.error());
    auto change = draft_from({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, file.string());
    if (!change) return tl::unexpected(change.error());
    if (*change == original) return ok();
    task.deliver([this, kernel, draft = LabDraft{*std::move(change), when_of(file)}] {
      LabView& now = context_.model.lab;
      if (now.kernel == kernel && !now.changed()) now.draft = draft;
    });
    return ok();
  };
  context_.tasks.start(tr("Looking for a draft"), work, [this](const Result<void>& looked) {
    if (!looked) context_.log.warn(looked.error().message);
  });
}

void Labs::edit(const EditLab& typed) {
  if (typed.kernel == context_.model.lab.kernel) take(typed.change, true);
}

void Labs::take(const LabChange& change, bool typed) {
  LabView& lab = context_.model.lab;
  if (lab.kernel.empty() || lab.now == change) return;
  // What is typed without a pause goes back at once.
  constexpr double kPause = 1;
  constexpr std::size_t kMostBack = 200;
  const double now = steady_seconds();
  const bool goes_on = typed && typed_at_ > 0 && now - typed_at_ < kPause;
  typed_at_ = typed ? now : 0;
  if (!goes_on) lab.back.push_back(lab.now);
  if (lab.back.size() > kMostBack) lab.back.erase(lab.back.begin());
  lab.forth.clear();
  lab.now = change;
  changed();
}

void Labs::changed() {
  LabView& lab = context_.model.lab;
  lab.draft.reset();  // who types has not taken it up
  draft_changed_ = true;
  draft_of_ = lab.kernel;
}

void Labs::put(const LabChange& change) {
  LabView& lab = context_.model.lab;
  lab.put = ++puts_;
  lab.marks.clear();
  take(change, false);
}

void Labs::travel(bool forward) {
  LabView& lab = context_.model.lab;
  std::vector<LabChange>&from = forward ? lab.forth : lab.back, &to = forward ? lab.back : lab.forth;
  if (from.empty())
    return context_.log.note(forward ? tr("Nothing to redo in the lab.") : tr("Nothing to undo in the lab."));
  to.push_back(std::exchange(lab.now, std::move(from.back())));
  from.pop_back();
  lab.put = ++puts_;
  lab.marks.clear();
  typed_at_ = 0;
  changed();
}

// The newest text; what is typed meanwhile is written after it.
void Labs::write_draft() {
  draft_changed_ = false;
  const LabView* lab = &context_.model.lab;
  if (lab->kernel != draft_of_) {
    const auto left = left_.find(draft_of_);
    if (left == left_.end()) return;
    lab = &left->second;
  }
  const auto work = [file = drafts_ / (stem_of(draft_of_) + ".cu"), drafts = drafts_, changed = lab->changed(),
                     text = draft_text(lab->now)](TaskHandle&) -> Result<void> {
    std::error_code error;
    if (!changed) {
      fs::remove(file, error);
      return ok();
    }
    if (auto made = make_folder(drafts); !made) return made;
    return write_file_atomically(file, bytes_of(text));
  };
  draft_task_ = context_.tasks.start(tr("Saving the draft"), work, [this](const Result<void>& written) {
    if (!written) context_.log.warn(phrase("Your edit was not saved: {}", written.error().message));
  });
}

void Labs::revert() {
  LabView& lab = context_.model.lab;
  if (lab.kernel.empty()) return;
  lab.experiment.clear();
  put(lab.original);
}

void Labs::answer_draft(bool take) {
  LabView& lab = context_.model.lab;
  if (!lab.draft) return;
  const LabChange change = lab.draft->change;
  lab.draft.reset();
  if (take) return put(change);
  draft_changed_ = true;  // the original in its place: the file goes
  draft_of_ = lab.kernel;
}

bool Labs::opened(const std::string& kernel) {
  auto next = apply(context_.state, StateCommand(BenchCommand(ChooseBenchKernel{kernel})), nullptr);
  if (!next) {
    context_.log.warn(next.error().message);
    return false;
  }
  context_.state = *std::move(next);
  follow();
  const LabView& lab = context_.model.lab;
  if (lab.kernel == kernel && lab.error.empty()) return true;
  context_.log.warn(phrase("The source of {} is missing: {}", kernel, lab.error));
  return false;
}

void Labs::limit_registers(const LimitRegisters& wanted) {
  if (!opened(wanted.kernel)) return;
  LabView& lab = context_.model.lab;
  LabChange change = lab.original;
  change.build.max_registers = wanted.registers;
  lab.experiment.clear();
  put(change);
}

void Labs::open_experiment(const std::string& id) {
  const auto experiment = find_experiment(id);
  if (!experiment) return context_.log.warn(experiment.error().message);
  if (!opened(std::string((*experiment)->rung))) return;
  LabView& lab = context_.model.lab;
  auto text = changed_text(**experiment, lab.original.text);
  if (!text) return context_.log.warn(text.error().message);
  LabChange change = lab.original;
  change.text = *std::move(text);
  change.options = (*experiment)->options;
  put(change);
  lab.experiment = id;
}

void Labs::take_try(std::size_t number) {
  const LabView& lab = context_.model.lab;
  if (number < lab.tries.size()) put(lab.tries[number].change);
}

void Labs::keep() {
  const auto edit = edited();
  if (!edit) return context_.log.warn(edit.error().message);
  const HistoryEntry before = entry_of(context_.state);
  auto next = apply(context_.state, StateCommand(BenchCommand(TakeOwnKernels{{*edit}, false, false})), nullptr);
  if (!next) return context_.log.warn(next.error().message);
  auto& kernels = next->document.sweep.kernels;
  if (std::ranges::find(kernels, (*edit)->name) == kernels.end()) kernels.push_back((*edit)->name);
  context_.state = *std::move(next);
  context_.history.changed(before, context_.state.document, 0);
  context_.log.note(
      phrase("{} is selected in Bench. The next session you save includes the kernel's source.", (*edit)->name));
}

void Labs::save() {
  const auto edit = edited();
  if (!edit) return context_.log.warn(edit.error().message);
  if (files_.refuse_while_running()) return;
  const std::string_view name = (*edit)->name;
  const fs::path file =
      files_.folder() / fmt::format("{}-{}.cu", stem_of((*edit)->name), name.substr(name.rfind('@') + 1));
  const auto work = [file, text = gpu::file_text(**edit)](TaskHandle&) -> Result<void> {
    if (auto made = make_folder(file.parent_path()); !made) return made;
    return write_file_atomically(file, bytes_of(text));
  };
  files_.start(tr("Saving the kernel"), work, [this, file](const Result<void>& written) {
    written ? context_.log.note(phrase("Kernel saved as {}", file.string()))
            : context_.log.error(written.error().message);
  });
}

void Labs::build() {
  LabView& lab = context_.model.lab;
  if (lab.kernel.empty() || !lab.error.empty()) return context_.log.warn(tr("There is no kernel in the lab."));
  if (context_.tasks.running(task_)) return context_.log.warn(tr("A build is running; press Esc to cancel it."));
  if (gpu_ == nullptr) return context_.log.warn(tr("Kernels cannot be built here."));
  const auto edit = [&] {
    const InEnglish recorded;  // the row of a header that is none
    return edited();
  }();
  lab.marks.clear();
  if (!edit) {
    // A header that is none: its words name the line as the compiler's do.
    Measurement none;
    none.state = RowState::failed;
    none.reason = edit.error().message;
    lab.tries.push_back({"", lab.now, std::make_shared<const Measurement>(std::move(none))});
    lab.marks.push_back({"", header_line(edit.error().message), true, edit.error().message});
    return;
  }
  const SweepSpec& sweep = context_.state.document.sweep;
  Point point{sweep, lab.kernel, lab.problem, lab.original.options};
  point.arch = lab.arch;
  point.verify = true;
  point.verify_full = false;
  lab.building = tr("Building");
  const Work asked{point, lab.now.options, lab.before == nullptr, steady_seconds()};
  const auto work_now = [this, edit = *edit, own = sweep.own, asked](TaskHandle& task) {
    return work(task, edit, own, asked);
  };
  task_ = context_.tasks.start(phrase("Building {}", (*edit)->name), work_now, [this](const Result<void>& done) {
    context_.model.lab.building.clear();
    done ? sample_lines() : context_.log.note(done.error().message);
  });
}

// Whoever types on waits for none of it: a build that begins meanwhile comes next, and its lines after it.
void Labs::sample_lines() {
  LabView& lab = context_.model.lab;
  if (context_.tasks.running(lines_task_)) return;
  std::vector<std::shared_ptr<const Measurement>> rows;
  if (!lab.tries.empty()) rows.push_back(lab.tries.back().row);
  rows.push_back(lab.before);
  std::erase_if(rows, [](const auto& row) {
    return row == nullptr || row->state != RowState::done || row->samples != nullptr || !row->no_samples.empty();
  });
  if (rows.empty()) return;
  lab.sampling = rows.front()->key.kernel;
  const auto work_now = [this, rows](TaskHandle& task) -> Result<void> {
    for (const auto& row : rows)
      if (auto done = sample_row(task, row); !done) return done;
    return ok();
  };
  lines_task_ = context_.tasks.start(phrase("Sampling {}", lab.sampling), work_now, [this](const Result<void>& done) {
    context_.model.lab.sampling.clear();
    if (!done) return context_.log.note(done.error().message);
    if (!context_.tasks.running(task_)) sample_lines();  // of what was built meanwhile
  });
}

Result<void> Labs::sample_row(TaskHandle& task, const std::shared_ptr<const Measurement>& row) {
  auto sampled = std::make_shared<Measurement>(*row);
  gpu_->sample(
      *sampled, [&](const std::string& words) { task.progress(0.5, words); }, task.stop());
  if (task.stop().stop_requested())
    return fail(ErrorKind::cancelled, tr("Sampling of the lab's kernel was cancelled."));
  task.deliver([this, row, sampled, at = steady_seconds()] {
    LabView& lab = context_.model.lab;
    if (lab.before == row) lab.before = sampled;
    for (LabTry& t : lab.tries) {
      if (t.row != row) continue;
      t.row = sampled;
      t.lines_seconds = sampled->samples == nullptr ? 0 : at - t.begun;
    }
  });
  return ok();
}

// In the task's thread. The edit first: it is what is waited for.
Result<void> Labs::work(TaskHandle& task, const std::shared_ptr<const gpu::OwnKernel>& edit, gpu::OwnKernels own,
                        const Work& asked) {
  own.push_back(edit);
  gpu_->meet(own);
  const auto now = [&](const std::string& words) {
    task.progress(0.5, words);
    task.deliver([this, words] { context_.model.lab.building = words; });
  };
  const Point& before = asked.before;
  Point point = before;
  point.kernel = edit->name;
  point.options = asked.options;
  LabTry made{edit->name, {edit->cu.text, edit->build, asked.options}, nullptr, asked.begun};
  made.row = std::make_shared<const Measurement>(gpu_->try_out(point, now, task.stop()));
  made.row_seconds = steady_seconds() - asked.begun;
  if (task.stop().stop_requested()) return fail(ErrorKind::cancelled, tr("The build was cancelled."));
  deliver_try(task, std::move(made), before.kernel);
  if (!asked.measure_before) return ok();
  auto original = std::make_shared<const Measurement>(gpu_->try_out(before, now, task.stop()));
  if (task.stop().stop_requested()) return fail(ErrorKind::cancelled, tr("The build was cancelled."));
  task.deliver([this, kernel = before.kernel, problem = before.problem, original = std::move(original)] {
    LabView& lab = context_.model.lab;
    if (lab.kernel == kernel && lab.problem == problem) lab.before = original;
  });
  return ok();
}

void Labs::deliver_try(TaskHandle& task, LabTry made, const std::string& kernel) {
  task.deliver([this, kernel, made = std::move(made)] {
    LabView& lab = context_.model.lab;
    if (lab.kernel != kernel || !(lab.problem == made.row->key.problem)) return;
    lab.marks = gpu::marks_of(made.row->state == RowState::failed ? made.row->reason : "", made.row->warnings,
                              made.change.text);
    std::erase_if(lab.tries, [&](const LabTry& t) { return t.change == made.change; });
    if (lab.tries.size() == kMostTries) lab.tries.erase(lab.tries.begin());
    lab.tries.push_back(made);
  });
}

}  // namespace attn
