// attnscope lesson: which lessons there are, and whether they are true.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/print/chapter_print.h"
#include "app/state/lessons/lesson_check.h"
#include "app/state/lessons/lesson_files.h"
#include "app/state/lessons/lesson_sheet.h"
#include "app/system/assets.h"
#include "kernels/base/text.h"

namespace attn::cli {
namespace {

struct LessonArguments {
  std::string action;
  std::vector<std::string> files;
  std::string out, key, seed, language = "en", paper;
};

// The files that were named, those of the folders that were, or the program's own.
Result<std::vector<std::filesystem::path>> files_of(const LessonArguments& a) {
  std::vector<std::filesystem::path> files;
  const auto add_folder = [&](const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> found;
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      if (is_lesson_file(it->path())) found.push_back(it->path());
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  };
  for (const std::string& name : a.files) {
    std::error_code error;
    if (std::filesystem::is_directory(name, error))
      add_folder(name);
    else
      files.emplace_back(name);
  }
  if (a.files.empty()) {
    const auto folder = find_asset("lessons");
    if (!folder) return tl::unexpected(folder.error());
    add_folder(*folder);
  }
  if (files.empty()) return bad_input(tr("No lesson was found. Lessons are files named NAME.json."));
  return files;
}

std::size_t questions_of(const Lesson& lesson) {
  return static_cast<std::size_t>(
      std::count_if(lesson.beats.begin(), lesson.beats.end(), [](const Beat& b) { return b.ask && !b.exercise; }));
}

// Every beat played with no window. What is wrong goes to stdout, a line each: it is what was asked for.
Result<int> check_lessons(const std::vector<std::filesystem::path>& files, const std::stop_token& stop) {
  std::size_t wrong = 0, beats = 0, questions = 0, exercises = 0;
  for (const std::filesystem::path& file : files) {
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "Cancelled.");
    const auto lesson = read_lesson(file);
    std::vector<std::string> faults;
    if (!lesson) {
      faults.push_back(lesson.error().message);
    } else {
      faults = check_lesson(*lesson);
      beats += lesson->told();
      exercises += lesson->beats.size() - lesson->told();
      questions += questions_of(*lesson);
    }
    for (const std::string& fault : faults)
      if (auto r = print(fault + "\n"); !r) return tl::unexpected(r.error());
    wrong += faults.size();
  }
  say(phrase("{}, {}, {}, {}: {}.", plural(files.size(), "{} lesson", "{} lessons"),
             plural(beats, "{} beat", "{} beats"), plural(questions, "{} question", "{} questions"),
             plural(exercises, "{} exercise", "{} exercises"),
             wrong == 0 ? tr("all correct") : plural(wrong, "{} error", "{} errors")));
  return wrong == 0 ? 0 : exit_code(ErrorKind::failed);
}

Result<int> list_lessons(const std::vector<std::filesystem::path>& files) {
  std::string text = fmt::format("{:<3} {:<18}{:<5}{:<7}{:<11}{:<11}{}\n", "", "lesson", "min", "beats", "questions",
                                 "exercises", "title");
  for (const std::filesystem::path& file : files) {
    const auto lesson = read_lesson(file);
    if (!lesson) return tl::unexpected(lesson.error());
    text += fmt::format("{:<3} {:<18}{:<5}{:<7}{:<11}{:<11}{}\n", lesson->number, lesson->id, lesson->minutes,
                        lesson->told(), questions_of(*lesson), lesson->beats.size() - lesson->told(),
                        lesson->words("title", "en"));
  }
  if (auto r = print(text); !r) return tl::unexpected(r.error());
  return 0;
}

// One lesson, by its file or by its name among the program's own.
Result<Lesson> named_lesson(const LessonArguments& a) {
  if (a.files.size() != 1) return bad_input(tr("lesson print: name one lesson, such as by-hand or my_lesson.json."));
  const std::string& name = a.files.front();
  if (std::filesystem::path(name).extension() == ".json") return read_lesson(name);
  const auto folder = find_asset("lessons");
  if (!folder) return tl::unexpected(folder.error());
  FoundLessons found = read_lessons(*folder);
  for (Lesson& lesson : found.lessons)
    if (lesson.id == name || (!lesson.number.empty() && lesson.number == name)) return std::move(lesson);
  return bad_input(phrase("Unknown lesson '{}'; see attnscope lesson list.", name));
}

bool is_pdf(const std::string& file) {
  return std::filesystem::path(file).extension() == ".pdf";
}

// The chapter's exercises as a PDF: `lesson print` writes what its files are named for.
Result<int> print_pdf(const LessonArguments& a, const Lesson& lesson, std::uint64_t seed) {
  for (const std::string& file : {a.out, a.key})
    if (!file.empty() && !is_pdf(file))
      return bad_input(phrase("{} is not a PDF: the page and the answers must both be .pdf or both be .html.", file));
  PrintedChapter printed{a.out, a.key, seed, a.language, a.paper.empty() ? "a4" : a.paper};
  if (auto written = print_chapter(lesson, printed); !written) return tl::unexpected(written.error());
  return 0;
}

Result<int> print_lesson(const LessonArguments& a) {
  if (auto r = check_distinct({}, {{"-o", a.out}, {"--key", a.key}}); !r) return tl::unexpected(r.error());
  const auto lesson = named_lesson(a);
  if (!lesson) return tl::unexpected(lesson.error());
  SheetOptions options;
  options.language = a.language;
  if (!a.seed.empty()) {
    const auto seed = parse_seed(a.seed, std::uint64_t{1} << 62);
    if (!seed) return tl::unexpected(seed.error());
    options.seed = *seed;
  }
  if (is_pdf(a.out) || is_pdf(a.key)) return print_pdf(a, *lesson, options.seed);
  if (!a.paper.empty()) return bad_input(tr("--paper applies only to PDFs; use a name such as page.pdf for the page."));
  for (const bool key : {false, true}) {
    const std::string file = key ? a.key : a.out.empty() ? "-" : a.out;
    if (file.empty()) continue;
    options.key = key;
    const auto sheet = lesson_sheet(*lesson, options);
    if (!sheet) return tl::unexpected(sheet.error());
    if (auto r = write_text(file, *sheet); !r) return tl::unexpected(r.error());
  }
  return 0;
}

Result<int> run_lesson(const LessonArguments& a, const Stopper& stopper) {
  const bool check = a.action == "check";
  if (a.action == "print") return print_lesson(a);
  if (!check && a.action != "list")
    return bad_input(phrase("Unknown lesson action {}; use check, list or print.", a.action));
  const auto files = files_of(a);
  if (!files) return tl::unexpected(files.error());
  return check ? check_lessons(*files, stopper.token()) : list_lessons(*files);
}

}  // namespace

