#include "kernels/base/hash.h"

#include <gtest/gtest.h>

namespace attn {
namespace {

// Known values of FNV-1a, 64 bits: what state strings and files of version 1 name must never change.
TEST(Hash, TheShortOneIsFnv1a) {
  EXPECT_EQ(short_hash_of(""), "cbf29ce484222325");
  EXPECT_EQ(short_hash_of("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(short_hash_of("foobar"), "85944171f73967e8");
  EXPECT_EQ(short_hash_of(std::string_view("\xff\0", 2)).size(), 16U);
}

TEST(Hash, TheLongOneBeginsWithTheShort) {
  EXPECT_EQ(hash_of("foobar").substr(0, 16), short_hash_of("foobar"));
  EXPECT_EQ(hash_of("foobar").size(), 32U);
  EXPECT_NE(hash_of("foobar").substr(16), short_hash_of("foobar"));
}

}  // namespace
}  // namespace attn
