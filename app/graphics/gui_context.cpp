#include "app/graphics/gui_context.h"

#include "imgui.h"
#include "implot.h"

namespace attn {

GuiContext::GuiContext() {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImPlot::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_DockingEnable;
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  io.ConfigDockingWithShift = false;
}

GuiContext::~GuiContext() {
  ImPlot::DestroyContext();
  ImGui::DestroyContext();
}

}  // namespace attn
