// The colours keep what viz/draw/theme_table.h and viz/draw/kernel_looks.h promise: contrast (WCAG 2), and distance
// from one another (CIEDE2000) in normal and colour-blind vision (Machado, Oliveira and Fernandes 2009, severity 1, on
// linear light).
#include "viz/draw/theme.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "imgui.h"
#include "implot.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "viz/draw/kernel_looks.h"
#include "viz/draw/theme_table.h"

namespace attn {
namespace {

using Rgb = std::array<double, 3>;  // linear light

double linear(std::uint32_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}
Rgb linear_rgb(std::uint32_t rgb) {
  return {linear((rgb >> 16) & 0xff), linear((rgb >> 8) & 0xff), linear(rgb & 0xff)};
}
Rgb linear_rgb_of(ImU32 c) {
  return {linear((c >> IM_COL32_R_SHIFT) & 0xff), linear((c >> IM_COL32_G_SHIFT) & 0xff),
          linear((c >> IM_COL32_B_SHIFT) & 0xff)};
}

double contrast(const Rgb& a, const Rgb& b) {
  const auto luminance = [](const Rgb& c) { return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
  const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

struct Lab {
  double l, a, b;
};

// CIELAB, D65 white.
Lab lab_of(const Rgb& c) {
  const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
  const double x = f((0.4124564 * c[0] + 0.3575761 * c[1] + 0.1804375 * c[2]) / 0.95047);
  const double y = f(0.2126729 * c[0] + 0.7151522 * c[1] + 0.0721750 * c[2]);
  const double z = f((0.0193339 * c[0] + 0.1191920 * c[1] + 0.9503041 * c[2]) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double radians(double degrees) {
  return degrees * std::numbers::pi / 180;
}

double hue(double a, double b) {
  const double h = std::atan2(b, a) * 180 / std::numbers::pi;
  return h < 0 ? h + 360 : h;
}

// Sharma, Wu and Dalal 2005.
double ciede2000(Lab p, Lab q) {
  const auto g7 = [](double c) { return std::sqrt(std::pow(c, 7) / (std::pow(c, 7) + std::pow(25.0, 7))); };
  const double g = 0.5 * (1 - g7((std::hypot(p.a, p.b) + std::hypot(q.a, q.b)) / 2));
  p.a *= 1 + g;
  q.a *= 1 + g;
  const double c1 = std::hypot(p.a, p.b), c2 = std::hypot(q.a, q.b);
  const double h1 = c1 > 0 ? hue(p.a, p.b) : 0, h2 = c2 > 0 ? hue(q.a, q.b) : 0;
  const bool grey = c1 * c2 == 0;
  double dh = grey ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  if (dh < -180) dh += 360;
  double mean_h = h1 + h2;
  if (!grey) mean_h = std::abs(h1 - h2) <= 180 ? mean_h / 2 : (mean_h < 360 ? mean_h + 360 : mean_h - 360) / 2;
  const double l = (p.l + q.l) / 2, c = (c1 + c2) / 2;
  const double t = 1 - 0.17 * std::cos(radians(mean_h - 30)) + 0.24 * std::cos(radians(2 * mean_h)) +
                   0.32 * std::cos(radians(3 * mean_h + 6)) - 0.2 * std::cos(radians(4 * mean_h - 63));
  const double sl = 1 + 0.015 * (l - 50) * (l - 50) / std::sqrt(20 + (l - 50) * (l - 50));
  const double sc = 1 + 0.045 * c, sh = 1 + 0.015 * c * t;
  const double turn = -std::sin(radians(60 * std::exp(-std::pow((mean_h - 275) / 25, 2)))) * 2 * g7(c);
  const double x = (q.l - p.l) / sl, y = (c2 - c1) / sc, z = 2 * std::sqrt(c1 * c2) * std::sin(radians(dh / 2)) / sh;
  return std::sqrt(x * x + y * y + z * z + turn * y * z);
}

using Matrix = std::array<double, 9>;
constexpr Matrix kNormal{1, 0, 0, 0, 1, 0, 0, 0, 1};
constexpr std::array<Matrix, 3> kColourBlind{{
    {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},  // protanopia
    {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},   // deuteranopia
    {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},  // tritanopia
}};

Rgb seen(const Matrix& m, const Rgb& c) {
  Rgb out{};
  for (std::size_t i = 0; i < 3; ++i) {
    out[i] = std::clamp(m[3 * i] * c[0] + m[3 * i + 1] * c[1] + m[3 * i + 2] * c[2], 0.0, 1.0);
  }
  return out;
}

std::string_view name_of_theme(std::size_t theme) {
  return theme == 0 ? "dark" : "light";
}

void expect_apart(std::span<const ThemeColour> colours, std::size_t theme, const Matrix& vision, double floor) {
  const auto lab = [&](const ThemeColour& c) { return lab_of(seen(vision, linear_rgb(c.rgb[theme]))); };
  for (std::size_t i = 0; i < colours.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GE(ciede2000(lab(colours[i]), lab(colours[j])), floor)
          << colours[j].name << " and " << colours[i].name << ", " << name_of_theme(theme);
    }
  }
}

void expect_contrast(std::span<const ThemeColour> colours, std::size_t theme, Token on, double floor) {
  const Rgb ground = linear_rgb(kTokenColours[static_cast<std::size_t>(on)].rgb[theme]);
  for (const ThemeColour& c : colours)
    EXPECT_GE(contrast(linear_rgb(c.rgb[theme]), ground), floor) << c.name << ", " << name_of_theme(theme);
}

// Each colour of a kernel once, and what stands for kernels that are not known.
std::vector<ThemeColour> kernel_colours() {
  std::vector<ThemeColour> out{{"unknown", kUnknownLook.rgb}};
  for (const KernelLook& look : kernel_looks()) {
    if (std::none_of(out.begin(), out.end(), [&](const ThemeColour& c) { return c.rgb == look.rgb; }))
      out.push_back({look.kernel, look.rgb});
  }
  return out;
}

// Two pairs of the test data of Sharma, Wu and Dalal: without them the floors below would mean nothing.
TEST(Theme, DistanceFormulaGivesThePublishedValues) {
  EXPECT_NEAR(ciede2000({50, 2.6772, -79.7751}, {50, 0, -82.7485}), 2.0425, 1e-4);
  EXPECT_NEAR(ciede2000({60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}), 1.2644, 1e-4);
}

TEST(Theme, TensorLettersAndKernelLinesStandOutFromTheCard) {
  expect_contrast(kTensorColours, 0, Token::card, 4.98);
  expect_contrast(kTensorColours, 1, Token::card, 4.585);
  expect_contrast(kernel_colours(), 0, Token::card, 4.6);
  expect_contrast(kernel_colours(), 1, Token::card, 3.27);
}

// WCAG 2 AA for text is 4.5; graphics need 3.
TEST(Theme, WordsCanBeReadOnEveryGround) {
  for (const std::size_t theme : {0U, 1U}) {
    const auto token = [&](Token t) { return linear_rgb(kTokenColours[static_cast<std::size_t>(t)].rgb[theme]); };
    for (const Token ground : {Token::ground, Token::card, Token::field, Token::band}) {
      EXPECT_GE(contrast(token(Token::text), token(ground)), 9) << theme;
      EXPECT_GE(contrast(token(Token::dim), token(ground)), 5.4) << theme;
      EXPECT_GE(contrast(token(Token::faint), token(ground)), 3) << theme;
    }
  }
}

TEST(Theme, TensorsAreToldApartInEveryVision) {
  expect_apart(kTensorColours, 0, kNormal, 21.9);
  expect_apart(kTensorColours, 1, kNormal, 19.3);
  for (const Matrix& vision : kColourBlind) {
    expect_apart(kTensorColours, 0, vision, 10.4);
    expect_apart(kTensorColours, 1, vision, 9.1);
  }
}

TEST(Theme, KernelsAreToldApartInEveryVision) {
  expect_apart(kernel_colours(), 0, kNormal, 15.9);
  expect_apart(kernel_colours(), 1, kNormal, 16.1);
  for (const Matrix& vision : kColourBlind) {
    expect_apart(kernel_colours(), 0, vision, 9.0);
    expect_apart(kernel_colours(), 1, vision, 8.2);
  }
}

TEST(Theme, NumbersCanBeReadOnEveryCell) {
  double min[2] = {1e9, 1e9}, min_of_signed[2] = {1e9, 1e9};
  for (const Theme theme : {Theme::dark, Theme::light}) {
    for (std::size_t hue_index = 0; hue_index < kTensorColours.size(); ++hue_index) {
      const auto tensor = static_cast<TensorColour>(hue_index);
      for (int step = -100; step <= 100; ++step) {
        const ImU32 fill = cell_fill(theme, tensor, static_cast<float>(step) / 100);
        double& floor = (is_signed(tensor) ? min_of_signed : min)[static_cast<std::size_t>(theme)];
        floor = std::min(floor, contrast(linear_rgb_of(fill), linear_rgb_of(text_on(fill))));
      }
    }
  }
  EXPECT_GE(min[0], 4.58);
  EXPECT_GE(min[1], 6.58);
  // Cells of both signs go through middling greys, in the light theme too.
  EXPECT_GE(min_of_signed[0], 4.58);
  EXPECT_GE(min_of_signed[1], 4.58);
}

TEST(Theme, ALargerValueIsFurtherFromTheCard) {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    const Rgb card = linear_rgb_of(colour(theme, Token::card));
    for (std::size_t hue_index = 0; hue_index < kTensorColours.size(); ++hue_index) {
      if (is_signed(static_cast<TensorColour>(hue_index))) continue;
      double before = 0;
      for (const float shade : {-1.0F, -0.5F, 0.0F, 0.5F, 1.0F}) {
        const auto fill = cell_fill(theme, static_cast<TensorColour>(hue_index), shade);
        const double now = contrast(linear_rgb_of(fill), card);
        EXPECT_GT(now, before) << kTensorColours[hue_index].name << " at " << shade;
        before = now;
      }
    }
  }
}

TEST(Theme, ZeroOfASignedTensorIsNeutralAndTheSignsAreToldApartInEveryVision) {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    for (std::size_t hue_index = 0; hue_index < kTensorColours.size(); ++hue_index) {
      const auto tensor = static_cast<TensorColour>(hue_index);
      if (!is_signed(tensor)) continue;
      SCOPED_TRACE(std::string(kTensorColours[hue_index].name) + ", " +
                   std::string(name_of_theme(static_cast<std::size_t>(theme))));
      const auto fill = [&](float shade) { return linear_rgb_of(cell_fill(theme, tensor, shade)); };
      const Lab zero = lab_of(fill(0));
      EXPECT_LT(std::hypot(zero.a, zero.b), 2) << "zero has a hue";
      EXPECT_EQ(cell_fill(theme, tensor, 0), cell_fill(theme, TensorColour::q, 0)) << "zeros differ";
      // A value is on its side of zero by lightness, and the further the larger it is.
      const double side = theme == Theme::dark ? 1 : -1;
      double before = -1e9;
      for (const float shade : {-1.0F, -0.75F, -0.5F, -0.25F, 0.0F, 0.25F, 0.5F, 0.75F, 1.0F}) {
        const double now = side * lab_of(fill(shade)).l;
        EXPECT_GT(now, before + 2) << shade;
        before = now;
      }
      std::vector<Matrix> visions{kNormal};
      visions.insert(visions.end(), kColourBlind.begin(), kColourBlind.end());
      for (const Matrix& vision : visions) {
        const auto apart = [&](float x) {
          return ciede2000(lab_of(seen(vision, fill(x))), lab_of(seen(vision, fill(-x))));
        };
        EXPECT_GE(apart(1), 30);
        EXPECT_GE(apart(0.25F), 8);
      }
      // The ends are not the card itself.
      const Lab card = lab_of(linear_rgb_of(colour(theme, Token::card)));
      EXPECT_GE(ciede2000(lab_of(fill(1)), card), 25);
      EXPECT_GE(ciede2000(lab_of(fill(-1)), card), 5);
    }
  }
}

TEST(Theme, AShadeOutsideTheScaleIsTheEndOfTheScale) {
  EXPECT_EQ(cell_fill(Theme::dark, TensorColour::s, 7.0F), cell_fill(Theme::dark, TensorColour::s, 1.0F));
  EXPECT_EQ(cell_fill(Theme::dark, TensorColour::s, -HUGE_VALF), cell_fill(Theme::dark, TensorColour::s, -1.0F));
  EXPECT_EQ(cell_fill(Theme::dark, TensorColour::s, NAN), cell_fill(Theme::dark, TensorColour::s, 0.0F));
}

TEST(Theme, ColoursComeOutInTheByteOrderOfDearImGui) {
  EXPECT_EQ(colour(Theme::dark, TensorColour::k), IM_COL32(0xF0, 0x9D, 0x1E, 0xFF));
  EXPECT_EQ(colour(Theme::light, Token::text), IM_COL32(0x1A, 0x1D, 0x21, 0xFF));
}

TEST(Theme, ACpuKernelHasTheColourOfItsOrder) {
  EXPECT_EQ(kernel_colour(Theme::dark, "cpu_multicore"), kernel_colour(Theme::dark, "naive"));
  EXPECT_EQ(kernel_colour(Theme::light, "cpu_flash1"), kernel_colour(Theme::light, "flash_tf32x3"));
  EXPECT_EQ(kernel_colour(Theme::light, "torch_math"), kernel_colour(Theme::light, "peers"));
}

// A rung added without a look would be drawn like a peer.
TEST(KernelLooks, EveryRungOfTheLadderHasItsOwn) {
  for (const KernelRow* row : ladder()) {
    EXPECT_EQ(look_of(row->id).kernel, row->id)
        << "No free look is left for '" << row->id << "': give it a row in viz/draw/kernel_looks.cpp.";
  }
}

TEST(KernelLooks, AreToldApartWithoutTheirColourOnEachDevice) {
  const auto on_cpu = [](const KernelLook& look) { return look.kernel.starts_with("cpu_"); };
  const auto passes_of = [](const KernelLook& look) {
    const auto row = find_kernel(look.kernel);
    return row ? (*row)->passes.front() : Pass::forward;
  };
  for (const KernelLook& a : kernel_looks()) {
    EXPECT_NE(a.mark, kUnknownLook.mark) << a.kernel;
    for (const KernelLook& b : kernel_looks()) {
      if (&a == &b) continue;
      EXPECT_NE(a.kernel, b.kernel) << "two rows";
      if (on_cpu(a) != on_cpu(b)) continue;  // the CPU's marks are open
      EXPECT_NE(a.mark, b.mark) << a.kernel << " and " << b.kernel;
      if (on_cpu(a) || passes_of(a) != passes_of(b)) continue;  // a backward has its forward's colour
      EXPECT_NE(a.rgb, b.rgb) << a.kernel << " and " << b.kernel;
    }
  }
}

// A chart may show runs of several passes, and rungs that took a free look.
TEST(KernelLooks, NoTwoKernelsOfADeviceShareAMarkWhateverTheirPass) {
  for (const Processor processor : {Processor::cpu, Processor::gpu}) {
    std::map<KernelMark, std::string_view> marks;
    for (const KernelRow* row : measured_rows()) {
      if (row->processor != processor) continue;
      const auto [other, is_new] = marks.try_emplace(look_of(row->id).mark, row->id);
      EXPECT_TRUE(is_new) << row->id << " has the mark of " << other->second;
    }
    EXPECT_GE(marks.size(), 9U);
  }
}

// A CPU kernel has the colour of a GPU kernel and none of its own: else the distances above would not hold for it.
TEST(KernelLooks, ColoursAreThoseOfTheGpu) {
  for (const KernelLook& cpu : kernel_looks()) {
    if (!cpu.kernel.starts_with("cpu_")) continue;
    const auto looks = kernel_looks();
    EXPECT_TRUE(std::any_of(looks.begin(), looks.end(), [&](const KernelLook& gpu) {
      return !gpu.kernel.starts_with("cpu_") && gpu.rgb == cpu.rgb;
    })) << cpu.kernel;
  }
}

// So that a rung can come without touching anything but its own files.
TEST(KernelLooks, OneIsFreeForTheNextRung) {
  const auto looks = kernel_looks();
  EXPECT_TRUE(std::any_of(looks.begin(), looks.end(), [](const KernelLook& look) { return look.kernel.empty(); }));
  EXPECT_EQ(look_of("").mark.shape, MarkShape::cross);
}

// A session of another version may name a kernel that this one does not have.
TEST(KernelLooks, AnUnknownKernelIsNeutralWithACross) {
  EXPECT_EQ(look_of("flash_of_tomorrow").mark.shape, MarkShape::cross);
  EXPECT_EQ(kernel_colour(Theme::dark, "flash_of_tomorrow"), colour(Theme::dark, Token::text));
}

class FontsTest : public ::testing::Test {
 protected:
  void SetUp() override { context_ = ImGui::CreateContext(); }
  void TearDown() override { ImGui::DestroyContext(context_); }
  // The test program lies in bin/, the fonts in share/attnscope/fonts/ beside it.
  static std::filesystem::path folder() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../share/attnscope/fonts";
  }

 private:
  ImGuiContext* context_ = nullptr;
};

TEST_F(FontsTest, HoldEveryGlyphThatThePanelsWrite) {
  const auto fonts = load_fonts(folder());
  ASSERT_TRUE(fonts) << fonts.error().message;
  const std::u32string words = U"×÷−±–·√≤≥≠∞∑ΣαβℓπTµ₀₁₂₃ᵀ…“”’";
  for (ImFont* font : {fonts->text, fonts->bold, fonts->mono}) {
    for (const char32_t c : words) EXPECT_TRUE(font->IsGlyphInFont(c)) << std::hex << static_cast<unsigned>(c);
  }
  for (const char32_t c : std::u32string(U"QKVSPmOℓα∞≤−√")) {
    EXPECT_TRUE(fonts->maths->IsGlyphInFont(c)) << std::hex << static_cast<unsigned>(c);
  }
}

TEST_F(FontsTest, NameTheFileThatIsMissing) {
  const auto fonts = load_fonts("/nowhere");
  ASSERT_FALSE(fonts);
  EXPECT_EQ(fonts.error().kind, ErrorKind::io);
  EXPECT_NE(fonts.error().message.find("/nowhere/Roboto-Regular.ttf"), std::string::npos) << fonts.error().message;
}

TEST_F(FontsTest, StyleGrowsWithTheScale) {
  Style s;
  s.scale = 2;
  s.theme = Theme::light;
  ImGui::GetStyle().WindowRounding = 99;
  apply_imgui_style(s);
  EXPECT_EQ(ImGui::GetStyle().WindowRounding, 16);
  EXPECT_EQ(ImGui::GetStyle().FontSizeBase, 26);
  apply_imgui_style(s);  // twice gives the same, not four times the size
  EXPECT_EQ(ImGui::GetStyle().WindowRounding, 16);
  EXPECT_EQ(ImGui::ColorConvertFloat4ToU32(ImGui::GetStyle().Colors[ImGuiCol_ChildBg]),
            colour(Theme::light, Token::card));
}

}  // namespace
}  // namespace attn
