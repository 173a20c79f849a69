// A user's own kernel of api 2: what its header lists is what its functions get, and what does not fit is refused with
// the field that says it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/cpu/aligned.h"
#include "kernels/gpu/compile/cubin.h"
#include "kernels/gpu/launch/launching.h"
#include "kernels/gpu/own_kernel/own_header.h"
#include "kernels/gpu/rungs/args.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "tests/environment/paths.h"
#include "tests/kernels/gpu/device/fake_driver.h"

namespace attn::gpu {
namespace {

std::string text_of(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(std::filesystem::path(test::source_folder()) / "tests/gpu/own_api2" / (name + ".cu"),
                        std::ios::binary)
              .rdbuf();
  return text.str();
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::shared_ptr<const OwnKernel> kernel_of(const std::string& name, const std::string& text) {
  auto kernel = own_kernel_from(name + ".cu", text);
  EXPECT_TRUE(kernel) << kernel.error().message;
  return kernel ? *kernel : nullptr;
}
std::shared_ptr<const OwnKernel> kernel_of(const std::string& name) {
  return kernel_of(name, text_of(name));
}

Problem problem_for(const OwnKernel& k) {
  Problem p;
  p.B = 2;
  p.Hq = 6;
  p.Hkv = 3;
  p.Lq = 101;
  p.Lk = 770;
  p.D = p.Dv = 64;
  p.dtype = k.dtypes.front();
  p.pass = k.header.pass;
  p.mask.causal = true;
  return p;
}

constexpr const char* kAll[] = {"split", "cluster", "maps", "gradients"};

TEST(OwnApi2, EachCompilesAndTakesWhatItsHeaderLists) {
  auto compiler = open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  CompileService service(**compiler, {});
  const Device device = *device_for("sm_90a");
  for (const char* name : kAll) {
    const auto k = kernel_of(name);
    const auto plan = k->plan(*k, problem_for(*k), {}, device);
    ASSERT_TRUE(plan) << plan.error().message;
    const auto report = inspect(service, *plan, device, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->entries.size(), k->header.entries.size());
    for (const OwnEntry& e : k->header.entries) {
      const auto bytes = parameter_bytes(report->compiled.code, e.name);
      ASSERT_TRUE(bytes) << e.name;
      ASSERT_EQ(bytes->size(), e.parameters.size());
      for (std::size_t n = 0; n < bytes->size(); ++n) EXPECT_EQ((*bytes)[n], e.parameters[n].bytes()) << e.name << n;
    }
  }
}

// The trap of a list by hand: it says one thing and the function another.
TEST(OwnApi2, AListThatIsNotTheFunctionsIsRefusedByItsPlace) {
  auto compiler = open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  CompileService service(**compiler, {});
  const Device device = *device_for("sm_90a");
  const auto said = [&](const std::string& from, const std::string& to) {
    const auto k = kernel_of("split", changed(text_of("split"), from, to));
    const auto plan = k->plan(*k, problem_for(*k), {}, device);
    EXPECT_TRUE(plan) << plan.error().message;
    const auto report = inspect(service, *plan, device, {});
    return report ? std::string("taken") : report.error().message;
  };
  EXPECT_EQ(said("\"Lk\", \"scale\"", "\"scale\""),
            "split.cu: the function parts has 26 parameters, but its header lists 25.");
  EXPECT_EQ(said("\"Hq\", \"Lq\",\n", "\"Hq\", \"lse.row\",\n"),
            "split.cu: parameters[9] of whole, \"lse.row\", is long long with 8 bytes, but the function expects 4 "
            "bytes there.");
  EXPECT_EQ(said("\"type\": \"int\"", "\"type\": \"long long\""),
            "split.cu: parameters[10] of whole, \"value\", is long long with 8 bytes, but the function expects 4 bytes "
            "there.");
}

TEST(OwnApi2, AHeaderThatIsWrongIsRefusedWithItsFieldAndLine) {
  for (const auto& [name, from, to, words] :
       std::vector<std::tuple<std::string, std::string, std::string, std::string>>{
           {"split", "\"partial\", \"Hq\"", "\"partiel\", \"Hq\"",
            "split.cu, line 7: \"entries[0].parameters[18]\" is \"partiel\"; use q, k, v, bias, o, lse"},
           {"split", "\"partial\", \"Hq\"", "7, \"Hq\"",
            "\"entries[0].parameters[18]\" is 7; it must be a name in quotes, or an object"},
           {"split", "\"q.row\"", "\"q.rows\"", "\"entries[0].parameters[3]\" is \"q.rows\"; use q"},
           {"split", "\"lse.head\"", "\"lse.column\"", "parameters[7]\" is \"lse.column\"; use"},
           {"split", "\"key_lengths\", \"partial\"", "\"dq\", \"partial\"", "parameters[17]\" is \"dq\"; use"},
           {"split", "\"type\": \"int\"", "\"type\": \"short\"",
            "line 11: \"entries[1].parameters[10].type\" is \"short\"; use int, long long, float."},
           {"split", "\"value\": \"ceil_div(Lk, Bc)\"", "\"value\": \"ceil_div(Lk, Br)\"",
            "line 11: \"entries[1].parameters[10]\" reads Br, which is not in \"options\"."},
           {"split", "\"value\": \"ceil_div(Lk, Bc)\"", "\"value\": \"ceil_div(Lk)\"",
            "\"entries[1].parameters[10].value\" is invalid: "},
           {"split", "{\"bytes\": \"4 *", "{\"byte\": \"4 *",
            "line 2: \"scratch.partial.byte\" is not a known key; use bytes, zero."},
           {"split", "{\"bytes\": \"4 * ceil_div(Lk, Bc)", "{\"bytes\": \"4 * stages",
            "line 2: \"scratch.partial.bytes\" reads stages"},
           {"split", "\"layouts\": [\"bhld\", \"blhd\"]", "\"layouts\": [\"bdlh\"]",
            "\"layouts[0]\" is \"bdlh\"; use bhld, blhd."},
           {"split", "\"layouts\": [\"bhld\", \"blhd\"]", "\"layouts\": []", "\"layouts\" is empty"},
           {"split", "\"api\": 2", "\"api\": 1", "line 13: \"layouts\" is not a known key; use api, entries"},
           {"cluster", "\"api\": 2", "\"api\": 1",
            "\"entries[0].cluster\" is not a known key; use name, grid, block, shared."},
           {"cluster", "\"cluster\": 4", "\"cluster\": [2, 2, 1, 1]", "\"entries[0].cluster\" has 4 elements"},
           {"maps", "{\"map\": \"k\"", "{\"map\": \"lse\"", "parameters[4].map\" is \"lse\"; use q, k, v, o."},
           {"maps", "\"promote\": 128", "\"promote\": 100",
            "parameters[5].promote\" is 100; it must be one of these: 0, 64, 128, 256."},
           {"maps", "\"box\": [\"D\", \"Bc\"]}", "\"box\": [\"D\", \"Br\"]}", "parameters[4]\" reads Br"},
           {"maps", "{\"map\": \"k\", \"box\": [\"D\", \"Bc\"]}", "{\"map\": \"k\"}", "parameters[4]\" lacks \"box\"."},
           {"gradients", "\"pass\": \"backward\"", "\"pass\": \"both\"",
            "\"pass\" is \"both\"; use forward, backward."},
           {"gradients", "\"pass\": \"backward\",", "", "\"entries[0].parameters[4]\" is \"do\"; use"}}) {
    const auto k = own_kernel_from(name + ".cu", changed(text_of(name), from, to));
    ASSERT_FALSE(k) << to;
    EXPECT_NE(k.error().message.find(words), std::string::npos) << k.error().message;
  }
}

TEST(OwnApi2, APlanThatCannotBeIsRefusedWithItsParameter) {
  const auto said = [](const std::string& name, const std::string& text, const Problem& p, const char* arch) {
    const auto k = kernel_of(name, text);
    const auto takes = k->supports(*k, p, {}, *device_for(arch));
    return takes ? "taken" : takes.error().message;
  };
  const Problem forward = problem_for(*kernel_of("split")), half = problem_for(*kernel_of("maps"));
  EXPECT_EQ(said("split", text_of("split"), forward, "sm_80"), "taken");
  EXPECT_NE(
      said("cluster", text_of("cluster"), forward, "sm_80").find("runs on sm_90a, sm_100, sm_120, not on sm_80: its"),
      std::string::npos);
  EXPECT_NE(said("cluster", changed(text_of("cluster"), "\"cluster\": 4", "\"cluster\": 5"), forward, "sm_90a")
                .find("the cluster of together has 5 blocks along axis 0; the grid's 104 must be a multiple"),
            std::string::npos);
  EXPECT_NE(said("cluster", changed(text_of("cluster"), "\"cluster\": 4", "\"cluster\": [4, 3]"), forward, "sm_90a")
                .find("the cluster of together has 12 blocks; the limit is 8"),
            std::string::npos);
  EXPECT_NE(
      said("maps", changed(text_of("maps"), "[\"Dv\", \"Bc\"]", "[\"Dv\", \"5 * Bc\"]"), half, "sm_90a")
          .find("parameters[5] of by_map, \"map\": A tile has 320 elements along axis 1; a tensor map allows 1 to 256"),
      std::string::npos);
  EXPECT_NE(said("maps", changed(text_of("maps"), "\"promote\"", "\"swizzle\": 64, \"promote\""), half, "sm_90a")
                .find("parameters[5] of by_map, \"map\": A tile's row is 128 bytes; with a swizzle of 64"),
            std::string::npos);
  EXPECT_NE(said("split", changed(text_of("split"), "\"bytes\": \"4 *", "\"bytes\": \"Lq - Lk -"), forward, "sm_90a")
                .find("\"partial\" requests -"),
            std::string::npos);
  Problem turned = forward;
  turned.layout = AxisOrder::blhd;
  EXPECT_EQ(said("split", text_of("split"), turned, "sm_90a"), "taken");
  EXPECT_NE(said("cluster", text_of("cluster"), turned, "sm_90a").find("bhld"), std::string::npos);
  EXPECT_NE(said("gradients", text_of("gradients"), forward, "sm_90a").find("the pass backward, not"),
            std::string::npos);
}

// Says that it compiled what it was asked for.
class Pretender final : public Compiler {
 public:
  std::string version() override { return "none"; }
  Result<Cubin> compile(const KernelSource& source, const std::vector<std::string>&) override {
    Cubin cubin;
    const auto header = parse_own_header(source.text, source.name);
    for (const OwnEntry& e : header->entries)
      cubin.log += "ptxas info    : Compiling entry function '" + e.name +
                   "' for 'sm_90a'\nptxas info    : Function properties for " + e.name +
                   "\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                   "ptxas info    : Used 40 registers\n";
    return cubin;
  }
};

class OwnApi2Launch : public testing::Test {
 protected:
  // Each launch's parameters, as the function would read them.
  using Read = std::vector<std::vector<std::byte>>;
  std::vector<Read> read_on(const OwnKernel& k, const Problem& p) {
    const auto plan = k.plan(k, p, {}, *device_for("sm_90a"));
    EXPECT_TRUE(plan) << plan.error().message;
    plan_ = *plan;
    workspace_ = cpu::AlignedBytes(plan_.workspace_bytes + 256);
    std::memset(workspace_.data(), 0xff, plan_.workspace_bytes);
    std::byte* next = memory_.data();  // nobody reads it: it stands for the tensors
    for (const TensorSpec& spec : tensors_of(p)) {
      if (spec.role == Role::in && !spec.in_problem) buffers_.in[spec.tensor] = next;
      if (spec.role == Role::out || spec.tensor == Tensor::delta) buffers_.out[spec.tensor] = next;
      next += 256;
    }
    buffers_.workspace = workspace_.data();
    std::vector<Read> all;
    driver_.on_launch = [&](const FakeDriver::Launched& l) {
      Read& read = all.emplace_back();
      const OwnEntry& entry = k.header.entries.at(all.size() - 1);
      EXPECT_EQ(l.kernel, entry.name);
      ASSERT_EQ(l.parameters.size(), entry.parameters.size());
      clusters_.push_back(l.shape.cluster[0]);
      for (std::size_t n = 0; n < l.parameters.size(); ++n) {
        const auto* const from = static_cast<const std::byte*>(l.parameters[n]);
        read.emplace_back(from, from + entry.parameters[n].bytes().value_or(sizeof(Args)));
      }
    };
    const auto ready = prepare(plan_, buffers_, stream_);
    EXPECT_TRUE(ready) << ready.error().message;
    EXPECT_TRUE(!ready || launch(*ready, stream_));
    return all;
  }
  template <class T>
  static T as(const std::vector<std::byte>& bytes) {
    T value{};
    EXPECT_EQ(bytes.size(), sizeof value);
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    return value;
  }

  FakeDriver driver_;
  Pretender compiler_;
  CompileService service_{compiler_, {}};
  Queue queue_ = *Queue::make(driver_, service_, "sm_90a", {});
  Stream stream_{{}, &queue_};
  cpu::AlignedBytes memory_{1 << 14}, workspace_{1};
  Plan plan_;
  Buffers buffers_;
  std::vector<std::uint32_t> clusters_;
};

TEST_F(OwnApi2Launch, TensorsStridesNumbersAndRoomArriveAsListed) {
  const auto k = kernel_of("split");
  Problem p = problem_for(*k);
  p.layout = AxisOrder::blhd;
  p.bias_shape = {1, 6, 1, 770};
  p.mask.key_lengths = {770, 3};
  p.scale = 0.25;
  const auto read = read_on(*k, p);
  ASSERT_EQ(read.size(), 2U);
  const auto& parts = read[0];
  ASSERT_EQ(parts.size(), 26U);
  EXPECT_EQ(as<const void*>(parts[0]), buffers_.in[Tensor::q]);
  EXPECT_EQ(as<long long>(parts[1]), 101 * 6 * 64);  // q: batch, head, row of [B, L, H, D]
  EXPECT_EQ(as<long long>(parts[2]), 64);
  EXPECT_EQ(as<long long>(parts[3]), 6 * 64);
  EXPECT_EQ(as<long long>(parts[7]), 3 * 64);  // k.row
  EXPECT_EQ(as<const void*>(parts[12]), buffers_.in[Tensor::bias]);
  for (const auto& [n, stride] : {std::pair{13, 0}, {14, 770}, {15, 0}, {16, 1}})
    EXPECT_EQ(as<long long>(parts[static_cast<std::size_t>(n)]), stride);
  EXPECT_EQ(as<const long long*>(parts[17])[1], 3);  // sent to the workspace
  EXPECT_EQ(as<std::int32_t>(parts[19]), 6);
  EXPECT_EQ(as<std::int32_t>(parts[20]), 3);
  EXPECT_EQ(as<std::int32_t>(parts[21]), 101);
  EXPECT_EQ(as<std::int32_t>(parts[22]), 770);
  EXPECT_EQ(as<float>(parts[23]), 0.25F);
  EXPECT_EQ(as<long long>(parts[25]), 770 - 101 + 1);
  // The room is the same in both launches, behind the key lengths, and all of it is in the workspace.
  const auto room = as<const std::byte*>(parts[18]);
  EXPECT_EQ(as<const std::byte*>(read[1][0]), room);
  EXPECT_EQ(room, workspace_.data() + 256);
  constexpr std::uint64_t kRoom = 4ULL * 4 * 2 * 6 * 101 * 66;
  EXPECT_EQ(plan_.workspace_bytes, 256 + (kRoom + 255) / 256 * 256);
  EXPECT_EQ(as<std::int32_t>(read[1][10]), 4);  // ceil_div(Lk, Bc)
  EXPECT_EQ(as<void*>(read[1][1]), buffers_.out[Tensor::o]);
  EXPECT_EQ(as<long long>(read[1][7]), 101);  // lse.head, of [B, H, L] in either order
  EXPECT_EQ(clusters_, (std::vector<std::uint32_t>{1, 1}));
}

TEST_F(OwnApi2Launch, WhatAProblemLacksIsNull) {
  const auto k = kernel_of("split");
  const auto read = read_on(*k, problem_for(*k));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(as<const void*>(read[0][12]), nullptr);  // the bias, its strides, the key lengths
  EXPECT_EQ(as<long long>(read[0][14]), 0);
  EXPECT_EQ(as<const void*>(read[0][17]), nullptr);
}

TEST_F(OwnApi2Launch, ClustersMapsAndThreeOutputsArrive) {
  const auto cluster = kernel_of("cluster");
  (void)read_on(*cluster, problem_for(*cluster));
  EXPECT_EQ(clusters_, (std::vector<std::uint32_t>{4}));
  const auto maps = kernel_of("maps");
  const auto read = read_on(*maps, problem_for(*maps));
  ASSERT_EQ(read.size(), 1U);
  // The double's map begins with the tensor's address.
  EXPECT_EQ(as<TensorMap>(read[0][4]).opaque[0], reinterpret_cast<std::uint64_t>(buffers_.in[Tensor::k]));
  EXPECT_EQ(as<TensorMap>(read[0][5]).opaque[0], reinterpret_cast<std::uint64_t>(buffers_.in[Tensor::v]));
  const auto gradients = kernel_of("gradients");
  const auto of_backward = read_on(*gradients, problem_for(*gradients));
  ASSERT_EQ(of_backward.size(), 2U);
  EXPECT_EQ(as<void*>(of_backward[0][6]), buffers_.out[Tensor::d_q]);
  EXPECT_EQ(as<void*>(of_backward[0][7]), buffers_.out[Tensor::delta]);
  EXPECT_EQ(as<const void*>(of_backward[1][3]), buffers_.out[Tensor::delta]);
  EXPECT_EQ(as<void*>(of_backward[1][6]), buffers_.out[Tensor::d_k]);
  EXPECT_EQ(as<void*>(of_backward[1][7]), buffers_.out[Tensor::d_v]);
  EXPECT_EQ(as<const void*>(of_backward[0][4]), buffers_.in[Tensor::d_o]);
}

TEST_F(OwnApi2Launch, RoomThatIsToBeZeroIsBeforeTheFirstLaunch) {
  const auto k = kernel_of("split", changed(text_of("split"), "(Dv + 2)\"}", "(Dv + 2)\", \"zero\": true}"));
  Problem p = problem_for(*k);
  p.mask.key_lengths = {770, 3};
  (void)read_on(*k, p);
  EXPECT_TRUE(std::all_of(workspace_.data() + 256, workspace_.data() + plan_.workspace_bytes - 256,
                          [](std::byte b) { return b == std::byte{0}; }));
  const auto lengths = reinterpret_cast<const std::int64_t*>(workspace_.data());
  EXPECT_EQ(lengths[0], 770) << "the rest of the workspace stays";
}

// A text without `parameters` is of api 1 and gets Args, as ever.
TEST_F(OwnApi2Launch, ArgsMayStandInAList) {
  const auto k =
      kernel_of("cluster", changed(text_of("cluster"), "\"parameters\": [\"q\"", "\"parameters\": [\"args\""));
  const auto read = read_on(*k, problem_for(*k));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(as<Args>(read[0][0]).k, buffers_.in[Tensor::k]);
}

}  // namespace
}  // namespace attn::gpu
