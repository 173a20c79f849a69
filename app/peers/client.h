// The program's side of assets/peers/peer.py, which runs attention of others in a process of its own: it may crash,
// hang or print what it likes, and costs its row alone. After it was lost the next request starts a new one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/peers/answers.h"
#include "app/system/child_process.h"
#include "kernels/model/kernel.h"
#include "profiling/measure/turn.h"

namespace attn {

// Where a peer's process works.
struct PeerPlace {
  Processor processor = Processor::gpu;
  std::int32_t gpu = 0;
  std::int32_t threads = 0;  // CPU: as many as ours have; 0 = its own choice
  bool operator==(const PeerPlace&) const = default;
};

class PeerClient {
 public:
  using Starter = std::function<Result<Child>(const PeerPlace&)>;
  explicit PeerClient(Starter start) : start_(std::move(start)) {}

  // Starts it and goes on: importing torch takes seconds, which the caller need not wait for. A start that fails is
  // told by hello().
  void warm_up(const PeerPlace& place);
  // Starts it where it does not run at this place. Refusals ("no torch") are of kind cannot_run.
  Result<PeerHello> hello(const PeerPlace& place, const Deadline& deadline);
  // Hands over the inputs. `id`: what these inputs are; the same again is not sent twice.
  Result<void> open(const std::string& id, const Problem& p, const Inputs& inputs, const Deadline& deadline);
  // One run of the opened problem. cannot_run: it does not take it, and says why.
  Result<PeerAnswer> run(const std::string& peer, const Problem& p, const Deadline& deadline);
  // Microseconds of each repeat; `flush_bytes`: what is read before each, 0 = nothing.
  Result<std::vector<double>> turn(const std::string& peer, const Turn& turn, std::uint64_t flush_bytes,
                                   const Deadline& deadline);
  void stop();

 private:
  struct Reply;
  // `most`: what an answer may have. Who sends more is lost, before it was read.
  Result<Reply> ask(const std::string& request, std::span<const std::span<const std::byte>> bytes,
                    std::string_view wanted, const MessageLimit& most, const Deadline& deadline);
  Error lost(const NoMessage& why);

  Starter start_;
  std::optional<Child> child_;
  PeerPlace place_;
  std::optional<PeerHello> hello_;  // none: it was started and not asked yet
  std::string opened_;
};

}  // namespace attn
