#include "viz/state/run_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiling/session/run.h"

namespace attn {

const ListedRun* find_run(const Model& model, std::string_view id) {
  const auto found = std::find_if(model.runs.begin(), model.runs.end(), [&](const auto& r) { return r.run.id == id; });
  return found == model.runs.end() ? nullptr : &*found;
}

std::vector<const ListedRun*> shown_runs(const BenchRuns& runs, const Model& model) {
  std::vector<const ListedRun*> shown;
  for (const std::string& id : runs.shown)
    if (const ListedRun* run = find_run(model, id); run != nullptr && !runs.removed.contains(id)) shown.push_back(run);
  return shown;
}

std::string words_of(const BenchRuns& runs, const SweepRun& run) {
  const auto given = runs.names.find(run.id);
  if (given == runs.names.end()) return run_words(run);
  SweepRun named;
  named.name = given->second;
  named.date = run.date;
  named.provenance.device = run.provenance.device;
  named.provenance.date = run.provenance.date;
  return run_words(named);
}

std::vector<std::string> listed_choices(const BenchRuns& list, const SweepRun& run, std::span<const ListedRun> among) {
  std::string words = words_of(list, run);
  constexpr std::size_t kMinute = 16, kSecond = 19;  // of "2026-11-21T17:48:05Z"
  if (run.date.size() < kMinute) return {words};
  if (words != run_words(SweepRun{run.id, "", run.date, "", run.provenance, {}})) {
    const bool namesake = std::any_of(among.begin(), among.end(), [&](const ListedRun& other) {
      return other.run.id != run.id && words_of(list, other.run) == words;
    });
    if (!namesake) return {words};
    const std::string day = run.date.substr(5, 5);
    return {fmt::format("{}, {}", words, day), fmt::format("{} {}", day, run.date.substr(11, kMinute - 11))};
  }
  const bool twin = std::any_of(among.begin(), among.end(), [&](const ListedRun& other) {
    return other.run.id != run.id && other.run.date.substr(0, kMinute) == run.date.substr(0, kMinute);
  });
  std::string device = run.provenance.device;
  constexpr std::string_view kMaker = "NVIDIA ";
  if (device.starts_with(kMaker)) device.erase(0, kMaker.size());
  const std::size_t end = twin && run.date.size() >= kSecond ? kSecond : kMinute;
  const std::string when = fmt::format("{} {}", run.date.substr(5, 5), run.date.substr(11, end - 11));
  std::vector<std::string> choices{fmt::format("{} {}", when, device)};
  if (const std::size_t word = device.find(' '); word != std::string::npos)
    choices.push_back(fmt::format("{} {}", when, device.substr(0, word)));
  choices.push_back(when);
  return choices;
}

std::string short_device(std::string_view name) {
  for (const std::string_view maker : {"NVIDIA ", "GeForce "})
    if (name.starts_with(maker)) name.remove_prefix(maker.size());
  // Up to its memory and its board.
  std::string words;
  while (!name.empty()) {
    const std::string_view word = name.substr(0, name.find(' '));
    if (word.find("GB") != std::string_view::npos && word.find('-') == std::string_view::npos) break;
    words += (words.empty() ? "" : " ") + std::string(word.substr(0, word.find('-')));
    name.remove_prefix(std::min(name.size(), word.size() + 1));
  }
  return words;
}

}  // namespace attn
