// A file of another program is called what it is, by every reader that it may be given to.
#include "kernels/formats/foreign_file.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "kernels/formats/container.h"
#include "kernels/formats/npy_header.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

const std::string kLfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n";
const std::string kZip("PK\x03\x04\x14\0\0\0\0\0", 10);

struct Foreign {
  std::string name, bytes;
  std::string_view words;
};

TEST(ForeignFiles, AreCalledWhatTheyAre) {
  const Foreign all[] = {
      {"q.npy", kLfs, "git lfs pull"},
      {"q.npz", kZip, "np.load('FILE.npz')"},
      {"q.pt", kZip, "torch.load"},
      {"q.npy", "\x80\x02}q\x01.", "torch.load"},
      {"q.safetensors", std::string("\x40\0\0\0\0\0\0\0{\"q\":{\"dtype\":\"BF16\"}}", 30), "load_file"},
      {"q.h5", "\x89HDF\r\n\x1a\n", "h5py"}};
  for (const Foreign& f : all) {
    const auto array = parse_raw_npy_header(bytes_of(f.bytes), f.name);
    ASSERT_FALSE(array);
    EXPECT_NE(array.error().message.find(f.words), std::string::npos) << array.error().message;
    const auto session = parse_container(bytes_of(f.bytes), f.name);
    ASSERT_FALSE(session);
    EXPECT_NE(session.error().message.find(f.words), std::string::npos) << session.error().message;
  }
  const auto kernel = gpu::own_kernel_from("mine.cu", kLfs);
  ASSERT_FALSE(kernel);
  EXPECT_NE(kernel.error().message.find("git lfs pull"), std::string::npos) << kernel.error().message;
}

TEST(ForeignFiles, OursAreNone) {
  EXPECT_EQ(foreign_file(bytes_of(kZip), "s.attn"), "");
  EXPECT_EQ(foreign_file(bytes_of("\x93NUMPY\x01\x00"), "q.npy"), "");
  EXPECT_EQ(foreign_file(bytes_of("// attn: {\"api\": 1}"), "mine.cu"), "");
  EXPECT_EQ(foreign_file(bytes_of("{\"version\": 1}"), "mine.json"), "");
  EXPECT_EQ(foreign_file({}, ""), "");
}

}  // namespace
}  // namespace attn
