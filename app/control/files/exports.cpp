#include "app/control/files/exports.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/control/bench/run_list.h"
#include "app/state/string/state_string.h"
#include "app/system/child_process.h"
#include "kernels/base/files.h"
#include "kernels/base/text.h"
#include "profiling/figures/baseline.h"
#include "profiling/session/session.h"
#include "profiling/session/trace.h"
#include "profiling/timeline/timeline_text.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/profile/timeline/scene/timeline_scene.h"
#include "viz/state/run_words.h"
#include "viz/step/bars/wrong_run.h"

namespace attn {
namespace {

// Until the process that draws has said that all are ready, or why not. Its messages: "3 20", "done", "error words".
Result<void> follow_pictures(Child& child, TaskHandle& task) {
  constexpr double kLongestPicture = 120;  // seconds: on a slow machine, the largest size
  while (true) {
    const auto message = child.socket().receive({kLongestPicture, task.stop()});
    if (!message) {
      if (message.error().why == NoReply::stopped) return fail(ErrorKind::cancelled, tr("Drawing was cancelled."));
      return fail(ErrorKind::failed, phrase("No pictures were drawn: the drawing process ended ({}).", child.kill()));
    }
    if (message->text.rfind("error ", 0) == 0) return fail(ErrorKind::failed, message->text.substr(6));
    if (message->text == "done") return ok();
    int ready = 0, total = 0;
    if (std::sscanf(message->text.c_str(), "%d %d", &ready, &total) != 2 || total <= 0) {
      return fail(ErrorKind::failed, tr("Unexpected reply from the process that draws the pictures."));
    }
    task.progress(static_cast<double>(ready) / total, phrase("{} of {} pictures", ready, total));
  }
}

}  // namespace

// With figures against the run that was chosen to compare with; none where there is nothing to export.
std::optional<Session> Exports::rows_to_write(const std::string& run) {
  Session session = session_of_runs(context_.state, context_.model, run);
  if (rows_of(session) == 0) {
    context_.log.warn(tr("There is no measurement to export yet; first run a sweep or tick a run in Bench."));
    return std::nullopt;
  }
  const BenchRuns& list = context_.state.document.runs;
  if (const ListedRun* reference = find_run(context_.model, list.reference))
    for (SweepRun& each : session.runs) relate_to_run(each.rows, reference->run.rows, words_of(list, reference->run));
  return session;
}

void Exports::write_csv(const std::string& run) {
  if (const auto session = rows_to_write(run)) write_rows(files_.new_file(".csv"), rows_of(*session), to_csv(*session));
}

void Exports::write_json(const std::string& run) {
  if (const auto session = rows_to_write(run))
    write_rows(files_.new_file(".json"), rows_of(*session), to_json(*session));
}

void Exports::write_trace(const std::string& run) {
  const auto session = rows_to_write(run);
  if (!session) return;
  const std::size_t rows = rows_with_stages(*session);
  if (rows == 0) return context_.log.warn(tr("These rows have no recorded stages; measure again to get a timeline."));
  write_rows(files_.new_file(".trace.json"), rows, to_trace(*session));
}

void Exports::write_timeline(const ExportTimeline& what) {
  const auto& all = context_.model.timelines.all;
  const auto at = std::ranges::find(all, what.id, [](const auto& t) { return id_of(*t); });
  if (at == all.end()) return context_.log.warn(tr("There is no recorded timeline to export."));
  const std::filesystem::path file = files_.new_file(what.trace ? ".trace.json" : ".csv");
  const auto work = [file, t = *at, trace = what.trace](TaskHandle&) {
    const std::string text = trace ? timeline_perfetto(*t) : timeline_csv(*t);
    return write_file_atomically(file, std::as_bytes(std::span(text.data(), text.size())));
  };
  files_.start(tr("Saving"), work, [this, file](const Result<void>& written) {
    written ? context_.log.note(phrase("Timeline written to {}", file.string()))
            : context_.log.error(written.error().message);
  });
}

void Exports::write_rows(const std::filesystem::path& file, std::size_t count, std::string text) {
  const auto work = [file, text = std::move(text)](TaskHandle&) {
    return write_file_atomically(file, std::as_bytes(std::span(text.data(), text.size())));
  };
  files_.start(tr("Saving"), work, [this, count, file](const Result<void>& written) {
    written ? context_.log.note(plural(count, "{} row written to {}", "{} rows written to {}", file.string()))
            : context_.log.error(written.error().message);
  });
}

void Exports::ask_for_picture() {
  context_.requests.picture = files_.new_file(".png");
}

void Exports::save_picture(const std::filesystem::path& file, Image image) {
  const auto work = [file, image = std::move(image)](TaskHandle&) { return write_png(file, image); };
  files_.start(tr("Saving the picture"), work, [this, file](const Result<void>& written) {
    written ? context_.log.note(phrase("Picture saved as {}", file.string()))
            : context_.log.error(written.error().message);
  });
}

// In a process of its own: pictures are drawn with a Dear ImGui and an OpenGL context, and this one's are the window's.
void Exports::save_steps(const SaveSteps& what) {
  if (files_.refuse_while_running()) return;
  const auto text = state_string(context_.state);
  if (!text) return context_.log.error(text.error().message);
  const Preferences& p = context_.state.preferences;
  std::vector<std::string> arguments{"shot",      "--view",
                                     "step",      "--report",
                                     "--state",   *text,
                                     "--step",    fmt::format("{}..{}", what.first + 1, what.last + 1),
                                     "--seconds", fmt::format("{}", what.seconds_per_step),
                                     "--theme",   p.theme == Theme::dark ? "dark" : "light",
                                     "--scale",   fmt::format("{}", p.scale),
                                     "--size",    fmt::format("{}x{}", width_, height_),
                                     "-o",        what.path};
  if (p.reduced_motion) arguments.emplace_back("--no-motion");
  const auto work = [arguments, program = program_.string()](TaskHandle& task) -> Result<void> {
    auto child = Child::start(arguments, program);
    if (!child) return tl::unexpected(child.error());
    return follow_pictures(*child, task);
  };
  files_.start(tr("Pictures of steps"), work, [this, what](const Result<void>& made) {
    const std::string out = std::filesystem::absolute(what.path).string();
    made ? context_.log.note(plural(what.last - what.first + 1, "Pictures of {} step saved as {}",
                                    "Pictures of {} steps saved as {}", out))
         : context_.log.error(made.error().message);
  });
}

void Exports::copy_state() {
  if (const bool asked = lesson_asks(context_.state, context_.model); keeps_name_back(context_.state, asked)) {
    return context_.log.note(asked ? tr("The state would give away the answer to the lesson's question; answer the "
                                        "question first.")
                                   : tr("The state would give away the exhibit; reveal it first."));
  }
  const auto text = state_string(context_.state);
  if (!text) return context_.log.error(text.error().message);
  context_.requests.clipboard = *text;
  context_.log.note(
      phrase("State copied, {} characters. To reopen this view: attnscope --state \"...\"", text->size()));
}

}  // namespace attn
