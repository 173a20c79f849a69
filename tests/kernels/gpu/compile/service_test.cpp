// Every GPU kernel compiles for every architecture its row declares, without spills at the default options; the cache
// never trusts what is damaged; what ptxas says is read right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/base/hash.h"
#include "kernels/gpu/compile/cubin_cache.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/rows.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"

namespace attn::gpu {
namespace {

namespace fs = std::filesystem;

// A folder of this test alone, removed at its end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "attnscope_gpu_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Says what it was told to say and counts how often it was asked.
class FakeCompiler final : public Compiler {
 public:
  std::string version() override { return version_; }
  Result<Cubin> compile(const KernelSource&, const std::vector<std::string>&) override {
    ++calls;
    Cubin c;
    c.code.assign(200, std::byte{7});
    const unsigned char elf[] = {0x7f, 'E', 'L', 'F', 2, 1};
    for (std::size_t n = 0; n < sizeof elf; ++n) c.code[n] = std::byte{elf[n]};
    c.code[18] = std::byte{190};
    c.code[19] = std::byte{0};
    c.log =
        "ptxas info    : Compiling entry function 'f' for 'sm_80'\nptxas info    : Used 40 registers, 8 bytes smem\n";
    return c;
  }
  std::string version_ = "fake 1";
  int calls = 0;
};

CompileRequest request(const std::string& text = "source") {
  return {{"a.cu", text, hash_of(text), false}, "sm_80", {"ATTN_D=64"}};
}

void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}
std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

Problem problem_for(std::int64_t d, DType dtype, bool causal, bool bias) {
  Problem p;
  p.Lq = p.Lk = 300;
  p.D = p.Dv = d;
  p.dtype = dtype;
  p.mask.causal = causal;
  if (bias) p.bias_shape = {1, 1, 300, 300};
  return p;
}

// Every head dimension that the choice of a tile depends on, every dtype, mask and load width; not their product. What
// the rung says it does not take is left out, and something of every dtype must be left.
std::vector<Problem> problems_for(const KernelRow& row, const Device& device) {
  const DType first = row.dtypes.front();
  std::vector<Problem> all{problem_for(64, first, true, false), problem_for(128, first, false, false),
                           problem_for(256, first, true, false), problem_for(111, row.dtypes.back(), true, true)};
  for (const DType dtype : row.dtypes) {
    if (dtype == DType::f16) all.push_back(problem_for(64, dtype, true, true));
    if (dtype == DType::bf16) all.push_back(problem_for(128, dtype, false, false));
  }
  for (Problem& p : all) p.pass = row.passes.front();
  std::erase_if(all, [&](const Problem& p) { return !row.supports(row, p, {}, device); });
  for (const DType dtype : row.dtypes) {
    // Tensor cores of sm_75 know no bf16; the rung says so (TensorCoreRungs).
    if (device.arch == "sm_75" && dtype == DType::bf16 && row.dtypes.front() != DType::f32) continue;
    EXPECT_NE(std::ranges::find(all, dtype, &Problem::dtype), all.end())
        << row.id << " takes " << name_of(dtype) << " but no problem of the list in it";
  }
  return all;
}

// The two places where a usual tile spills, both of flash_tf32x3 on sm_80, in bytes stored and loaded. D = 256: five
// registers that the compiler puts aside, whatever the tile. D = 128: one that is put aside before the loop and read
// back once a key tile; with one stage it would not be, but nothing would be copied while a tile is multiplied.
std::int64_t spills_allowed(const KernelRow& row, const Problem& p, std::string_view arch) {
  if (row.id != "flash_tf32x3" || arch != "sm_80") return 0;
  return p.D == 256 ? 2 * 20 : p.D == 128 ? 2 * 4 : 0;
}

void expect_no_spills(CompileService& service, const KernelRow& row, const Problem& p, std::string_view arch) {
  const Device d = *device_for(arch);
  SCOPED_TRACE(std::string(row.id) + " " + std::string(arch) + " " + describe(p));
  const auto plan = row.plan(row, p, {}, d);
  ASSERT_TRUE(plan) << plan.error().message;
  const auto report = inspect(service, *plan, d, {});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->entries.size(), plan->launches.size());
  for (const EntryReport& e : report->entries) {
    EXPECT_LE(e.figures.spill_store_bytes + e.figures.spill_load_bytes, spills_allowed(row, p, arch)) << e.figures.name;
    EXPECT_GT(e.figures.registers, 0);
    EXPECT_GT(e.occupancy.blocks, 0) << e.occupancy.limiter;
  }
  EXPECT_TRUE(report->compiled.warnings.empty()) << report->compiled.warnings.front();
}

