// The exercises at the end of a chapter: their numbers, their picture, and the chapter on paper.
#include <algorithm>
#include <iterator>
#include <utility>

#include "app/control/learn/lessons.h"
#include "app/print/chapter_print.h"
#include "app/system/with_extension.h"
#include "kernels/base/text.h"

namespace attn {

BeatProgress progress_of(const LessonProgress& progress, const std::string& lesson, const std::string& beat) {
  const auto known = progress.beats.find(lesson);
  if (known == progress.beats.end()) return {};
  const auto it = known->second.find(beat);
  return it == known->second.end() ? BeatProgress() : it->second;
}

bool stands_alone(const Beat& beat) {
  return beat.figure.has_value() || beat.exercise.has_value();
}

// All exercises of the chapter have the numbers of one seed, as they have on paper.
void Lessons::other_numbers() {
  LearnView place = state().view.learn;
  ++place.exercise_seed;
  give(PlaceLesson{std::move(place)});
  show_soon(beat_);
}

std::optional<ExerciseScene> Lessons::exercise() {
  if (!beat().exercise) return std::nullopt;
  const Lesson& l = *lesson();
  ExerciseScene scene;
  scene.count = l.beats.size() - l.told();
  scene.number = beat_ - l.told() + 1;
  scene.seed = state().view.learn.exercise_seed;
  const bool done = showing_.right || showing_.shown;
  ExpressionScope scope = showing_.scope;
  auto given = plan_scene(beat().exercise->figure, beat().id, l, state().preferences.language, scope, done);
  if (given)
    scene.given = *std::move(given);
  else
    context_.log.error(phrase("{}, beat '{}', {}", l.file, beat().id, given.error().message));
  if (done) scene.way = words(text_key(beat(), "right"), Face::text, Token::text);
  return scene;
}

void Lessons::print(const std::filesystem::path& file, const std::string& id) {
  const auto named = std::ranges::find(lessons_, id, &Lesson::id);
  const Lesson* printed_lesson = !id.empty() && named != lessons_.end() ? &*named : open_ ? lesson() : nullptr;
  if (printed_lesson == nullptr) return context_.log.warn(tr("Choose a chapter of Learn before printing."));
  PrintedChapter options;
  options.seed = state().view.learn.exercise_seed;
  options.language = state().preferences.language;
  options.page = whole_path(with_extension(file, ".pdf"));
  options.answers = answers_beside(options.page);
  if (auto printed = print_chapter(*printed_lesson, options); !printed)
    return context_.log.error(printed.error().message);
  context_.log.note(phrase("Chapter printed to {}, answers to {}", options.page.string(), options.answers.string()));
}

}  // namespace attn
