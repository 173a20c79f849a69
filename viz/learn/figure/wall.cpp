#include "viz/learn/figure/wall.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/occupancy.h"
#include "viz/draw/number_text.h"

namespace attn {
namespace {

// What no driver call tells of a GPU that is not here: the makers' data sheets.
struct SoldAs {
  std::string_view named;  // part of the driver's name
  double l2_bytes, memory_bytes;
};
constexpr double kMiB = 1 << 20, kGB = 1e9;
constexpr std::array<SoldAs, 5> kSold{{
    {"H100 80GB", 50 * kMiB, 80 * kGB},
    {"H100 PCIe", 50 * kMiB, 80 * kGB},
    {"H200", 50 * kMiB, 141 * kGB},
    {"A100-SXM4-80GB", 40 * kMiB, 80 * kGB},
    {"A100-SXM4-40GB", 40 * kMiB, 40 * kGB},
}};

constexpr double kRegisterBytes = 4, kHalfBytes = 2;  // of a register; of a number of f16

WallScene without(std::string why) {
  WallScene scene;
  scene.empty = std::move(why);
  return scene;
}

}  // namespace

double WallScene::seconds(const WallPlace& place) {
  return place.gb_per_s > 0 ? kHandedOver / (place.gb_per_s * 1e9) : 0;
}

WallScene wall_of(const WallGpu& gpu, std::int64_t L, std::int64_t D) {
  const auto* sold =
      std::ranges::find_if(kSold, [&](const SoldAs& s) { return gpu.device.find(s.named) != std::string::npos; });
  const auto limits = attn::gpu::limits_of(gpu.arch);
  if (sold == kSold.end() || !limits || gpu.sms < 1)
    return without(phrase("The memory sizes of '{}' are unknown.", gpu.device));
  WallScene scene;
  scene.device = gpu.date.empty() ? gpu.device : phrase("{}, rates measured {}", gpu.device, gpu.date.substr(0, 10));
  scene.heads = kWallHeads, scene.L = L, scene.D = D;
  const double sms = gpu.sms;
  const std::string together = phrase("all {} SMs together", gpu.sms);
  scene.places = {{tr("registers"), sms * attn::gpu::kRegistersOfSm * kRegisterBytes, 0, together},
                  {tr("shared memory"), sms * static_cast<double>(limits->shared), gpu.shared_gb_per_s, together},
                  {tr("L2 cache"), sold->l2_bytes, gpu.l2_gb_per_s, tr("shared by all")},
                  {tr("HBM"), sold->memory_bytes, gpu.copy_gb_per_s, tr("next to the chip")}};
  const auto heads = static_cast<double>(kWallHeads), length = static_cast<double>(L);
  scene.given_bytes = heads * length * static_cast<double>(D) * kHalfBytes;
  scene.between_bytes = heads * length * length * kHalfBytes;
  return scene;
}

WallScene wall_scene(const Session& session, std::int64_t L, std::int64_t D) {
  WallScene scene = without(tr("The session does not name a GPU."));
  for (const SweepRun& run : session.runs) {
    const Provenance& here = run.provenance;
    WallGpu gpu{here.device, here.device_arch, here.cores, 0, 0, here.copy_gb_per_s, here.date};
    for (const Measurement& m : run.rows) {
      gpu.l2_gb_per_s = std::max(gpu.l2_gb_per_s, m.peaks.l2_gb_per_s);
      gpu.shared_gb_per_s = std::max(gpu.shared_gb_per_s, m.peaks.shared_gb_per_s);
    }
    scene = wall_of(gpu, L, D);
    if (scene.empty.empty()) break;
  }
  return scene;
}

double side_of(double bytes, double whole_bytes, double side) {
  return whole_bytes > 0 ? side * std::sqrt(bytes / whole_bytes) : 0;
}

std::string memory_text(double bytes) {
  struct Unit {
    double size;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
  for (const Unit& unit : kUnits) {
    if (bytes < unit.size) continue;
    const double shown = bytes / unit.size;
    return significant_text(shown, shown >= 100 ? 3 : 2) + " " + unit.name;
  }
  return significant_text(bytes, 3) + " B";
}

}  // namespace attn
