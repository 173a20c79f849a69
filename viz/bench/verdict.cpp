// The strip over the charts: what is faster than what and by how much, then why.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "viz/bench/fields.h"
#include "viz/bench/scene.h"

namespace attn {
namespace {

bool timed(const Measurement& m) {
  return m.state == RowState::done && m.time.n > 0 && m.time.median > 0;
}

std::vector<const Measurement*> timed_at(const BenchSlice& slice, std::int64_t value) {
  std::vector<const Measurement*> rows;
  for (const Measurement* m : slice.rows) {
    const std::int64_t at = axis_value(slice.axis, *m);
    if (timed(*m) && (at == value || at == 0)) rows.push_back(m);
  }
  return rows;
}

bool is_baseline(const State& state, const Measurement& m) {
  return m.key.kernel == baseline_shown(state, m.processor);
}

bool is_wrong(const Measurement& m) {
  return m.verdict && !m.verdict->pass;
}

// The kernel that is chosen everywhere, where it has a time; else the fastest that is not the baseline. One that has
// its like on its own device comes before one that has none.
const Measurement* subject_of(const State& state, std::span<const Measurement* const> rows) {
  const auto alone = [&](const Measurement& m) {
    return std::none_of(rows.begin(), rows.end(),
                        [&](const Measurement* other) { return other != &m && other->processor == m.processor; });
  };
  const auto rank = [&](const Measurement& m) {
    return std::tuple(alone(m), m.key.kernel != bench_kernel(state), m.time.median);
  };
  const Measurement* best = nullptr;
  for (const Measurement* m : rows) {
    if (is_baseline(state, *m) || is_wrong(*m)) continue;
    if (best == nullptr || rank(*m) < rank(*best)) best = m;
  }
  return best;
}

bool is_plain(const Measurement& m) {
  const auto row = find_kernel(m.key.kernel);
  return row && (*row)->stores_scores;
}

// What the subject is set against, of its own device: the baseline first, then the plain orders, three at most. A
// verdict against naive so names tiled too.
std::vector<const Measurement*> others_of(const State& state, const Measurement& subject,
                                          std::span<const Measurement* const> rows) {
  std::vector<const Measurement*> out;
  for (const Measurement* m : rows)
    if (m != &subject && m->processor == subject.processor && is_baseline(state, *m)) out.push_back(m);
  for (const bool plain : {true, false}) {
    for (const Measurement* m : rows) {
      if (m->processor != subject.processor) continue;
      const bool said = m == &subject || std::find(out.begin(), out.end(), m) != out.end();
      if (!said && is_plain(*m) == plain && out.size() < 3) out.push_back(m);
    }
  }
  return out;
}

bool spreads_meet(const Measurement& a, const Measurement& b) {
  return a.time.q1 <= b.time.q3 && b.time.q1 <= a.time.q3;
}

// "is 4.1 times as fast as A, 12 times B, and takes 1.3 times as long as C"
std::string comparison(const Measurement& subject, std::span<const Measurement* const> others) {
  std::string faster, equal, slower;
  for (const Measurement* m : others) {
    const double ratio = m->time.median / subject.time.median;
    if (spreads_meet(subject, *m)) {
      equal += fmt::format("{}{}", equal.empty() ? "is as fast as " : " and ", m->key.kernel);
    } else if (ratio > 1) {
      faster += faster.empty() ? fmt::format("is {} times as fast as {}", times_text(ratio), m->key.kernel)
                               : fmt::format(", {} times {}", times_text(ratio), m->key.kernel);
    } else {
      slower += slower.empty() ? fmt::format("takes {} times as long as {}", times_text(1 / ratio), m->key.kernel)
                               : fmt::format(", {} times {}", times_text(1 / ratio), m->key.kernel);
    }
  }
  std::string words = faster;
  for (const std::string& part : {equal, slower}) {
    if (!part.empty()) words += (words.empty() ? "" : " and ") + part;
  }
  return words;
}

std::string at_words(const BenchSlice& slice, std::int64_t value) {
  return fmt::format("At {} = {}", axis_letter(slice.axis), value);
}

// DRAM bytes of a row, measured, or 0.
double measured_bytes(const Measurement& m) {
  const Figure& read = figure(m, "dram_read_bytes");
  const Figure& written = figure(m, "dram_write_bytes");
  return read.available() && written.available() ? read.value + written.value : 0;
}

std::string times_fewer(double less, double more) {
  return less <= more ? fmt::format("{} times fewer", times_text(more / less))
                      : fmt::format("{} times more", times_text(less / more));
}

// How many times fewer bytes than the baseline the model expects of DRAM. What either moves lies between each element
// once and every tile load (naive: with the reads of S that its row declares). Both are 0 where nothing is known.
struct Expected {
  double min = 0, max = 0;
};

Expected expected_ratio(const Measurement& subject, const Measurement& baseline) {
  const Figure& once = figure(subject, "compulsory_bytes");
  const Figure& tiles = figure(subject, "tile_load_bytes");
  const Figure& its_once = figure(baseline, "compulsory_bytes");
  const Figure& its_tiles = figure(baseline, "tile_load_bytes");
  if (!once.available() || !tiles.available() || !its_once.available() || !its_tiles.available()) return {};
  if (once.value <= 0 || tiles.value <= 0) return {};
  return {its_once.value / tiles.value, its_tiles.value / once.value};
}

std::string expectation_words(double ratio, const Expected& e, const Measurement& baseline) {
  if (e.max <= 0) return {};
  const bool narrow = e.max < 1.1 * e.min;
  const std::string range = narrow ? times_text(e.max) : times_text(e.min) + " to " + times_text(e.max);
  if (ratio >= 0.87 * e.min && ratio <= 1.15 * e.max) return fmt::format(", as predicted ({})", range);
  // What an L2 cache of today's GPUs may hold of S and P.
  constexpr std::uint64_t kMayStay = 200'000'000;
  const bool kept = ratio < e.min && baseline.workspace_bytes > 0 && baseline.workspace_bytes < kMayStay;
  return fmt::format(", not as predicted ({}){}", range,
                     kept ? fmt::format(": the L2 cache keeps much of what {} stores", baseline.key.kernel) : "");
}

// Bytes against the baseline: measured where they are, with the prediction beside; else predicted, and said so.
std::string bytes_words(const Measurement& subject, const Measurement& baseline) {
  const Figure& mine = figure(subject, "tile_load_bytes");
  const Figure& its = figure(baseline, "tile_load_bytes");
  if (!mine.available() || !its.available() || mine.value <= 0) return {};
  const double a = measured_bytes(subject), b = measured_bytes(baseline);
  if (a > 0 && b > 0)
    return fmt::format("It moves {} DRAM bytes than {}{}.", times_fewer(a, b), baseline.key.kernel,
                       expectation_words(b / a, expected_ratio(subject, baseline), baseline));
  return fmt::format("Predicted: its tiles ask memory for {}, {} bytes than {}.", bytes_text(mine.value),
                     times_fewer(mine.value, its.value), baseline.key.kernel);
}

std::string percent_text(double x) {
  // The table's digits: 12.5 % is not 12 %.
  return x < 0.95 ? "under 1 %" : fmt::format("{:.3g} %", x);
}

std::string occupancy_words(const Measurement& m) {
  const Figure& reached = figure(m, "occupancy_achieved_pct");
  const Figure& possible = figure(m, "occupancy_theoretical_pct");
  if (!possible.available()) return {};
  const std::string limit =
      fmt::format("{}{} of its warps can be active{}", possible.min_of_launches ? "At least " : "",
                  percent_text(possible.value), possible.limiter.empty() ? "" : " (" + possible.limiter + ")");
  if (!reached.available()) return fmt::format(" {}.", limit);
  return fmt::format(" {}, {} are.", limit, percent_text(reached.value));
}

// What holds the subject back, as far as the peaks of its device are known.
std::string limit_words(const Measurement& subject) {
  const Figure& peak = figure(subject, "peak_share_pct");
  const Figure& copy = figure(subject, "dram_peak_share_pct");
  const char* device = subject.processor == Processor::cpu ? "CPU" : "GPU";
  if (!peak.available() && !copy.available()) return {};
  if (!copy.available())
    return fmt::format("It reaches {} of this {}'s measured peak.", percent_text(peak.value), device);
  constexpr double kNear = 60;  // percent of a peak from which on it is the limit
  const double arithmetic = peak.available() ? peak.value : 0;
  if (copy.value >= kNear && copy.value >= arithmetic)
    return fmt::format("Held back by memory: {} of the measured copy rate.", percent_text(copy.value));
  if (arithmetic >= kNear)
    return fmt::format("Held back by arithmetic: {} of this {}'s measured peak.", percent_text(arithmetic), device);
  std::string words = fmt::format("Not held back by memory ({} of the copy rate)", percent_text(copy.value));
  if (peak.available()) words += fmt::format(" nor yet by arithmetic ({} of the peak)", percent_text(arithmetic));
  const Figure& active = figure(subject, "occupancy_achieved_pct");
  constexpr double kFew = 25;  // percent of the warps that an SM can hold
  const bool few = active.available() && active.value < kFew;
  return words + "." + occupancy_words(subject) + (few ? " So few hide little of their latency." : "");
}

struct AnswerWords {
  std::string words;
  bool wrong = false;  // comes before all else
};

// Of the rows of the whole slice: a wrong answer anywhere comes first.
AnswerWords answer_words(const BenchSlice& slice) {
  std::size_t checked = 0, unchecked = 0;
  std::vector<std::string> wrong;
  for (const Measurement* m : slice.rows) {
    if (!timed(*m)) continue;
    if (!m->verdict) {
      ++unchecked;
    } else if (m->verdict->pass) {
      ++checked;
    } else if (std::find(wrong.begin(), wrong.end(), m->key.kernel) == wrong.end()) {
      wrong.push_back(m->key.kernel);
    }
  }
  if (!wrong.empty()) return {fmt::format("Wrong answer from {}: see the table.", fmt::join(wrong, ", ")), true};
  if (unchecked > 0 && checked == 0) return {"The answers were not checked."};
  if (unchecked > 0) return {fmt::format("{} of {} answers were not checked.", unchecked, checked + unchecked)};
  return {checked > 0 ? "Every answer is within the allowed error." : ""};
}

std::string drift_words(std::span<const Measurement* const> rows) {
  for (const Measurement* m : rows) {
    if (m->time.drifted) return fmt::format("{}'s time drifted while it was measured.", m->key.kernel);
  }
  return {};
}

// Quartiles that lie far apart say more about the machine than about the kernel.
std::string noise_words(const Measurement& subject, const Measurement& baseline) {
  for (const Measurement* m : {&subject, &baseline}) {
    const double spread = 100 * (m->time.q3 - m->time.q1) / m->time.median;
    if (spread > 25) return fmt::format("Noisy: {}'s quartiles lie {:.0f} % apart.", m->key.kernel, spread);
  }
  return {};
}

std::string sentences(std::initializer_list<std::string> parts) {
  std::string out;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!out.empty()) out += " ";
    out += part;
  }
  return out;
}

