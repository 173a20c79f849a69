// Chapters and the sessions that they speak of: read at once, or where there are no threads by tasks in pieces, while
// what was asked for waits.
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/control/learn/lessons.h"
#include "app/system/assets.h"
#include "kernels/base/text.h"
#include "profiling/session/session_reading.h"

namespace attn {

void Lessons::load() {
  if (loaded_) return;
  if (reading_ == nullptr) reading_ = std::make_shared<LessonsReading>(sources_.folder);
  while (!reading_->step()) {
  }
  take_lessons();
}

void Lessons::take_lessons() {
  if (std::exchange(loaded_, true)) return;
  FoundLessons found = std::exchange(reading_, nullptr)->take();
  for (const std::string& why : found.refused) context_.log.error(why);
  lessons_.assign(std::make_move_iterator(found.lessons.begin()), std::make_move_iterator(found.lessons.end()));
  own_.assign(lessons_.size(), false);
  auto progress = load_progress(sources_.progress);
  if (progress) {
    progress_ = *std::move(progress);
  } else {
    context_.log.warn(
        phrase("{} The progress file is left unchanged, and new progress is not saved.", progress.error().message));
    may_save_ = false;
  }
}

bool Lessons::is_loaded() {
  if (!context_.tasks.between_frames()) load();
  if (loaded_) return true;
  if (reading_ != nullptr) return false;
  reading_ = std::make_shared<LessonsReading>(sources_.folder);
  const auto work = [reading = reading_](TaskHandle&) -> Result<bool> { return reading->step(); };
  context_.tasks.start_sliced(tr("Reading the chapters"), work, [this](const Result<void>& read) {
    if (!read) context_.log.error(read.error().message);
    take_lessons();
    go_on();
  });
  return false;
}

void Lessons::wait_to_start(const std::string& lesson, const std::string& beat) {
  asked_ = {lesson, beat, state().view.workspace};
}

std::shared_ptr<SessionsReading> sessions_reading(const Lesson& lesson,
                                                  const std::shared_ptr<LessonSessions>& sessions) {
  const std::vector<std::string> missing = sessions_missing(lesson, *sessions);
  if (missing.empty()) return nullptr;
  std::vector<std::filesystem::path> files;
  for (const std::string& name : missing) {
    if (auto file = find_asset(fmt::format("sessions/{}.attn", name)))
      files.push_back(*std::move(file));
    else
      sessions->emplace(name, tl::unexpected(file.error()));
  }
  const auto take = [sessions](const std::filesystem::path& file, Result<Session> session) {
    sessions->emplace(file.stem().string(), std::move(session));
  };
  return std::make_shared<SessionsReading>(std::move(files), SessionPart::all, take);
}

bool Lessons::waits_for_sessions(const Lesson& lesson, const std::string& beat) {
  asked_.reset();
  if (sessions_of_ != lesson.id) {
    sessions_of_ = lesson.id;
    sessions_ = std::make_shared<LessonSessions>();
    context_.tasks.cancel(std::exchange(reads_sessions_, 0));
  }
  if (!context_.tasks.between_frames()) return false;
  if (sessions_missing(lesson, *sessions_).empty()) return false;
  wait_to_start(lesson.id, beat);
  if (context_.tasks.running(reads_sessions_)) return true;
  const auto reading = sessions_reading(lesson, sessions_);
  const auto work = [reading](TaskHandle& task) -> Result<bool> {
    return task.stop().stop_requested() || reading->step();
  };
  const auto read = [this, of = sessions_](const Result<void>& done) {
    if (of != sessions_) return;  // another lesson was asked for meanwhile
    if (done) return go_on();
    asked_.reset();
    context_.log.error(done.error().message);
  };
  reads_sessions_ = context_.tasks.start_sliced(tr("Opening the chapter"), work, read);
  return true;
}

void Lessons::go_on() {
  for (const std::filesystem::path& file : std::exchange(own_files_, {}))
    if (const auto opened = open_file(file); !opened) context_.log.error(opened.error().message);
  const auto asked = std::exchange(asked_, std::nullopt);
  if (asked && asked->from == state().view.workspace) start(asked->lesson, asked->beat);
  follow();
  if (context_.model.learn == nullptr && !asked_) refresh();
}

}  // namespace attn
