#include "app/print/chapter_print.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/print/page_flow.h"
#include "app/print/pdf.h"
#include "app/state/lessons/exercises.h"
#include "app/system/assets.h"
#include "kernels/base/files.h"
#include "kernels/base/text.h"
#include "viz/learn/lesson/lesson_words.h"

namespace attn {
namespace {

// Sizes in points.
constexpr double kTitleSize = 21, kGoalSize = 13, kHeadSize = 12.5, kTextSize = 10.5, kFigureSize = 10.5,
                 kSmallSize = 9.5;
constexpr double kHeadWithFirst = 260;
constexpr int kRuledLines = 4;

TextRuns bold(std::string text) {
  return {{std::move(text), Face::bold, Token::text, 0, false}};
}
TextRuns dim(std::string text) {
  return {word(std::move(text), Token::dim)};
}

// One of the two files.
class ChapterPaper {
 public:
  ChapterPaper(const Lesson& lesson, const PrintedChapter& options, bool answers, PageFlow& flow)
      : lesson_(lesson), options_(options), answers_(answers), flow_(flow), runs_(lesson, std::nullopt) {}

  Result<void> write() {
    head();
    if (auto drawn = figure(); !drawn) return drawn;
    flow_.keep(kHeadWithFirst);  // the heading is not left alone at the foot of a page
    flow_.paragraph(bold(answers_ ? tr("Answers") : tr("Exercises")), kGoalSize, 3);
    flow_.paragraph(
        dim(phrase("Numbers from seed {}. Round as you like: each answer states its tolerance.", options_.seed)),
        kSmallSize, 12);
    int number = 0;
    for (const Beat& beat : lesson_.beats) {
      if (!beat.exercise) continue;
      if (auto written = exercise(beat, ++number); !written)
        return bad_input(fmt::format("{}, exercise '{}', {}", lesson_.file, beat.id, written.error().message));
    }
    return ok();
  }

 private:
  void head() {
    const std::string chapter = lesson_.number.empty() ? "AttnScope" : phrase("AttnScope, chapter {}", lesson_.number);
    flow_.ends_of_line(
        dim(chapter),
        dim(answers_ ? tr("For the teacher") : tr("Name ______________________________    Date ______________")),
        kSmallSize, 12);
    flow_.paragraph(bold(lesson_.words("title", options_.language)), kTitleSize, 2);
    flow_.paragraph({word(lesson_.words("goal", options_.language), Token::text)}, kGoalSize, 14);
  }

  Result<TextRuns> words(const std::string& key, ExpressionScope& scope, Face face = Face::text) const {
    const std::string& text = lesson_.words(key, options_.language);
    return text.empty() ? TextRuns() : filled(text, scope, face, Token::text);
  }

  // The chapter's own figure; answers have those of the exercises alone.
  Result<void> figure() {
    if (!lesson_.page || answers_) return ok();
    const Beat& first = lesson_.beats.front();
    auto scope = scope_of(first, first.row, runs_.as_function());
    if (!scope) return tl::unexpected(scope.error());
    const auto scene = plan_scene(*lesson_.page, "page", lesson_, options_.language, *scope, true);
    if (!scene) return tl::unexpected(scene.error());
    flow_.picture(*scene, kFigureSize, 6);
    flow_.paragraph(scene->caption, kSmallSize, 16);
    return ok();
  }

