#include "kernels/formats/npy_whole.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/formats/npy_header.h"

namespace attn {
namespace {

constexpr std::uint64_t kRoom = 1 << 16;

template <class T>
std::vector<std::byte> table_file(const std::string& type, std::vector<std::int64_t> shape, std::vector<T> values,
                                  bool swapped = false) {
  std::vector<std::byte> bytes = npy_header_bytes(type, shape);
  for (const T value : values) {
    std::byte raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    if (swapped) std::reverse(raw, raw + sizeof(T));
    bytes.insert(bytes.end(), raw, raw + sizeof(T));
  }
  return bytes;
}

std::string refused(const std::vector<std::byte>& bytes, std::uint64_t room = kRoom) {
  const auto read = parse_npy_whole(bytes, "t.npy", room);
  return read ? "accepted" : read.error().message;
}

TEST(NpyWhole, ReadsBothWidthsInBothByteOrders) {
  const std::vector<std::int64_t> numbers{1, -1, 70000, 2147483647};
  for (const bool swapped : {false, true}) {
    const std::string order = swapped ? ">" : "<";
    const auto four = parse_npy_whole(
        table_file<std::int32_t>(order + "i4", {2, 2}, {1, -1, 70000, 2147483647}, swapped), "t.npy", kRoom);
    ASSERT_TRUE(four) << four.error().message;
    EXPECT_EQ(four->values, numbers);
    EXPECT_EQ(four->shape, (std::vector<std::int64_t>{2, 2}));
    const auto eight = parse_npy_whole(table_file<std::int64_t>(order + "i8", {4}, {1, -1, 70000, 2147483647}, swapped),
                                       "t.npy", kRoom);
    ASSERT_TRUE(eight) << eight.error().message;
    EXPECT_EQ(eight->values, numbers);
  }
}

TEST(NpyWhole, RefusesFloatsWhatIsCutOffAndWhatIsTooLarge) {
  EXPECT_EQ(refused(table_file<float>("<f4", {1}, {1.0F})),
            "t.npy cannot be read: its type is '<f4', not i4 or i8; save it with .astype(np.int32).");
  EXPECT_NE(refused(table_file<std::uint32_t>("<u4", {1}, {1})).find("'<u4'"), std::string::npos);
  auto cut = table_file<std::int32_t>("<i4", {3}, {1, 2, 3});
  cut.pop_back();
  EXPECT_NE(refused(cut), "accepted");
  EXPECT_EQ(refused(table_file<std::int32_t>("<i4", {3}, {1, 2, 3}), 23), "t.npy takes 24 B; the limit is 23 B.");
  EXPECT_EQ(refused(table_file<std::int32_t>("<i4", {3}, {1, 2, 3}), 24), "accepted");
}

}  // namespace
}  // namespace attn
