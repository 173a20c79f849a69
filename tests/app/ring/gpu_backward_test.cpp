// A backward over a ring of GPUs without a GPU: what a turn's kernels are handed, computed here by definition. A key or
// a sum that is read before it came is NaN and shows in a gradient.
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/ring/gpu/gpu_ring.h"
#include "app/ring/gpu/rank_gradients.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/gpu/rungs/args.h"
#include "kernels/gpu/rungs/backward/backward_args.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "tests/kernels/gpu/device/fake_driver.h"

namespace attn {
namespace {

// Parameters of the kernels of kernels/gpu/ring/ring_gradients.cpp.
struct QueryArgs {
  float* sums;
  long long rows, first;
  int adds;
};
struct AddArgs {
  float* sums;
  const float* part;
  long long rows, first, count;
};
struct RoundArgs {
  const float* sums;
  std::uint16_t* to;
  long long numbers;
  float scale;
};

// Computes what is launched: sums of dQ lie as [head, row, column], no rung's order. As a stream may, it reads what is
// uploaded only once somebody waits for it.
class Computing final : public FakeDriver {
 public:
  Computing(DType dtype, std::int64_t columns) : dtype_(dtype), D_(columns) {
    on_launch = [this](const Launched& l) { compute(l); };
  }
  // Address, bytes from row to row and from head to head.
  Result<gpu::TensorMap> encode(const gpu::TensorTiles& tiles) override {
    if (auto good = gpu::validate(tiles); !good) return tl::unexpected(good.error());
    return gpu::TensorMap{{tiles.address, tiles.strides[0], tiles.strides[1]}};
  }
  Result<void> upload(gpu::DevicePointer to, const void* from, std::uint64_t bytes, gpu::StreamHandle) override {
    uploads_.push_back({to, from, bytes});
    return at("upload");
  }
  Result<void> synchronize(gpu::StreamHandle s) override {
    for (const Upload& u : uploads_) EXPECT_TRUE(FakeDriver::upload(u.to, u.from, u.bytes, s));
    uploads_.clear();
    return at("synchronize");
  }

