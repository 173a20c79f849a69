// What is said of a library of CUDA that is not there, and of one that is and cannot be loaded.
#include "kernels/base/cuda_library.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

constexpr const char* kName = "libof_no_cuda.so.13";

std::string refusal() {
  const auto library = gpu::open_cuda_library({kName}, "Fix it.");
  EXPECT_FALSE(library);
  return library ? "" : library.error().message;
}

TEST(CudaLibrary, OneThatIsThereAndCannotBeLoadedIsNotSaidToBeMissing) {
  const TempFolder folder;
  std::filesystem::create_directories(folder.path() / "lib");
  const char* const named = std::getenv("ATTNSCOPE_CUDA");
  const std::string before = named == nullptr ? "" : named;  // empty is none
  ASSERT_EQ(::setenv("ATTNSCOPE_CUDA", folder.path().c_str(), 1), 0);
  EXPECT_NE(refusal().find("was not found in "), std::string::npos) << refusal();
  const std::filesystem::path file = folder.path() / "lib" / kName;
  put_file(file, "no library");
  EXPECT_EQ(refusal().find("not found"), std::string::npos) << refusal();
  EXPECT_NE(refusal().find("cannot be loaded"), std::string::npos) << refusal();
  EXPECT_NE(refusal().find(file.string()), std::string::npos) << refusal();
  EXPECT_NE(refusal().find("Fix it."), std::string::npos) << refusal();
  ::setenv("ATTNSCOPE_CUDA", before.c_str(), 1);
}

}  // namespace
}  // namespace attn