// What is unrolled over tensor cores takes the compiler seconds, and for these it makes of it what it makes for sm_80
// or sm_120: two problems are enough.
bool is_like_another(const KernelRow& row, std::string_view arch) {
  const bool tensor_cores = row.order == Order::flash && row.id != "flash_simt";
  return tensor_cores && (arch == "sm_86" || arch == "sm_89" || arch == "sm_100");
}

class EveryArch : public testing::TestWithParam<std::string_view> {};

TEST_P(EveryArch, EveryKernelCompilesWithoutSpills) {
  // The compiler is NVIDIA's: a sanitizer sees our side of it at one architecture, the one with the fewest rungs. The
  // usual run takes the one whose figures README has.
  const bool sanitized = test::asked("ATTNSCOPE_SANITIZED");
  const bool usual = GetParam() == (sanitized ? architectures().front() : kArchRunOn);
  if (!usual && sanitized) GTEST_SKIP() << "one is enough here";
  const bool all = test::asked("ATTNSCOPE_LONG_TESTS");
  if (!usual && !all) GTEST_SKIP() << "one of the long lists: tests/run.sh --full";
  auto compiler = open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  CompileService service(**compiler, {});
  constexpr std::size_t kFew = 3;  // D = 64, 128 and 256
  for (const KernelRow& row : gpu_kernel_table()) {
    if (std::ranges::find(row.architectures, GetParam()) == row.architectures.end()) continue;
    std::vector<Problem> problems = problems_for(row, *device_for(GetParam()));
    if (is_like_another(row, GetParam())) problems.resize(2);
    if (!all) problems.resize(std::min(problems.size(), kFew));
    for (const Problem& p : problems) expect_no_spills(service, row, p, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, EveryArch, testing::ValuesIn(architectures().begin(), architectures().end()),
                         [](const auto& name) { return std::string(name.param); });

TEST(GpuCompile, EmbeddedSourcesAreTheFiles) {
  EXPECT_GE(written_sources().size(), 6U);
  std::map<fs::path, fs::path> files;  // a name to its place; configuring refuses a name that stands twice
  for (const auto& file : fs::recursive_directory_iterator(fs::path(test::source_folder()) / "kernels/gpu/rungs"))
    files[file.path().filename()] = file.path();
  files["merge.h"] = fs::path(test::source_folder()) / "kernels/arithmetic/merge.h";  // the host's, too
  for (const SourceText& s : written_sources())
    EXPECT_EQ(contents(files[fs::path(s.name).filename()]), s.text) << s.name;
}

TEST(GpuCompile, ErrorsNameFileAndLine) {
  auto compiler = open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  CompileService service(**compiler, {});
  const auto broken = service.compile(request("\n\n__global__ void f() { nonsense; }\n"));
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("a.cu:3: identifier \"nonsense\" is undefined"), std::string::npos)
      << broken.error().message;
}

TEST(GpuCompile, AHeaderThatIsMissingSaysWhatBringsIt) {
  auto compiler = open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  CompileService service(**compiler, {});
  const auto broken = service.compile(request("#include <no_such_header_of_cuda.h>\n"));
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("run attnscope doctor --fetch-cuda"), std::string::npos)
      << broken.error().message;
}

