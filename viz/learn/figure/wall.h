// The memory wall to scale: what a GPU's memories hold, as areas, and how long each takes to hand over the same amount,
// as distances; beside them what attention is given and makes, and the scores that naive writes down in between. Sizes
// are the architecture's and the maker's, rates the session's own measurements. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/session/session_data.h"
#include "viz/draw/inks.h"

namespace attn {

struct WallPlace {
  std::string name;     // "L2"
  double bytes = 0;     // that it holds, of all SMs
  double gb_per_s = 0;  // measured; 0: it was not
  std::string where;    // "in all 132 SMs together"
};
struct WallScene {
  std::string empty;   // why there is none; empty: there is one
  std::string device;  // "NVIDIA H100 80GB HBM3, measured 2026-11-24"
  std::int64_t heads = 0, L = 0, D = 0;
  std::vector<WallPlace> places;  // from the cores outwards; the last is the GPU's whole memory
  double given_bytes = 0;         // one of Q, K, V, O
  double between_bytes = 0;       // S of naive
  bool roads = true;              // how far each place is, beside the areas
  bool written = true;            // S is; else it is drawn as what never takes a byte
  // Seconds to hand over kHandedOver bytes; 0: not measured.
  static double seconds(const WallPlace& place);
  const WallPlace& memory() const { return places.back(); }
};
constexpr double kHandedOver = 1 << 20;
constexpr std::int64_t kWallHeads = 16;

// A GPU by what a driver or a session says of it; rates 0: not measured.
struct WallGpu {
  std::string device, arch;
  std::int32_t sms = 0;
  double shared_gb_per_s = 0, l2_gb_per_s = 0, copy_gb_per_s = 0;
  std::string date = {};
};
WallScene wall_of(const WallGpu& gpu, std::int64_t L, std::int64_t D);
// f16, kWallHeads heads, of `L` tokens with a head dimension of D, on the GPU of the session.
WallScene wall_scene(const Session& session, std::int64_t L, std::int64_t D);
// A place that is drawn as a square of this side, where `bytes` has the side `side`.
double side_of(double bytes, double whole_bytes, double side);
// "137 GB", "31 MB": bytes by thousands, as memories are sold.
std::string memory_text(double bytes);

}  // namespace attn
