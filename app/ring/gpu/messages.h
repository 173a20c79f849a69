// What the ranks of a ring of GPUs are asked and what they answer. All goes over the asker's socket: what neighbours
// need of one another is handed on by it, and what travels goes from GPU to GPU.
//
//   "open"     GpuOpenRequest + the rank's rows of Q, K and V, [rows, heads, width]; of a backward also those of dO and
//              O, and LSE [heads, rows]
//   answer     {"is": "ready"} + GpuOpened
//   "connect"  GpuConnectRequest                       answer {"is": "ready"}
//   "link"     all copy to their neighbours            answer {"is": "done", "us": of each copy, "bytes"}
//   "go"       a whole ring                            answer {"is": "done"} + GpuRankTimes
//   "fetch"                                            answer {"is": "done"} + rows of O, and LSE [heads, rows]; of a
//                                                      backward dQ, delta, dK and dV, [heads, rows, width]
//   between    {"is": "news", "turn", "waits"}, {"is": "error", ...} as in app/ring/messages.h
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/ring/gpu/nccl.h"
#include "app/ring/gpu/turns.h"
#include "app/ring/messages.h"
#include "kernels/gpu/device/peers.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"

namespace attn {

enum class Travel : std::uint8_t { ipc, nccl };
inline constexpr std::string_view kTravels[] = {"ipc", "nccl"};

struct GpuOpenRequest {
  std::int32_t rank = 0, gpu = 0;
  std::string kernel;
  Problem problem;  // the whole
  Options options;
  GpuTurns turns;
  Travel travel = Travel::ipc;
  std::int32_t spared_sms = 0;  // that the kernel leaves to whoever carries K and V
  std::string nccl_folder;
};
nlohmann::json to_json(const GpuOpenRequest& r);
Result<GpuOpenRequest> gpu_open_from(const nlohmann::json& j);

// Blocks that neighbours write to.
struct GpuHandles {
  std::array<gpu::MemoryHandle, 2> slots{};
  gpu::MemoryHandle flags{};
  std::array<gpu::MemoryHandle, 2> sums{};  // a backward's slots of dK and dV
  bool operator==(const GpuHandles&) const = default;
};

struct GpuOpened {
  GpuHandles handles;
  NcclId id{};  // rank 0's
  std::string gpu, kernel, travel;
  std::int32_t sms = 0;
  Options options;  // of turn 0, resolved
};
nlohmann::json to_json(const GpuOpened& o);
Result<GpuOpened> gpu_opened_from(const nlohmann::json& j);

struct GpuConnectRequest {
  GpuHandles left, right;
  NcclId id{};
};
nlohmann::json to_json(const GpuConnectRequest& r);
Result<GpuConnectRequest> gpu_connect_from(const nlohmann::json& j);

// Of one run, by the rank's own GPU: microseconds since it left the barrier.
struct GpuRankTimes {
  std::vector<RankSpan> spans;
  double merge_us = 0;    // of all merges; of a backward, of adding to dK and dV that came
  double barrier_us = 0;  // rank 0: the release's way round the ring
  std::uint64_t sent_bytes = 0;
  double sm_clock_mhz = 0;  // 0: nobody says
  double host_us = 0;       // from the first call to the last end, by the host's clock
};
nlohmann::json to_json(const GpuRankTimes& t);
Result<GpuRankTimes> gpu_times_from(const nlohmann::json& j);

}  // namespace attn
