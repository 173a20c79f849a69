// Which runs Bench shows, and what the user did with the list: in the document, so that undo covers all of it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

// Stands among the shown runs for what is predicted of the sweep that is set up.
constexpr std::string_view kPredictedRun = "predicted";
constexpr std::size_t kMaxShownRuns = 8;  // as many as can be told apart on the same axes

struct BenchRuns {
  std::vector<std::string> shown;            // ids, as they were ticked: the sentences are about the last
  std::string reference;                     // id of the run that the others are set against; empty = none
  std::map<std::string, std::string> names;  // by id, over those in the files
  std::set<std::string> removed;             // out of the list; their files go when the program ends
  bool operator==(const BenchRuns&) const = default;
};

bool is_shown(const BenchRuns& runs, std::string_view id);
// On top of the others; where there are too many the one that was ticked first goes.
void show_run(BenchRuns& runs, std::string_view id);
void hide_run(BenchRuns& runs, std::string_view id);

}  // namespace attn
