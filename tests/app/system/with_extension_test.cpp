#include "app/system/with_extension.h"

#include <gtest/gtest.h>

namespace attn {
namespace {

TEST(WithExtension, AddsWhatAFileIsWhereItsNameDoesNotSaySo) {
  EXPECT_EQ(with_extension("run", ".attn"), "run.attn");
  EXPECT_EQ(with_extension("run.attn", ".attn"), "run.attn");
  EXPECT_EQ(with_extension("v1.2", ".pdf"), "v1.2.pdf");
  EXPECT_EQ(with_extension("", ".pdf"), "");
}

}  // namespace
}  // namespace attn
