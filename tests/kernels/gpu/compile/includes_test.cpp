// What a user's text may include: the program's headers and CUDA's. Every way to write the directive is refused where
// it names another file, and none where it names one of these.
#include "kernels/gpu/compile/includes.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "tests/kernels/gpu/own_kernel/own_kernel_text.h"

namespace attn::gpu {
namespace {

Result<void> check(const std::string& text) {
  return check_includes(text, "mine.cu", ScoreLines::out, [](std::string_view name) {
    return name == "cuda_fp16.h" || name == "cooperative_groups.h" || name == "cuda/std/array";
  });
}

// The directive, each of its spellings, with the name of a header where @ stands.
const std::vector<std::string>& spellings() {
  static const std::vector<std::string> kAll{"#include @\n",
                                             "  #  include @  \n",
                                             "#include/**/@\n",
                                             "#/**/include /* a */ @ // b\n",
                                             "# \\\n include @\n",
                                             "#inc\\\nlude @\n",
                                             "%:include @\n",
                                             "?\?=include @\n",
                                             "#if 0\n#include @\n#endif\n",
                                             "/* a\n b */ #include @\n",
                                             "#include_next @\n",
                                             "#import @\n",
                                             "auto s = R\"(\n)\"; \n#include @\n",
                                             "int n = 1'000;\n#include @\n",
                                             "char c = '\"';\n#include @\n",
                                             "#inc\\  \nlude @\n",
                                             "#include \\\r\n@\r\n",
                                             "const char* s = \"a\\\"b\";\n#include @\n"};
  return kAll;
}

std::string with(std::string text, const std::string& name) {
  return text.replace(text.find('@'), 1, name);
}

TEST(Includes, OfTheProgramAndOfCudaAreTaken) {
  for (const std::string& text : spellings())
    for (const char* name : {"\"kernels/gpu/device.cuh\"", "<cuda_fp16.h>", "<cuda/std/array>", "\"cuda_fp16.h\""}) {
      const auto good = check(with(text, name));
      EXPECT_TRUE(good) << text << name << ": " << (good ? "" : good.error().message);
    }
}

TEST(Includes, OfAnyOtherFileAreRefusedHoweverTheyAreWritten) {
  for (const std::string& text : spellings())
    for (const char* name : {"\"/etc/passwd\"", "</etc/passwd>", "\"mine.cuh\"", "<no_such_header.h>", "\"../a.h\"",
                             "<cuda/../../../../etc/passwd>", "HEADER", "\"\"", "\"cuda_fp16.h\" HEADER", "<a"}) {
      const auto refused = check(with(text, name));
      ASSERT_FALSE(refused) << text << name;
      EXPECT_NE(refused.error().message.find("mine.cu, line "), std::string::npos) << refused.error().message;
    }
}

TEST(Includes, TheLineOfTheDirectiveIsNamed) {
  const auto refused =
      check("// a\n/* b\n c */\nint \\\n x;\nauto s = R\"x(\n#include \"/a\"\n)x\";\n#include \"/b\"\n");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("line 9: it includes /b"), std::string::npos) << refused.error().message;
}

TEST(Includes, WhichFilesThereAreIsNotAsked) {
  for (const char* text :
       {"#if __has_include(\"/etc/passwd\")\n#endif\n", "#define HAS __has_include\n",
        "#if __has_\\\ninclude(<a>)\n#endif\n", "#ifdef __has_include_next\n#endif\n",
        "#define PASTE(a, b) a##b\n#if PASTE(__has_, include)(\"/a\")\n#endif\n", "#if __has_embed(\"a\")\n#endif\n"})
    EXPECT_FALSE(check(text)) << text;
  EXPECT_TRUE(check("#if __has_cpp_attribute(nodiscard)\n#endif\n#ifdef __has_builtin\n#endif\n"));
}

TEST(Includes, WordsThatAreNoDirectiveAreTaken) {
  for (const char* text :
       {"// #include \"/etc/passwd\"\n", "/*\n#include \"/etc/passwd\"\n*/\n",
        "auto s = R\"(\n#include \"/etc/passwd\"\n)\";\n", "int include = 1;\n", "const char* s = \"#include </a>\";\n",
        "#define X #include\n", "#includes\n", "// a \\\n#include \"/a\"\n"})
    EXPECT_TRUE(check(text)) << text;
}

// Before anything is asked of a compiler or of what it once kept.
TEST(Includes, AreLookedAtBeforeAnythingIsCompiledOrTakenFromTheCache) {
  class Never final : public Compiler {
   public:
    std::string version() override { return "NVRTC 0.0"; }
    Result<Cubin> compile(const KernelSource&, const std::vector<std::string>&) override {
      ADD_FAILURE() << "it was compiled";
      return Cubin{};
    }
  } never;
  CompileService service(never, {});
  const auto own = own_kernel_from("mine.cu", kOwnKernel + "#include \"/etc/passwd\"\n");
  ASSERT_TRUE(own) << own.error().message;
  ASSERT_TRUE((*own)->cu.of_user);
  const CompileRequest request{(*own)->cu, "sm_90", {}};
  const auto compiled = service.compile(request);
  ASSERT_FALSE(compiled);
  EXPECT_NE(compiled.error().message.find("line 5: it includes /etc/passwd"), std::string::npos)
      << compiled.error().message;
  EXPECT_FALSE(service.ptx(request));
}

}  // namespace
}  // namespace attn::gpu
