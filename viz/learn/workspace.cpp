// Learn: a tour that drives the real workspaces.
#include "viz/learn/workspace.h"

#include "viz/draw/coming_page.h"

namespace attn {

void draw_learn(const State& /*state*/, const Model& /*model*/, Commands& commands) {
  draw_coming_page({"Learn is not built yet",
                    "A tour will start here and drive the real workspaces: it will ask what m, α and O become in the "
                    "next step, let you predict, and then show the step that the kernel took.",
                    "Until then Step is the place to begin: four rows of two numbers, every step of FlashAttention, "
                    "forwards and backwards with the arrow keys.",
                    "Open Step", Workspace::step},
                   commands);
}

}  // namespace attn