 private:
  struct Upload {
    gpu::DevicePointer to;
    const void* from;
    std::uint64_t bytes;
  };
  template <class T>
  static T parameter(const Launched& l, std::size_t n) {
    T value;
    std::memcpy(&value, l.parameters[n], sizeof value);
    return value;
  }
  std::vector<float> row(const Launched& l, std::size_t tensor, std::int64_t head, std::int64_t r) const {
    const auto map = parameter<gpu::TensorMap>(l, tensor);
    const auto* from =
        reinterpret_cast<const std::uint16_t*>(map.opaque[0] + static_cast<std::uint64_t>(r) * map.opaque[1] +
                                               static_cast<std::uint64_t>(head) * map.opaque[2]);
    std::vector<float> values;
    for (std::int64_t d = 0; d < D_; ++d)
      values.push_back(dtype_ == DType::f16 ? f32_from_f16(from[d]) : f32_from_bf16(from[d]));
    return values;
  }
  static float dot(const std::vector<float>& a, const std::vector<float>& b) {
    float sum = 0;
    for (std::size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
    return sum;
  }
  void add_to(float* sums, float factor, const std::vector<float>& x) const {
    for (std::int64_t d = 0; d < D_; ++d) sums[d] += factor * x[static_cast<std::size_t>(d)];
  }

  void compute(const Launched& l) {
    if (l.kernel == "flash_bwd_hopper_rows") begin_rows(l);
    if (l.kernel == "flash_bwd_hopper_keys") sum_gradients(l);
    if (l.kernel == "attnscope_ring_dq") add_queries(l);
    if (l.kernel == "attnscope_ring_add") add(parameter<AddArgs>(l, 0), l.shape.grid[1]);
    if (l.kernel == "attnscope_ring_round") round(parameter<RoundArgs>(l, 0));
  }
  void begin_rows(const Launched& l) {
    const auto a = parameter<gpu::Args>(l, 5);
    const auto g = parameter<gpu::BackwardArgs>(l, 6);
    for (std::int64_t h = 0; h < a.Hq; ++h) {
      for (std::int64_t r = 0; r < a.Lq; ++r) {
        g.delta[h * g.rows + r] = dot(row(l, 3, h, r), row(l, 4, h, r));
        if (g.delta_out != nullptr) g.delta_out[h * a.Lq + r] = g.delta[h * g.rows + r];
        std::fill_n(g.d_q_sum + (h * g.rows + r) * D_, D_, 0.0f);
      }
    }
  }
  void sum_gradients(const Launched& l) {
    const auto a = parameter<gpu::Args>(l, 5);
    const auto g = parameter<gpu::BackwardArgs>(l, 6);
    auto *d_k = static_cast<float*>(g.d_k), *d_v = static_cast<float*>(g.d_v);
    std::fill_n(d_k, a.Hkv * a.Lk * D_, 0.0f);
    std::fill_n(d_v, a.Hkv * a.Lk * D_, 0.0f);
    for (std::int64_t h = 0; h < a.Hq; ++h) {
      const std::int64_t kv = h / (a.Hq / a.Hkv);
      for (std::int64_t r = 0; r < a.Lq; ++r) {
        const auto q = row(l, 0, h, r), d_o = row(l, 3, h, r);
        for (std::int64_t c = std::max<std::int64_t>(0, r + a.first_shift);
             c < std::min<std::int64_t>(a.Lk, r + a.last_shift); ++c) {
          const auto k = row(l, 1, kv, c);
          const float p = std::exp(a.scale * dot(q, k) - a.lse[h * a.Lq + r]);
          const float d_s = p * (dot(d_o, row(l, 2, kv, c)) - g.delta[h * g.rows + r]);
          add_to(d_v + (kv * a.Lk + c) * D_, p, d_o);
          add_to(d_k + (kv * a.Lk + c) * D_, d_s, q);
          add_to(g.d_q_sum + (h * g.rows + r) * D_, d_s, k);
        }
      }
    }
  }
  void add_queries(const Launched& l) {
    const auto a = parameter<gpu::Args>(l, 0);
    const auto g = parameter<gpu::BackwardArgs>(l, 1);
    const auto to = parameter<QueryArgs>(l, 2);
    for (std::int64_t h = 0; h < a.Hq; ++h) {
      for (std::int64_t n = 0; n < a.Lq * D_; ++n) {
        float& sum = to.sums[(h * to.rows + to.first) * D_ + n];
        sum = g.d_q_sum[h * g.rows * D_ + n] + (to.adds != 0 ? sum : 0);
      }
    }
  }
  void add(const AddArgs& a, std::int64_t heads) const {
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t n = 0; n < a.count * D_; ++n)
        a.sums[(h * a.rows + a.first) * D_ + n] += a.part[h * a.count * D_ + n];
  }
  void round(const RoundArgs& r) const {
    for (std::int64_t n = 0; n < r.numbers; ++n)
      r.to[n] = dtype_ == DType::f16 ? f16_from_f32(r.sums[n] * r.scale) : bf16_from_f32(r.sums[n] * r.scale);
  }

  DType dtype_;
  std::int64_t D_;
  std::vector<Upload> uploads_;
};

// A rank as rank_run.cpp drives it; what travels is copied.
struct RankHere {
  GpuOpenRequest request;
  std::optional<RankMemory> memory;
  std::unique_ptr<RankGradients> gradients;
};

// A queue of the chip that these kernels are for, on a test's driver; it compiles nothing.
struct OnDriver {
  explicit OnDriver(FakeDriver& driver) : queue(gpu::Queue::make(driver, service, "sm_90a", {})) {}

  NoCompiler compiler;
  gpu::CompileService service{compiler, {}};
  Result<gpu::Queue> queue;
};

class GpuBackward : public testing::Test {
 protected:
  static Problem problem(DType dtype, bool causal, std::int64_t length, std::int64_t D) {
    Problem p;
    p.pass = Pass::backward;
    p.Hq = 4, p.Hkv = 2;
    p.Lq = p.Lk = length;
    p.D = p.Dv = D;
    p.dtype = dtype;
    p.mask.causal = causal;
    return p;
  }

