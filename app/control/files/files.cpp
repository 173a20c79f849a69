#include "app/control/files/files.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/control/files/own_timeline.h"
#include "app/state/apply/apply.h"
#include "app/state/inputs/document_inputs.h"
#include "app/state/inputs/input_files.h"
#include "app/state/string/state_string.h"
#include "app/system/file_lock.h"
#include "app/system/with_extension.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "profiling/session/session_reading.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {

void Files::save_session() {
  if (files_.refuse_while_running()) return;
  if (session_file_.empty()) session_file_ = files_.new_file(".attn");
  std::error_code error;
  const auto now = std::filesystem::last_write_time(session_file_, error);
  if (saved_at_ && !error && now != *saved_at_) {
    return context_.log.error(
        phrase("{} has been changed by another program since it was saved, and those changes would be lost. Save the "
               "session under another name, or choose the same name again to overwrite the file.",
               session_file_.string()));
  }
  Session session = session_of_runs(context_.state, context_.model, "");
  for (const SweepRun& run : session.runs) runs_.keep(run.id);
  session.state = session_state(context_.state);
  for (const auto& kernel : context_.state.document.sweep.own)
    session.kernels.push_back(
        {fmt::format("{}.cu", gpu::own_stem(kernel->id)), gpu::file_text(*gpu::own_kernel(*kernel))});
  const auto work = [this, file = session_file_, session = std::move(session), recording = context_.model.recording,
                     beside = beside_](TaskHandle& task) mutable {
    if (recording != nullptr) session.recordings.push_back(*recording);
    if (beside != nullptr) {
      session.tensors = beside->tensors;
      for (const auto& timeline : beside->timelines) session.timelines.push_back(*timeline);
    }
    const auto lock = FileLock::of_file(file);
    // Where no lock can be made the error is that of writing.
    if (!lock && lock.error().kind == ErrorKind::cannot_run) return Result<void>(tl::unexpected(lock.error()));
    auto written = write_session(file, session);
    std::error_code unknown;
    const auto at = std::filesystem::last_write_time(file, unknown);  // under the lock: it is this save's
    if (written && !unknown) task.deliver([this, at] { saved_at_ = at; });
    return written;
  };
  files_.start(tr("Saving the session"), work, [this, file = session_file_](const Result<void>& written) {
    if (written) {
      runs_.remember(file);
      return context_.log.note(phrase("Session saved as {}", file.string()));
    }
    session_file_.clear();  // the next try takes a new name
    saved_at_.reset();
    context_.log.error(written.error().message);
  });
}

void Files::save_session_as(const std::string& path) {
  if (files_.refuse_while_running()) return;
  session_file_ = whole_path(with_extension(path, ".attn"));
  saved_at_.reset();
  save_session();
}

// Headers, shapes and numbers are looked at on a task; the document changes only where the whole can be shown.
void Files::set_inputs(const std::array<std::string, 4>& paths) {
  const auto answer = [this](std::string error) {
    ++inputs_answer_.number;
    inputs_answer_.error = std::move(error);
    if (!inputs_answer_.error.empty()) context_.log.warn(inputs_answer_.error);
  };
  if (files_.running()) return answer(tr_of(FileTask::kBusyWords));
  auto changed = std::make_shared<State>();
  const auto work = [paths, changed, state = context_.state](TaskHandle&) -> Result<void> {
    auto with = with_input_files(state, paths);
    if (!with) return tl::unexpected(with.error());
    const Document& d = with->document;
    if (const auto why = why_not_recordable(d)) return bad_input(*why);
    if (auto read = document_inputs(d.problem, d.inputs, {}); !read) return tl::unexpected(read.error());
    *changed = *std::move(with);
    return ok();
  };
  files_.start(tr("Reading the inputs"), work,
               [this, answer, changed, before = context_.state.document](const Result<void>& read) {
                 if (!read) return answer(read.error().message);
                 // The user went on meanwhile: what was read belongs to another problem.
                 if (!(context_.state.document == before))
                   return answer(tr("The problem changed in the meantime; try again."));
                 context_.history.changed(entry_of(context_.state), changed->document, 0);
                 context_.state.document = changed->document;
                 context_.log.note(phrase("Inputs read: {}.", describe(context_.state.document.problem)));
                 recordings_.follow_document(true);
                 answer("");
               });
}

void Files::open(const std::string& path) {
  if (files_.refuse_while_running()) return;
  const std::filesystem::path file(path);
  if (file.extension() == ".npy") return open_arrays(file);
  if (file.extension() == ".json") {
    if (const auto lesson = lessons_.open_file(file); !lesson) context_.log.error(lesson.error().message);
    return;
  }
  if (gpu::is_own_file(file.filename().string())) return open_kernel(path);
  open_session(path);
}

void Files::open_session(const std::string& path) {
  const auto session = std::make_shared<SessionReading>(path);
  const auto work = [session](TaskHandle&) { return session->step(); };
  files_.start_sliced(phrase("Opening {}", path), work, [this, path, session](const Result<void>& read) {
    read ? opened(path, session->take()) : context_.log.error(read.error().message);
  });
}

void Files::open_kernel(const std::string& path) {
  auto read = std::make_shared<std::shared_ptr<const gpu::OwnKernel>>();
  const auto work = [path, read](TaskHandle&) -> Result<void> {
    auto kernel = gpu::read_own_kernel(path);
    if (!kernel) return tl::unexpected(kernel.error());
    *read = *std::move(kernel);
    return ok();
  };
  files_.start(phrase("Opening {}", path), work, [this, path, read](const Result<void>& done) {
    if (!done) return context_.log.error(done.error().message);
    if (const auto taken = take_kernel(*read); !taken) return context_.log.error(taken.error().message);
    runs_.remember(path);
    context_.log.note(
        phrase("Opened {} as {}. The kernel is selected in Bench and open in Profile's lab.", path, (*read)->name));
  });
}

