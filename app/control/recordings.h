// The recording that Step shows: made again where the document asks for another, at once where it is small, else by a
// task; the cursor stays at its place in the run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/control/job_context.h"
#include "app/state/document_inputs.h"
#include "kernels/model/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/recording/recording.h"

namespace attn {

class Recordings {
 public:
  explicit Recordings(const JobContext& context) : context_(context) {}

  // Records where the document asks for another recording than the one shown or being made. `to_start`: the new one is
  // shown at its first step.
  void follow_document(bool to_start);
  // The document went back or forth in its history, where it was seen at this step.
  void travel_to(EventIndex cursor);
  // Shows `recording` as the document's, at the state's cursor.
  void show(std::shared_ptr<const Recording> recording);
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
  void install(std::shared_ptr<const Recording> recording, bool to_start);
  void refuse(std::string words);

  JobContext context_;
  std::optional<Key> shown_;  // of model.recording, or of what was refused
  Key pending_;               // of the recording that a task makes
  OpenedRecordings opened_;
  std::optional<EventIndex> wanted_cursor_;  // from a state string or a file, until there is a recording
  TaskId task_ = 0, replay_task_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace attn
