// On a machine with an NVIDIA GPU: what was prepared is captured into a CUDA graph as launches alone, and a replay
// gives the bytes of a plain run. Skipped, with the reason, where there is no GPU.
#include <cudaTypedefs.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/library.h"
#include "kernels/gpu/launch/device_run.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "tests/kernels/gpu/device/gpu_fixture.h"

namespace attn::gpu {
namespace {

// CUDA graphs, which the program itself does not use: its callers do.
class Graphs {
 public:
  explicit Graphs(const Library& cuda) {
    find(cuda, "cuStreamBeginCapture_v2", begin);
    find(cuda, "cuStreamEndCapture", end);
    find(cuda, "cuGraphGetNodes", nodes);
    find(cuda, "cuGraphNodeGetType", type);
    find(cuda, "cuGraphInstantiateWithFlags", instantiate);
    find(cuda, "cuGraphLaunch", replay);
    find(cuda, "cuGraphExecDestroy", destroy_exec);
    find(cuda, "cuGraphDestroy", destroy);
  }
  PFN_cuStreamBeginCapture_v10010 begin = nullptr;
  PFN_cuStreamEndCapture_v10000 end = nullptr;
  PFN_cuGraphGetNodes_v10000 nodes = nullptr;
  PFN_cuGraphNodeGetType_v10000 type = nullptr;
  PFN_cuGraphInstantiateWithFlags_v11040 instantiate = nullptr;
  PFN_cuGraphLaunch_v10000 replay = nullptr;
  PFN_cuGraphExecDestroy_v10000 destroy_exec = nullptr;
  PFN_cuGraphDestroy_v10000 destroy = nullptr;

 private:
  template <class F>
  static void find(const Library& cuda, const char* name, F& call) {
    call = reinterpret_cast<F>(cuda.symbol(name));
    EXPECT_NE(call, nullptr) << name;
  }
};

class OnAGpu : public test::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!queue_) return;
    auto cuda = Library::open("libcuda.so.1");
    ASSERT_TRUE(cuda);
    cuda_.emplace(std::move(*cuda));
    graphs_.emplace(*cuda_);
  }

  // In the first type that the rung takes.
  static Problem problem(const std::string& id, std::vector<std::int64_t> lengths) {
    Problem p;
    p.B = 2;
    p.Hq = 4;
    p.Hkv = 2;
    p.Lq = 200;
    p.Lk = 217;
    p.D = p.Dv = 64;
    p.dtype = (*find_kernel(id))->dtypes.front();
    p.mask.key_lengths = std::move(lengths);
    p.alibi.emplace();
    return p;
  }
  static Inputs inputs(const Problem& p) {
    InputSpec spec;
    spec.generator = Generator::normal;
    spec.seed = 3;
    return *make_inputs(p, spec);
  }
  Plan plan_for(const std::string& id, const Problem& p) {
    const KernelRow& row = **find_kernel(id);
    const auto taken = row.supports(row, p, {}, device_of(properties_));
    EXPECT_TRUE(taken) << id << ": " << taken.error().message;
    auto plan = row.plan(row, p, {}, device_of(properties_));
    EXPECT_TRUE(plan) << id << ": " << plan.error().message;
    return *plan;
  }
  Outputs plain(const Plan& plan, const Inputs& in) {
    auto run = DeviceRun::place(*queue_, plan, tensor_bytes_of(in));
    Outputs out = empty_outputs(plan.problem);
    EXPECT_TRUE(run && run->once() && run->fetch(out));
    return out;
  }
  CUstream stream() { return static_cast<CUstream>(queue_->stream()); }

  // The graph of one launch of the run. Its nodes are kernels, one a launch of the plan.
  CUgraphExec captured(DeviceRun& run) {
    EXPECT_EQ(graphs_->begin(stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
    const auto launched = run.launch();
    CUgraph graph = nullptr;
    EXPECT_EQ(graphs_->end(stream(), &graph), CUDA_SUCCESS);
    EXPECT_TRUE(launched) << launched.error().message;
    std::size_t count = 0;
    EXPECT_EQ(graphs_->nodes(graph, nullptr, &count), CUDA_SUCCESS);
    EXPECT_EQ(count, run.plan().launches.size());
    std::vector<CUgraphNode> nodes(count);
    EXPECT_EQ(graphs_->nodes(graph, nodes.data(), &count), CUDA_SUCCESS);
    for (const CUgraphNode node : nodes) {
      CUgraphNodeType type{};
      EXPECT_EQ(graphs_->type(node, &type), CUDA_SUCCESS);
      EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_KERNEL);
    }
    CUgraphExec exec = nullptr;
    EXPECT_EQ(graphs_->instantiate(&exec, graph, 0), CUDA_SUCCESS);
    graphs_->destroy(graph);
    return exec;
  }
  Outputs replayed(DeviceRun& run, CUgraphExec exec) {
    Outputs out = empty_outputs(run.plan().problem);
    EXPECT_TRUE(run.poison());
    EXPECT_EQ(graphs_->replay(exec, stream()), CUDA_SUCCESS);
    const auto fetched = run.fetch(out);
    EXPECT_TRUE(fetched) << fetched.error().message;
    return out;
  }

  std::optional<Library> cuda_;
  std::optional<Graphs> graphs_;
};