TEST(GpuCompile, EditedCopyWinsAndIsNamedByItsHash) {
  const Folder folder;
  write(folder.path() / "naive.cu", "// mine\n");
  const auto edited = kernel_source("naive", folder.path());
  ASSERT_TRUE(edited);
  EXPECT_TRUE(edited->edited);
  EXPECT_EQ(edited->label("naive"), "naive@" + edited->hash.substr(0, 8));
  const auto own = kernel_source("tiled", folder.path());
  ASSERT_TRUE(own);
  EXPECT_FALSE(own->edited);
  EXPECT_EQ(own->label("tiled"), "tiled");
  EXPECT_FALSE(kernel_source("no_such_kernel", folder.path()));
}

TEST(CubinCache, SecondRequestComesFromDisk) {
  const Folder folder;
  FakeCompiler compiler;
  CompileService service(compiler, folder.path() / "cubins");
  const auto first = service.compile(request());
  const auto second = service.compile(request());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(compiler.calls, 1);
  EXPECT_FALSE(first->from_cache);
  EXPECT_TRUE(second->from_cache);
  EXPECT_EQ(first->code, second->code);
  EXPECT_EQ(first->entries, second->entries);
  ASSERT_EQ(second->entries.size(), 1U);
  EXPECT_EQ(second->entries[0].registers, 40);
}

TEST(CubinCache, AnotherSourceOptionOrCompilerIsAnotherEntry) {
  const Folder folder;
  FakeCompiler compiler;
  CompileService service(compiler, folder.path());
  ASSERT_TRUE(service.compile(request()));
  ASSERT_TRUE(service.compile(request("other")));
  CompileRequest option = request();
  option.defines = {"ATTN_D=128"};
  ASSERT_TRUE(service.compile(option));
  CompileRequest arch = request();
  arch.arch = "sm_86";
  ASSERT_TRUE(service.compile(arch));
  compiler.version_ = "fake 2";
  CompileService newer(compiler, folder.path());
  ASSERT_TRUE(newer.compile(request()));
  EXPECT_EQ(compiler.calls, 5);
}

// Lines that hold a phase alone are no new kernel, but the line information of the machine code counts them.
TEST(CubinCache, ATextWithOtherLinesIsAnotherEntry) {
  const Folder folder;
  FakeCompiler compiler;
  CompileService service(compiler, folder.path());
  CompileRequest tagged = request();
  tagged.source.text_hash = "of the text with its tags";
  ASSERT_TRUE(service.compile(request()));
  ASSERT_TRUE(service.compile(tagged));
  EXPECT_EQ(compiler.calls, 2);
  EXPECT_NE(service.cache_file(request()), service.cache_file(tagged));
}

TEST(CubinCache, DamagedOrForeignEntriesAreCompiledAgain) {
  const Folder folder;
  FakeCompiler compiler;
  CompileService service(compiler, folder.path());
  ASSERT_TRUE(service.compile(request()));
  const fs::path file = service.cache_file(request());
  const std::string good = contents(file);
  ASSERT_FALSE(good.empty());
  std::vector<std::string> damaged{"", "garbage", good.substr(0, good.size() - 1), good + "x", good.substr(0, 40)};
  for (const std::size_t at : {std::size_t{3}, good.find('\n') + 2, good.size() - 1}) {
    damaged.push_back(good);
    damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 1);
  }
  // Whole, but made for another key.
  ASSERT_TRUE(service.compile(request("other")));
  damaged.push_back(contents(service.cache_file(request("other"))));
  for (const std::string& bytes : damaged) {
    write(file, bytes);
    const int before = compiler.calls;
    const auto again = service.compile(request());
    ASSERT_TRUE(again);
    EXPECT_EQ(compiler.calls, before + 1);
    EXPECT_EQ(contents(file), good);  // mended
  }
}

TEST(CubinCache, CodeThatIsNoGpuElfIsRefusedWhateverItsChecksumSays) {
  const Folder folder;
  Cubin host;
  host.code.assign(200, std::byte{0});
  ASSERT_TRUE(keep_cached(folder.path() / "x", "key", host));
  EXPECT_FALSE(read_cached(folder.path() / "x", "key"));
}

