// What the program asks of a worker and what comes back, as values. app/worker/messages.h makes JSON of them:
//
//   request   {"do": "hello", "counters": whether to look for CUPTI}
//   answer    {"is": "hello", "driver": 13000, "compiler": "NVRTC 13.0", "gpus": [{"index", "name", "arch", ...}]}
//   request   {"do": "run", "gpu", "kernel", "problem", "options", "repeats", "poison", "memory_limit",
//              "time": {"seconds", "least", "cold"}, "generate": {"generator", "seed"}}
//             + what the problem reads (tensors.h), one behind the other
//   answers   {"is": "progress", "now": "..."} any number of times
//             {"is": "done", ...} + what it writes
//   or        {"is": "error", "kind", "message", "lost"}
// "generate" stands in place of the tensors; then none travel, the answer's neither.
//   request   {"do": "record", ...} as "run", with tensors: a plain run, then one that records itself
//   answer    {"is": "recorded", "same_bits", "plain_us", "traced_us", ...} + what it writes, the recorder's buffer
//   request   {"do": "measure", ...}: one point of a sweep; the worker makes the inputs, checks, times and counts. Of a
//             kernel of the CPU the same, and no driver is opened
//   answer    {"is": "measured", "measurement": as in a session's JSON, "lost"}: what went wrong is the row's reason
//   request   {"do": "compile", ...}: the same point, compiled for its architecture alone: no driver is opened
//   answer    {"is": "measured", ...}: registers, shared memory and occupancy, or why it does not compile
//   request   {"do": "turn", as for "measure", "warm_up", "repeats", "pause_us"}: repeats by CUDA events for a point
//             that was measured before; its tensors stay on the GPU until {"do": "let_go"}
//   answer    {"is": "turn", "samples_us"}, {"is": "done"}
//   request   {"do": "sample", ...}: the same point; where its warps wait, instruction by instruction
//   answer    {"is": "sampled", "samples": as in a session's JSON, without lines and phases, "lost"}, or an error
//   request   {"do": "heartbeat", ...}: the same point; counters over the time of one run
//   answer    {"is": "heartbeat", "heartbeat": as in a session's JSON, "lost"}, or an error
//   request   {"do": "count", ...}: the same point; what its instructions do in one run
//   answer    {"is": "counted", "counts": as in a session's JSON, without lines and phases, "lost"}, or an error
//   request   {"do": "timeline", ..., "block", "blocks"}: the same point; when the lanes of its blocks did what,
//             event by event of those `blocks` from `block` on
//   answer    {"is": "timeline", "lost"} + a container with the timeline alone, or an error
//   "own" {"file", "text"} in a request: a kernel of the user's own, which its "kernel" names
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/gpu/device/driver.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"

namespace attn {

// How a run is timed: CUDA events around the launches of a run.
struct GpuTiming {
  double seconds = 0;    // 0 = not timed
  std::int32_t min = 5;  // repeats kept, whatever the seconds say
  bool cold = true;      // the L2 cache is filled with other data before each repeat
};

struct GpuRunRequest {
  std::int32_t gpu = 0;
  std::string kernel;
  Problem problem;
  Options options;
  const Inputs* inputs = nullptr;  // null: made by the worker from `generator`, and no answer comes back
  Generator generator = Generator::normal;
  std::uint64_t seed = 1;
  std::int32_t repeats = 1;        // runs that must give the same bits
  std::uint64_t memory_limit = 0;  // 0 = what the GPU has free
  GpuTiming timing;
};

struct GpuRunAnswer {
  Outputs outputs;        // empty where inputs were generated
  bool same_bits = true;  // of all repeats
  Options options;        // resolved
  std::uint64_t workspace_bytes = 0;
  std::string source;  // "naive", or "naive@1a2b3c4d": an edited copy
  std::string source_hash;
  std::vector<double> samples_us;
};

// A run that recorded itself, and the plain one beside it.
struct GpuRecordAnswer {
  Outputs outputs;         // of the traced run
  bool same_bits = false;  // O and LSE of both
  double plain_us = 0, traced_us = 0;
  std::string source;  // "naive", or "naive@1a2b3c4d"
  std::string device, uuid;
  Options options;  // resolved
  std::vector<float> trace;
};

struct GpuHello {
  std::int32_t driver = 0;  // 13000 = CUDA 13.0
  std::string compiler;     // empty: `compiler_error` says why
  std::string compiler_error;
  std::string cupti;  // "CUPTI 13.0"; empty: `cupti_error` says why
  std::string cupti_error;
  std::string sensors;  // "NVML 13.580"; empty: `sensors_error` says why
  std::string sensors_error;
  std::string counters_error;  // why this user may not read counters, as far as files say; empty: nothing known against
  std::vector<gpu::GpuProperties> gpus;
};

}  // namespace attn
