// The controller's sweeps, exports, sessions and files.
#include <chrono>
#include <ctime>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "app/apply.h"
#include "app/controller.h"
#include "app/posix.h"
#include "app/state_string.h"
#include "kernels/container.h"
#include "profiling/session.h"

namespace attn {
namespace {

std::string counted(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace

std::filesystem::path usual_save_folder() {
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  return !error && can_write_in(here) ? here : data_folder();
}

std::filesystem::path Controller::new_file(const char* extension) const {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::string stem = fmt::format("attnscope-{:%Y%m%d-%H%M%S}", fmt::localtime(now));
  std::error_code error;
  std::filesystem::create_directories(options_.save_folder, error);
  std::filesystem::path file = options_.save_folder / (stem + extension);
  for (int n = 2; std::filesystem::exists(file, error); ++n) {
    file = options_.save_folder / fmt::format("{}-{}{}", stem, n, extension);
  }
  return file;
}

void Controller::cancel_task() {
  for (const TaskId id : {sweep_task_, file_task_, recording_task_}) {
    if (tasks_.running(id)) return tasks_.cancel(id);
  }
}

void Controller::write_text(const std::string& what, const std::filesystem::path& file, std::string text) {
  const auto work = [file, text = std::move(text)](TaskHandle&) {
    return write_file_atomically(file, std::as_bytes(std::span(text.data(), text.size())));
  };
  file_task_ = tasks_.start("Saving", work, [this, what, file](const Result<void>& written) {
    written ? log_.note(what + " written to " + file.string()) : log_.error(written.error().message);
  });
}

void Controller::save_picture(const std::filesystem::path& file, Image image) {
  const auto work = [file, image = std::move(image)](TaskHandle&) { return write_png(file, image); };
  file_task_ = tasks_.start("Saving the picture", work, [this, file](const Result<void>& written) {
    written ? log_.note("Picture saved as " + file.string()) : log_.error(written.error().message);
  });
}

void Controller::export_rows(const char* extension) {
  if (model_.measurements.empty()) {
    return log_.warn("There is no measurement to export yet: run a sweep in Bench first.");
  }
  const Session session{model_.provenance, model_.measurements, {}, {}, {}};
  const bool csv = std::string_view(extension) == ".csv";
  write_text(counted(session.measurements.size(), "row"), new_file(extension),
             csv ? to_csv(session) : to_json(session));
}

void Controller::save_session() {
  if (tasks_.running(file_task_)) return log_.warn("A file is being written or read: try again in a moment.");
  if (session_file_.empty()) session_file_ = new_file(".attn");
  const auto work = [file = session_file_, rows = model_.measurements, provenance = model_.provenance,
                     recording = model_.recording, state = state_text()](TaskHandle&) {
    Session session{provenance, rows, {}, state, {}};
    if (recording != nullptr) session.recordings.push_back(*recording);
    return write_session(file, session);
  };
  file_task_ = tasks_.start("Saving the session", work, [this, file = session_file_](const Result<void>& written) {
    if (written) return log_.note("Session saved as " + file.string());
    session_file_.clear();  // the next try takes a new name
    log_.error(written.error().message);
  });
}

void Controller::open_file(const std::string& path) {
  if (tasks_.running(file_task_)) return log_.warn("A file is being written or read: try again in a moment.");
  const std::filesystem::path file(path);
  if (file.extension() == ".npy") return open_arrays(file);
  open_session(path);
}

void Controller::open_session(const std::string& path) {
  auto session = std::make_shared<Session>();
  const auto work = [path, session](TaskHandle&) -> Result<void> {
    auto read = read_session(path);
    if (!read) return tl::unexpected(read.error());
    *session = *std::move(read);
    return ok();
  };
  file_task_ = tasks_.start("Opening " + path, work, [this, path, session](const Result<void>& read) {
    read ? opened(path, std::move(*session)) : log_.error(read.error().message);
  });
}

void Controller::opened(const std::string& path, Session session) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  const std::string name = error ? path : absolute.string();
  for (const std::string& note : session.notes) log_.note(note);
  if (!session.measurements.empty()) show_rows(session);
  const std::size_t recordings = session.recordings.size();
  if (recordings > 0) {
    auto recording = std::make_shared<const Recording>(std::move(session.recordings.front()));
    opened_[name] = recording;
    const Document before = state_.document;
    Document& d = state_.document;
    d.preset.clear();
    d.problem = recording->problem;
    d.options = recording->options;
    if (find_kernel(recording->kernel)) d.kernel = recording->kernel;
    d.inputs = {};
    // One file holds them all (app/document_inputs.h); the document tells them by Q's name.
    d.inputs.q_file = name;
    d.selection = fitted(d.selection, d.problem);
    history_.changed(before, 0);
    follow_document(true);
  }
  log_.note(fmt::format("Opened {}: {}, {}.", name, counted(model_.measurements.size(), "measurement"),
                        counted(recordings, "recording")));
}

// q.npy stands for itself and k.npy, v.npy and, where it is there, bias.npy beside it.
void Controller::open_arrays(const std::filesystem::path& q) {
  const std::string name = q.filename().string();
  if (name.empty() || name.front() != 'q') {
    return log_.warn(
        fmt::format("{} is taken for Q only where its name begins with q: q.npy, with k.npy and v.npy "
                    "beside it.",
                    q.string()));
  }
  std::error_code error;
  const auto folder = std::filesystem::absolute(q, error).parent_path();
  const auto beside = [&](const char* letter) { return folder / (letter + name.substr(1)); };
  std::optional<std::filesystem::path> bias;
  if (std::filesystem::exists(beside("bias"), error)) bias = beside("bias");
  const auto read = inputs_from_files(beside("q"), beside("k"), beside("v"), bias, std::nullopt);
  if (!read) return log_.error(read.error().message);
  InputSpec inputs;
  inputs.q_file = beside("q").string();
  inputs.k_file = beside("k").string();
  inputs.v_file = beside("v").string();
  if (bias) inputs.bias_file = bias->string();
  const Document before = state_.document;
  state_.document.preset.clear();
  state_.document.problem = read->problem;
  state_.document.inputs = inputs;
  state_.document.selection = fitted(state_.document.selection, read->problem);
  history_.changed(before, 0);
  log_.note(fmt::format("Opened {}: {}.", inputs.q_file, describe(read->problem)));
  follow_document(true);
}

void Controller::copy_state() {
  const auto text = state_string(state_);
  if (!text) return log_.error(text.error().message);
  effects_.clipboard = *text;
  log_.note(fmt::format("State copied, {} characters: attnscope --state \"...\" reopens this view.", text->size()));
}

}  // namespace attn
