// The strip over the charts: what is faster than what and by how much, then why.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "kernels/kernel.h"
#include "viz/bench_scene.h"
#include "viz/bench_spec.h"

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

bool is_baseline(const Measurement& m) {
  return m.key.kernel == baseline_of(m.place);
}

bool is_wrong(const Measurement& m) {
  return m.verdict && !m.verdict->pass;
}

// The kernel that is chosen everywhere, where it has a time; else the fastest that is not the baseline.
const Measurement* subject_of(const State& state, std::span<const Measurement* const> rows) {
  const Measurement* best = nullptr;
  for (const Measurement* m : rows) {
    if (is_baseline(*m) || is_wrong(*m)) continue;
    if (m->key.kernel == state.document.kernel) return m;
    if (best == nullptr || m->time.median < best->time.median) best = m;
  }
  return best;
}

bool is_plain(const Measurement& m) {
  const auto row = find_kernel(m.key.kernel);
  return row && ((*row)->order == Order::naive || (*row)->order == Order::tiled);
}

// What the subject is set against: the baseline first, then the plain orders, three at most.
std::vector<const Measurement*> others_of(const Measurement& subject, std::span<const Measurement* const> rows) {
  std::vector<const Measurement*> out;
  for (const Measurement* m : rows)
    if (m != &subject && is_baseline(*m)) out.push_back(m);
  for (const bool plain : {true, false}) {
    for (const Measurement* m : rows) {
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

// Bytes against the baseline: measured where they are, with the prediction beside; else predicted, and said so.
std::string bytes_words(const Measurement& subject, const Measurement& baseline) {
  const Figure& mine = figure(subject, "tile_load_bytes");
  const Figure& its = figure(baseline, "tile_load_bytes");
  if (!mine.available() || !its.available() || mine.value <= 0) return {};
  const double a = measured_bytes(subject), b = measured_bytes(baseline);
  if (a > 0 && b > 0)
    return fmt::format("It moves {} DRAM bytes than {} (predicted: {}).", times_fewer(a, b), baseline.key.kernel,
                       times_text(its.value / mine.value));
  return fmt::format("Predicted: its tiles ask memory for {}, {} bytes than {}.", bytes_text(mine.value),
                     times_fewer(mine.value, its.value), baseline.key.kernel);
}

std::string peak_words(const Measurement& subject) {
  const Figure& share = figure(subject, "peak_share_pct");
  if (!share.available()) return {};
  return fmt::format("It reaches {:.0f} % of this {}'s measured peak.", share.value,
                     subject.place == Place::cpu ? "CPU" : "GPU");
}

// Of the rows of the whole slice: a wrong answer anywhere comes first.
std::string answer_words(const BenchSlice& slice) {
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
  if (!wrong.empty()) return fmt::format("Wrong answer from {}: see the table.", fmt::join(wrong, ", "));
  if (unchecked > 0 && checked == 0) return "The answers were not checked.";
  if (unchecked > 0) return fmt::format("{} of {} answers were not checked.", unchecked, checked + unchecked);
  return checked > 0 ? "Every answer is within the allowed error." : "";
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
          fmt::format("It measures {} kernel{} along {} on this CPU: {}.", sweep.kernels.size(),
                      sweep.kernels.size() == 1 ? "" : "s", axis_letter(sweep.axis), estimate_words)};
}

BenchVerdict one_kernel(const Measurement& m, const BenchSlice& slice, std::int64_t value) {
  return {m.key.kernel,
          fmt::format("{} {} takes {}.", at_words(slice, value), m.key.kernel,
                      value_with_unit(m.time.median, time_unit(m.time.median, m.time.median))),
          sentences({peak_words(m), answer_words(slice), "Tick another kernel and run again to compare."})};
}

}  // namespace

BenchVerdict bench_verdict(const State& state, const Model& model, const BenchSlice& slice,
                           std::optional<std::int64_t> chosen, std::string_view estimate_words) {
  if (slice.planned || slice.rows.empty() || !chosen) return before_any_row(state, model, estimate_words);
  auto rows = timed_at(slice, *chosen);
  if (rows.empty()) {
    const Measurement* any = row_at(slice, state.document.kernel, *chosen);
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
  const auto others = others_of(*subject, rows);
  BenchVerdict v;
  v.kernel = subject->key.kernel;
  v.headline = fmt::format("{} {} {}.", at_words(slice, *chosen), subject->key.kernel, comparison(*subject, others));
  const std::string other_problem =
      slice.of_this_sweep ? "" : "These rows are of another sweep than the one set up on the left.";
  const std::string answers = answer_words(slice);
  const bool wrong = answers.starts_with("Wrong");  // comes first
  v.reason =
      sentences({wrong ? answers : "", bytes_words(*subject, *others.front()), peak_words(*subject),
                 wrong ? "" : answers, drift_words(rows), noise_words(*subject, *others.front()), other_problem});
  return v;
}

}  // namespace attn
