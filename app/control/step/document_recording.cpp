#include "app/control/step/document_recording.h"

#include <utility>

namespace attn {

DocumentRecording::DocumentRecording(const KernelRow& row, What what, OpenedRecordings opened, Stop stop)
    : row_(row), what_(std::move(what)), opened_(std::move(opened)), stop_(std::move(stop)) {
  if (!is_attn_file(what_.inputs.q_file)) inputs_.emplace(what_.problem, what_.inputs);
}

// Once the numbers are there.
Result<bool> DocumentRecording::begin(const Pause& pause) {
  Result<Inputs> in;
  if (inputs_) {
    if (auto there = inputs_->go_on(pause); !there || !*there) return there;
    in = inputs_->take();
    inputs_.reset();
  } else {
    in = document_inputs(what_.problem, what_.inputs, opened_);
  }
  if (!in) return tl::unexpected(in.error());
  if (row_.begin_recording == nullptr) {
    auto made = row_.record(row_, what_.problem, what_.options, *in, stop_);
    if (!made) return tl::unexpected(made.error());
    made_ = *std::move(made);
    return true;
  }
  auto run = row_.begin_recording(row_, what_.problem, what_.options, *std::move(in), stop_);
  if (!run) return tl::unexpected(run.error());
  run_ = *std::move(run);
  return true;
}

Result<bool> DocumentRecording::go_on(const Pause& pause) {
  if (run_ == nullptr && !made_) {
    if (auto begun = begin(pause); !begun || !*begun) return begun;
    if (run_ != nullptr && pause && pause()) return false;
  }
  return run_ == nullptr ? true : run_->go_on(pause);
}

std::shared_ptr<const Recording> DocumentRecording::take() {
  auto recording = std::make_shared<Recording>(run_ != nullptr ? run_->take() : *std::exchange(made_, std::nullopt));
  run_ = nullptr;
  recording->labels = labels_of(what_.problem, what_.inputs, opened_);
  return recording;
}

}  // namespace attn
