// Colours, fonts and sizes: the one place. Colours are a tensor's (Step) or a kernel's (Bench), and nothing else.
// Values and their measured contrasts: a test recomputes them from this table.
#pragma once

#include <filesystem>
#include <string_view>

#include "imgui.h"
#include "kernels/base/result.h"
#include "kernels/model/order.h"
#include "viz/draw/inks.h"
#include "viz/state/state.h"

namespace attn {

ImU32 colour(Theme t, Token token);
// Ink: letters and lines.
ImU32 colour(Theme t, TensorColour tensor);
ImU32 kernel_colour(Theme t, std::string_view kernel_id);  // viz/draw/kernel_looks.h
// Fill of a cell whose value on its tensor's scale is `shade` in [-1, 1]: of signed tensors (is_signed) from a neutral
// 0 towards light and dark, of the others from the least to the largest (light theme: a wash of the dark hue). And
// black or white text on it, whichever contrasts more.
ImU32 cell_fill(Theme t, TensorColour tensor, float shade);
ImU32 text_on(ImU32 fill);
double luminance(ImU32 c);  // relative, WCAG 2

// Fonts, by role. Null members never happen after load_fonts() succeeded.
struct Fonts {
  ImFont* text = nullptr;   // Roboto
  ImFont* bold = nullptr;   // Roboto Bold or Medium
  ImFont* mono = nullptr;   // Inconsolata, numbers
  ImFont* maths = nullptr;  // XITS Italic + XITS Math: tensor letters, with l, alpha, infinity
};
// Adds the fonts of `folder` to the current context's atlas; the error names the file that is missing.
Result<Fonts> load_fonts(const std::filesystem::path& folder);

// Set once a frame by the shell, read by every panel.
struct Style {
  Theme theme = Theme::dark;
  float scale = 1;  // multiply every pixel size
  Fonts fonts;
  float px(float logical) const { return logical * scale; }
};
// The style of the current Dear ImGui context: the shell owns it, ImGuiIO::UserData points to it.
const Style& style();
// ImGuiStyle (and ImPlotStyle, where ImPlot has a context): colours, rounding 8, 4 px grid, font size 13. Called
// between frames whenever theme or scale changes. Font sizes are pixels: PushFont(style().fonts.mono, style().px(11)).
void apply_imgui_style(const Style& s);

}  // namespace attn
