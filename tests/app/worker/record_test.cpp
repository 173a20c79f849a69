// A recording that is asked of the worker: what travels, and what is said where there can be none. The driver is a
// double whose launches write nothing; the records of real launches are held against plain runs by
// `attnscope verify --traced` on a GPU.
#include "app/worker/record.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>

#include <gtest/gtest.h>

#include "kernels/model/inputs/inputs.h"
#include "tests/app/worker/double.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

Deadline soon() {
  return {20, {}};
}

struct Asked {
  Problem problem;
  Inputs inputs;
  GpuRunRequest request(const char* kernel) const {
    GpuRunRequest r;
    r.kernel = kernel;
    r.problem = problem;
    r.inputs = &inputs;
    return r;
  }
};

Asked small(DType dtype = DType::f32) {
  Asked a;
  a.problem.Lq = a.problem.Lk = 20;
  a.problem.D = a.problem.Dv = 16;
  a.problem.dtype = dtype;
  a.inputs = *make_inputs(a.problem, {});
  return a;
}

Device h100() {
  gpu::GpuProperties p;
  p.major = 9;
  p.name = "a double";
  return device_of(p);
}

TEST(GpuRecording, BringsOutputsAndTheWholeBuffer) {
  GpuClient client = client_with({});
  const Asked a = small();
  const auto answer = client.record(a.request("naive"), soon());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->same_bits);
  EXPECT_EQ(answer->device, "a double");
  EXPECT_EQ(answer->source, "naive");
  EXPECT_EQ(answer->outputs.out.shape(), (std::vector<std::int64_t>{1, 1, 20, 16}));
  // S, P, m, l, O and who wrote them: 2 x 20 x 20, 2 x 20, 20 x 16, 20 x 2, 20, 20.
  EXPECT_EQ(answer->trace.size(), 800U + 40 + 320 + 40 + 20 + 20);
  EXPECT_TRUE(std::ranges::all_of(answer->trace, [](float x) { return std::bit_cast<std::uint32_t>(x) == ~0U; }));
}

TEST(GpuRecording, OfARunThatWroteNothingIsNone) {
  GpuClient client = client_with({});
  const Asked a = small();
  const auto made = record_on_gpu(client, a.request("flash_simt"), h100(), soon());
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("flash_simt wrote nothing for query tile 0, key tile 0"), std::string::npos)
      << made.error().message;
}

TEST(GpuRecording, IsRefusedForAnEditedKernelWithoutHooks) {
  const TempFolder folder;
  std::ofstream(folder / "naive.cu") << "extern \"C\" __global__ void naive_scores() {}\n";
  WorkerParts parts = parts_with({});
  parts.edited_kernels = folder.path();
  GpuClient client([parts] { return Child::copy([parts](Socket& socket) { return work(socket, parts); }); });
  const Asked a = small();
  const auto made = record_on_gpu(client, a.request("naive"), h100(), soon());
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("has no hooks"), std::string::npos) << made.error().message;
  EXPECT_NE(made.error().message.find("naive@"), std::string::npos) << made.error().message;
}

TEST(GpuRecording, AWorkerThatEndsMeanwhileIsReplaced) {
  GpuClient client = client_with({"launch", Fault::How::die});
  const Asked a = small();
  const auto lost = client.record(a.request("naive"), soon());
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().message.find("the worker exited"), std::string::npos) << lost.error().message;
  EXPECT_TRUE(client.record(a.request("naive"), soon()));
}

}  // namespace
}  // namespace attn