constexpr const char* kRungs[] = {"naive",     "tiled",        "flash_simt",   "flash_wmma",
                                  "flash_mma", "flash_hopper", "flash_splitkv"};

TEST_F(OnAGpu, ACapturedLaunchReplaysToTheBytesOfAPlainRun) {
  for (const char* id : kRungs) {
    if (!runs_here(**find_kernel(id))) continue;
    SCOPED_TRACE(id);
    const Problem p = problem(id, {150, 217});
    const Inputs in = inputs(p);
    const Plan plan = plan_for(id, p);
    const Outputs expected = plain(plan, in);
    auto run = DeviceRun::place(*queue_, plan, tensor_bytes_of(in));
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_TRUE(run->prepare());
    CUgraphExec exec = captured(*run);
    ASSERT_NE(exec, nullptr);
    EXPECT_TRUE(same_bits(replayed(*run, exec), expected));
    EXPECT_TRUE(same_bits(replayed(*run, exec), expected)) << "the second time";
    graphs_->destroy_exec(exec);
  }
}

TEST_F(OnAGpu, KeyLengthsInATensorMayChangeBetweenReplays) {
  for (const char* id : kRungs) {
    if (!runs_here(**find_kernel(id))) continue;
    SCOPED_TRACE(id);
    const Problem nominal = problem(id, {217, 217});
    const Inputs in = inputs(nominal);
    const Plan plan = plan_for(id, nominal);
    TensorBytes tensors = tensor_bytes_of(in);
    tensors[Tensor::key_lengths] = std::as_bytes(std::span(nominal.mask.key_lengths));
    auto run = DeviceRun::place(*queue_, plan, tensors);
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_TRUE(run->prepare());
    CUgraphExec exec = captured(*run);
    ASSERT_NE(exec, nullptr);
    for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{150, 217}, {1, 30}, {217, 0}}) {
      const DevicePointer at = run->memory(Tensor::key_lengths)->address();
      ASSERT_TRUE(driver_->upload(at, lengths.data(), lengths.size() * sizeof(std::int64_t), queue_->stream()));
      EXPECT_TRUE(same_bits(replayed(*run, exec), plain(plan_for(id, problem(id, lengths)), in))) << lengths[0];
    }
    graphs_->destroy_exec(exec);
  }
}

