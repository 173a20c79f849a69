#include "app/control/step/examinations.h"

#include <utility>

#include "app/state/inputs/document_inputs.h"
#include "kernels/base/text.h"
#include "kernels/museum/museum.h"
#include "kernels/museum/right_run.h"
#include "kernels/museum/run_verdict.h"

namespace attn {

bool Examinations::asked_for(const Recording& rec) const {
  const Document& d = context_.state.document;
  const bool drawn = d.exhibit != Exhibit::none && rec.kernel == d.kernel;  // the healthy patient too
  return drawn || piece_of(rec.kernel) != nullptr || is_attn_file(d.inputs.q_file);
}

bool Examinations::follow() {
  const auto& shown = context_.model.recording;
  ExaminationView& now = context_.model.examination;
  if (shown == nullptr || shown->events.empty() || !asked_for(*shown)) {
    if (now.of != nullptr) {
      context_.tasks.cancel(task_);
      now = {};
    }
    return false;
  }
  if (now.of != shown) {
    context_.tasks.cancel(task_);
    now = {};
    now.of = shown;
    check(shown);
    return true;
  }
  const auto& verdict = now.verdict;
  const bool wrong = verdict && outcome_of(*verdict) == Outcome::wrong;
  if (!wrong || !context_.state.view.step.seek_first_wrong || now.sought || context_.tasks.running(task_)) return false;
  if (!now.trouble.empty()) return false;
  seek(shown);
  return true;
}

void Examinations::check(std::shared_ptr<const Recording> recording) {
  const auto work = [this, recording = std::move(recording)](TaskHandle& task) -> Result<void> {
    const auto verdict = verdict_of(*recording, task.stop());
    if (task.stop().stop_requested()) return ok();
    task.deliver([this, recording, verdict] {
      ExaminationView& now = context_.model.examination;
      if (now.of != recording) return;  // the user went on
      if (verdict) {
        now.verdict = *verdict;
      } else {
        now.trouble = verdict.error().message;
      }
    });
    return ok();
  };
  task_ = context_.tasks.start(tr("Checking the run"), work);
}

void Examinations::seek(std::shared_ptr<const Recording> recording) {
  const auto work = [this, recording = std::move(recording)](TaskHandle& task) -> Result<void> {
    const auto found = first_wrong_of(*recording, task.stop());
    if (task.stop().stop_requested()) return ok();
    task.deliver([this, recording, found] {
      ExaminationView& now = context_.model.examination;
      if (now.of != recording) return;
      now.sought = true;
      if (found) {
        now.first = *found;
      } else {
        now.trouble = found.error().message;
      }
    });
    return ok();
  };
  task_ = context_.tasks.start(tr("Looking for the first wrong step"), work);
}

}  // namespace attn
