// The Dear ImGui and ImPlot contexts of one window, for as long as the object lives. Docking on; no file is read or
// written: the layout goes through the settings.
#pragma once

namespace attn {

class GuiContext {
 public:
  GuiContext();
  ~GuiContext();
  GuiContext(const GuiContext&) = delete;
  GuiContext& operator=(const GuiContext&) = delete;
};

}  // namespace attn