TEST_F(OnAGpu, AnUnpreparedLaunchIsRefusedAndTheCaptureGoesOn) {
  const Problem p = problem("flash_simt", {150, 217});
  const Inputs in = inputs(p);
  const Plan plan = plan_for("flash_simt", p);
  auto run = DeviceRun::place(*queue_, plan, tensor_bytes_of(in));
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_TRUE(driver_->synchronize(queue_->stream()));
  ASSERT_EQ(graphs_->begin(stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  const auto refused = run->prepare();
  CUgraph graph = nullptr;
  EXPECT_EQ(graphs_->end(stream(), &graph), CUDA_SUCCESS) << "nothing broke the capture";
  graphs_->destroy(graph);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("being captured into a graph"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(run->once()) << "afterwards it runs";
}

TEST_F(OnAGpu, TheThreadsOwnContextIsJoinedAndItsStreamUsed) {
  const auto joined = driver_->join_context(0);
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_EQ(joined->gpu, 0);
  EXPECT_NE(joined->id, 0U);
  const Problem p = problem("flash_simt", {150, 217});
  const Inputs in = inputs(p);
  const Plan plan = plan_for("flash_simt", p);
  Queue queue = Queue::on(*driver_, *service_, properties_.arch(), {}, queue_->stream());
  auto run = DeviceRun::place(queue, plan, tensor_bytes_of(in));
  Outputs out = empty_outputs(p);
  ASSERT_TRUE(run && run->once() && run->fetch(out));
  EXPECT_TRUE(same_bits(out, plain(plan, in)));
}

// The launch's attributes reach the hardware, and a tensor map is one that CUDA takes.
TEST_F(OnAGpu, ClustersStartAsTheyAreAskedForAndATileIsEncoded) {
  if (properties_.major < 9) GTEST_SKIP() << properties_.name << " has no clusters";
  const KernelSource source{"cluster_size.cu",
                            "extern \"C\" __global__ void cluster_size(unsigned* out, unsigned add) {\n"
                            "  unsigned n;\n"
                            "  asm(\"mov.u32 %0, %%cluster_nctaid.x;\" : \"=r\"(n));\n"
                            "  if (threadIdx.x == 0) out[blockIdx.x] = n + add;\n"
                            "}\n",
                            "cluster_size 1", false};
  const auto compiled = service_->compile({source, properties_.arch(), {}});
  ASSERT_TRUE(compiled) << compiled.error().message;
  const auto module = driver_->load(compiled->code.data());
  ASSERT_TRUE(module) << module.error().message;
  const auto entry = driver_->function(*module, "cluster_size");
  ASSERT_TRUE(entry) << entry.error().message;
  {
    const auto memory = Memory::allocate(*driver_, 1024);
    ASSERT_TRUE(memory);
    LaunchShape shape;
    shape.grid = {4, 1, 1};
    shape.block = {32, 1, 1};
    shape.cluster = {2, 1, 1};
    shape.early_start = true;
    const DevicePointer out = memory->address();
    const unsigned add = 10;
    const void* const parameters[] = {&out, &add};
    const auto launched = driver_->launch(*entry, shape, queue_->stream(), parameters);
    ASSERT_TRUE(launched) << launched.error().message;
    std::vector<unsigned> sizes(4);
    ASSERT_TRUE(driver_->download(sizes.data(), out, 16, queue_->stream()));
    ASSERT_TRUE(driver_->synchronize(queue_->stream()));
    EXPECT_EQ(sizes, (std::vector<unsigned>{12, 12, 12, 12}));

    TensorTiles tiles;
    tiles.address = out;
    tiles.rank = 2;
    tiles.extents = {64, 8};
    tiles.strides = {128};
    tiles.box = {64, 8};
    tiles.swizzle = Swizzle::bytes_128;
    tiles.promotion = L2Promotion::bytes_128;
    const auto map = driver_->encode(tiles);
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_TRUE(std::ranges::any_of(map->opaque, [](std::uint64_t n) { return n != 0; }));
  }
  driver_->unload(*module);
}

}  // namespace
}  // namespace attn::gpu
