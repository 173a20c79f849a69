#include "kernels/base/letters.h"

#include <gtest/gtest.h>

namespace attn {
namespace {

TEST(Letters, CaseAndBlanksAroundMeanNothingAndOtherBytesStay) {
  EXPECT_TRUE(same_letters("TFLOPS_z9", "tflops_Z9"));
  EXPECT_FALSE(same_letters("br", "bra"));
  EXPECT_FALSE(same_letters("@", "`"));                // 32 apart, as letters are
  EXPECT_FALSE(same_letters("\xc3\x84", "\xc3\xa4"));  // of ASCII alone
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \t"), "");
}

}  // namespace
}  // namespace attn
