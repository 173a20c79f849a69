// A workspace that is not built yet: one true sentence on what it will do, nicely set.
#pragma once

#include <string_view>
#include <vector>

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"

namespace attn {

struct ComingPage {
  std::string_view headline;
  std::string_view sentence;
  std::string_view meanwhile;  // what can be done now
  std::string_view button;     // leads there
  Workspace workspace = Workspace::step;
};

void draw_coming_page(const ComingPage& page, Commands& commands);

}  // namespace attn
