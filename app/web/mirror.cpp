#include "app/web/mirror.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/text_runs.h"
#include "viz/learn/card/learn_scene.h"

namespace attn {
namespace {

constexpr std::size_t kMostNumbers = 4096;  // of a tensor: nobody listens to more, and a large tile is a million

void add_line(std::string& text, const std::string& line) {
  if (line.empty()) return;
  if (!text.empty()) text += '\n';
  text += line;
}

// The card of an open lesson; else the chapters.
MirroredText of_lesson(const LearnScene& scene) {
  MirroredText text;
  if (!scene.card) {
    text.title = tr("Learn");
    for (const ChapterScene& chapter : scene.chapters) add_line(text.values, chapter.title);
    return text;
  }
  const CardScene& card = *scene.card;
  text.title = fmt::format("{}: {}", card.title, plain_text(card.headline));
  text.sentence = plain_text(card.say);
  add_line(text.sentence, plain_text(card.origin));
  for (const CardOption& option : card.options) add_line(text.values, plain_text(option.words));
  for (const TextRuns* runs : {&card.hint, &card.feedback, &card.proof, &card.truth, &card.said})
    add_line(text.values, plain_text(*runs));
  return text;
}

// "Step 3 of 34, ...", its words, then formula and numbers.
MirroredText of_step(const std::string& written) {
  MirroredText text;
  std::size_t line = 0, at = 0;
  while (at < written.size()) {
    const std::size_t end = std::min(written.find('\n', at), written.size());
    std::string words = written.substr(at, end - at);
    at = end + 1;
    if (line > 0) words.erase(0, std::min(words.find_first_not_of(' '), words.size()));
    if (line < 2) {
      text.title += (line == 0 ? "" : ". ") + words;
    } else if (line == 2) {
      text.sentence = words;
    } else {
      add_line(text.values, words);
    }
    ++line;
  }
  return text;
}

}  // namespace

cli::StepWriter& Mirror::writer(const Model& model, const StepTexts& texts) {
  if (!writer_ || recording_ != model.recording) {
    writer_.reset();
    step_.reset();
    recording_ = model.recording;
    writer_.emplace(*recording_, texts);
  }
  return *writer_;
}

std::optional<MirroredText> Mirror::follow(const State& state, const Model& model, const StepTexts& texts) {
  MirroredText now;
  std::optional<EventIndex> step;
  if (state.view.workspace == Workspace::learn) {
    if (model.learn != nullptr) now = of_lesson(*model.learn);
  } else if (state.view.workspace != Workspace::step) {
    now.title = std::string(title_of(state.view.workspace));
  } else if (model.recording == nullptr || model.recording->events.empty()) {
    now.title = tr("This problem cannot be recorded");
    now.sentence = model.recording_error;
  } else {
    const auto last = static_cast<EventIndex>(model.recording->events.size() - 1);
    step = std::min(state.view.step.cursor, last);
    cli::StepWriter& steps = writer(model, texts);
    if (step_ == step) return std::nullopt;
    now = of_step(steps.text(*step, kMostNumbers));
  }
  step_ = step;
  if (now == said_) return std::nullopt;
  said_ = now;
  return now;
}

std::string Mirror::json(const Model& model, const StepTexts& texts, std::uint32_t first, std::uint32_t last) {
  if (model.recording == nullptr || model.recording->events.empty()) return {};
  cli::StepWriter& all = writer(model, texts);
  const auto end = static_cast<std::uint32_t>(model.recording->events.size() - 1);
  std::string text = "{" + all.json_heading() + ",\"steps\":[";
  for (std::uint32_t e = std::min(first, end); e <= std::min(last, end); ++e)
    text += (e == std::min(first, end) ? "" : ",") + all.json(e);
  return text + "]," + all.json_summary() + "}";
}

}  // namespace attn
