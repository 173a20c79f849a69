#include "app/shell/widgets/origin.h"

#include <cstddef>
#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/options.h"
#include "kernels/museum/museum.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/profile/figures/profile_scene.h"
#include "viz/state/run_words.h"
#include "viz/step/bars/wrong_run.h"
#include "viz/step/facts/gpu_run.h"
#include "viz/step/facts/side_by_side.h"

namespace attn {
namespace {

// One a line, with the letters that their lines carry; each file once, below.
std::string words_of_runs(const State& state, const std::vector<const ListedRun*>& runs) {
  std::string words, files;
  std::set<std::string> told;
  for (std::size_t n = 0; n < runs.size(); ++n) {
    const SweepRun& run = runs[n]->run;
    words += fmt::format("{}{}: {}", n > 0 ? "\n" : "", static_cast<char>('A' + n), words_of(state.document.runs, run));
    const std::string file = std::filesystem::path(run.provenance.file).filename().string();
    if (run.provenance.loaded && !file.empty() && told.insert(file).second) files += "\n" + file;
  }
  return words + files;
}

}  // namespace

OriginWords origin_of(const State& state, const Model& model) {
  if (state.view.workspace == Workspace::bench || state.view.workspace == Workspace::profile) {
    std::vector<const ListedRun*> runs = shown_runs(state.document.runs, model);
    if (state.view.workspace == Workspace::profile)
      if (const ListedRun* run = profile_stand_in(state, model); run != nullptr) runs = {run};
    if (runs.empty()) return {true, tr("nothing measured yet"), model.here.device};
    const Provenance& last = runs.back()->run.provenance;
    if (runs.size() > 1 && state.view.workspace == Workspace::profile)
      return {!last.loaded, phrase("1 of {} runs", runs.size()),
              tr("Profile shows one of them, the run that its headline names. Bench shows them all, and Against offers "
                 "their rows at this value. To profile another one, untick this one in Bench.\n") +
                  words_of_runs(state, runs)};
    if (runs.size() > 1) return {!last.loaded, phrase("{} runs", runs.size()), words_of_runs(state, runs)};
    const std::string day = last.date.substr(0, 10);
    const std::string more =
        last.loaded ? phrase("{}, measured on {} on {}", last.file, last.device, day) : last.device;
    if (last.loaded) return {false, phrase("loaded: {}, {}", last.device, day), more};
    return {true, tr("measured here"), more};
  }
  if (model.recording == nullptr) return {true, tr("nothing recorded"), model.recording_error};
  const Recording& r = *model.recording;
  const bool unnamed = keeps_name_back(state, lesson_asks(state, model));
  const std::string more =
      phrase("{}, {}, recorded on {}", unnamed ? tr_of(kUnnamedExhibit) : std::string_view(r.kernel),
             describe(r.problem), r.device);
  const bool from_file = std::string_view(state.document.inputs.q_file).ends_with(".attn");
  if (from_file && model.replay.of == model.recording && !model.replay.running) {
    const std::string& difference = model.replay.difference;
    const std::string file = more + ", " + state.document.inputs.q_file;
    if (!difference.empty())
      return {false, tr("from a file: the replay differs"), phrase("{}\nThe replay differs at {}", file, difference),
              true};
    return {false, "from a file",
            phrase("{}\n"
                   "Replayed here: every step follows from the previous one",
                   file)};
  }
  if (from_file) return {false, "from a file", more + ", " + state.document.inputs.q_file};
  if (r.gpu) return {false, phrase("recorded on a GPU in {}", name_of(r.problem.dtype)), more};
  if (const auto times = side_by_side_of(r).times)
    return {false, tr("computed here, with times from a GPU"), more + "\n" + times(r)};
  return {true, phrase("computed here in {}", name_of(r.problem.dtype)), more};
}

}  // namespace attn
