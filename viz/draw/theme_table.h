// The fonts of the program, and its colours as 0xRRGGBB, dark and light; those of kernels are in
// viz/draw/kernel_looks.cpp.
// tests/viz/draw/theme_test.cpp recomputes contrasts and the distances between colours, in normal and colour-blind
// vision, from these rows: change a value there first.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "viz/draw/text_runs.h"

namespace attn {

// A colour of both themes. Index with Theme: dark = 0, light = 1.
struct ThemeColour {
  std::string_view name;
  std::array<std::uint32_t, 2> rgb;
};

// In the order of Token. `faint` is for graphics only: it is too weak for text.
constexpr std::array<ThemeColour, 8> kTokenColours{{
    {"ground", {0x121418, 0xF1F3F5}},
    {"card", {0x1A1D23, 0xFFFFFF}},
    {"field", {0x262B34, 0xEEF1F4}},
    {"line", {0x303742, 0xD9DDE3}},
    {"text", {0xE8EAED, 0x1A1D21}},
    {"dim", {0xA3ACB8, 0x56606C}},
    {"faint", {0x727C8A, 0x7B8491}},
    {"band", {0x2A313C, 0xE9EEF5}},
}};

// The font files of a role: the first that has a letter draws it. The others bring what it lacks: subscripts, Greek,
// mathematical letters. A window merges the first two into one font.
struct FontRole {
  Face face;
  std::array<const char*, 3> files;
};
constexpr std::array<FontRole, 4> kFontRoles{{
    {Face::text, {"Roboto-Regular.ttf", "NotoSansMono-Regular.ttf", "XITSMath-Regular.otf"}},
    {Face::bold, {"Roboto-Bold.ttf", "NotoSansMono-Regular.ttf", "XITSMath-Regular.otf"}},
    {Face::mono, {"Inconsolata-Medium.ttf", "NotoSansMono-Regular.ttf", "XITSMath-Regular.otf"}},
    {Face::maths, {"XITS-Italic.otf", "XITSMath-Regular.otf", "NotoSansMono-Regular.ttf"}},
}};

// In the order of TensorColour. Light values are inks; cells of the light theme are a wash of the dark hue.
constexpr std::array<ThemeColour, 9> kTensorColours{{
    {"Q", {0x5193F2, 0x1F6FD8}},
    {"K", {0xF09D1E, 0xA06A00}},
    {"V", {0x3AC48C, 0x035432}},
    {"S", {0xC3AFF4, 0x672DBA}},
    {"P", {0xDF65B5, 0xB84CA0}},
    {"m", {0xED5C3D, 0xC64C50}},
    {"l", {0xAAE4F1, 0x1C7183}},
    {"O", {0xEEE061, 0x5F5C20}},
    {"alpha", {0x979797, 0x3E3E3E}},
}};

}  // namespace attn
