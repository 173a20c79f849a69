#include "viz/draw/theme.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <system_error>

#include "implot.h"
#include "kernels/base/text.h"
#include "viz/draw/kernel_looks.h"
#include "viz/draw/theme_table.h"

namespace attn {
namespace {

static_assert(kTensorColours.size() == kTensorColourCount);

std::size_t index_of(Theme t) {
  return static_cast<std::size_t>(t);
}

ImU32 packed(std::uint32_t rgb) {
  return IM_COL32((rgb >> 16) & 0xff, (rgb >> 8) & 0xff, rgb & 0xff, 0xff);
}

double linear(int channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

int channel_of(ImU32 c, int shift) {
  return static_cast<int>((c >> shift) & 0xff);
}

// OKLab (Ottosson 2020): mixing there keeps a hue's brightness steps even to the eye.
struct Lab {
  double l = 0, a = 0, b = 0;
};

Lab to_lab(ImU32 c) {
  const double r = linear(channel_of(c, IM_COL32_R_SHIFT)), g = linear(channel_of(c, IM_COL32_G_SHIFT)),
               b = linear(channel_of(c, IM_COL32_B_SHIFT));
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

ImU32 srgb_byte(double x) {
  const double c = std::clamp(x, 0.0, 1.0);
  const double encoded = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
  return static_cast<ImU32>(std::lround(255 * encoded));
}

ImU32 from_lab(const Lab& c) {
  const double l = std::pow(c.l + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
  const double m = std::pow(c.l - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
  const double s = std::pow(c.l - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
  return IM_COL32(srgb_byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                  srgb_byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                  srgb_byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s), 0xff);
}

// Q, K, V, S and O: a neutral grey at 0, one direction towards light, the other towards dark, both in the tensor's own
// hue. So the sign is told by lightness, in every vision; a hue of its own for the negative side, or a grey, came as
// near as CIEDE2000 5 to the positive one in simulated deuteranopia and tritanopia.
struct DivergingEnds {
  double zero, plus, minus;  // OKLab lightness
  double plus_chroma_min, plus_chroma_max, minus_chroma;
};
constexpr DivergingEnds kDiverging[2] = {{0.47, 0.90, 0.29, 0.0, 0.13, 0.11}, {0.83, 0.54, 0.955, 0.12, 0.16, 0.055}};

ImU32 diverging_fill(Theme t, TensorColour tensor, float shade) {
  const DivergingEnds& ends = kDiverging[static_cast<std::size_t>(t)];
  const Lab own = to_lab(colour(Theme::dark, tensor));
  const double chroma = std::max(std::hypot(own.a, own.b), 1e-6), f = std::abs(static_cast<double>(shade));
  const double wanted = shade >= 0 ? std::clamp(chroma, ends.plus_chroma_min, ends.plus_chroma_max) : ends.minus_chroma;
  const double end = shade >= 0 ? ends.plus : ends.minus, scale = wanted / chroma * f;
  return from_lab({ends.zero + (end - ends.zero) * f, own.a * scale, own.b * scale});
}

ImU32 make_fill(Theme t, TensorColour tensor, float shade) {
  if (is_signed(tensor)) return diverging_fill(t, tensor, shade);
  // The weakest cell still differs from the card: 6 % of the hue. Light stops at 90 %, so that black keeps its
  // contrast.
  const double max = t == Theme::dark ? 1.0 : 0.9;
  const double amount = 0.06 + (max - 0.06) * (static_cast<double>(shade) + 1) / 2;
  const Lab from = to_lab(t == Theme::dark ? colour(t, Token::field) : IM_COL32_WHITE);
  const Lab to = to_lab(colour(Theme::dark, tensor));
  return from_lab(
      {from.l + (to.l - from.l) * amount, from.a + (to.a - from.a) * amount, from.b + (to.b - from.b) * amount});
}

std::span<const char* const> window_files(const FontRole& role) {
  return std::span(role.files).first(2);
}

ImFont* add_font(const std::filesystem::path& file, bool merge) {
  ImFontConfig config;
  config.MergeMode = merge;
  config.Flags = ImFontFlags_NoLoadError;
  return ImGui::GetIO().Fonts->AddFontFromFileTTF(file.string().c_str(), 0, &config);
}

}  // namespace

ImU32 colour(Theme t, Token token) {
  return packed(kTokenColours[static_cast<std::size_t>(token)].rgb[index_of(t)]);
}

ImU32 colour(Theme t, TensorColour tensor) {
  return packed(kTensorColours[static_cast<std::size_t>(tensor)].rgb[index_of(t)]);
}

ImU32 kernel_colour(Theme t, std::string_view kernel_id) {
  return packed(look_of(kernel_id).rgb[index_of(t)]);
}

ImU32 cell_fill(Theme t, TensorColour tensor, float shade) {
  // A recording draws tens of thousands of cells a frame: the steps of each hue are mixed once. They are an odd number,
  // so that 0 has one of its own.
  constexpr std::size_t kSteps = 257;
  using Ramp = std::array<ImU32, kSteps>;
  static const auto ramps = [] {
    std::array<std::array<Ramp, kTensorColours.size()>, 2> all{};
    for (std::size_t theme = 0; theme < 2; ++theme) {
      for (std::size_t hue = 0; hue < kTensorColours.size(); ++hue) {
        for (std::size_t i = 0; i < kSteps; ++i) {
          all[theme][hue][i] =
              make_fill(static_cast<Theme>(theme), static_cast<TensorColour>(hue), static_cast<float>(i) / 128 - 1);
        }
      }
    }
    return all;
  }();
  const float s = std::isnan(shade) ? 0.0F : std::clamp(shade, -1.0F, 1.0F);
  const auto step = static_cast<std::size_t>(std::lround((s + 1) * 128));
  return ramps[index_of(t)][static_cast<std::size_t>(tensor)][step];
}

double luminance(ImU32 c) {
  return 0.2126 * linear(channel_of(c, IM_COL32_R_SHIFT)) + 0.7152 * linear(channel_of(c, IM_COL32_G_SHIFT)) +
         0.0722 * linear(channel_of(c, IM_COL32_B_SHIFT));
}

ImU32 text_on(ImU32 fill) {
  const double l = luminance(fill);
  return 1.05 / (l + 0.05) > (l + 0.05) / 0.05 ? IM_COL32_WHITE : IM_COL32_BLACK;
}

Result<Fonts> load_fonts(const std::filesystem::path& folder) {
  for (const FontRole& role : kFontRoles) {
    for (const char* name : window_files(role)) {
      std::error_code error;
      if (std::filesystem::is_regular_file(folder / name, error)) continue;
      return fail(ErrorKind::io,
                  phrase("The font {} is missing; rebuild, or set ATTNSCOPE_ASSETS to the folder above fonts/.",
                         (folder / name).string()));
    }
  }
  constexpr std::array kFonts{&Fonts::text, &Fonts::bold, &Fonts::mono, &Fonts::maths};  // in the order of Face
  Fonts fonts;
  for (const FontRole& role : kFontRoles) {
    ImFont*& whole = fonts.*kFonts[static_cast<std::size_t>(role.face)];
    for (const char* name : window_files(role)) {
      const auto file = folder / name;
      ImFont* font = add_font(file, whole != nullptr);
      if (font == nullptr) return fail(ErrorKind::io, phrase("The font {} cannot be read.", file.string()));
      if (whole == nullptr) whole = font;
    }
  }
  return fonts;
}

const Style& style() {
  return *static_cast<const Style*>(ImGui::GetIO().UserData);
}

namespace {

ImVec4 vec(ImU32 c, float alpha = 1) {
  ImVec4 v = ImGui::ColorConvertU32ToFloat4(c);
  v.w = alpha;
  return v;
}

void set_sizes(ImGuiStyle& g, const Style& s) {
  const auto px = [&](float x) { return s.px(x); };
  const auto px2 = [&](float x, float y) { return ImVec2(s.px(x), s.px(y)); };
  g.FontSizeBase = px(13);
  g.FontScaleMain = 1;  // sizes are pixels already: PushFont(font, style().px(13))
  g.FontScaleDpi = 1;
  g.WindowPadding = px2(12, 12);
  g.WindowRounding = g.ChildRounding = g.PopupRounding = px(8);
  g.FrameRounding = g.GrabRounding = g.TabRounding = px(4);
  g.ScrollbarRounding = px(4);
  g.SelectableRounding = g.MenuItemRounding = px(4);
  g.WindowBorderSize = 0;
  g.ChildBorderSize = g.PopupBorderSize = std::max(1.0F, std::floor(px(1)));
  g.FrameBorderSize = 0;
  g.FramePadding = px2(8, 4);
  g.ItemSpacing = px2(8, 8);
  g.ItemInnerSpacing = px2(8, 4);
  g.CellPadding = px2(8, 2);
  g.IndentSpacing = px(16);
  g.ScrollbarSize = px(10);
  g.GrabMinSize = px(12);
  g.SeparatorSize = std::max(1.0F, std::floor(px(1)));
  g.DockingSeparatorSize = px(12);
  g.WindowMinSize = px2(32, 32);
  g.InputTextCursorSize = std::max(1.0F, px(1));
}

// Neutral throughout: a colour is a tensor or a kernel, and nothing else.
void set_colours(ImGuiStyle& g, Theme t) {
  const auto token = [&](Token k, float alpha = 1) { return vec(colour(t, k), alpha); };
  for (ImVec4& c : g.Colors) c = token(Token::text);
  const ImVec4 none(0, 0, 0, 0);
  const auto set = [&](std::initializer_list<ImGuiCol> which, const ImVec4& c) {
    for (const ImGuiCol i : which) g.Colors[i] = c;
  };
  set({ImGuiCol_TextDisabled}, token(Token::dim));
  set({ImGuiCol_WindowBg, ImGuiCol_DockingEmptyBg, ImGuiCol_MenuBarBg}, token(Token::ground));
  set({ImGuiCol_ChildBg, ImGuiCol_PopupBg}, token(Token::card));
  set({ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed}, token(Token::card));
  set({ImGuiCol_Border, ImGuiCol_Separator, ImGuiCol_TableBorderStrong, ImGuiCol_TableBorderLight, ImGuiCol_TreeLines},
      token(Token::line));
  set({ImGuiCol_BorderShadow, ImGuiCol_ScrollbarBg, ImGuiCol_TableHeaderBg, ImGuiCol_TableRowBg, ImGuiCol_TableRowBgAlt,
       ImGuiCol_ResizeGrip, ImGuiCol_DragDropTargetBg, ImGuiCol_TabSelectedOverline,
       ImGuiCol_TabDimmedSelectedOverline},
      none);
  set({ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_Tab, ImGuiCol_TabDimmed}, token(Token::field));
  set({ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive, ImGuiCol_ButtonHovered, ImGuiCol_ButtonActive,
       ImGuiCol_HeaderActive, ImGuiCol_TabHovered, ImGuiCol_TabSelected, ImGuiCol_TabDimmedSelected},
      token(Token::line));
  set({ImGuiCol_Header, ImGuiCol_HeaderHovered}, token(Token::band));
  set({ImGuiCol_ScrollbarGrab, ImGuiCol_ResizeGripHovered}, token(Token::line));
  set({ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive, ImGuiCol_ResizeGripActive,
       ImGuiCol_SeparatorHovered, ImGuiCol_SeparatorActive, ImGuiCol_UnsavedMarker},
      token(Token::faint));
  set({ImGuiCol_CheckMark}, token(Token::card));  // a dark tick on the light box, as in the sketches
  set({ImGuiCol_CheckboxSelectedBg}, token(Token::text));
  set({ImGuiCol_TextSelectedBg, ImGuiCol_DockingPreview}, token(Token::faint, 0.4F));
  set({ImGuiCol_NavWindowingDimBg, ImGuiCol_ModalWindowDimBg}, token(Token::ground, 0.6F));
}

void set_plot_style(const Style& s) {
  ImPlotStyle& p = ImPlot::GetStyle();
  const float hair = std::max(1.0F, std::floor(s.px(1)));
  p.PlotBorderSize = 0;
  p.PlotMinSize = ImVec2(s.px(80), s.px(60));
  p.PlotPadding = ImVec2(0, s.px(4));
  p.LabelPadding = ImVec2(s.px(8), s.px(4));
  p.LegendPadding = p.MousePosPadding = ImVec2(s.px(8), s.px(8));
  p.MajorTickLen = p.MinorTickLen = ImVec2(0, 0);
  p.MajorTickSize = p.MinorTickSize = p.MajorGridSize = p.MinorGridSize = ImVec2(hair, hair);
}

}  // namespace

void apply_imgui_style(const Style& s) {
  ImGuiStyle g;
  set_sizes(g, s);
  set_colours(g, s.theme);
  ImGui::GetStyle() = g;
  if (ImPlot::GetCurrentContext() != nullptr) set_plot_style(s);
}

}  // namespace attn
