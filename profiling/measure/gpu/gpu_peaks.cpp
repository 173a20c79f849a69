#include "profiling/measure/gpu/gpu_peaks.h"
#include "kernels/base/bytes.h"
#include "profiling/measure/gpu/read_source.h"
#include "profiling/measure/gpu/warpgroup_source.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <fmt/format.h>

namespace attn {
namespace {

// One struct by value, as all kernels of ours take their arguments.
struct Work {
  unsigned long long from = 0, to = 0;  // addresses of float4
  unsigned long long count = 0;         // float4s, or turns of a loop
  unsigned long long mask = 0;          // attnscope_l2: float4s less 1, a power of two less 1
  float x = 0, y = 0;
};

constexpr const char* kSource = R"(
struct Work { unsigned long long from, to, count, mask; float x, y; };

// Reads all. The sum is never what it is compared with; without the write the reads would be left out.
extern "C" __global__ void attnscope_read_l2(Work w) {
  const float4* p = (const float4*)w.from;
  float sum = 0;
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < w.count;
       i += (unsigned long long)gridDim.x * blockDim.x) {
    const float4 v = __ldcg(p + i);
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 12345.678f) ((float*)w.to)[0] = sum;
}

extern "C" __global__ void attnscope_copy(Work w) {
  const float4* from = (const float4*)w.from;
  float4* to = (float4*)w.to;
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < w.count;
       i += (unsigned long long)gridDim.x * blockDim.x) {
    to[i] = from[i];
  }
}

// 16 chains of multiply-adds a thread, 16 in each turn: enough that no chain waits for itself.
extern "C" __global__ void __launch_bounds__(256) attnscope_multiply_add(Work w) {
  float a[16];
#pragma unroll
  for (int n = 0; n < 16; ++n) a[n] = w.x * (threadIdx.x + n);
  for (unsigned long long turn = 0; turn < w.count; ++turn) {
#pragma unroll
    for (int step = 0; step < 16; ++step) {
#pragma unroll
      for (int n = 0; n < 16; ++n) a[n] = fmaf(a[n], w.x, w.y);
    }
  }
  float sum = 0;
#pragma unroll
  for (int n = 0; n < 16; ++n) sum += a[n];
  if (sum == 12345.678f) ((float*)w.to)[0] = sum;
}

// Loads of 16 bytes past the L1 from a part of the buffer that stays in the L2; 8 of each thread are on their way at
// once.
extern "C" __global__ void __launch_bounds__(256) attnscope_l2(Work w) {
  const float4* p = (const float4*)w.from;
  const unsigned step = gridDim.x * blockDim.x, mask = (unsigned)w.mask;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned long long turn = 0; turn < w.count; ++turn) {
    float4 v[8];
#pragma unroll
    for (int n = 0; n < 8; ++n, i += step) v[n] = __ldcg(p + (i & mask));
#pragma unroll
    for (int n = 0; n < 8; ++n) sum += v[n].x + v[n].y + v[n].z + v[n].w;
  }
  if (sum == 12345.678f) ((float*)w.to)[0] = sum;
}

// A warp's 512 bytes lie side by side: four turns of 128 bytes, no conflict. Volatile, or one load would serve all.
extern "C" __global__ void __launch_bounds__(256) attnscope_shared(Work w) {
  __shared__ float4 tile[512];
  for (int i = threadIdx.x; i < 512; i += blockDim.x) tile[i] = make_float4(w.x, w.y, w.x, w.y);
  __syncthreads();
  const unsigned at = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x);
  float sum = 0;
  for (unsigned long long turn = 0; turn < w.count; ++turn) {
    float4 v[8];
#pragma unroll
    for (int n = 0; n < 8; ++n)
      asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(v[n].x), "=f"(v[n].y), "=f"(v[n].z), "=f"(v[n].w)
                   : "r"(at + n % 2 * 4096));
#pragma unroll
    for (int n = 0; n < 8; ++n) sum += v[n].x + v[n].y + v[n].z + v[n].w;
  }
  if (sum == 12345.678f) ((float*)w.to)[0] = sum;
}

