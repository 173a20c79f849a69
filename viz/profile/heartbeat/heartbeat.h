// The heartbeat of a kernel: what pipes and memories of the GPU did over the time of one run, a strip a counter on one
// axis, launches marked; the other measurement's on the same axis. Plain values; heartbeat_draw.cpp draws them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/phases.h"
#include "profiling/figures/beat_borders.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/measurement.h"
#include "viz/profile/occupancy/occupancy.h"
#include "viz/state/view_profile.h"

namespace attn {

// One kernel's values of one counter.
struct BeatLine {
  const BeatCounter* counter = nullptr;  // of a heartbeat that the scene holds; null: there are none
  std::string mean;                      // over its launches: "52.1 %"
};

struct BeatStrip {
  std::string id, label;  // "fma", "multiply-add pipe"
  std::string unit;
  BeatLine own, other;
  double scale = 1;        // of both, from 0
  std::string scale_text;  // "100 %"
  std::string why_not;     // where the first kernel has no values
  std::string tip;         // what it counts, and CUPTI's name
};

// A launch on the axis, microseconds.
struct LaunchMark {
  std::string kernel;
  double from_us = 0, to_us = 0;
  std::string tip;
};
// A stretch of a beat on the axis, microseconds.
struct BeatStretch {
  gpu::CodePhase phase = gpu::CodePhase::s;
  double from_us = 0, to_us = 0;
};
struct BeatTick {
  double us = 0;
  std::string text;  // "1.5"
};

struct HeartbeatScene {
  bool there = false;
  std::string empty;  // why nothing is drawn
  std::string kernel, other;
  std::shared_ptr<const Heartbeat> own, beside;  // `beside` null: `no_other`
  std::string no_other;                          // why the other measurement has none here; empty: nothing is missing
  double from_us = 0, to_us = 0;                 // what the axis shows
  bool whole = true;                             // of the run
  std::vector<BeatTick> ticks;
  std::string axis;  // "ms after the first launch began"
  std::vector<LaunchMark> marks, other_marks;
  std::vector<BeatStrip> strips;
  std::vector<BeatStretch> stretches;  // S, P and O, where few enough beats are shown to tell them apart
  std::shared_ptr<const Result<BeatBorders>> borders;  // null: not looked for
  std::string words;                                   // beat, its borders, blocks, tail
  std::string notes;                                   // how it was taken, and how that compares with the timings
};

// What is lit at one time.
struct BeatReading {
  std::string title;               // "1.234 ms, naive_scores"
  std::vector<std::string> lines;  // "multiply-add pipe: 52.1 %, tiled 3.2 %"
};
BeatReading reading_at(const HeartbeatScene& scene, double us);

// What is known of the waves of a row's blocks.
struct BlockWaves {
  std::string words;  // "2048 blocks on 132 SMs: 15.5 waves."; empty: not known
  double count = 0;   // 15.5; 0: not known
};
BlockWaves block_waves(const OccupancyScene& occupancy);

// `against` may be null. `before`: an earlier scene, may be
// null; finding the borders takes tens of milliseconds, so they are taken from it where they are of the same run.
HeartbeatScene heartbeat_scene(const Measurement& row, const Measurement* against, const ProfileView& view,
                               const BlockWaves& waves, const HeartbeatScene* before = nullptr);

// Some round times from `from` to `to`, at most `most` of them.
std::vector<double> round_times(double from_us, double to_us, std::size_t most);

// Whether S, P and O come again with every key tile: in the order of flash attention alone.
bool has_beat_of_tiles(const Measurement& row);

}  // namespace attn
