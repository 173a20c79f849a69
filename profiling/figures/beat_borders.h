// Where a beat of a flash kernel changes from scores to weights to output: the samples of some of its beats, laid over
// one another, fall into three stretches. The order S, P, O is the algorithm's; the exponentials mark P.
#pragma once

#include <array>
#include <cstddef>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/phases.h"
#include "profiling/figures/heartbeat.h"

namespace attn {

// A stretch of the beat, as shares of it after S begins. The means are per cent of what the chip could do at most.
struct BeatPart {
  gpu::CodePhase phase = gpu::CodePhase::s;  // S, P or O
  double from = 0, to = 0;
  double fma = 0, xu = 0, shared = 0;
};

struct BeatBorders {
  double period_us = 0;
  double from_us = 0, to_us = 0;  // the beats that were laid over one another: those with the sharpest pulse
  double first_us = 0;            // where the first S within them begins
  std::size_t beats = 0, samples_a_beat = 0;
  double alike = 0;  // share of the counters' variance that the place within the beat explains, at most 1
  double told = 0;   // of that, the share that three stretches explain
  std::array<BeatPart, 3> parts;
};

constexpr std::size_t kBeatsLaidOver = 16;
constexpr std::size_t kLeastSamplesABeat = 8;  // three stretches of two samples, and what lies on their borders
constexpr std::size_t kMostPlaces = 48;        // into which a beat is parted, however many samples it has
constexpr double kLeastAlike = 0.6, kLeastTold = 0.6;

// Of the longest launch. How: the period within a factor of the kernel's own beat by its strongest frequency in the
// exponentials; the 16 beats in which their pulse is the sharpest; one mean a sample's length of multiply-adds,
// exponentials and shared memory, each over its deviation; and of all three borders around the beat those with the
// least squares within. The error says in figures why the samples do not carry it.
Result<BeatBorders> borders_of(const Heartbeat& heartbeat);

}  // namespace attn