Command add_lesson(Parser program) {
  auto a = std::make_shared<LessonArguments>();
  Parser parser = program.add_subcommand("lesson", tr("List, check and print the lessons of Learn"));
  parser
      .add_option("ACTION", a->action,
                  tr("check: play every beat and compute every number; list: show all lessons; print: write one as "
                     "HTML, or its exercises as PDF"))
      ->required();
  parser.add_values("FILES", a->files, tr("Lessons or folders of lessons; default: the bundled ones"));
  parser.add_option("-o,--out", a->out, tr("print: file for the worksheet, .html or .pdf; default: HTML to stdout"))
      ->type_name("FILE");
  parser.add_option("--key", a->key, tr("print: file for the answers, .html or .pdf"))->type_name("FILE");
  parser.add_option("--paper", a->paper, tr("print: a4 or letter, for PDF; default: a4"))->type_name("NAME");
  parser
      .add_option("--seed", a->seed, tr("print: seed of the numbers, to give each learner different ones; default: 0"))
      ->type_name("N");
  parser.add_option("--language", a->language, tr("print: language of the worksheet; default: en"))->type_name("NAME");
  parser.footer(
      tr("Examples:\n  attnscope lesson list\n  attnscope lesson check\n  attnscope lesson check my_lesson.json\n  "
         "attnscope lesson print by-hand --seed 7 -o sheet.html --key key.html\n  "
         "attnscope lesson print 2 --seed 7 -o page.pdf --key answers.pdf"));
  return {parser, [a](Stopper& stopper) { return run_lesson(*a, stopper); }};
}

}  // namespace attn::cli