#if __CUDA_ARCH__ >= 800
// 8 independent sums of 16 x 8 a warp, 16 products of each in a turn. The factors are no round numbers: zeros draw less
// power, and the clock rises.
#define ATTN_TENSOR_LOOP(PRODUCT)                                                     \
  float c[8][4];                                                                      \
  _Pragma("unroll") for (int n = 0; n < 8; ++n)                                       \
    _Pragma("unroll") for (int e = 0; e < 4; ++e) c[n][e] = w.y * n;                  \
  _Pragma("unroll 1") for (unsigned long long turn = 0; turn < w.count; ++turn) {     \
    _Pragma("unroll") for (int step = 0; step < 16; ++step)                           \
      _Pragma("unroll") for (int n = 0; n < 8; ++n) PRODUCT;                          \
  }                                                                                   \
  float sum = 0;                                                                      \
  _Pragma("unroll") for (int n = 0; n < 8; ++n)                                       \
    _Pragma("unroll") for (int e = 0; e < 4; ++e) sum += c[n][e];                     \
  if (sum == 12345.678f) ((float*)w.to)[0] = sum;

extern "C" __global__ void __launch_bounds__(256) attnscope_tensor_half(Work w) {
  unsigned a[4], b[2];  // pairs of f16 between 0.5 and 2
  for (int n = 0; n < 4; ++n) a[n] = 0x3800bc00u ^ ((threadIdx.x * 2654435761u + n * 40503u) & 0x07ff03ffu);
  for (int n = 0; n < 2; ++n) b[n] = 0xb8003c00u ^ ((threadIdx.x * 2246822519u + n * 40503u) & 0x07ff03ffu);
  ATTN_TENSOR_LOOP(asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])))
}

extern "C" __global__ void __launch_bounds__(256) attnscope_tensor_bf16(Work w) {
  unsigned a[4], b[2];  // pairs of bf16 between 0.5 and 2
  for (int n = 0; n < 4; ++n) a[n] = 0x3f00bf80u ^ ((threadIdx.x * 2654435761u + n * 40503u) & 0x00ff007fu);
  for (int n = 0; n < 2; ++n) b[n] = 0xbf003f80u ^ ((threadIdx.x * 2246822519u + n * 40503u) & 0x00ff007fu);
  ATTN_TENSOR_LOOP(asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])))
}

extern "C" __global__ void __launch_bounds__(256) attnscope_tensor_tf32(Work w) {
  unsigned a[4], b[2];  // fp32 between 0.5 and 2, of which the upper 19 bits are read
  for (int n = 0; n < 4; ++n) a[n] = 0x3f000000u ^ ((threadIdx.x * 2654435761u + n * 40503u) & 0x80ffe000u);
  for (int n = 0; n < 2; ++n) b[n] = 0x3f000000u ^ ((threadIdx.x * 2246822519u + n * 40503u) & 0x80ffe000u);
  ATTN_TENSOR_LOOP(asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])))
}
#endif
)";
constexpr double kProductsPerIteration = 16 * 8;  // of a warp
constexpr int kTensorSince = 80;                  // compute capability; older chips' products have other shapes

// A type's measuring kernel: its name and the multiply-adds of one product.
struct TensorLoop {
  const char* entry;
  double multiply_adds;
};
constexpr std::array kTensorLoops{TensorLoop{"attnscope_tensor_half", 16.0 * 8 * 16},
                                  TensorLoop{"attnscope_tensor_bf16", 16.0 * 8 * 16},
                                  TensorLoop{"attnscope_tensor_tf32", 16.0 * 8 * 8}};
// A warp's share of what its warpgroup multiplies in a turn is as much as the other loops of 16 bits have.
constexpr std::array kWarpgroupLoops{TensorLoop{"attnscope_warpgroup_half", 16.0 * 8 * 16},
                                     TensorLoop{"attnscope_warpgroup_bf16", 16.0 * 8 * 16}};
