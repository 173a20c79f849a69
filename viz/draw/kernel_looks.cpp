#include "viz/draw/kernel_looks.h"

#include <algorithm>
#include <vector>

#include "kernels/ladder.h"

namespace attn {
namespace {

using Rgb = std::array<std::uint32_t, 2>;
// A CPU kernel takes the colour of the kernel of the same order; its marks are open.
constexpr Rgb kNaive{0x868E9A, 0x868E9A}, kTiled{0x7A78EC, 0x7E81FB}, kFlash{0x07AEEF, 0x1882AB},
    kTf32x3{0xC081C3, 0x8A2B9C}, kMma{0xACE463, 0x416500}, kHopper{0xFFE8C2, 0x583905};

// A look that the next GPU rung without a row here has.
constexpr std::string_view kFree = "";

constexpr auto kLooks = std::to_array<KernelLook>({
    {"naive", kNaive, {MarkShape::square}},
    {"tiled", kTiled, {MarkShape::triangle_up}},
    {"flash_simt", kFlash, {MarkShape::circle}},
    {"flash_wmma", {0x21D8C1, 0x1A7667}, {MarkShape::diamond}},
    {"flash_mma", kMma, {MarkShape::hexagon}},
    {"flash_hopper", kHopper, {MarkShape::star}},
    {"flash_tf32x3", kTf32x3, {MarkShape::triangle_down}},
    // A backward has the colour of its forward and a mark of its own: a chart may show runs of both.
    {"naive_bwd", kNaive, {MarkShape::triangle_left}},
    {"flash_bwd_simt", kFlash, {MarkShape::triangle_right}},
    {"flash_bwd", kMma, {MarkShape::plus}},
    {"flash_bwd_hopper", kHopper, {MarkShape::three_rays}},
    {kFree, {0xC98A5B, 0xA55137}, {MarkShape::pentagon}},
    {"cpu_sequential", kNaive, {MarkShape::triangle_left}},
    {"cpu_multicore", kNaive, {MarkShape::square}},
    {"cpu_tiled", kTiled, {MarkShape::triangle_up}},
    {"cpu_flash1", kTf32x3, {MarkShape::triangle_down}},
    {"cpu_flash", kFlash, {MarkShape::circle}},
    {"cpu_naive_bwd", kNaive, {MarkShape::hexagon}},
    {"cpu_flash_bwd", kFlash, {MarkShape::diamond}},
});

constexpr auto kPeers = std::to_array<KernelLook>({
    {"torch-flash", kUnknownLook.rgb, {MarkShape::circle}},
    {"torch-cudnn", kUnknownLook.rgb, {MarkShape::diamond}},
    {"torch-efficient", kUnknownLook.rgb, {MarkShape::triangle_up}},
    {"torch-math", kUnknownLook.rgb, {MarkShape::plus}},
    {"flash-attn", kUnknownLook.rgb, {MarkShape::hexagon}},
    {"flash-attn-3", kUnknownLook.rgb, {MarkShape::pentagon}},
    {"flash-attn-4", kUnknownLook.rgb, {MarkShape::star}},
    {"torch-cpu", kUnknownLook.rgb, {MarkShape::circle}},
});

}  // namespace

std::span<const KernelLook> kernel_looks() {
  return kLooks;
}

namespace {

std::vector<KernelLook> free_looks() {
  std::vector<KernelLook> looks;
  auto next = kLooks.begin();
  for (const KernelRow* row : ladder()) {
    if (row->processor != Processor::gpu || std::ranges::find(kLooks, row->id, &KernelLook::kernel) != kLooks.end())
      continue;
    next = std::ranges::find(next, kLooks.end(), kFree, &KernelLook::kernel);
    if (next == kLooks.end()) break;
    looks.push_back({row->id, next->rgb, next->mark});
    ++next;
  }
  // A training step looks like its backward, with a bar under the mark.
  for (const KernelRow& step : training_table()) {
    const std::string_view backward = step.parts.back()->id;
    const auto given = std::ranges::find(looks, backward, &KernelLook::kernel);
    const auto row = std::ranges::find(kLooks, backward, &KernelLook::kernel);
    if (given != looks.end())
      looks.push_back({step.id, given->rgb, {given->mark.shape, true}});
    else if (row != kLooks.end())
      looks.push_back({step.id, row->rgb, {row->mark.shape, true}});
  }
  return looks;
}

}  // namespace

const KernelLook& look_of(std::string_view kernel) {
  static const std::vector<KernelLook> kGiven = free_looks();
  if (const auto given = std::ranges::find(kGiven, kernel, &KernelLook::kernel); given != kGiven.end()) return *given;
  const auto same = [&](const KernelLook& l) { return l.kernel == kernel && l.kernel != kFree; };
  if (const auto row = std::find_if(kLooks.begin(), kLooks.end(), same); row != kLooks.end()) return *row;
  const auto peer = std::find_if(kPeers.begin(), kPeers.end(), same);
  return peer == kPeers.end() ? kUnknownLook : *peer;
}

}  // namespace attn
