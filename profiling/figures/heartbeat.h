// What the pipes and memories of a GPU did over the time of one run of a kernel: counters that the hardware reads every
// few microseconds, on one axis with the launches of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"

namespace attn {

struct Measurement;  // profiling/figures/measurement.h

// What can be asked for. CUPTI's names in the order in which they are tried: the first that the chip has, and that fits
// into the one pass beside those before it, is taken.
struct BeatRow {
  std::string_view id;     // "fma": JSON and CSV
  std::string_view label;  // "multiply-add pipe"
  std::string_view unit;   // "%" of what the chip could do at most, or "MHz"
  double scale = 1;        // of CUPTI's value
  std::span<const std::string_view> names;
  std::string_view help;
};
// All of them, the most wanted first.
std::span<const BeatRow> beat_table();
const BeatRow* find_beat_row(std::string_view id);  // null: there is none

struct BeatCounter {
  std::string id;              // of beat_table()
  std::string metric;          // CUPTI's name; empty: `why_not`
  std::string why_not;         // the chip lacks it, or it has no room in the pass
  std::vector<double> values;  // one a sample, of the row's unit, to three digits; none where `why_not` says so
  bool operator==(const BeatCounter&) const = default;
};

// A launch of the run. Microseconds after the first of them began.
struct BeatLaunch {
  std::string kernel;  // "naive_scores"
  double start_us = 0, end_us = 0;
  bool operator==(const BeatLaunch&) const = default;

  double length_us() const { return end_us - start_us; }
};

// When a sample was taken: nanoseconds after the first launch began.
struct BeatSpan {
  std::int64_t start_ns = 0, end_ns = 0;
  bool operator==(const BeatSpan&) const = default;
};

struct Heartbeat {
  std::string method;                // "CUPTI 13.0, PM sampling"
  std::string chip;                  // "GH100"
  std::int64_t interval = 0;         // asked for between two samples
  bool in_cycles = false;            // of the system's clock, where the chip has no other trigger; else nanoseconds
  std::int32_t tries = 1;            // runs that were sampled until one lost nothing; each is the whole kernel once
  double kernel_us = 0;              // of one run, while nothing was sampled
  double seconds = 0;                // all of it: what this costs
  std::vector<BeatLaunch> launches;  // in the order of their starts; one may start before the one before it has ended
  std::vector<BeatSpan> samples;     // in order, none over another
  std::vector<BeatCounter> counters;
  bool operator==(const Heartbeat&) const = default;

  // To the end of the launch that ends last.
  double length_us() const;
};

// Null: it is not there, or has no values.
const BeatCounter* counter_of(const Heartbeat& h, std::string_view id);
// Three digits: what is kept of a value.
double three_digits(double value);

// The mean over the time from `from_us` to `to_us`, each sample by the time that it shares with it; nothing where none
// does.
std::optional<double> mean_between(const Heartbeat& h, const BeatCounter& c, double from_us, double to_us);
// Of the whole run: while a launch ran, not what lies between them.
std::optional<double> mean_of(const Heartbeat& h, const BeatCounter& c);
// Of the counter called so; nothing where it has no values.
std::optional<double> mean_of(const Heartbeat& h, std::string_view id);
// The SM clock, MHz: as its cycles passed where somebody listened to it, else as NVML read it. 0: not known.
double clock_mhz(const Measurement& m);
// While one of its launches ran, or of those of one entry ("naive_scores"); where two overlap, counted once.
double busy_us(const Heartbeat& h, std::string_view entry = {});
// Means of `parts` equal parts of the time from the first launch's start to the last one's end: what is drawn small.
// NaN where a part has no sample.
std::vector<double> strip_of(const Heartbeat& h, const BeatCounter& c, std::size_t parts);
// The end of a scale from 0 that holds the values, a round number from 1 on; of per cent, at most 100.
double scale_of(const BeatCounter& c);
// The sample at this time; nothing: there is none.
std::optional<std::size_t> sample_at(const Heartbeat& h, double us);

// What comes again and again in the longest launch: the distance at which a counter is most like itself.
struct Pulse {
  std::string id;  // of the counter in which it is clearest
  double period_us = 0;
  double likeness = 0;  // autocorrelation at that distance, at most 1
  double count = 0;     // how often it fits into the launch
  std::size_t launch = 0;
};
// Nothing where no counter is like itself at any distance.
std::optional<Pulse> beat_of(const Heartbeat& h);

// From when on fewer multiprocessors than `kFullSms` per cent of them are at work until a launch ends.
constexpr double kFullSms = 90;
struct BeatTail {
  std::size_t launch = 0;
  double from_us = 0, share = 0;  // of the launch's time
  double empty = 0;               // of the launch's time on all multiprocessors: what the tail costs
};
// Of the launch whose tail costs the most time, of the longest where none has one. Nothing where the chip does not
// count it.
std::optional<BeatTail> tail_of(const Heartbeat& h);
std::size_t longest_launch(const Heartbeat& h);

// Why the samples do not hold the whole run; empty: they do. Times as in a Heartbeat.
std::string what_is_lost(std::span<const BeatSpan> samples, double length_us);

}  // namespace attn
