// The runs that Bench lists: which are shown, and what each is called.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/session/sweep_run.h"
#include "viz/state/bench_runs.h"
#include "viz/state/model.h"

namespace attn {

// "H100" of "NVIDIA H100 80GB HBM3".
std::string short_device(std::string_view name);

const ListedRun* find_run(const Model& model, std::string_view id);
// Of the runs that are listed and ticked, in the order in which they were; with the names that the user gave them.
std::vector<const ListedRun*> shown_runs(const BenchRuns& runs, const Model& model);
// The name that the user gave it, or run_words().
std::string words_of(const BenchRuns& runs, const SweepRun& run);
// How a run is called in a list: when, then on what; to the second where another one began in the same minute. Behind
// it what says it in less room: with the device in a word, without it. By its name where it has one; with its day, or
// by when alone, where another has the same name.
std::vector<std::string> listed_choices(const BenchRuns& list, const SweepRun& run, std::span<const ListedRun> among);

}  // namespace attn
