// The recording that Step shows: made again where the document asks for another, at once where it is small, else by a
// task; the cursor stays at its place in the run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/control/tasks/job_context.h"
#include "app/state/inputs/document_inputs.h"
#include "app/worker/bench.h"
#include "kernels/gpu/compile/phases.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/kernel.h"
#include "kernels/recording/recording.h"

namespace attn {

class Recordings {
 public:
  // `gpu` lets GPU kernels record themselves; null = no GPU is looked for.
  Recordings(const JobContext& context, std::shared_ptr<GpuBench> gpu) : context_(context), gpu_(std::move(gpu)) {}

  // Records where the document asks for another recording than the one shown or being made. `to_start`: the new one is
  // shown at its first step.
  void follow_document(bool to_start);
  // The document went back or forth in its history, where it was seen at this step.
  void travel_to(EventIndex cursor);
  // Shows `recording` as the document's, at the state's cursor.
  void show(std::shared_ptr<const Recording> recording);
  // To the first step that shows this phase, once the recording is there; the log says why where there is none.
  void seek(gpu::CodePhase phase);
  // The next recording is shown at this step, whatever stands between.
  void start_at(EventIndex cursor) { wanted_cursor_ = cursor; }
  // Of an .attn that was opened: the document names it by InputSpec::q_file.
  void add_opened(const std::string& file, std::shared_ptr<const Recording> recording);
  // Replays it on a task: model.replay and the log say whether it holds together.
  void replay_opened(const std::string& file, std::shared_ptr<const Recording> recording);
  TaskId task() const { return task_; }

 private:
  // What a recording depends on.
  struct Key {
    Problem problem;
    InputSpec inputs;
    std::string kernel;
    Options options;
    bool operator==(const Key&) const = default;
  };
  Key wanted() const;
  void record(const Key& key, bool to_start);
  void record_in_task(const KernelRow& row, const Key& key, std::uint64_t bytes, bool to_start);
  // A GPU kernel's own run: out of the assets, or by the worker in a task. Until it is there, and where there is none,
  // Step shows the CPU's.
  void record_by_gpu(const Key& key, bool to_start);
  void no_gpu_run(const Key& key, const std::string& why, bool to_start);
  // The opened .attn's own, where nothing of the document is other than in it.
  std::shared_ptr<const Recording> opened_as(const Key& key) const;
  void go_to_phase(gpu::CodePhase phase);
  void install(std::shared_ptr<const Recording> recording, bool to_start);
  void refuse(std::string words);

  JobContext context_;
  std::shared_ptr<GpuBench> gpu_;
  std::optional<Key> without_gpu_run_;  // the last whose GPU run could not be had
  std::optional<Key> shown_;            // of model.recording, or of what was refused
  Key pending_;                         // of the recording that a task makes
  OpenedRecordings opened_;
  gpu::CodePhase wanted_phase_ = gpu::CodePhase::none;  // until there is a recording
  std::optional<EventIndex> wanted_cursor_;             // from a state string or a file, until there is a recording
  TaskId task_ = 0, replay_task_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace attn
