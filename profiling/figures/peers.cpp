#include "profiling/figures/peers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr auto kPeers = std::to_array<PeerRow>({
    {"torch-flash", "FlashAttention-2", Processor::gpu,
     marked("The FlashAttention-2 kernel bundled with torch, f16 and bf16."), ""},
    {"torch-cudnn", "cuDNN", Processor::gpu, marked("cuDNN's attention as called by torch, f16 and bf16."), ""},
    {"torch-efficient", "torch's memory-efficient", Processor::gpu,
     marked("torch's memory-efficient kernel (CUTLASS); computes f32 as three TF32 products."), ""},
    {"torch-math", "torch's plain", Processor::gpu,
     marked("torch's plain attention: matrix products and a stored softmax."), ""},
    {"flash-attn", "flash_attn 2", Processor::gpu,
     marked("FlashAttention-2 from the package flash_attn, f16 and bf16; supports window, softcap and ALiBi."),
     "flash_attn"},
    {"flash-attn-3", "FlashAttention-3", Processor::gpu,
     marked("FlashAttention's Hopper build, f16 and bf16; supports window and softcap."), "flash_attn_interface",
     "fa3_fwd_interface"},
    {"flash-attn-4", "FlashAttention-4", Processor::gpu,
     marked("FlashAttention version 4, f16 and bf16; supports window and softcap."), "flash_attn.cute"},
    {"torch-cpu", marked("torch on the CPU"), Processor::cpu,
     marked("torch's attention on the CPU, with as many threads as AttnScope's kernels."), ""},
});

}  // namespace

std::span<const PeerRow> peer_table() {
  return kPeers;
}

const PeerRow* find_peer(std::string_view id) {
  const auto* at = std::ranges::find(kPeers, id, &PeerRow::id);
  return at == kPeers.end() ? nullptr : &*at;
}

const TimedBeside* beside(const Measurement& peer, const Measurement& ours) {
  if (!peer.peer || !(peer.key.problem == ours.key.problem) || peer.key.l2 != ours.key.l2 ||
      !same_device(peer.key, ours.key))
    return nullptr;
  for (const TimedBeside& b : peer.peer->beside)
    if (b.kernel == ours.key.kernel && b.options == ours.key.options) return &b;
  return nullptr;
}

std::optional<double> share_of_peer(const Measurement& ours, const Measurement& peer) {
  const TimedBeside* turns = beside(peer, ours);
  if (turns == nullptr || turns->time.n == 0 || turns->time.median <= 0 || peer.time.n == 0) return std::nullopt;
  return peer.time.median / turns->time.median;
}

bool differs_from_own_row(const TimedBeside& in_turns, const Measurement& own_row) {
  const TimeStatistics &a = in_turns.time, &b = own_row.time;
  if (a.n == 0 || b.n == 0) return false;
  constexpr double kTold = 0.03;  // the two were measured seconds apart
  const bool apart = a.ci_low > b.ci_high || b.ci_low > a.ci_high;
  return apart && std::abs(a.median - b.median) > kTold * std::min(a.median, b.median);
}

}  // namespace attn
