#include "viz/bench/sweep/sweep_presets.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/base/text.h"
#include "profiling/spec/sweep_point.h"

namespace attn {
namespace {

Problem problem(std::int64_t heads, std::int64_t length, std::int64_t dim) {
  Problem p;
  p.Hq = p.Hkv = heads;
  p.Lq = p.Lk = length;
  p.D = p.Dv = dim;
  return p;
}

SweepSpec sweep(std::vector<std::string> kernels, Axis axis, std::vector<std::int64_t> values, const Problem& base) {
  SweepSpec s;
  s.kernels = std::move(kernels);
  s.axis = axis;
  s.values = std::move(values);
  s.base = base;
  return s;
}

SweepSpec stored_as(SweepSpec s, DType dtype) {
  s.base.dtype = dtype;
  return s;
}

SweepSpec with_batch(SweepSpec s, std::int64_t batch) {
  s.base.B = batch;
  return s;
}

SweepSpec with_tokens(SweepSpec s, std::int64_t tokens) {
  s.tokens = tokens;
  return s;
}

const std::vector<std::string>& gpu_kernels() {
  static const std::vector<std::string> ids{"naive", "tiled", "flash_simt"};
  return ids;
}
const std::vector<std::string>& cpu_kernels() {
  static const std::vector<std::string> ids{"cpu_multicore", "cpu_tiled", "cpu_flash"};
  return ids;
}

const std::vector<std::int64_t>& long_lengths() {
  static const std::vector<std::int64_t> values{512, 1024, 2048, 4096, 8192, 16384};
  return values;
}

// The axis sets some of the base's extents: the problems of the points are what counts.
bool is_same_sweep(const SweepSpec& a, const SweepSpec& b) {
  const bool same = std::tie(a.kernels, a.axis, a.values, a.tokens, a.ragged, a.options) ==
                    std::tie(b.kernels, b.axis, b.values, b.tokens, b.ragged, b.options);
  return same && std::all_of(a.values.begin(), a.values.end(),
                             [&](std::int64_t v) { return problem_at(a, v) == problem_at(b, v); });
}

// One query a sequence against its keys, with the heads of a model.
SweepSpec decoding(Axis axis, std::vector<std::int64_t> values, std::int64_t heads, std::int64_t key_heads,
                   std::int64_t keys, std::int64_t dim) {
  SweepSpec s = sweep({"flash_mma", "flash_splitkv"}, axis, std::move(values), problem(heads, keys, dim));
  s.base.Hkv = key_heads;
  s.base.Lq = 1;
  s.base.dtype = DType::bf16;
  return s;
}

constexpr std::string_view kReadShare = "needed_read_share_pct";
const Axis kKeys("Lk");

void add_decode_presets(std::vector<BenchPreset>& presets) {
  SweepSpec ladder = decoding(kKeys, {1024, 4096, 16384, 65536}, 32, 8, 1024, 128);
  ladder.kernels = {"naive", "tiled", "flash_mma", "flash_splitkv"};
  ladder.base.B = 4;
  presets.push_back(BenchPreset{
      "decode", marked("Decoding, by keys"),
      marked("One query per sequence, B = 4, 32 query heads and 8 KV heads, D = 128, bf16: from S in memory to keys "
             "split across all multiprocessors."),
      kReadShare, ladder});
  presets.push_back(BenchPreset{"decode_llama3_8b", marked("Decoding, Llama-3 8B"),
                                marked("32 query heads and 8 KV heads, D = 128, 8192 keys, bf16, by number of "
                                       "sequences."),
                                kReadShare, decoding(Axis::B, {1, 4, 16, 64}, 32, 8, 8192, 128)});
  presets.push_back(BenchPreset{"decode_llama3_70b", marked("Decoding, Llama-3 70B"),
                                marked("64 query heads and 8 KV heads, D = 128, 8192 keys, bf16, by number of "
                                       "sequences."),
                                kReadShare, decoding(Axis::B, {1, 4, 16, 64}, 64, 8, 8192, 128)});
  presets.push_back(BenchPreset{"decode_qwen3_30b", marked("Decoding, Qwen-3 30B-A3B"),
                                marked("32 query heads and 4 KV heads, D = 128, bf16, B = 8, by number of keys up to "
                                       "131 072."),
                                kReadShare,
                                with_batch(decoding(kKeys, {2048, 8192, 32768, 131072}, 32, 4, 2048, 128), 8)});
  SweepSpec window = with_batch(decoding(kKeys, {1024, 8192, 32768}, 16, 8, 1024, 256), 16);
  window.base.mask.window_left = 1023;
  presets.push_back(
      BenchPreset{"decode_gemma3_12b", marked("Decoding, Gemma-3 12B, window"),
                  marked("16 query heads and 8 KV heads, D = 256, bf16, B = 16; a layer that sees at most 1024 keys."),
                  kReadShare, window});
  presets.push_back(BenchPreset{
      "decode_pages", marked("Decoding, by page size"),
      marked("K and V in shuffled pages of 1 to 256 keys; 32 query heads and 8 KV heads, D = 128, 8192 keys, bf16, B = "
             "16."),
      kReadShare, with_batch(decoding(Axis("page"), {1, 16, 64, 256}, 32, 8, 8192, 128), 16)});
  presets.back().sweep.kernels = {"flash_splitkv"};
  SweepSpec ragged = decoding(Axis::B, {16, 64, 256}, 32, 8, 16384, 128);
  ragged.ragged = Ragged::zipf;
  presets.push_back(BenchPreset{
      "decode_ragged", marked("Decoding, ragged"),
      marked("Key lengths by Zipf's law, up to 16 384; 32 query heads and 8 KV heads, D = 128, bf16, by number of "
             "sequences."),
      kReadShare, ragged});
}

// One after the other: clang 16 ends the life of the names of one list too early where all are a single expression.
std::vector<BenchPreset> make_presets() {
  std::vector<BenchPreset> presets;
  presets.push_back(BenchPreset{
      "lengths", marked("Lengths, 16 384 tokens"),
      marked("B·L = 16 384, H = 16, D = 128, L from 512 to 16 384: the same number of tokens at every length."),
      "tflops", with_tokens(sweep(gpu_kernels(), Axis::L, long_lengths(), problem(16, 512, 128)), 16384)});
  presets.push_back(BenchPreset{
      "lengths_64", marked("Lengths, D = 64"), marked("B·L = 16 384, H = 16, D = 64, L from 512 to 16 384."), "tflops",
      with_tokens(sweep(gpu_kernels(), Axis::L, long_lengths(), problem(16, 512, 64)), 16384)});
  presets.push_back(BenchPreset{
      "lengths_f16",
      marked("Lengths, tensor cores, f16"),
      marked("B·L = 16 384, f16, D = 128: how much tensor cores gain, and how much mma.sync and wgmma gain over WMMA."),
      "tflops",
      with_tokens(stored_as(sweep({"naive", "tiled", "flash_wmma", "flash_mma"}, Axis::L, long_lengths(),
                                  problem(16, 512, 128)),
                            DType::f16),
                  16384),
      {marked("a public WMMA kernel"), "flash_wmma", 0.15, 0.23}});
  presets.push_back(BenchPreset{
      "lengths_tf32", marked("Lengths, tensor cores, f32"),
      marked("Output in f32, D = 64: CUDA cores against three TF32 products."), "speedup_ratio",
      with_tokens(sweep({"tiled", "flash_simt", "flash_tf32x3"}, Axis::L, long_lengths(), problem(16, 512, 64)),
                  16384)});
  presets.push_back(BenchPreset{"latency", marked("Latency"),
                                marked("Time and rate of a single sequence, short or long, H = 8, D = 64, including "
                                       "lengths too short to fill the GPU."),
                                "tflops",
                                sweep({"naive", "tiled", "flash_simt", "flash_tf32x3"}, Axis::L,
                                      {128, 256, 512, 1024, 2048, 4096}, problem(8, 128, 64))});
  presets.push_back(BenchPreset{"speedup", marked("Speed-up over naive"),
                                marked("Speed relative to naive by length, B = 4, H = 8, D = 64, until S takes 8 GiB."),
                                "speedup_ratio",
                                with_batch(sweep({"naive", "tiled", "flash_simt", "flash_tf32x3"}, Axis::L,
                                                 {256, 512, 1024, 2048, 4096, 8192}, problem(8, 256, 64)),
                                           4)});
  presets.push_back(BenchPreset{
      "memory", marked("Latency and memory"),
      marked("Time, peak memory, and what each kernel stores in addition to its inputs and outputs, by length."),
      "memory_overhead_bytes", sweep(gpu_kernels(), Axis::L, {128, 256, 512, 1024, 2048, 4096}, problem(8, 128, 64))});
  presets.push_back(BenchPreset{"dims", marked("Head dimensions"),
                                marked("D from 32 to 256 at L = 4096: where registers and shared memory run out."),
                                "registers_count",
                                sweep(gpu_kernels(), Axis::D, {32, 64, 128, 256}, problem(16, 4096, 64))});
  presets.push_back(BenchPreset{
      "tiles", marked("Tiles of flash_simt"), marked("Br from 16 to 128 at L = 4096: how much a taller tile gains."),
      "registers_count", sweep({"flash_simt"}, Axis::br, {16, 32, 64, 128}, problem(16, 4096, 64))});
  presets.push_back(BenchPreset{
      "steps", marked("Steps of flash_hopper"),
      marked(
          "What the ideas in flash_hopper contribute, added one after another: f16, B = 4, H = 16, L = 4096, D = 128."),
      "tflops",
      with_batch(
          stored_as(sweep({"flash_hopper"}, Axis("step"), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, problem(16, 4096, 128)),
                    DType::f16),
          4)});
  presets.push_back(BenchPreset{
      "lengths_cpu", marked("CPU: lengths, 2048 tokens"), marked("B·L = 2048, H = 4, D = 64 on this CPU."), "tflops",
      with_tokens(sweep(cpu_kernels(), Axis::L, {128, 256, 512, 1024, 2048}, problem(4, 128, 64)), 2048)});
  presets.push_back(
      BenchPreset{"memory_cpu", marked("CPU: latency and memory"),
                  marked("Time, peak memory, and what each kernel stores in addition to its inputs and outputs, on "
                         "this CPU."),
                  "memory_overhead_bytes", sweep(cpu_kernels(), Axis::L, {128, 256, 512, 1024}, problem(4, 128, 64))});
  presets.push_back(
      BenchPreset{"tiles_cpu", marked("Tiles of cpu_flash (CPU)"), marked("Bc from 16 to 128 at L = 1024 on this CPU."),
                  "tflops", sweep({"cpu_multicore", "cpu_flash"}, Axis::bc, {16, 32, 64, 128}, problem(4, 1024, 64))});
  add_decode_presets(presets);
  return presets;
}

}  // namespace

std::span<const BenchPreset> bench_presets() {
  static const std::vector<BenchPreset> kPresets = make_presets();
  return kPresets;
}

const BenchPreset* preset_of(const SweepSpec& s) {
  const auto presets = bench_presets();
  const auto found =
      std::find_if(presets.begin(), presets.end(), [&](const BenchPreset& p) { return is_same_sweep(p.sweep, s); });
  return found == presets.end() ? nullptr : &*found;
}

SweepSpec with_preset(const BenchPreset& preset, const SweepSpec& now) {
  SweepSpec s = now;
  s.kernels = preset.sweep.kernels;
  s.axis = preset.sweep.axis;
  s.values = preset.sweep.values;
  s.base = preset.sweep.base;
  s.tokens = preset.sweep.tokens;
  s.ragged = preset.sweep.ragged;
  s.options = preset.sweep.options;
  return s;
}

}  // namespace attn