TEST(CubinCache, UnwritableFolderCostsNoAnswer) {
  FakeCompiler compiler;
  CompileService service(compiler, "/proc/attnscope");
  EXPECT_TRUE(service.compile(request()));
}

TEST(PtxasLog, ReadsFiguresOfEachEntry) {
  const PtxasLog log = parse_ptxas_log(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_80'\n"
      "ptxas info    : Function properties for second\n"
      "ptxas         .     144 bytes stack frame, 212 bytes spill stores, 240 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 40960 bytes smem, 520 bytes cmem[0]\n"
      "ptxas info    : Compile time = 12.000 ms\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_80'\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 31 registers, 400 bytes cmem[0]\n"
      "a.cu(7): warning #177-D: variable \"x\" was declared but never referenced\n");
  ASSERT_EQ(log.entries.size(), 2U);
  EXPECT_EQ(log.entries[0], (EntryFigures{"first", 31, 0, 0, 0, 0}));
  EXPECT_EQ(log.entries[1], (EntryFigures{"second", 255, 40960, 144, 212, 240}));
  ASSERT_EQ(log.warnings.size(), 1U);
  EXPECT_TRUE(log.errors.empty() && log.losses.empty());
  EXPECT_TRUE(parse_ptxas_log("").entries.empty());
}

constexpr const char* kLoss =
    "ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
    "insufficient register resources for the function 'second' in the function 'second'";

// ptxas calls these lines information.
TEST(PtxasLog, KeepsWhatMayCostSpeed) {
  const PtxasLog log = parse_ptxas_log(std::string("ptxas info    : Compiling entry function 'second' for 'sm_90a'\n") +
                                       kLoss + "\nptxas info    : Used 168 registers, 16 bytes smem\n");
  EXPECT_EQ(log.losses, std::vector<std::string>{kLoss});
  EXPECT_TRUE(log.warnings.empty());
  ASSERT_EQ(log.entries.size(), 1U);
  EXPECT_EQ(log.entries[0].registers, 168) << "the line is none of the entry's figures";
}

TEST(PtxasLog, ALossStandsWhereItsFunctionBegins) {
  const std::string text = "// first(\nvoid first() {}\n\nvoid\n  second(int x) {\n}\n";
  const auto marks = marks_of("", {kLoss}, text);
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].line, 5);
  EXPECT_FALSE(marks[0].error);
  EXPECT_EQ(marks[0].words, kLoss);
  EXPECT_EQ(marks_of("", {kLoss}, "nothing of it").at(0).line, 0);
}

// NVRTC itself: an accumulator that is read while its product runs makes ptxas wait after every instruction.
TEST(PtxasLog, TheCompilersOwnLossIsKept) {
  auto compiler = open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  CompileService service(**compiler, {});
  CompileRequest r = request(
      "extern \"C\" __global__ void f(float* o, unsigned long long a, unsigned long long b) {\n"
      "  float x[4] = {0, 0, 0, 0};\n"
      "  asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n"
      "  for (int i = 0; i < 2; ++i) {\n"
      "    asm volatile(\"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 \"\n"
      "                 \"{%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;\"\n"
      "                 : \"+f\"(x[0]), \"+f\"(x[1]), \"+f\"(x[2]), \"+f\"(x[3]) : \"l\"(a), \"l\"(b));\n"
      "    x[0] *= 2.0f;\n"
      "  }\n"
      "  asm volatile(\"wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n"
      "  for (int i = 0; i < 4; ++i) o[threadIdx.x * 4 + i] = x[i];\n"
      "}\n");
  r.arch = "sm_90a";
  const auto compiled = service.compile(r);
  ASSERT_TRUE(compiled) << compiled.error().message;
  ASSERT_FALSE(compiled->losses.empty());
  EXPECT_EQ(marks_of("", compiled->said(), r.source.text).at(0).line, 1);
}

}  // namespace
}  // namespace attn::gpu
