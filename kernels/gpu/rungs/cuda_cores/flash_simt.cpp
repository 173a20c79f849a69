// flash_simt on the host: its default tile, and what flash_simt.cu is launched with.
#include <algorithm>
#include <array>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/occupancy.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/cuda_cores/flash_simt_layout.h"
#include "kernels/gpu/rungs/trace/trace.h"

namespace attn::gpu {
namespace {

constexpr DType kFp32[] = {DType::f32};

std::int64_t shared_bytes(const Problem& p, const Options& o) {
  return std::int64_t{4} *
         flash_simt_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), o.br, o.bc, o.threads).total;
}

// The first of these that fits: large tiles read shared memory least for each multiply-add. Wide V leaves fewer
// registers for S, and so does a bias, whose addresses need some.
Options default_tile(const Problem& p, const ArchLimits& arch) {
  struct Tile {
    std::int32_t br, bc;
  };
  static constexpr std::array<Tile, 6> kTiles{{{128, 128}, {64, 128}, {64, 64}, {32, 64}, {16, 64}, {16, 32}}};
  Options o;
  for (const Tile& t : kTiles) {
    o.br = t.br;
    o.bc = t.bc;
    if (p.Dv > 128) o.bc = std::min(o.bc, 64);
    if (p.changes_scores()) o.bc = std::min(o.bc, p.Dv > 128 ? 32 : 64);
    o.threads = 2 * o.br;
    if (shared_bytes(p, o) <= arch.shared_block) break;
  }
  return o;
}

Result<Options> options_for(const KernelRow& row, const Problem& p, Options o, const Device& d) {
  const Result<ArchLimits> arch = limits_for(row, d);
  if (!arch) return tl::unexpected(arch.error());
  const Options defaults = default_tile(p, *arch);
  if (o.br == 0 && o.bc == 0 && o.threads == 0) o.threads = defaults.threads;
  if (o.br == 0) o.br = defaults.br;
  if (o.bc == 0) o.bc = defaults.bc;
  if (o.threads == 0 && o.br > 0) o.threads = default_threads(o.br);
  Result<Options> resolved = resolve(row, o, d);
  if (!resolved) return resolved;
  if (auto good = check_rows_per_thread(row, *resolved); !good) return tl::unexpected(good.error());
  if (const std::int64_t bytes = shared_bytes(p, *resolved); bytes > arch->shared_block) {
    return bad_input(
        phrase("{} does not fit at {} x {} with D = {}: a block needs {} bytes of shared memory, but {} has {}. Use a "
               "smaller Br or Bc, or omit the tile.",
               row.id, resolved->br, resolved->bc, p.D, bytes, d.arch, arch->shared_block));
  }
  return resolved;
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  const Result<Options> resolved = options_for(row, p, o, d);
  if (!resolved) return tl::unexpected(resolved.error());
  return plan_of(row, p, *resolved,
                 {launch_of("flash_simt", tiles(p.Lq, resolved->br) * p.B * p.Hq, resolved->threads, 1,
                            shared_bytes(p, *resolved))});
}

TraceFacts trace(const Problem&, const Options&) {
  return flash_facts(16);
}

std::span<const Experiment> flash_simt_experiments() {
  static const std::array kTable{
      Experiment{.id = "pad_away",
                 .title = marked("Remove the padding"),
                 .rung = "flash_simt",
                 .question = marked("Why are there 4 floats between the rows of Q and K in shared memory?"),
                 .change = marked("The rows are contiguous: k_stride 32 instead of 36."),
                 .answer = marked("On an H100 (L = 4096, H = 16, D = 64): 3.76 ms instead of 2.09 ms, and 475 million "
                                  "bank conflicts instead of 6 million. Rows read together fall into the same banks.")},
      Experiment{
          .id = "drop_prefetch",
          .title = marked("Drop the prefetch"),
          .rung = "flash_simt",
          .question = marked("How much is gained by loading the next chunk of K or V during the multiplication?"),
          .change = marked("The threads wait for every copy before they start to multiply."),
          .answer =
              marked("On an H100 (L = 4096, H = 16, D = 64): 2.28 ms instead of 2.09 ms, 1.09 times as long. With one "
                     "block per SM, there are no other warps to fill the wait.")},
      Experiment{.id = "divide_every_tile",
                 .title = marked("Divide in every tile"),
                 .rung = "flash_simt",
                 .question = marked("How much did FlashAttention-2 save by dividing by l only once, at the end?"),
                 .change = marked("O stays normalised, as in FlashAttention-1. In every key tile, a row's 16 lanes "
                                  "exchange its sum, and P and O are multiplied by the sum's inverse."),
                 .answer = marked("On an H100 (L = 4096, H = 16, D = 64): 2.27 ms instead of 2.09 ms, 1.09 times as "
                                  "long. The difference is what a single division at the end saves.")},
      Experiment{.id = "expf",
                 .title = marked("expf for exp2"),
                 .rung = "flash_simt",
                 .question = marked("Why are the scores kept in base 2?"),
                 .change = marked(
                     "P uses expf, which is exp2 of a product plus special handling of large and small arguments."),
                 .answer = marked(
                     "On an H100 (L = 4096, H = 16, D = 64): 2.12 ms instead of 2.09 ms, 1.02 times as long, with the "
                     "same error.")},
      Experiment{
          .id = "half_warps",
          .title = marked("Half the warps"),
          .rung = "flash_simt",
          .question = marked("Are 4 warps over 64 query rows as good as 8 warps over 128 if twice as many blocks fit?"),
          .change =
              marked("Br = 64 and 128 threads instead of 128 and 256. The number of rows per thread stays the same."),
          .answer = marked(
              "On an H100 (L = 4096, H = 16, D = 64): 2.07 ms instead of 2.09 ms, 1 % faster. With 168 registers, "
              "3 blocks of 4 warps fit instead of 1 block of 8, for an occupancy of 18.8 % instead of 12.5 %. "
              "But each block reads K and V again."),
          .options = {.br = 64, .bc = 128, .threads = 128},
          .more_blocks = true},
  };
  return kTable;
}

}  // namespace

KernelRow flash_simt_row() {
  static constexpr OptionSpec kOptions[] = {
      {&Option::br, 16, 256, 16, 128}, {&Option::bc, 16, 128, 16, 128}, {&Option::threads, 32, 1024, 32, 256}};
  KernelRow row = common_row();
  row.id = "flash_simt";
  row.title = marked("flash on CUDA cores");
  row.rung = "5";
  row.order = Order::flash;
  row.dtypes = kFp32;
  row.options = kOptions;
  row.what = marked("FlashAttention-2 in fp32 on CUDA cores, in one kernel.");
  row.teaches = marked("The softmax is computed as the keys stream by, so S and P never reach device memory.");
  row.source = marked("Dao 2023, FlashAttention-2, algorithm 1");
  row.experiments = flash_simt_experiments();
  row.plan = plan;
  row.trace = trace;
  return row;
}

}  // namespace attn::gpu
