// What the timeline says where it has little room.
#include "viz/step/timeline/timeline.h"

#include <gtest/gtest.h>

namespace attn {
namespace {

TEST(Timeline, ABriefTitleStillNamesItsTile) {
  EXPECT_EQ(brief_title("query tile 0"), "q 0");
  EXPECT_EQ(brief_title("key tile 12"), "k 12");
  EXPECT_EQ(brief_title("pass 2, query row 3"), "pass 2, q 3");
}

}  // namespace
}  // namespace attn
