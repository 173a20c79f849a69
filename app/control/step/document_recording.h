// The recording of a document's problem and numbers, some of it at a time: first the numbers, then the run.
#pragma once

#include <memory>
#include <optional>

#include "app/state/inputs/document_inputs.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/model/kernel.h"
#include "kernels/recording/recording_run.h"

namespace attn {

class DocumentRecording {
 public:
  struct What {
    Problem problem;
    Options options;
    InputSpec inputs;
  };
  // `row` records, and outlives it.
  DocumentRecording(const KernelRow& row, What what, OpenedRecordings opened, Stop stop);

  // Until `pause` answers true, or to the end where there is none; whether it is whole. Then it is taken, once.
  Result<bool> go_on(const Pause& pause);
  std::shared_ptr<const Recording> take();

 private:
  Result<bool> begin(const Pause& pause);

  const KernelRow& row_;
  What what_;
  OpenedRecordings opened_;
  Stop stop_;
  std::optional<AllInputsRun> inputs_;  // while they are made
  std::unique_ptr<RecordingRun> run_;   // afterwards
  std::optional<Recording> made_;       // of a row that records in one go
};

}  // namespace attn
