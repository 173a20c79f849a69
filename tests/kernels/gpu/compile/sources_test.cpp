// Which text counts for a kernel's hash: saved sessions and cubins on disk are found by it.
#include "kernels/gpu/compile/sources.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/formats/container.h"
#include "kernels/gpu/rungs/rows.h"
#include "tests/environment/paths.h"

namespace attn::gpu {
namespace {

// Written down when the first GPU sessions were saved. A hash that changes makes those rows another kernel's, compiles
// every cubin again, and so needs a reason that is a change of the kernel itself.
const std::map<std::string, std::string> kFrozen{{"naive", "d7e8bf79342327c398d9a7ff0d2f5139"},
                                                 {"tiled", "969216ce844f02c0afb06c5c6db3be62"},
                                                 {"flash_simt", "9fc6fa13a9da5cebd9fbaa06e662a635"}};

std::vector<std::string> names_of(const std::vector<SourceText>& headers) {
  std::vector<std::string> names;
  for (const SourceText& header : headers) names.emplace_back(header.name);
  return names;
}

TEST(SourceHash, OfTheFirstRungsIsFrozen) {
  for (const auto& [id, hash] : kFrozen) {
    const auto source = kernel_source(id, {});
    ASSERT_TRUE(source) << source.error().message;
    EXPECT_EQ(source->hash, hash) << id;
  }
}

TEST(SourceHash, IsThatOfTheBundledSession) {
  const auto file = read_container(test::source_folder() + "/assets/sessions/h100.attn");
  ASSERT_TRUE(file) << file.error().message;
  const auto session = session_object(*file, "h100.attn");
  ASSERT_TRUE(session) << session.error().message;
  std::map<std::string, std::string> hashes;
  for (const nlohmann::json& m : (*session)->at("measurements")) {
    const std::string hash = m.at("source_hash"), kernel = m.at("kernel");
    EXPECT_EQ(hashes.try_emplace(kernel, hash).first->second, hash) << kernel;
  }
  EXPECT_EQ(hashes, kFrozen);
}

constexpr std::array<SourceText, 6> kSources{{
    {"kernels/gpu/device.cuh", "#include \"kernels/gpu/args.h\"\n"},
    {"kernels/gpu/args.h", "struct Args {};\n"},
    {"kernels/gpu/flash_simt_layout.h", "// layout\n"},
    {"kernels/gpu/mma.cuh", "  #  include <cuda_fp16.h>\n#include \"kernels/gpu/mma_layout.h\"\n"},
    {"kernels/gpu/mma_layout.h", "#include \"kernels/gpu/mma.cuh\"\n"},
    {"kernels/gpu/naive.cu", "#include \"kernels/gpu/device.cuh\"\n"},
}};

TEST(SourceHash, CountsWhatANewRungIncludesAndNothingElse) {
  EXPECT_TRUE(headers_of("some_rung", "int x;\n", kSources).empty());
  EXPECT_EQ(names_of(headers_of("some_rung", "#include \"kernels/gpu/device.cuh\"\n", kSources)),
            (std::vector<std::string>{"kernels/gpu/device.cuh", "kernels/gpu/args.h"}));
  // Each once, also where they include each other; what is said in words is not included.
  EXPECT_EQ(
      names_of(headers_of("some_rung",
                          "// #include \"kernels/gpu/args.h\"\n\t# include \"kernels/gpu/mma.cuh\" // mma\n"
                          "#include <kernels/gpu/flash_simt_layout.h>",
                          kSources)),
      (std::vector<std::string>{"kernels/gpu/mma.cuh", "kernels/gpu/mma_layout.h", "kernels/gpu/flash_simt_layout.h"}));
}

TEST(SourceHash, OfTheFirstRungsCountsTheFirstHeadersThenNewOnesThatTheyInclude) {
  const std::vector<std::string> first{"kernels/gpu/device.cuh", "kernels/gpu/args.h",
                                       "kernels/gpu/flash_simt_layout.h"};
  EXPECT_EQ(names_of(headers_of("naive", kSources[5].text, kSources)), first);
  std::vector<std::string> more = first;
  more.insert(more.end(), {"kernels/gpu/mma.cuh", "kernels/gpu/mma_layout.h"});
  EXPECT_EQ(names_of(headers_of("naive", "#include \"kernels/gpu/mma.cuh\"\n", kSources)), more);
}

TEST(SourceHash, ChangesWithAHeaderOfTheRungAlone) {
  auto changed = kSources;
  changed[4].text = "#include \"kernels/gpu/mma.cuh\"\n// more\n";
  const std::string mma = "#include \"kernels/gpu/mma.cuh\"\n", plain = "#include \"kernels/gpu/device.cuh\"\n";
  EXPECT_NE(source_hash("some_rung", mma, kSources), source_hash("some_rung", mma, changed));
  EXPECT_EQ(source_hash("some_rung", plain, kSources), source_hash("some_rung", plain, changed));
  EXPECT_EQ(source_hash("naive", plain, kSources), source_hash("naive", plain, changed));
}

// A phase comment is no change of the kernel; every other comment is. Its lines move all the same.
TEST(SourceHash, DoesNotCountLinesThatHoldAPhaseAlone) {
  const std::string plain = "#include \"kernels/gpu/args.h\"\nint f() {\n  return 1;\n}\n";
  const std::string tagged = "#include \"kernels/gpu/args.h\"\nint f() {\n  // @phase S\n  return 1;\n}\n";
  EXPECT_EQ(source_hash("some_rung", plain, kSources), source_hash("some_rung", tagged, kSources));
  EXPECT_NE(text_hash("some_rung", plain, kSources), text_hash("some_rung", tagged, kSources));
  EXPECT_NE(source_hash("some_rung", plain, kSources), source_hash("some_rung", plain + "// S\n", kSources));
  auto headers = kSources;
  headers[1].text = "// @phase S\nstruct Args {};\n";
  EXPECT_EQ(source_hash("some_rung", plain, kSources), source_hash("some_rung", plain, headers));
  EXPECT_NE(text_hash("some_rung", plain, kSources), text_hash("some_rung", plain, headers));
}

TEST(Sources, EveryRungIncludesHeadersThatTheProgramHolds) {
  for (const KernelRow& row : gpu_kernel_table()) {
    const auto source = kernel_source(row.id, {});
    ASSERT_TRUE(source) << row.id << ": write kernels/gpu/rungs/FAMILY/" << row.id << ".cu";
    std::vector<std::string> texts{source->text};
    for (const SourceText& header : headers_of(row.id, source->text, embedded_sources())) {
      texts.emplace_back(header.text);
    }
    for (const std::string& text : texts) {
      for (std::size_t at = text.find("#include \"kernels/"); at != std::string::npos;
           at = text.find("#include \"kernels/", at + 1)) {
        const std::size_t begin = text.find('"', at) + 1;
        const std::string name = text.substr(begin, text.find('"', begin) - begin);
        EXPECT_NE(std::ranges::find(embedded_sources(), name, &SourceText::name), embedded_sources().end())
            << row.id << " includes " << name << ", which is not embedded: name it *_layout.h or *.cuh";
      }
    }
  }
}

}  // namespace
}  // namespace attn::gpu