static_assert(8.0 * 64 * 128 * 16 / 4 == kProductsPerIteration * 16 * 8 * 16);
constexpr std::string_view kWarpgroups = "sm_90a";
const TensorLoop& loop_of(Pipe pipe, DType dtype) {
  if (pipe == Pipe::warpgroup_half) return kWarpgroupLoops[dtype == DType::bf16 ? 1 : 0];
  if (pipe == Pipe::tensor_tf32) return kTensorLoops[2];
  return kTensorLoops[dtype == DType::bf16 ? 1 : 0];
}

constexpr const char* kL2Name = "attnscope_l2";
constexpr const char* kSharedName = "attnscope_shared";
constexpr const char *kReadName = "attnscope_read", *kReadBulkName = "attnscope_read_bulk";
constexpr int kBulkSince = 90;  // compute capability
constexpr double kFmasPerIteration = 16 * 16;
constexpr double kLoadedInATurn = 8 * 16;  // bytes of a thread
constexpr std::uint64_t kTurnsOfL2 = 64, kTurnsOfShared = 512;
constexpr std::uint64_t kIterations = 512;
constexpr int kRuns = 8;
// The caches' replacement is not least-recently-used: three times the L2's size leaves nothing of what was there.
constexpr std::uint64_t kFlushPerL2 = 3;
constexpr std::uint64_t kMaxCopied = std::uint64_t{1} << 30;  // bytes; a copy far beyond any L2

}  // namespace

Result<GpuPeaks> GpuPeaks::make(gpu::Driver& driver, gpu::CompileService& service, const gpu::GpuProperties& properties,
                                gpu::StreamHandle stream) {
  const gpu::KernelSource source{"gpu_yardsticks.cu", std::string(kSource) + kReadSource + kWarpgroupSource,
                                 "gpu_yardsticks 6", false};
  const auto compiled = service.compile({source, properties.arch(), {}});
  if (!compiled) return tl::unexpected(compiled.error());
  GpuPeaks made(driver, properties, stream);
  const auto module = driver.load(compiled->code.data());
  if (!module) return tl::unexpected(module.error());
  made.module_ = *module;
  for (const char* name : {kFlushName, "attnscope_copy", "attnscope_multiply_add", kReadName, kL2Name, kSharedName}) {
    const auto entry = driver.function(*module, name);
    if (!entry) return tl::unexpected(entry.error());
    made.entries_.emplace(name, *entry);
  }
  if (properties.major * 10 + properties.minor >= kTensorSince) {
    for (const TensorLoop& loop : kTensorLoops) {
      const auto entry = driver.function(*module, loop.entry);
      if (!entry) return tl::unexpected(entry.error());
      made.entries_.emplace(loop.entry, *entry);
    }
  }
  if (properties.major * 10 + properties.minor >= kBulkSince) {
    const auto entry = driver.function(*module, kReadBulkName);
    if (!entry) return tl::unexpected(entry.error());
    made.entries_.emplace(kReadBulkName, *entry);
  }
  for (const TensorLoop& loop : kWarpgroupLoops) {
    if (properties.arch() != kWarpgroups) break;
    const auto entry = driver.function(*module, loop.entry);
    if (!entry) return tl::unexpected(entry.error());
    made.entries_.emplace(loop.entry, *entry);
  }
  return made;
}

GpuPeaks::GpuPeaks(GpuPeaks&& other) noexcept
    : driver_(other.driver_),
      properties_(std::move(other.properties_)),
      stream_(other.stream_),
      module_(std::exchange(other.module_, nullptr)),
      entries_(std::move(other.entries_)),
      flushed_(std::move(other.flushed_)),
      peak_(std::move(other.peak_)),
      tensor_gflops_(std::move(other.tensor_gflops_)) {}

GpuPeaks::~GpuPeaks() {
  if (module_ != nullptr) driver_->unload(module_);
}

Result<void> GpuPeaks::launch(const char* entry, const void* argument, Shape shape) {
  gpu::LaunchShape launched;
  launched.grid[0] = static_cast<std::uint32_t>(properties_.sms) * shape.blocks;
  launched.block[0] = shape.threads;
  return driver_->launch(entries_.at(entry), launched, stream_, {&argument, 1});
}