  // All turns of all ranks; the bytes of sums that were sent.
  std::uint64_t run(const Problem& p, const GpuTurns& turns, const Inputs& in, Outputs& out) {
    Computing driver(p.dtype, p.D);
    OnDriver on(driver);
    auto& queue = on.queue;
    EXPECT_TRUE(queue);
    std::vector<RankHere> ranks(static_cast<std::size_t>(turns.ranks));
    for (std::int64_t n = 0; n < turns.ranks; ++n) open(ranks[static_cast<std::size_t>(n)], n, p, turns, in, *queue);
    std::uint64_t sent = 0;
    for (std::int64_t turn = 0; turn < turns.ranks; ++turn) {
      for (RankHere& r : ranks) {
        EXPECT_TRUE(r.gradients->compute(turn));
        EXPECT_TRUE(r.gradients->add(turn));
      }
      // All have computed, and none has what its neighbour sends: copies that follow one another do as all at once.
      for (std::size_t n = 0; n < ranks.size(); ++n) sent += pass_on(ranks, n, turn);
    }
    out = empty_outputs(p);
    for (std::size_t n = 0; n < ranks.size(); ++n) {
      EXPECT_TRUE(ranks[n].gradients->round_d_q());
      EXPECT_TRUE(ranks[n].gradients->round_d_k_d_v());
      const auto answer = ranks[n].gradients->answer();
      EXPECT_TRUE(answer);
      std::span<const std::byte> bytes = *answer;
      const auto rows = turns.rows_of(static_cast<std::int64_t>(n));
      for (Array* a : {&out.d_q, &out.delta}) put_heads(bytes, rows, {0, p.Hq}, *a);
      for (Array* a : {&out.d_k, &out.d_v}) put_heads(bytes, rows, {0, p.Hkv}, *a);
      EXPECT_TRUE(bytes.empty());
    }
    return sent;
  }

 private:
  static void open(RankHere& rank, std::int64_t n, const Problem& p, const GpuTurns& turns, const Inputs& in,
                   gpu::Queue& queue) {
    rank.request.rank = static_cast<std::int32_t>(n);
    rank.request.problem = p;
    rank.request.turns = turns;
    const auto rows = turns.rows_of(n);
    std::vector<std::byte> dealt, more;
    take_rows(in.q, rows, {0, p.Hq}, dealt);
    take_rows(in.k, rows, {0, p.Hkv}, dealt);
    take_rows(in.v, rows, {0, p.Hkv}, dealt);
    take_rows(*in.d_o, rows, {0, p.Hq}, more);
    take_rows(*in.o, rows, {0, p.Hq}, more);
    take_heads(*in.lse, rows, {0, p.Hq}, more);
    auto memory = RankMemory::place(queue.driver(), rank.request, dealt, queue.stream());
    ASSERT_TRUE(memory) << memory.error().message;
    rank.memory.emplace(std::move(*memory));
    auto gradients = RankGradients::place(queue, rank.request, more);
    ASSERT_TRUE(gradients) << gradients.error().message;
    rank.gradients = *std::move(gradients);
    const KernelRow& row = **find_kernel(kGpuBackwardRingKernel);
    for (std::int64_t turn = 0; turn < turns.ranks; ++turn) {
      const GpuTurn work = turns.turn(n, turn);
      if (work.idle()) continue;
      const auto plan = row.plan(row, problem_of_turn(rank.request, work), {}, *gpu::device_for("sm_90a"));
      ASSERT_TRUE(plan) << plan.error().message;
      ASSERT_TRUE(rank.gradients->make_workspace(plan->workspace_bytes));
      const Buffers b = rank.gradients->buffers(rank.memory->inputs_of_turn(turns, work, turn), work, turn);
      const auto ready = rank.gradients->prepare(*plan, b, work, turn);
      ASSERT_TRUE(ready) << ready.error().message;
    }
  }

