// Learn for a class: what the learner had waits aside, the teacher's lesson takes its place, and nothing of it is kept.
#include <optional>
#include <utility>

#include "app/control/learn/lessons.h"

#include "kernels/base/text.h"

namespace attn {

void Lessons::teach(bool on) {
  if (on == learner_.has_value()) return;
  on ? begin_teaching() : end_teaching();
}

void Lessons::take_back_vote() {
  if (!learner_ || !asks() || showing_.votes.empty()) return;
  showing_.votes.pop_back();
  refresh();
}

void Lessons::begin_teaching() {
  load();
  no_longer_prepare();
  const View& view = state().view;
  Learner learner;
  learner.progress = std::exchange(progress_, {});
  learner.workspace = view.workspace;
  learner.log_panel = view.log_panel;
  learner.keys_sheet = view.keys_sheet;
  learner.preferences = state().preferences;
  if (open_) {
    // The user's own is what waits under the teacher's lesson, as it does under the learner's.
    if (on_stage_) swap_stage();
    learner.place = view.learn;
    learner.open = std::exchange(open_, std::nullopt);
    learner.beat = beat_;
    learner.showing = std::exchange(showing_, {});
    learner.shelf = std::exchange(shelf_, {});
  }
  learner.place.teach = false;
  learner_ = std::move(learner);
  give(BeginClass{});
  context_.log.note(tr("Page Down reveals the answer, then moves on. Esc leaves. Nothing is saved here."));
  if (!learner_->open) return refresh();
  // The same beat with the same numbers, its question open again.
  open_ = learner_->open;
  beat_ = learner_->beat;
  if (auto shown = show_now(learner_->showing.seed); !shown) {
    context_.log.error(shown.error().message);
    leave();
  }
}

void Lessons::forget_waiting(std::size_t lesson) {
  if (!learner_ || learner_->open != lesson) return;
  learner_->open.reset();
  learner_->showing = {};
  learner_->shelf = {};
  learner_->place = {};
}

void Lessons::end_teaching() {
  no_longer_prepare();
  if (open_) leave();
  Learner learner = std::move(*learner_);
  learner_.reset();
  give(EndClass{std::move(learner.place), learner.workspace, learner.log_panel, learner.keys_sheet,
                std::move(learner.preferences)});
  progress_ = std::move(learner.progress);
  open_ = learner.open;
  beat_ = learner.beat;
  showing_ = std::move(learner.showing);
  shelf_ = std::move(learner.shelf);
  if (open_ && state().view.workspace == Workspace::learn) swap_stage();
  refresh();
}

}  // namespace attn
