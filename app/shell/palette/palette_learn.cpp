// What the palette does with lessons.
#include <string>
#include <tuple>
#include <vector>

#include "app/shell/palette/palette_list.h"
#include "kernels/base/text.h"
#include "viz/learn/card/learn_scene.h"

namespace attn {

void add_learn(PaletteList& e) {
  e.add(tr("Learn"), tr("Start the first chapter"), tr("2 minutes: what does not fit on the chip"),
        {StartLesson{"wall", ""}})
      .also = tr("lesson, tutorial, begin");
  const LearnScene* learn = e.facts().model.learn.get();
  const bool open = learn != nullptr && learn->card.has_value();
  if (learn != nullptr)
    for (const ChapterScene& c : learn->chapters) e.add(tr("Chapter"), c.title, c.goal, {StartLesson{c.id, ""}});
  PaletteEntry& print =
      e.add(tr("Learn"), tr("Print a chapter"), tr("Exercises and answers as two PDFs"), {Ask{Popup::print_chapter}});
  print.also = tr("printable page, worksheet, handout, sheet for a teacher or class, this chapter on paper");
  if (learn == nullptr || learn->chapters.empty()) print.why_not = tr("there are no chapters here");
  const std::tuple<const char*, const char*, Command> steps[] = {
      {tr("Next beat"), "", GoToBeat{1}},
      {tr("Previous beat"), "", GoToBeat{-1}},
      {tr("Hint"), tr("For the current question"), ShowHint{}},
      {tr("Show the answer"), tr("Counts as seen, not as solved"), ShowAnswer{}},
      {tr("Repeat with other numbers"), "", AskAgain{}},
      {tr("Back to the chapter"), tr("From any other view"), BackToLesson{}},
      {tr("Leave the chapter"), tr("Restores your own problem"), LeaveLesson{}},
  };
  for (const auto& [words, more, command] : steps) {
    PaletteEntry& entry = e.add(tr("Learn"), words, more, {command});
    if (!open) entry.why_not = tr("no chapter is open");
  }
  PaletteEntry& vote = e.add(tr("Learn"), tr("Undo the last vote"), tr("In a class vote"), {TakeBackVote{}});
  if (!open || !learn->card->teach || learn->card->votes == 0) vote.why_not = tr("there is no class vote");
  e.add(tr("Learn"), tr("Delete my answers"), tr("In all chapters"), {ForgetLessons{}});
  e.add(tr("Learn"), tr("Where to start"), tr("Next to Step, show the three ways to start"), {CloseGreeting{false}});
  e.add(tr("Learn"), tr("Hide the three ways to start"), "", {CloseGreeting{}});
  e.add(tr("Setting"), tr("Chapter card on the left"), "", {DockCard{false}}).on = !e.state().preferences.card_right;
  e.add(tr("Setting"), tr("Chapter card on the right"), "", {DockCard{true}}).on = e.state().preferences.card_right;
  const std::vector<std::string> languages = learn == nullptr ? std::vector<std::string>{"en"} : learn->languages;
  for (const std::string& language : languages)
    e.add(tr("Setting"), phrase("Chapters in: {}", language), tr("Language"), {ChooseLanguage{language}}).on =
        e.state().preferences.language == language;
}

}  // namespace attn
