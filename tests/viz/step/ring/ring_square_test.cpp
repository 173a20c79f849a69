// A square of a ring's map: its number can be read in both themes, and stands on what it says.
#include "viz/step/ring/ring_square_draw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/environment/contrast.h"
#include "viz/draw/number_text.h"
#include "viz/step/ring/ring_parts_draw.h"

namespace attn {
namespace {

TEST(RingSquare, ANumberContrastsWithWhatItStandsOn) {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    for (const RingSquareLook look : {RingSquareLook::later, RingSquareLook::now, RingSquareLook::done}) {
      const RingSquareInks inks = ring_square_inks(theme, look);
      const ImU32 ground = inks.fill == 0 ? colour(theme, Token::card) : inks.fill;
      EXPECT_GE(test::contrast(inks.number, ground), 4.5) << static_cast<int>(theme) << ", " << static_cast<int>(look);
    }
    EXPECT_NE(ring_square_inks(theme, RingSquareLook::now).fill, ring_square_inks(theme, RingSquareLook::done).fill);
  }
}

// The triangle is what lies below the diagonal from the upper left corner: there y - x is not negative.
TEST(RingSquare, TheNumberOfACutSquareLiesWithinItsTriangle) {
  const ImVec2 digits{5.5F, 8};
  int placed = 0;
  for (float side = 8; side <= 40; side += 0.5F) {
    const Box square{{100, 50}, {100 + side, 50 + side}};
    const auto number = ring_square_number(square, true, digits, 1.5F);
    if (!number) continue;
    ++placed;
    EXPECT_FLOAT_EQ(number->width(), digits.x);
    EXPECT_FLOAT_EQ(number->height(), digits.y);
    EXPECT_GE(number->min.x - square.min.x, 1.5F);
    EXPECT_GE(square.max.y - number->max.y, 1.5F);
    const float corner = (number->min.y - square.min.y) - (number->max.x - square.min.x);
    EXPECT_GE(corner / std::sqrt(2.0F), 1.49F) << side;
  }
  EXPECT_GT(placed, 30);
  EXPECT_FALSE(ring_square_number({{0, 0}, {15, 15}}, true, digits, 1.5F));
  EXPECT_TRUE(ring_square_number({{0, 0}, {15, 15}}, false, digits, 1.5F));
  EXPECT_FALSE(ring_square_number({{0, 0}, {8, 8}}, false, digits, 1.5F));
}

// Beside numbers an empty cell would read as one that holds nothing.
TEST(RingCell, ANumberNextToZeroIsNotLeftOut) {
  const auto text = [](float value, const char* shown, int room) {
    Cell cell;
    cell.value = value;
    cell.text = shown;
    return rings::text_in_room(cell, room);
  };
  EXPECT_EQ(text(0.0012F, "0.001", 4), "1e−3");
  EXPECT_EQ(text(-0.0012F, "−0.001", 4), "≈0");
  EXPECT_EQ(text(-0.0012F, "−0.001", 5), "−1e−3");
  EXPECT_EQ(text(0.456F, "0.456", 4), "0.46");
  EXPECT_EQ(text(-12345, "−12345", 5), "−1e4");
  for (float value = 0.9F; value > 1e-6F; value *= 0.7F)
    for (const float signed_value : {value, -value})
      EXPECT_NE(text(signed_value, significant_text(static_cast<double>(signed_value), 1).c_str(), 4), "")
          << signed_value;
}

}  // namespace
}  // namespace attn