  // K and V of the turn, but for the last, and the sums, to the neighbour's slots.
  static std::uint64_t pass_on(std::vector<RankHere>& ranks, std::size_t n, std::int64_t turn) {
    RankHere &from = ranks[n], &to = ranks[(n + 1) % ranks.size()];
    const auto rank = static_cast<std::int64_t>(n);
    const GpuTurns& turns = from.request.turns;
    const auto copy = [](gpu::DevicePointer target, gpu::DevicePointer source, std::uint64_t bytes) {
      std::memmove(pointer_to(target), pointer_to(source), bytes);
    };
    const std::int64_t keys = turns.count_of(turns.turn(rank, turn).share);
    if (turn + 1 < turns.ranks)
      copy(to.memory->slot(turn % 2), from.memory->share(turn), from.memory->sizes().share(keys).bytes);
    const std::uint64_t bytes = from.gradients->sums_bytes(rank, turn);
    EXPECT_EQ(bytes, static_cast<std::uint64_t>(4 * keys * 2 * 2 * from.request.problem.D));
    copy(to.gradients->slot(turn % 2), from.gradients->sums(turn), bytes);
    return bytes;
  }
};

TEST_F(GpuBackward, GradientsOfAllRanksAreRightByTheRule) {
  struct Case {
    std::int64_t ranks, length, D;
    GpuDeal deal;
    bool causal;
    DType dtype;
  };
  const Case cases[] = {
      {2, 38, 64, GpuDeal::zigzag, true, DType::f16},    {2, 37, 128, GpuDeal::zigzag, false, DType::bf16},
      {3, 41, 64, GpuDeal::zigzag, true, DType::bf16},   {4, 35, 64, GpuDeal::zigzag, true, DType::f16},
      {3, 31, 64, GpuDeal::in_order, true, DType::f16},  {2, 33, 128, GpuDeal::in_order, false, DType::f16},
      {5, 29, 64, GpuDeal::in_order, true, DType::bf16},
  };
  for (const Case& c : cases) {
    const Problem p = problem(c.dtype, c.causal, c.length, c.D);
    SCOPED_TRACE(describe(p) + " on " + std::to_string(c.ranks));
    const auto in = make_all_inputs(p, {}, in_turn, 0, Stream{});
    ASSERT_TRUE(in) << in.error().message;
    const GpuTurns turns{c.ranks, c.deal, c.causal, c.length, p.Hq, p.Hkv};
    Outputs out;
    const std::uint64_t sent = run(p, turns, *in, out);
    // Each rank's sums pass every rank and come home: dK and dV of all keys, in f32, as often as there are ranks.
    EXPECT_EQ(sent, static_cast<std::uint64_t>(c.ranks * p.Hkv * p.Lk * (p.D + p.Dv) * 4));
    const RowSample sample = choose_rows(p, true);
    const auto reference = reference_rows(p, *in, sample.rows, 1, {});
    ASSERT_TRUE(reference) << reference.error().message;
    const Verdict v = judge(p, *in, *reference, out, sample);
    EXPECT_TRUE(v.pass) << v.reason;
    for (const Tensor t : {Tensor::d_q, Tensor::d_k, Tensor::d_v, Tensor::delta}) EXPECT_NE(v.of(t), nullptr);
  }
}

class Counting final : public FakeDriver {
 public:
  std::map<gpu::DevicePointer, std::uint64_t> blocks;
  Result<gpu::DevicePointer> allocate(std::uint64_t bytes) override {
    auto made = FakeDriver::allocate(bytes);
    if (made) blocks[*made] = bytes;
    return made;
  }
};

// 12 000 rows on two ranks: K and V of a share are 2.93 pages, dK and dV twice that. 16 rows are less than one.
TEST_F(GpuBackward, WhatNeighboursOpenHasWholePagesOfItsOwn) {
  constexpr std::uint64_t kPage = 2097152;
  struct Case {
    std::int64_t ranks, length;
    std::uint64_t keys, second, sums;  // pages
  };
  for (const Case& c :
       {Case{1, 12000, 1, 1, 1}, Case{2, 16, 1, 1, 1}, Case{2, 12000, 3, 1, 6}, Case{3, 12000, 2, 2, 4}}) {
    const Problem p = problem(DType::f16, false, c.length, 128);
    Counting driver;
    OnDriver on(driver);
    auto& queue = on.queue;
    ASSERT_TRUE(queue);
    GpuOpenRequest r;
    r.problem = p;
    r.turns = {c.ranks, GpuDeal::in_order, false, c.length, p.Hq, p.Hkv};
    const auto rows = static_cast<std::size_t>(r.turns.count_of(0));
    const std::vector<std::byte> dealt(rows * (4 + 2 + 2) * 128 * 2), more(rows * 4 * (2 * 128 * 2 + 4));
    const auto memory = RankMemory::place(driver, r, dealt, queue->stream());
    ASSERT_TRUE(memory) << memory.error().message;
    const auto gradients = RankGradients::place(*queue, r, more);
    ASSERT_TRUE(gradients) << gradients.error().message;
    EXPECT_EQ(driver.blocks[memory->flags()], kPage);
    EXPECT_EQ(driver.blocks[memory->slot(0)], c.keys * kPage) << c.ranks;
    EXPECT_EQ(driver.blocks[memory->slot(1)], c.second * kPage) << c.ranks;
    for (const std::int64_t n : {0, 1}) EXPECT_EQ(driver.blocks[(*gradients)->slot(n)], c.sums * kPage) << c.ranks;
  }
}

// A turn stands a kernel of its own in the place of the one that rounds dQ: of no other.
TEST_F(GpuBackward, APlanThatDoesNotEndWithTheRoundingOfQueriesIsRefused) {
  const Problem p = problem(DType::f16, false, 64, 64);
  Computing driver(p.dtype, p.D);
  OnDriver on(driver);
  auto& queue = on.queue;
  ASSERT_TRUE(queue);
  const KernelRow& row = **find_kernel(kGpuBackwardRingKernel);
  auto plan = row.plan(row, p, {}, *gpu::device_for("sm_90a"));
  ASSERT_TRUE(plan) << plan.error().message;
  auto kernels = gpu::RingGradients::make(*queue, *plan);
  ASSERT_TRUE(kernels) << kernels.error().message;
  const auto refused = [&](const char* words) {
    const auto turn = kernels->prepare(*plan, {}, {});
    ASSERT_FALSE(turn);
    EXPECT_NE(turn.error().message.find(words), std::string::npos) << turn.error().message;
  };
  std::swap(plan->launches[1], plan->launches[2]);
  refused("by replacing the last launch, flash_bwd_hopper_dq, but here the last launch is 'flash_bwd_hopper_keys'");
  plan->launches.clear();
  refused("but here the last launch is ''");
}

// A rank is asked for the rows of its tensors: one that got others says so.
TEST_F(GpuBackward, RowsOfAnotherSizeAreRefused) {
  const Problem p = problem(DType::f16, false, 16, 64);
  Computing driver(p.dtype, p.D);
  OnDriver on(driver);
  auto& queue = on.queue;
  ASSERT_TRUE(queue);
  GpuOpenRequest r;
  r.problem = p;
  r.turns = {2, GpuDeal::in_order, false, 16, p.Hq, p.Hkv};
  const std::vector<std::byte> short_by_one(static_cast<std::size_t>(8 * p.Hq * (2 * 64 * 2 + 4)) - 1);
  const auto refused = RankGradients::place(*queue, r, short_by_one);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("8319 bytes instead of 8320"), std::string::npos) << refused.error().message;
}

TEST_F(GpuBackward, WhatItDoesNotTakeIsRefusedInWords) {
  const auto refused = [](const Problem& p, const char* kernel, const char* words) {
    GpuRingRequest r;
    r.gpus = {0, 1};
    r.kernel = kernel;
    const auto good = check_gpu_ring(p, r);
    ASSERT_FALSE(good) << words;
    EXPECT_NE(good.error().message.find(words), std::string::npos) << good.error().message;
  };
  GpuRingRequest two;
  two.gpus = {0, 1};
  two.kernel = kGpuBackwardRingKernel;
  EXPECT_TRUE(check_gpu_ring(problem(DType::f16, true, 100, 128), two));
  refused(problem(DType::f16, true, 100, 96), kGpuBackwardRingKernel, "D = Dv = 64 or 128, not D = 96");
  refused(problem(DType::f16, true, 100, 96), kGpuBackwardRingKernel, "No other kernel can run a backward ring");
  refused(problem(DType::f32, true, 100, 64), kGpuBackwardRingKernel, "only f16 and bf16");
  refused(problem(DType::f16, true, 100, 64), "flash_bwd",
          "flash_bwd cannot run a backward ring of GPUs; use flash_bwd_hopper");
  refused(problem(DType::f16, true, 100, 64), "flash_hopper", "use flash_bwd_hopper");
  Problem training = problem(DType::f16, true, 100, 64);
  training.pass = Pass::training;
  refused(training, "flash_hopper_train", "not a training step");
}

}  // namespace
}  // namespace attn
