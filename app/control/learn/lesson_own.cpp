// A lesson of the user's own: read and checked at once, or where there are no threads by a task in pieces.
#include <algorithm>
#include <memory>
#include <utility>

#include "app/control/learn/lessons.h"
#include "app/state/lessons/lesson_check.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

struct OwnLesson {
  Lesson lesson;
  std::shared_ptr<LessonSessions> sessions = std::make_shared<LessonSessions>();
  std::shared_ptr<SessionsReading> reading;  // of those that it speaks of; null: none is to be read first
  std::unique_ptr<LessonCheck> check;

  // Whether all is read and checked.
  bool step() {
    if (reading != nullptr) {
      if (reading->step()) reading.reset();
      return false;
    }
    if (check == nullptr) check = std::make_unique<LessonCheck>(lesson, sessions);
    return check->step();
  }
};

}  // namespace

Result<void> Lessons::open_file(const std::filesystem::path& file) {
  if (!is_loaded()) {
    own_files_.push_back(file);
    return ok();
  }
  auto read = read_lesson(file);
  if (!read) return tl::unexpected(read.error());
  const auto own = std::make_shared<OwnLesson>();
  own->lesson = *std::move(read);
  const auto take = [this, own]() -> Result<void> {
    const std::vector<std::string> faults = own->check->take();
    own->check.reset();
    for (std::size_t n = 0; n + 1 < faults.size(); ++n) context_.log.error(faults[n]);
    if (!faults.empty()) return bad_input(faults.back());
    return take_own(std::move(own->lesson), own->sessions);
  };
  if (!context_.tasks.between_frames()) {
    while (!own->step()) {
    }
    return take();
  }
  own->reading = sessions_reading(own->lesson, own->sessions);
  const auto work = [own](TaskHandle& task) -> Result<bool> { return task.stop().stop_requested() || own->step(); };
  context_.tasks.start_sliced(phrase("Opening {}", file.string()), work, [this, take](const Result<void>& done) {
    const Result<void> taken = done ? take() : done;
    if (!taken) context_.log.error(taken.error().message);
  });
  return ok();
}

Result<void> Lessons::take_own(Lesson lesson, std::shared_ptr<LessonSessions> sessions) {
  const std::string id = lesson.id;
  const auto known = std::find_if(lessons_.begin(), lessons_.end(), [&](const Lesson& l) { return l.id == id; });
  if (known != lessons_.end() && !own_[static_cast<std::size_t>(known - lessons_.begin())]) {
    return bad_input(phrase("{}, field 'id': '{}' is a bundled lesson; use another name for yours.", lesson.file, id));
  }
  if (open_) leave();
  no_longer_prepare();
  if (known == lessons_.end()) {
    lessons_.push_back(std::move(lesson));
    own_.push_back(true);
  } else {
    forget_waiting(static_cast<std::size_t>(known - lessons_.begin()));
    *known = std::move(lesson);
  }
  sessions_of_ = id;
  sessions_ = std::move(sessions);
  context_.tasks.cancel(std::exchange(reads_sessions_, 0));
  start(id, "");
  return ok();
}

}  // namespace attn
