// Numbers of one's own as text.
#include "app/state/inputs/own_numbers.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "kernels/formats/npy.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

using Four = std::array<std::string, 4>;

class OwnNumbers : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    const auto path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  static std::vector<float> numbers(const std::string& path) {
    const auto array = read_npy(path, 1 << 20);
    if (!array) return {};
    std::vector<float> all(static_cast<std::size_t>(array->size()));
    array->read(0, array->size(), all.data());
    return all;
  }
  TempFolder folder_;
};

TEST_F(OwnNumbers, AMatrixTakesCommasBlanksTabsAndSemicolons) {
  const auto m = matrix_of_text("1, 2.5,-3\n 4;5e-1;+6\r\n\n7\t8 9\n", "q.csv");
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(m->shape(), (std::vector<std::int64_t>{1, 1, 3, 3}));
  EXPECT_EQ(m->get(1), 2.5F);
  EXPECT_EQ(m->get(4), 0.5F);
  EXPECT_EQ(m->get(5), 6);
  EXPECT_EQ(m->get(8), 9);
}

TEST_F(OwnNumbers, WhatIsNoMatrixIsRefusedWithItsRow) {
  EXPECT_EQ(matrix_of_text("1,2\n3,x4\n", "k.csv").error().message, "k.csv, row 2: 'x4' is not a number.");
  EXPECT_EQ(matrix_of_text("1,2\n3\n", "k.csv").error().message, "k.csv, row 2: 1 number, but earlier rows have 2.");
  EXPECT_EQ(matrix_of_text(" \n,\n", "k.csv").error().message, "k.csv contains no numbers.");
}

TEST_F(OwnNumbers, ThreeMatricesOfOneTextAreQKAndV) {
  const auto paths = arrays_of_numbers({file("pasted.csv", "1,2\n3,4\n\n\n5 6\n7 8\n \n9,10\n11,12")});
  ASSERT_TRUE(paths && *paths);
  EXPECT_EQ(numbers((**paths)[0]), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(numbers((**paths)[1]), (std::vector<float>{5, 6, 7, 8}));
  EXPECT_EQ(numbers((**paths)[2]), (std::vector<float>{9, 10, 11, 12}));
  EXPECT_EQ((**paths)[3], "");
}

TEST_F(OwnNumbers, ThreeFilesAreKnownByTheirFirstLetters) {
  const std::string v = file("v.csv", "3"), q = file("Q_mine.csv", "1"), k = file("k.txt", "2");
  const auto paths = arrays_of_numbers({v, q, k});
  ASSERT_TRUE(paths && *paths);
  EXPECT_EQ(numbers((**paths)[0]), std::vector<float>{1});
  EXPECT_EQ(numbers((**paths)[2]), std::vector<float>{3});
  const auto two = arrays_of_numbers({v, q});
  ASSERT_TRUE(two);
  EXPECT_EQ(two->error().message, "The files do not include k.csv.");
}

TEST_F(OwnNumbers, OtherFilesAreNoneOfItsBusiness) {
  EXPECT_FALSE(arrays_of_numbers({}));
  EXPECT_FALSE(arrays_of_numbers({"run.attn"}));
  EXPECT_FALSE(arrays_of_numbers({"q.csv", "k.npy"}));
  const auto one = arrays_of_numbers({file("q.csv", "1,2\n")});
  ASSERT_TRUE(one);
  EXPECT_FALSE(*one);
}

}  // namespace
}  // namespace attn
