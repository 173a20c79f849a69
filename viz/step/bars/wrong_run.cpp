#include "viz/step/bars/wrong_run.h"

#include <string_view>

#include "kernels/base/text.h"
#include "kernels/judge/found.h"
#include "kernels/judge/verdict.h"
#include "kernels/museum/museum.h"

namespace attn {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    lines.emplace_back(line);
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
  }
  return lines;
}

void add_exhibit(const Piece& p, WrongRunScene& scene) {
  scene.headline = tr("Deliberately wrong");
  scene.title = tr_of(p.title);
  scene.about = phrase("Exhibit “{}”, based on {}. {}", tr_of(p.title), p.right, tr_of(p.symptom));
  scene.back = phrase("Back to {}", p.right);
  scene.leave = {ChooseKernel{std::string(p.right)}};
  scene.patch = lines_of(patch_text(*p.patch));
  scene.bug = phrase("{} The bug does not show up {}.", tr_of(p.bug), tr_of(p.hidden));
}

// The right kernel, among exhibits.
void add_healthy(const std::string& kernel, WrongRunScene& scene) {
  scene.headline = tr("The correct kernel");
  scene.about = phrase("{} itself, unchanged. Strange numbers may be correct.", kernel);
  scene.back = phrase("Back to {}", kernel);
  scene.leave = {ChooseKernel{kernel}};
}

// The same words for every exhibit, the healthy patient too.
void keep_back(const State& state, bool answer_hidden, WrongRunScene& scene) {
  scene.headline = tr_of(kUnnamedExhibit);
  const Piece* piece = piece_of(state.document.kernel);
  const std::string of(piece != nullptr ? piece->right : std::string_view(state.document.kernel));
  scene.back = phrase("Back to {}", of);
  scene.leave = {ChooseKernel{of}};
  scene.bug.clear();
  scene.patch.clear();
  if (answer_hidden) {
    scene.about = phrase("Based on {}. Find what is wrong, if anything.", of);
    scene.verdict = tr("Answer to reveal the exhibit's verdict and patch, and to search for the first wrong step.");
    return;
  }
  scene.about = phrase("Based on {}, with one change or none. Which step breaks its rule first?", of);
  scene.verdict = tr("Name, verdict and patch are hidden until you reveal them.");
  scene.reveal = tr("Reveal");
}

// Numbers of a verdict have the hyphen of files; on screen a minus.
std::string with_minus_signs(std::string words) {
  for (std::size_t at = words.find(" -"); at != std::string::npos; at = words.find(" -", at + 1))
    if (at + 2 < words.size() && words[at + 2] >= '0' && words[at + 2] <= '9') words.replace(at + 1, 1, "−");
  return words;
}

void add_found(const State& state, const FirstWrong& first, WrongRunScene& scene) {
  scene.place = phrase("First wrong: {}.", with_minus_signs(place_words(first)));
  scene.spread = with_minus_signs(spread_words(first));
  scene.cause = first.cause.empty() ? tr("No known cause fits; look at the step's operands.")
                                    : phrase("Likely cause: {}", with_minus_signs(first.cause));
  Selection pinned = state.document.selection;
  pinned.b = first.id.b;
  pinned.h = first.id.h;
  pinned.row = first.row;
  pinned.slot = first.slot;
  pinned.col = first.col;
  scene.go_there = {GoToEvent{first.event}};
  if (first.differing > 0) scene.go_there.emplace_back(Select{pinned});
}

}  // namespace

bool keeps_name_back(const State& state, bool answer_hidden) {
  const Exhibit exhibit = state.document.exhibit;
  // A lesson seals and reveals by its questions.
  if (state.view.workspace != Workspace::learn) return exhibit == Exhibit::sealed;
  return answer_hidden && (exhibit != Exhibit::none || piece_of(state.document.kernel) != nullptr);
}

WrongRunScene wrong_run_scene(const State& state, const Model& model, bool answer_hidden) {
  WrongRunScene scene;
  const ExaminationView& exam = model.examination;
  if (model.recording == nullptr || exam.of != model.recording) return scene;
  const std::string& kernel = model.recording->kernel;
  const Piece* piece = piece_of(kernel);
  const bool drawn = state.document.exhibit != Exhibit::none && kernel == state.document.kernel;
  const bool wrong = exam.verdict && outcome_of(*exam.verdict) == Outcome::wrong;
  scene.shown = piece != nullptr || drawn || wrong;
  if (!scene.shown) return scene;
  if (answer_hidden || (drawn && keeps_name_back(state, answer_hidden))) {
    keep_back(state, answer_hidden, scene);
    return scene;
  }
  scene.wrong = piece != nullptr || wrong;
  if (piece != nullptr) {
    add_exhibit(*piece, scene);
  } else if (drawn && !wrong) {
    add_healthy(kernel, scene);
  } else {
    scene.headline = tr("This run is wrong");
    scene.about = phrase("Recorded by {} on {}.", kernel, model.recording->device);
  }
  if (!exam.verdict) {
    scene.verdict = exam.trouble.empty() ? tr("The run is being compared with fp64.") : exam.trouble;
    return scene;
  }
  if (!wrong) {
    scene.verdict = phrase("Verdict: {}.{}", name_of(outcome_of(*exam.verdict)),
                           piece != nullptr ? tr(" The bug does not show up with these numbers.") : "");
    return scene;
  }
  const std::string reason = with_minus_signs(exam.verdict->reason);
  scene.verdict = phrase("Verdict: wrong. {}.", reason);
  // Where it is wrong stands before the colon; by how much is the point.
  if (const std::size_t figure = reason.rfind(": "); figure != std::string::npos)
    scene.brief = reason.substr(figure + 2);
  const bool asked = state.view.step.seek_first_wrong;
  if (!asked) {
    scene.seek = tr("Find the first wrong step");
  } else if (exam.first) {
    add_found(state, *exam.first, scene);
    scene.seek = tr("Hide the answer");
  } else if (!exam.trouble.empty()) {
    scene.place = exam.trouble;
  } else {
    scene.place = exam.sought
                      ? tr("No step of this run differs from the correct run's: the stored result must be wrong.")
                      : tr("Looking for the first wrong step.");
  }
  return scene;
}

}  // namespace attn