Result<void> Files::take_kernel(std::shared_ptr<const gpu::OwnKernel> kernel) {
  const HistoryEntry before = entry_of(context_.state);
  const TakeOwnKernels take{{std::move(kernel)}, true, true};
  auto next = apply(context_.state, StateCommand(BenchCommand(take)), nullptr);
  if (!next) return tl::unexpected(next.error());
  context_.state = *std::move(next);
  Workspace& shown = context_.state.view.workspace;
  if (shown != Workspace::profile) shown = Workspace::bench;
  context_.state.view.step.playing = false;
  context_.history.changed(before, context_.state.document, 0);
  return ok();
}

void Files::offer(const std::string& path, const std::vector<SessionKernel>& kernels) {
  OfferedKernels offered{path, {}};
  for (const SessionKernel& k : kernels) {
    auto kernel = gpu::own_kernel_from(k.file, k.text);
    if (!kernel) {
      context_.log.warn(phrase("Skipped a kernel of {}: {}", path, kernel.error().message));
      continue;
    }
    const auto same = [&](const auto& own) { return own->id == (*kernel)->id; };
    if (std::ranges::any_of(context_.state.document.sweep.own, same) || refused_.contains((*kernel)->name)) continue;
    offered.kernels.push_back(*std::move(kernel));
  }
  if (offered.kernels.empty()) return;
  OfferedKernels& asked = context_.model.offered;  // of another session that was opened with this one
  if (!asked.kernels.empty()) {
    offered.file = asked.file + ", " + path;
    offered.kernels.insert(offered.kernels.begin(), asked.kernels.begin(), asked.kernels.end());
  }
  asked = std::move(offered);
}

void Files::answer_offer(bool take) {
  const OfferedKernels offered = std::exchange(context_.model.offered, {});
  if (!take) {
    for (const auto& kernel : offered.kernels) refused_.insert(std::string(kernel->id));
    return context_.log.note(tr("The session's measurements are shown, but its kernels were not added."));
  }
  const HistoryEntry before = entry_of(context_.state);
  auto next = apply(context_.state, StateCommand(BenchCommand(TakeOwnKernels{offered.kernels, false, false})), nullptr);
  if (!next) return context_.log.warn(next.error().message);
  context_.state = *std::move(next);
  context_.history.changed(before, context_.state.document, 0);
  context_.log.note(plural(offered.kernels.size(), "{} kernel from {} can now be measured here.",
                           "{} kernels from {} can now be measured here.", offered.file));
}

void Files::keep_beside(Session& session) {
  beside_.reset();
  // One of a session opened before would stay in sight.
  if (std::string own = timeline_opened(session); !own.empty()) {
    for (const ProfileCommand& command :
         {ProfileCommand(ChooseTimeline{std::move(own)}), ProfileCommand(ChooseProfilePage{ProfilePage::timeline})})
      if (auto next = apply(context_.state, StateCommand(command), nullptr)) context_.state = *std::move(next);
  }
  if (session.tensors.empty() && session.timelines.empty()) return;
  auto timelines = shared_timelines(std::move(session.timelines));
  timelines_.show(timelines);
  beside_ = std::make_shared<const Beside>(Beside{std::move(session.tensors), std::move(timelines)});
}

void Files::opened(const std::string& path, Session session) {
  const std::string name = absolute_name(path);
  keep_beside(session);
  for (const std::string& note : session.notes) context_.log.note(note);
  const std::size_t rows = rows_of(session);
  if (rows > 0) sweeps_.show_runs(session);
  offer(name, session.kernels);
  runs_.remember(name);
  const std::size_t recordings = session.recordings.size();
  if (recordings > 0) show_recording(name, std::move(session.recordings.front()), session.state);
  context_.log.note(phrase("Opened {}: {}, {}.", name, plural(rows, "{} measurement", "{} measurements"),
                           plural(recordings, "{} recording", "{} recordings")));
}

// In place of what Step shows, with the row, the step and the marks that it was saved with; a file without a state
// begins at the first step.
void Files::show_recording(const std::string& file, Recording recording, const std::string& saved_state) {
  const auto shared = std::make_shared<const Recording>(std::move(recording));
  recordings_.add_opened(file, shared);
  const HistoryEntry before = entry_of(context_.state);
  const EventIndex cursor = context_.state.view.step.cursor;
  if (restore_step(saved_state, context_.state))
    recordings_.start_at(std::exchange(context_.state.view.step.cursor, cursor));
  take_recording(*shared, file, context_.state.document);
  restore_inputs(saved_state, *shared, context_.state.document);
  context_.history.changed(before, context_.state.document, 0);
  recordings_.follow_document(true);
  recordings_.replay_opened(file, shared);
}

// q.npy stands for itself and k.npy, v.npy and, where it is there, bias.npy beside it.
void Files::open_arrays(const std::filesystem::path& q) {
  const std::string name = q.filename().string();
  if (name.empty() || name.front() != 'q') {
    return context_.log.warn(phrase(
        "To use {} as Q, give it a name that begins with q, such as q.npy next to k.npy and v.npy.", q.string()));
  }
  std::error_code error;
  const auto folder = std::filesystem::absolute(q, error).parent_path();
  const auto beside = [&](const char* letter) { return folder / (letter + name.substr(1)); };
  std::optional<std::filesystem::path> bias;
  if (std::filesystem::exists(beside("bias"), error)) bias = beside("bias");
  set_inputs({beside("q").string(), beside("k").string(), beside("v").string(), bias ? bias->string() : ""});
}

}  // namespace attn
