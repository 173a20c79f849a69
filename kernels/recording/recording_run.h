// A recording that is being made: some of it at a time, where nobody may wait for all of it.
#pragma once

#include "kernels/base/pieces.h"
#include "kernels/base/result.h"
#include "kernels/base/stop.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/tensors.h"
#include "kernels/recording/recording.h"

namespace attn {

// KernelRow::begin_recording makes it. What it holds goes with it, wherever it stands.
class RecordingRun {
 public:
  RecordingRun() = default;
  virtual ~RecordingRun() = default;
  RecordingRun(const RecordingRun&) = delete;
  RecordingRun& operator=(const RecordingRun&) = delete;

  // Until `pause` answers true, or to the end where there is none; whether the recording is whole.
  virtual Result<bool> go_on(const Pause& pause) = 0;
  // Once, when it is whole. The same bits wherever it paused.
  virtual Recording take() = 0;
};

// KernelRow::record of a row that has begin_recording.
Result<Recording> record_at_once(const KernelRow& row, const Problem& p, const Options& o, const Inputs& in, Stop stop);

}  // namespace attn
