#include "viz/step/step_cache.h"

#include <algorithm>

#include "kernels/model/order_row.h"
#include "kernels/recording/reading.h"
#include "viz/step/charts/passes.h"

namespace attn {

void StepCache::follow(const std::shared_ptr<const Recording>& rec, EventIndex e) {
  scanning = false;
  if (recording != rec) {
    recording = rec;
    exact.reset();
    companion_.reset();
    companion_asked_ = false;
    cpu_comparison_.reset();
    error_.reset();
    attention_.reset();
    attention_rows_.clear();
    head_bounds_.clear();
    if (rec && !rec->events.empty()) {
      // While a lesson asks, too: an answer changes no shade of what stands there already.
      scales = scales_of(read_ && until_ == rec ? *read_ : *rec);
      traffic = traffic_totals(*rec);
      heads = heads_scene(*rec, scales[static_cast<std::size_t>(TensorColour::s)]);
      marks = scrubber_marks(*rec);
    }
  }
  if (!rec || rec->events.empty()) return;
  const EventId& id = rec->events[std::min<std::size_t>(e, rec->events.size() - 1)].id;
  if (id.i < 0) {
    // What is summed by keys has its bounds of any query tile.
    if (!order_row(rec->order).has(Phase::max))
      exact.emplace(*rec, id.b, id.h, 0);
    else
      exact.reset();
  } else if (!exact || !exact->covers(id.b, id.h, id.i)) {
    exact.emplace(*rec, id.b, id.h, id.i);
  }
}

const std::vector<ExactTile>& StepCache::bounds_of_head(EventIndex e) {
  constexpr std::int64_t kMostScores = 16384;  // of a head
  if (recording->problem.Lq * recording->problem.Lk > kMostScores) return head_bounds_;
  const EventId& id = recording->events[std::min<std::size_t>(e, recording->events.size() - 1)].id;
  if (!head_bounds_.empty() && head_bounds_.front().covers(id.b, id.h, 0)) return head_bounds_;
  head_bounds_.clear();
  for (std::int32_t i = 0; i < recording->query_tiles(); ++i) head_bounds_.emplace_back(*recording, id.b, id.h, i);
  return head_bounds_;
}

std::shared_ptr<const Recording> StepCache::shown(const std::shared_ptr<const Recording>& held,
                                                  const HiddenAnswers& hidden) {
  if (read_of_ != held) {
    read_of_ = held;
    const bool other = held && held->gpu && differs_from_formulas(*held);
    read_ = other ? std::make_shared<const Recording>(formula_reading(*held)) : held;
  }
  const std::shared_ptr<const Recording>& rec = read_;
  if (!hidden.on || !rec || rec->events.empty()) return rec;
  if (until_of_ != rec || until_event_ != hidden.horizon) {
    until_ = recording_until(*rec, hidden.horizon);
    until_of_ = rec;
    until_event_ = hidden.horizon;
  }
  return until_;
}

const Recording* StepCache::companion() {
  if (!companion_asked_ && recording && !recording->events.empty()) {
    companion_asked_ = true;
    companion_ = record_companion(*recording, companion_error);
  }
  return companion_.get();
}

const TensorScales& StepCache::held_scales(const std::shared_ptr<const Recording>& held) {
  if (!held_scales_ || held_scales_of_ != held) {
    held_scales_of_ = held;
    held_scales_ = scales_of(*held);
  }
  return *held_scales_;
}

const CpuComparison& StepCache::cpu_comparison() {
  if (!cpu_comparison_) {
    cpu_comparison_.emplace();
    if (recording && recording->gpu) {
      const auto cpu = record_on_cpu(*recording, cpu_comparison_->why);
      if (cpu) cpu_comparison_ = compare_with_cpu(*recording, *cpu);
    }
  }
  return *cpu_comparison_;
}

const ErrorScan& StepCache::error_scan(std::int32_t b, std::int32_t h) {
  // About two milliseconds of fp64 a frame: a row or two of the largest recording.
  constexpr std::int64_t kBudget = 1000000;
  if (!error_ || !error_->is_of(recording, b, h)) error_.emplace(recording, b, h);
  scanning = !error_->advance(kBudget);
  return *error_;
}

const AttentionScene& StepCache::attention(const StepPlace& at, std::int32_t side) {
  if (!attention_ || attention_event_ != at.event || attention_row_ != at.row || attention_side_ != side) {
    attention_ = attention_scene(*recording, at, side, side, attention_rows_);
    attention_event_ = at.event;
    attention_row_ = at.row;
    attention_side_ = side;
  }
  return *attention_;
}

}  // namespace attn