BenchVerdict before_any_row(const State& state, const Model& model, std::string_view estimate_words) {
  if (model.task.running)
    return {"", "Measuring the first point.", "Rows appear in the charts and the table as they are finished."};
  if (!model.task.error.empty()) return {"", "Nothing was measured.", model.task.error};
  const SweepSpec& sweep = state.document.sweep;
  if (auto valid = validate(sweep); !valid) return {"", "This sweep cannot run yet.", valid.error().message};
  return {"", "Nothing is measured yet: press Run.",
          fmt::format("It measures {} kernel{} along {}: {}.", sweep.kernels.size(),
                      sweep.kernels.size() == 1 ? "" : "s", axis_letter(sweep.axis), estimate_words)};
}

BenchVerdict one_kernel(const Measurement& m, const BenchSlice& slice, std::int64_t value) {
  return {m.key.kernel,
          fmt::format("{} {} takes {}.", at_words(slice, value), m.key.kernel,
                      value_with_unit(m.time.median, time_unit(m.time.median, m.time.median))),
          sentences({limit_words(m), answer_words(slice).words, "Tick another kernel and run again to compare."})};
}

}  // namespace

BenchVerdict bench_verdict(const State& state, const Model& model, const BenchSlice& slice,
                           std::optional<std::int64_t> chosen, std::string_view estimate_words) {
  if (slice.planned || slice.rows.empty() || !chosen) return before_any_row(state, model, estimate_words);
  auto rows = timed_at(slice, *chosen);
  if (rows.empty()) {
    const Measurement* any = row_at(slice, bench_kernel(state), *chosen);
    if (any == nullptr) any = slice.rows.back();
    return {"", fmt::format("{} no kernel has a time.", at_words(slice, *chosen)),
            any->reason.empty() ? "The table says why." : fmt::format("{}: {}", any->key.kernel, any->reason)};
  }
  // The time of a wrong answer means nothing: such a row is neither praised nor compared with.
  const auto right = std::remove_if(rows.begin(), rows.end(), [](const Measurement* m) { return is_wrong(*m); });
  if (right == rows.begin())
    return {"", fmt::format("{} no kernel gives the right answer.", at_words(slice, *chosen)),
            "The table says what differs."};
  rows.erase(right, rows.end());
  const Measurement* subject = subject_of(state, rows);
  if (subject == nullptr || rows.size() == 1) return one_kernel(*rows.front(), slice, *chosen);
  const auto others = others_of(state, *subject, rows);
  if (others.empty()) return one_kernel(*subject, slice, *chosen);
  BenchVerdict v;
  v.kernel = subject->key.kernel;
  v.headline = fmt::format("{} {} {}.", at_words(slice, *chosen), subject->key.kernel, comparison(*subject, others));
  const std::string other_problem =
      slice.of_this_sweep ? "" : "These rows are of another sweep than the one set up on the left.";
  const AnswerWords answers = answer_words(slice);
  v.reason = sentences({answers.wrong ? answers.words : "", bytes_words(*subject, *others.front()),
                        limit_words(*subject), answers.wrong ? "" : answers.words, drift_words(rows),
                        noise_words(*subject, *others.front()), other_problem});
  return v;
}

}  // namespace attn