Result<void> GpuPeaks::prepare_flush() {
  if (flushed_ != nullptr) return ok();
  auto memory = gpu::Memory::allocate(*driver_, kFlushPerL2 * static_cast<std::uint64_t>(properties_.l2_bytes));
  if (!memory) return tl::unexpected(memory.error());
  flushed_ = std::make_unique<gpu::Memory>(std::move(*memory));
  return driver_->fill(flushed_->address(), 0, flushed_->bytes(), stream_);
}

Result<void> GpuPeaks::flush() {
  if (auto ready = prepare_flush(); !ready) return ready;
  Work w;
  w.from = w.to = flushed_->address();
  w.count = flushed_->bytes() / 16;
  return launch(kFlushName, &w, Shape{});
}

Result<double> GpuPeaks::fastest_ms(const char* entry, const void* argument) {
  return fastest_ms(entry, argument, Shape{});
}

Result<double> GpuPeaks::fastest_ms(const char* entry, const void* argument, Shape shape) {
  const auto first = driver_->create_event(), second = driver_->create_event();
  if (!first) return tl::unexpected(first.error());
  if (!second) return tl::unexpected(second.error());
  Result<double> fastest = 0.0;
  for (int run = 0; run < kRuns && fastest; ++run) {
    auto done = driver_->record(*first, stream_);
    if (done) done = launch(entry, argument, shape);
    if (done) done = driver_->record(*second, stream_);
    const auto ms = done ? driver_->elapsed_ms(*first, *second) : Result<double>(tl::unexpected(done.error()));
    if (!ms)
      fastest = ms;
    else if (run > 0)  // the first warms up
      fastest = run == 1 ? *ms : std::min(*fastest, *ms);
  }
  driver_->destroy_event(*first);
  driver_->destroy_event(*second);
  if (fastest && *fastest <= 0) return fail(ErrorKind::failed, std::string(entry) + " took no time at all");
  return fastest;
}

Result<double> GpuPeaks::multiply_add_gflops() {
  Work w;
  w.from = w.to = flushed_->address();
  w.count = kIterations;
  w.x = 0.999F;
  w.y = 0.001F;
  auto ms = fastest_ms("attnscope_multiply_add", &w);
  if (!ms) return ms;
  const double threads = static_cast<double>(properties_.sms) * kBlocksPerSm * kThreads;
  return 2 * threads * kFmasPerIteration * static_cast<double>(kIterations) / *ms * 1e-6;
}

Result<double> GpuPeaks::tensor_gflops(Pipe pipe, DType dtype) {
  if (pipe == Pipe::multiply_add) return bad_input("fp32 multiply-adds have no tensor-core peak");
  const TensorLoop& loop = loop_of(pipe, dtype);
  if (!entries_.contains(loop.entry))
    return fail(
        ErrorKind::cannot_run,
        pipe == Pipe::warpgroup_half
            ? fmt::format("measuring its products needs wgmma of {}; this GPU is {}", kWarpgroups, properties_.arch())
            : fmt::format("measuring its products needs mma.sync of sm_{} or newer; this GPU is {}", kTensorSince,
                          properties_.arch()));
  if (const auto known = tensor_gflops_.find(loop.entry); known != tensor_gflops_.end()) return known->second;
  if (auto ready = prepare_flush(); !ready) return tl::unexpected(ready.error());
  Work w;
  w.from = w.to = flushed_->address();
  w.count = kIterations;
  w.y = 0.001F;
  auto ms = fastest_ms(loop.entry, &w);
  if (!ms) return ms;
  const double warps = static_cast<double>(properties_.sms) * kBlocksPerSm * kThreads / 32;
  const double products = warps * kProductsPerIteration * static_cast<double>(kIterations);
  return tensor_gflops_[loop.entry] = 2 * products * loop.multiply_adds / *ms * 1e-6;
}

