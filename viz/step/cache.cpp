#include "viz/step/cache.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "viz/draw/number_text.h"
#include "viz/step/charts/passes.h"

namespace attn {
namespace {

void widen(TensorScale& scale, std::span<const float> values) {
  for (const float x : values) {
    if (!std::isfinite(x)) continue;
    scale.min = std::min(scale.min, x);
    scale.max = std::max(scale.max, x);
  }
}

int natural_of(const Array& a) {
  std::vector<float> values(static_cast<std::size_t>(a.size()));
  if (!values.empty()) a.read(0, a.size(), values.data());
  // One decimal at least: inputs are numbers, not counts.
  const int decimals = natural_decimals(values);
  return decimals < 0 ? decimals : std::max(decimals, 1);
}

}  // namespace

float TensorScale::shade(float value) const {
  if (std::isnan(value)) return 0;
  if (std::isinf(value)) return value > 0 ? 1.0F : -1.0F;
  if (!(max > min)) return 0;
  return 2 * (value - min) / (max - min) - 1;
}

TensorScales scales_of(const Recording& rec) {
  TensorScales scales;
  constexpr float kMax = std::numeric_limits<float>::max();
  for (TensorScale& s : scales) s = {kMax, -kMax, -1};
  const auto of = [&](TensorColour c) -> TensorScale& { return scales[static_cast<std::size_t>(c)]; };
  for (const TensorColour c : {TensorColour::p, TensorColour::alpha, TensorColour::l}) of(c).min = 0;
  for (const TensorColour c : {TensorColour::p, TensorColour::alpha}) of(c).max = 1;
  for (VersionId v = 0; v < rec.versions.size(); ++v) {
    if (rec.versions[v].slot == Slot::lse) continue;
    widen(of(tensor_of(rec.versions[v].slot)), rec.values(v));
  }
  of(TensorColour::q).natural = natural_of(rec.inputs.q);
  of(TensorColour::k).natural = natural_of(rec.inputs.k);
  of(TensorColour::v).natural = natural_of(rec.inputs.v);
  return scales;
}

void StepCache::follow(const std::shared_ptr<const Recording>& rec, EventIndex e) {
  if (recording != rec) {
    recording = rec;
    exact.reset();
    companion_.reset();
    companion_asked_ = false;
    error_.reset();
    seen_.reset();
    hovered.reset();
    keyboard.reset();
    editing.reset();
    if (rec && !rec->events.empty()) {
      scales = scales_of(*rec);
      memory = traffic_totals(*rec);
      heads = heads_scene(*rec, scales[static_cast<std::size_t>(TensorColour::s)]);
      marks = scrubber_marks(*rec);
    }
  }
  if (!rec || rec->events.empty()) return;
  const EventId& id = rec->events[std::min<std::size_t>(e, rec->events.size() - 1)].id;
  if (id.i < 0) {
    exact.reset();
  } else if (!exact || !exact->covers(id.b, id.h, id.i)) {
    exact.emplace(*rec, id.b, id.h, id.i);
  }
}

float StepCache::arrival(EventIndex e, bool allowed, double now) {
  constexpr double kSeconds = 0.15;
  if (seen_ != e) {
    moves_ = allowed && seen_ && e == *seen_ + 1;
    moves_since_ = now;
    seen_ = e;
  }
  if (!moves_ || !allowed || now - moves_since_ >= kSeconds) {
    moves_ = false;
    return 1;
  }
  // Fast at first, then settling.
  const auto rest = static_cast<float>(1 - (now - moves_since_) / kSeconds);
  return 1 - rest * rest * rest;
}

const Recording* StepCache::companion() {
  if (!companion_asked_ && recording && !recording->events.empty()) {
    companion_asked_ = true;
    companion_ = record_companion(*recording, companion_error);
  }
  return companion_.get();
}

const ErrorScan& StepCache::error_scan(std::int32_t b, std::int32_t h) {
  // About two milliseconds of fp64 a frame: a row or two of the largest recording.
  constexpr std::int64_t kBudget = 1000000;
  if (!error_ || !error_->is_of(recording, b, h)) error_.emplace(recording, b, h);
  error_->advance(kBudget);
  return *error_;
}

}  // namespace attn
