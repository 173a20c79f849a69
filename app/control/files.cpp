// The controller's sweeps, exports, sessions and files.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "app/control/controller.h"
#include "app/state/apply.h"
#include "app/state/document_inputs.h"
#include "app/state/input_files.h"
#include "app/state/string.h"
#include "app/system/child_process.h"
#include "app/system/posix.h"
#include "kernels/formats/container.h"
#include "profiling/session/session.h"
#include "viz/step/problem_fields.h"

namespace attn {
namespace {

std::string counted(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// Until the process that draws has said that all are ready, or why not. Its messages: "3 20", "done", "error words".
Result<void> follow_pictures(Child& child, TaskHandle& task) {
  constexpr double kLongestPicture = 120;  // seconds: on a slow machine, the largest size
  while (true) {
    const auto message = child.socket().receive({kLongestPicture, task.stop()});
    if (!message) {
      if (message.error().why == NoReply::stopped) return fail(ErrorKind::cancelled, "The pictures were cancelled.");
      return fail(ErrorKind::failed,
                  fmt::format("The pictures were not made: the process that draws them ended ({}).", child.kill()));
    }
    if (message->text.rfind("error ", 0) == 0) return fail(ErrorKind::failed, message->text.substr(6));
    if (message->text == "done") return ok();
    int ready = 0, total = 0;
    if (std::sscanf(message->text.c_str(), "%d %d", &ready, &total) != 2 || total <= 0) {
      return fail(ErrorKind::failed, "The process that draws the pictures said what nobody expects.");
    }
    task.progress(static_cast<double>(ready) / total, fmt::format("{} of {} pictures", ready, total));
  }
}

}  // namespace

std::filesystem::path default_save_folder() {
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

// In a process of its own: pictures are drawn with a Dear ImGui and an OpenGL context, and this one's are the window's.
void Controller::save_steps(const SaveSteps& what) {
  if (tasks_.running(file_task_)) return log_.warn("A file is being written or read: try again in a moment.");
  const auto text = state_string(state_);
  if (!text) return log_.error(text.error().message);
  const Preferences& p = state_.preferences;
  const std::vector<std::string> arguments{"shot",      "--view",
                                           "step",      "--report",
                                           "--state",   *text,
                                           "--step",    fmt::format("{}..{}", what.first + 1, what.last + 1),
                                           "--seconds", fmt::format("{}", what.seconds_per_step),
                                           "--theme",   p.theme == Theme::dark ? "dark" : "light",
                                           "--scale",   fmt::format("{}", p.scale),
                                           "--size",    fmt::format("{}x{}", window_width_, window_height_),
                                           "-o",        what.path};
  const auto work = [arguments, program = options_.program.string()](TaskHandle& task) -> Result<void> {
    auto child = Child::start(arguments, program);
    if (!child) return tl::unexpected(child.error());
    return follow_pictures(*child, task);
  };
  file_task_ = tasks_.start("Pictures of steps", work, [this, what](const Result<void>& made) {
    const std::string out = std::filesystem::absolute(what.path).string();
    made ? log_.note(fmt::format("Pictures of {} saved as {}", counted(what.last - what.first + 1, "step"), out))
         : log_.error(made.error().message);
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

void Controller::save_session_as(const std::string& path) {
  if (tasks_.running(file_task_)) return log_.warn("A file is being written or read: try again in a moment.");
  session_file_ = path;
  if (session_file_.extension() != ".attn") session_file_ += ".attn";
  save_session();
}

// Headers, shapes and numbers are looked at on a task; the document changes only where the whole can be shown.
void Controller::set_input_files(const std::array<std::string, 4>& paths) {
  const auto answer = [this](std::string error) {
    ++input_files_answer_.number;
    input_files_answer_.error = std::move(error);
    if (!input_files_answer_.error.empty()) log_.warn(input_files_answer_.error);
  };
  if (tasks_.running(file_task_)) return answer("A file is being written or read: try again in a moment.");
  auto changed = std::make_shared<State>();
  const auto work = [paths, changed, state = state_](TaskHandle&) -> Result<void> {
    auto with = with_input_files(state, paths);
    if (!with) return tl::unexpected(with.error());
    const Document& d = with->document;
    if (const auto why = why_not_recordable(d)) return bad_input(*why);
    if (auto read = document_inputs(d.problem, d.inputs, {}); !read) return tl::unexpected(read.error());
    *changed = *std::move(with);
    return ok();
  };
  file_task_ = tasks_.start("Reading the inputs", work,
                            [this, answer, changed, before = state_.document](const Result<void>& read) {
                              if (!read) return answer(read.error().message);
                              // The user went on meanwhile: what was read belongs to another problem.
                              if (!(state_.document == before))
                                return answer("The problem changed meanwhile: try again.");
                              state_.document = changed->document;
                              history_.changed(before, 0);
                              log_.note("Inputs read: " + describe(state_.document.problem) + ".");
                              follow_document(true);
                              answer("");
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
    // One file holds them all (app/state/document_inputs.h); the document tells them by Q's name.
    d.inputs.q_file = name;
    // The row, the step and the marks that it was saved with; a file without them begins at the first step.
    const auto saved = parse_state_string(session.state);
    if (saved) {
      const View& view = saved->state.view;
      d.selection = saved->state.document.selection;
      wanted_cursor_ = view.cursor;
      state_.view.bookmarks = view.bookmarks;
      state_.view.reading = view.reading;
      state_.view.chart = view.chart;
    }
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
  set_input_files({beside("q").string(), beside("k").string(), beside("v").string(), bias ? bias->string() : ""});
}

void Controller::copy_state() {
  const auto text = state_string(state_);
  if (!text) return log_.error(text.error().message);
  effects_.clipboard = *text;
  log_.note(fmt::format("State copied, {} characters: attnscope --state \"...\" reopens this view.", text->size()));
}

}  // namespace attn
