// The bar over Step where the run that is shown is wrong, on purpose (an exhibit of the museum) or not: the verdict,
// and when asked for the first wrong step with what is likely behind it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/text.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

struct WrongRunScene {
  bool shown = false;
  bool wrong = false;    // it is told to be wrong: in the colour of a warning
  std::string headline;  // "Deliberately wrong"
  std::string title;     // the exhibit's name; empty = none, or a secret
  std::string about;     // which exhibit, or whose run
  std::string verdict;
  std::string brief;  // by how much: "off by 4.73, allowed 7.49e-06"
  std::string seek;   // words of the button that looks for the first wrong step; empty = nothing to press
  std::string place, spread, cause;  // once it was found
  Commands go_there;                 // to the step and its element
  std::string reveal;                // words of the button that tells what it is; empty = it is told, or no secret
  std::string back;                  // words of the button that leaves the museum; empty = no exhibit
  Commands leave;
  std::vector<std::string> patch;  // lines, for who asks; empty = no exhibit
  std::string bug;
};
// Whether the name of the kernel that Step shows would tell what the user is to find: an exhibit that was drawn at
// random and not revealed; while a lesson asks, any. `answer_hidden`: a lesson asks.
bool keeps_name_back(const State& state, bool answer_hidden);
// What stands for it.
inline constexpr std::string_view kUnnamedExhibit = marked("An exhibit");

// `answer_hidden`: a lesson asks what is wrong. The verdict, the search and the patch wait for the answer.
WrongRunScene wrong_run_scene(const State& state, const Model& model, bool answer_hidden = false);

}  // namespace attn
