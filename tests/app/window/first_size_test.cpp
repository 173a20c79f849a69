#include "app/window/first_size.h"

#include <gtest/gtest.h>

namespace attn {
namespace {

TEST(FirstSize, FitsEveryScreenAndIsAsWantedWhereThereIsRoom) {
  for (const int width : {640, 800, 1024, 1280, 1366, 1440, 1920, 3840}) {
    for (const int height : {420, 600, 720, 768, 900, 1080, 2160}) {
      const WindowSize first = first_size({1440, 900}, {width, height});
      EXPECT_LT(first.width, width);
      EXPECT_LT(first.height, height);
      if (width > 1500 && height > 1000) {
        EXPECT_EQ(first, (WindowSize{1440, 900}));
      }
    }
  }
  EXPECT_EQ(first_size({1440, 900}, {0, 0}), (WindowSize{1440, 900}));
}

}  // namespace
}  // namespace attn
