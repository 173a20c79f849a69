// A session as a value: runs, each with the machine that it was taken on, recordings, and what came with them.
#pragma once

#include <string>
#include <vector>

#include "kernels/recording/recording.h"
#include "kernels/recording/tensor_set.h"
#include "kernels/recording/timeline.h"
#include "profiling/session/sweep_run.h"

namespace attn {

// The text of a kernel of the user's own, as a file that opens as it. A session that is read runs none of them.
struct SessionKernel {
  std::string file;  // "my_attention.cu"
  std::string text;
  bool operator==(const SessionKernel&) const = default;
};

struct Session {
  std::vector<SweepRun> runs;
  std::vector<SessionKernel> kernels;
  std::vector<Recording> recordings;
  std::vector<TensorSet> tensors;   // without steps
  std::vector<Timeline> timelines;  // without a recording
  std::string state;                // the view that it was saved from, as a state string; empty = none
  std::vector<std::string> notes;   // what reading left out, in words ("3 metrics of a newer version: ...")
};

}  // namespace attn
