// Peers beside a sweep: for each problem attention of others is run, judged by the rule that judges ours, and timed in
// turns with ours: ours, theirs, theirs, ours. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/peers/client.h"
#include "app/peers/python.h"
#include "profiling/figures/measurement.h"
#include "profiling/spec/sweep_spec.h"
#include "profiling/sweep/sweep.h"

namespace attn {

class CpuBench;
class GpuBench;

struct PeerSetup {
  std::string python;                        // as look_for_python() takes it
  std::vector<std::filesystem::path> files;  // the user's own, each one peer; never read from a session or state string
  double seconds = 120;            // and the time of its repeats, after which a peer that does not answer is stopped
  PeerClient::Starter start = {};  // tests start their own; empty: Python
};

// Names of the user's files as peers: "mine.py", with the folder where two are called the same.
std::vector<std::string> ids_of(const std::vector<std::filesystem::path>& files);

class PeerBench {
 public:
  // `gpu` and `cpu` time our kernels in their turns, and outlive this. `gpu` null: CPU rounds alone. `cpu` null: our
  // CPU kernels take their turns in this process.
  PeerBench(PeerSetup setup, GpuBench* gpu, CpuBench* cpu = nullptr);
  ~PeerBench();
  PeerBench(const PeerBench&) = delete;
  PeerBench& operator=(const PeerBench&) = delete;

  // For run_sweep() of this sweep. A process for peers on a GPU is started at once: its libraries are loaded while ours
  // are measured, and it touches no GPU before it is asked.
  PeerSource source(const SweepSpec& spec);
  // Whether torch's peers can run, in words: looked up once.
  Result<PythonFound> look(const std::stop_token& stop = {});

 private:
  struct One;
  class Round;
  std::vector<Measurement> measure(const PeerRound& round, const std::function<void(const std::string&)>& now,
                                   std::stop_token stop);
  Result<PeerClient*> client_for(const std::string& id, const std::stop_token& stop);

  PeerSetup setup_;
  GpuBench* gpu_;
  CpuBench* cpu_;
  std::vector<std::string> own_;  // ids of setup_.files
  std::optional<Result<PythonFound>> python_;
  std::map<std::string, std::unique_ptr<PeerClient>> clients_;  // "" = torch's, else by id
};

}  // namespace attn
