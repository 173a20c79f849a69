// Every row of every bundled session was measured on the very text that the program holds today: a byte that changes in
// a kernel or a header of it would cut the row from its source, its samples and its edits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>

#include "kernels/ladder.h"
#include "profiling/measure/source_now.h"
#include "profiling/session/session.h"
#include "tests/environment/paths.h"
#include "tests/kernels/gpu/rungs/cubin_keys.h"

namespace attn {
namespace {

// The shipped text counts here, whatever copies the user of this machine has edited.
class BundledHashes : public testing::Test {
 protected:
  void SetUp() override {
    const char* kept = std::getenv("ATTNSCOPE_KERNELS");
    if (kept != nullptr) before_ = kept;
    ASSERT_EQ(setenv("ATTNSCOPE_KERNELS", "/nonexistent", 1), 0);
  }
  void TearDown() override {
    if (before_.empty()) {
      unsetenv("ATTNSCOPE_KERNELS");
    } else {
      setenv("ATTNSCOPE_KERNELS", before_.c_str(), 1);
    }
  }

 private:
  std::string before_;
};

TEST_F(BundledHashes, AreThoseOfTodaysTextInEveryRow) {
  std::size_t rows = 0, peers = 0;
  std::set<std::string> kernels;
  for (const auto& file : std::filesystem::directory_iterator(test::source_folder() + "/assets/sessions")) {
    const auto session = read_session(file.path());
    ASSERT_TRUE(session) << session.error().message;
    for (const SweepRun& run : session->runs) {
      for (const Measurement& m : run.rows) {
        if (m.peer) {
          ++peers;
          continue;
        }
        const auto row = find_kernel(m.key.kernel);
        ASSERT_TRUE(row) << m.key.kernel << " in " << file.path();
        ASSERT_EQ((*row)->processor, Processor::gpu) << "a CPU kernel's hash is the program's commit";
        EXPECT_EQ(source_hash_now(**row, m.key.problem), m.key.source_hash)
            << m.key.kernel << " on " << describe(m.key.problem) << " in " << file.path();
        kernels.insert(m.key.kernel);
        ++rows;
      }
    }
  }
  // The files were found, and they have every rung that was measured.
  EXPECT_EQ(rows, 481U);
  EXPECT_EQ(peers, 362U);
  EXPECT_EQ(kernels, (std::set<std::string>{"flash_bwd", "flash_bwd_hopper", "flash_hopper", "flash_mma", "flash_simt",
                                            "flash_tf32x3", "flash_wmma", "naive", "tiled"}));
  for (const std::string& kernel : kernels)
    EXPECT_NE(std::ranges::find(test::kCubinKeys, kernel, &test::CubinKeys::id), std::end(test::kCubinKeys))
        << "the key of one compile of " << kernel << " is stored nowhere";
}

}  // namespace
}  // namespace attn