Result<double> GpuPeaks::loaded_gb_per_s(const char* entry, std::uint64_t turns) {
  Work w;
  w.from = w.to = flushed_->address();
  w.count = turns;
  w.x = 0.999F;
  w.y = 0.001F;
  // A quarter of the L2: where it has two halves, each may keep a copy of what lies in the other.
  w.mask = std::bit_floor(std::max<std::uint64_t>(static_cast<std::uint64_t>(properties_.l2_bytes) / 64, 1)) - 1;
  auto ms = fastest_ms(entry, &w);
  if (!ms) return ms;
  const double threads = static_cast<double>(properties_.sms) * kBlocksPerSm * kThreads;
  return threads * kLoadedInATurn * static_cast<double>(turns) / *ms * 1e-6;
}

Result<double> GpuPeaks::copy_gb_per_s() {
  const auto free = driver_->free_memory();
  if (!free) return tl::unexpected(free.error());
  const std::uint64_t bytes = std::min(kMaxCopied, *free / 8) / 16 * 16;
  auto from = gpu::Memory::allocate(*driver_, bytes);
  if (!from) return tl::unexpected(from.error());
  auto to = gpu::Memory::allocate(*driver_, bytes);
  if (!to) return tl::unexpected(to.error());
  if (auto filled = driver_->fill(from->address(), 0x3c, bytes, stream_); !filled)
    return tl::unexpected(filled.error());
  Work w;
  w.from = from->address();
  w.to = to->address();
  w.count = bytes / 16;
  auto ms = fastest_ms("attnscope_copy", &w);
  if (!ms) return ms;
  return 2.0 * static_cast<double>(bytes) / *ms * 1e-6;
}

Result<double> GpuPeaks::read_gb_per_s() {
  constexpr Shape kLoads{2, 256}, kBulk{6, 32};
  constexpr std::uint64_t kWhole = std::uint64_t{16} << 10;  // both read whole shares of this
  const auto free = driver_->free_memory();
  if (!free) return tl::unexpected(free.error());
  const std::uint64_t bytes = std::max(std::min(kMaxCopied, *free / 4) / 4 / kWhole, std::uint64_t{1}) * 4 * kWhole;
  auto from = gpu::Memory::allocate(*driver_, bytes);
  if (!from) return tl::unexpected(from.error());
  if (auto filled = driver_->fill(from->address(), 0x3c, bytes, stream_); !filled)
    return tl::unexpected(filled.error());
  Work w;
  w.from = w.to = from->address();
  w.count = bytes / 16;
  auto ms = fastest_ms(kReadName, &w, kLoads);
  if (ms && entries_.contains(kReadBulkName)) {
    auto bulk = fastest_ms(kReadBulkName, &w, kBulk);
    if (!bulk) return bulk;
    ms = std::min(*ms, *bulk);
  }
  if (!ms) return ms;
  return static_cast<double>(bytes) / *ms * 1e-6;
}

Result<GpuPeak> GpuPeaks::peak() {
  if (peak_) return *peak_;
  GpuPeak peak;
  std::optional<Error> lost;
  const auto ready = prepare_flush();
  const auto take = [&](double& to, const char* id, const auto& measure) {
    if (lost) return;
    const Result<double> rate = ready ? measure() : Result<double>(tl::unexpected(ready.error()));
    if (rate) {
      to = *rate;
    } else {
      peak.why_not[id] = rate.error().message;
      if (driver_->lost()) lost = rate.error();
    }
  };
  take(peak.gflops, kMultiplyAddPeak, [&] { return multiply_add_gflops(); });
  take(peak.copy_gb_per_s, kCopyPeak, [&] { return copy_gb_per_s(); });
  take(peak.read_gb_per_s, kReadPeak, [&] { return read_gb_per_s(); });
  take(peak.l2_gb_per_s, kL2Peak, [&] { return loaded_gb_per_s(kL2Name, kTurnsOfL2); });
  take(peak.shared_gb_per_s, kSharedPeak, [&] { return loaded_gb_per_s(kSharedName, kTurnsOfShared); });
  if (lost) return tl::unexpected(*lost);
  if (peak.why_not.empty()) peak_ = peak;
  return peak;
}

}  // namespace attn
