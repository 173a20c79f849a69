// What the program knows beside the state: what tasks made, found and measured. Panels read it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/judge/found.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/options.h"
#include "kernels/recording/recording.h"
#include "profiling/figures/measurement.h"
#include "profiling/session/sweep_run.h"
#include "viz/state/bench_runs.h"
#include "viz/state/lab_view.h"

namespace attn {

namespace gpu {
struct KernelListing;  // kernels/gpu/compile/listing/listing.h
}
struct LearnScene;  // viz/learn/card/learn_scene.h
struct Timeline;    // kernels/recording/timeline.h
struct TuneResult;  // profiling/tune/tune.h

// A running or finished task, as panels show it. `title` is empty where there is none.
struct TaskView {
  std::string title, now, error;
  double fraction = 0;
  double seconds_left = -1;
  bool running = false;
  bool operator==(const TaskView&) const = default;
};

// The GPUs that the program found, or why it can use none. Before it has looked, nothing is known.
struct GpuChoice {
  std::int32_t index = 0;
  std::string name, arch;
  std::uint64_t memory_bytes = 0;
  std::int32_t sms = 0;
};
struct GpuView {
  bool looked = false;
  std::string why_none;
  std::string why_nothing;  // why the CPU cannot be measured either; empty: it can
  std::vector<GpuChoice> gpus;
  std::string compiler;  // "NVRTC 13.0"; empty: there is none
};

// What runs peers: python3 with torch.
struct PeersView {
  bool looked = false;
  std::string words;     // which was found, with its versions
  std::string why_none;  // empty: peers can be measured
  // Of peers that need a package beside torch, by id: why it cannot be had; no words: it is there.
  std::map<std::string, std::string, std::less<>> packages;
};

// A run as Bench lists it.
enum class RunFrom : std::uint8_t { here, file, bundled };  // kept on this machine, opened, came with the program
struct ListedRun {
  SweepRun run;  // its rows may grow
  RunFrom from = RunFrom::here;
  bool growing = false;  // it is being measured, here or in another window
  bool local = true;     // taken on this machine: a sweep can take over its points
};

// What the replay of a recording that came from a file found.
struct ReplayView {
  std::shared_ptr<const Recording> of;  // null: none came from a file
  bool running = false;
  std::string difference;  // the first place where it differs, in words; empty = nowhere
};

// What was found of a run that may be wrong: an exhibit of the museum, or a recording out of a file.
struct ExaminationView {
  std::shared_ptr<const Recording> of;  // null: no question
  std::optional<Verdict> verdict;
  bool sought = false;  // the first wrong step was looked for
  std::optional<FirstWrong> first;
  std::string trouble;  // why there is no verdict or no search
};

// A kernel's source beside its machine code, as Profile asked for it last.
struct ListingView {
  std::string of;                                     // key_of() its subject; empty: nothing was asked for
  bool running = false;                               // it is being compiled and taken apart
  std::shared_ptr<const gpu::KernelListing> listing;  // null: `error` says why, or it runs
  std::string error;
};

// Recorded launches of pipelined kernels: those of opened sessions first, then those that came with the program.
struct TimelinesView {
  bool looked = false;  // for those that came with the program
  std::vector<std::shared_ptr<const Timeline>> all;
  std::map<const Timeline*, std::string> refused;  // of `all`: why no picture is drawn, its kernel's text being another
  std::string error;                               // why those could not be read
};

// The tiles of one kernel on one problem, as they are tried or as they were kept.
struct TuningView {
  std::string of;                            // tuning_key() of what it shows; empty: nothing was looked for
  std::shared_ptr<const TuneResult> result;  // null: `none` says why
  std::string none;
  bool running = false;
};

// The tile that one point of a sweep of tuned tiles takes, or why the sweep refuses that point.
struct KeptTile {
  std::string kernel;
  std::int64_t value = 0;  // of the sweep's axis
  Result<Options> tile;
};
struct KeptTilesView {
  std::string of;           // sweep_key() of what was looked up; empty: nothing was
  std::uint64_t times = 0;  // that it was looked up
  std::vector<KeptTile> tiles;
};

// Kernels of the user's own that an opened session brought: nobody has said yet that they may run here.
struct OfferedKernels {
  std::string file;         // the session
  gpu::OwnKernels kernels;  // empty: nothing is asked
};

// A file that Ctrl+O lists.
struct KnownFile {
  std::string path;
  std::string words;  // "Times of 9 kernels: NVIDIA H100 80GB HBM3, 36 rows, 2026-11-21"; empty: not looked at
  bool bundled = false;
};

// All that panels may read. Shared pointers so that a task can replace a recording while a frame draws the old one.
struct Model {
  std::shared_ptr<const Recording> recording;  // what Step shows; null only when `recording_error` says why
  std::string recording_error;                 // words: the problem cannot be recorded (size, options)
  ReplayView replay;
  ExaminationView examination;
  std::vector<ListedRun> runs;        // all that is known, the newest first, those that are bundled last
  std::vector<Measurement> compiled;  // what the compiler says of the sweep's GPU kernels, one row a point
  std::string compiled_for;           // the sweep that it says so of (sweep_key)
  Provenance here;                    // of this machine, now
  std::vector<CacheLevel> caches;     // of its CPU
  GpuView gpu;
  PeersView peers;
  ListingView listing, listing_against;
  TimelinesView timelines;
  TuningView tuning;
  KeptTilesView kept;
  LabView lab;
  OfferedKernels offered;
  std::vector<KnownFile> files;  // recent ones first
  TaskView task;
  std::shared_ptr<const LearnScene> learn;  // null until Learn or the palette is first looked at
};

}  // namespace attn
