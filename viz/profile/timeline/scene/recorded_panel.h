// What was recorded and what a key tile's time is made of, for the panel beside a timeline; of two on one axis what
// differs. Plain values; viz/profile/timeline/recorded_panel_draw.cpp draws them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

enum class PanelChange : std::uint8_t { same, less, more };

// A name and one number, or that above, that below and the change between them.
struct PanelRow {
  std::string name, above, below, change;
  std::string tip;  // what the name stands for, where it is short
  PanelChange way = PanelChange::same;
};

struct PanelTable {
  std::string title;
  std::vector<PanelRow> rows;
};

struct RecordedPanel {
  std::string kernel;
  std::vector<std::string> what;  // of the one that is shown: problem, tile, block, device
  std::string above, below;       // the options of two; empty: there is one
  std::vector<PanelTable> tables;
};

RecordedPanel recorded_panel(const PipelineScene& scene);

}  // namespace attn