  Result<void> exercise(const Beat& beat, int number) {
    auto scope = exercise_scope(lesson_, beat, options_.seed, runs_.as_function());
    if (!scope) return tl::unexpected(scope.error());
    const auto title = words(text_key(beat, "title"), *scope, Face::bold), say = words(text_key(beat, "say"), *scope);
    const auto letter = filled(beat.ask->letter, *scope, Face::text, Token::text);
    const auto scene = plan_scene(beat.exercise->figure, beat.id, lesson_, options_.language, *scope, answers_);
    const auto question = question_of(beat, *scope);
    for (const auto* text : {&title, &say, &letter})
      if (!*text) return tl::unexpected(text->error());
    if (!scene) return tl::unexpected(scene.error());
    if (!question) return tl::unexpected(question.error());
    TextRuns named = bold(fmt::format("{}   ", number));
    named.insert(named.end(), title->begin(), title->end());
    const double answer = answers_ ? 60 : 40 + kRuledLines * 21.0;
    flow_.keep(flow_.height_of(named, kHeadSize) + flow_.height_of(*say, kTextSize) +
               flow_.height_of(*scene, kFigureSize) + answer);
    flow_.paragraph(named, kHeadSize, 3);
    flow_.paragraph(*say, kTextSize, 8);
    flow_.picture(*scene, kFigureSize, scene->caption.empty() ? 4 : 2);
    flow_.paragraph(scene->caption, kSmallSize, 4);
    if (answers_) return way(beat, *letter, *question, *scope);
    flow_.ruled(kRuledLines, 12);
    TextRuns line = bold(std::string(tr("Answer")) + "  ");
    line.insert(line.end(), letter->begin(), letter->end());
    line.push_back(word("  ____________________  " + beat.ask->unit, Token::text));
    flow_.ends_of_line(line, dim(beat.ask->within.words()), kTextSize, 20);
    return ok();
  }

  // The answer, the way to it, and what a usual wrong one comes from.
  Result<void> way(const Beat& beat, const TextRuns& letter, const Question& question, ExpressionScope& scope) {
    TextRuns line = letter;
    if (!line.empty()) line.push_back(word(" ", Token::text));
    line.push_back({short_number(question.truth), Face::bold, Token::text, 0, false});
    if (!beat.ask->unit.empty()) line.push_back(word(" " + beat.ask->unit, Token::text));
    flow_.ends_of_line(line, dim(beat.ask->within.words()), kHeadSize, 4);
    const auto right = words(text_key(beat, "right"), scope);
    if (!right) return tl::unexpected(right.error());
    flow_.paragraph(*right, kTextSize, 8, 12);
    for (std::size_t n = 0; n < question.wrong.size(); ++n) {
      scope.typed = question.wrong[n];
      const auto told = words(text_key(beat, beat.ask->wrong[n].text), scope);
      scope.typed.reset();
      if (!told) return tl::unexpected(told.error());
      TextRuns reply{word(phrase("If the answer is {}: ", short_number(question.wrong[n])), Token::dim)};
      reply.insert(reply.end(), told->begin(), told->end());
      flow_.paragraph(reply, kSmallSize, 2, 12);
    }
    flow_.gap(14);
    return ok();
  }

  const Lesson& lesson_;
  const PrintedChapter& options_;
  bool answers_;
  PageFlow& flow_;
  LessonRuns runs_;
};

Result<void> write_paper(const Lesson& lesson, const PrintedChapter& options, const Paper& paper, bool answers) {
  const auto fonts = find_asset("fonts");
  if (!fonts) return tl::unexpected(fonts.error());
  const std::string title = lesson.words("title", options.language);
  auto pdf = Pdf::begin(paper, *fonts, answers ? phrase("{}: answers", title) : title);
  if (!pdf) return tl::unexpected(pdf.error());
  PageFlow flow(
      *std::move(pdf), paper,
      fmt::format("attnscope lesson print {} --seed {} -o page.pdf --key answers.pdf", lesson.id, options.seed));
  if (auto written = ChapterPaper(lesson, options, answers, flow).write(); !written) return written;
  const auto bytes = flow.end();
  if (!bytes) return tl::unexpected(bytes.error());
  return write_file_atomically(answers ? options.answers : options.page, *bytes);
}

}  // namespace

Result<void> print_chapter(const Lesson& lesson, const PrintedChapter& options) {
  const auto* paper = std::ranges::find(kPapers, options.paper, &Paper::name);
  if (paper == std::end(kPapers)) return bad_input(phrase("Unknown paper size '{}'; use a4 or letter.", options.paper));
  if (lesson.told() == lesson.beats.size()) return bad_input(phrase("'{}' has no exercises to print.", lesson.id));
  for (const bool answers : {false, true}) {
    if ((answers ? options.answers : options.page).empty()) continue;
    if (auto written = write_paper(lesson, options, *paper, answers); !written) return written;
  }
  return ok();
}

}  // namespace attn
