// The strip over the charts: what is faster than what and by how much, then why.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "kernels/base/text.h"
#include "profiling/figures/peers.h"
#include "profiling/figures/statistics.h"
#include "profiling/session/fairness.h"
#include "profiling/spec/sweep_point.h"
#include "viz/bench/charts/memory_limit.h"
#include "viz/bench/runs/subject.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/sweep_choices.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/bench/verdict/speed_verdict_words.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

// What the subject is set against, of its own device: the baseline first, then the plain orders, three at most. A
// verdict against naive so names tiled too.
std::vector<const Measurement*> others_of(const State& state, const Measurement& subject,
                                          std::span<const Measurement* const> rows) {
  std::vector<const Measurement*> out;
  for (const Measurement* m : rows)
    if (m != &subject && m->processor == subject.processor && is_baseline_shown(state, *m)) out.push_back(m);
  for (const bool plain : {true, false}) {
    for (const Measurement* m : rows) {
      if (m->processor != subject.processor || is_of_a_peer(*m)) continue;
      const bool said = m == &subject || std::find(out.begin(), out.end(), m) != out.end();
      if (!said && is_plain(*m) == plain && out.size() < 3) out.push_back(m);
    }
  }
  return out;
}

// How two times stand to each other, as far as the intervals of their medians can tell.
enum class Standing : std::uint8_t { faster, slower, equal, unclear };

Standing standing_of(const TimeStatistics& a, const TimeStatistics& b) {
  if (a.ci_high < b.ci_low) return Standing::faster;
  if (b.ci_high < a.ci_low) return Standing::slower;
  // Equal is a finding too: it takes intervals that are narrow.
  constexpr double kClose = 0.03;
  const double low = std::min(a.ci_low, b.ci_low), high = std::max(a.ci_high, b.ci_high);
  return high - low <= 2 * kClose * std::min(a.median, b.median) ? Standing::equal : Standing::unclear;
}

Standing standing_of(const Measurement& subject, const Measurement& other) {
  return standing_of(subject.time, other.time);
}

// "It reaches 0.97 of FlashAttention-2 (n = 24), 0.61 of cuDNN (n = 40) and is as fast as X, timed alternately."
std::string peer_words(const Measurement& subject, std::span<const Measurement* const> rows) {
  std::vector<std::string> shares, equal, unclear;
  const TimedBeside* another = nullptr;
  for (const Measurement* m : rows) {
    const TimedBeside* ours = beside(*m, subject);
    const auto reached = share_of_peer(subject, *m);
    if (is_wrong_row(*m) || !reached) continue;
    if (another == nullptr && differs_from_own_row(*ours, subject)) another = ours;
    const std::string of = fmt::format("{} (n = {})", shown_name(*m), std::min(m->time.n, ours->time.n));
    const double share = *reached;
    switch (standing_of(ours->time, m->time)) {
      case Standing::faster:
      case Standing::slower:
        shares.push_back(
            phrase("{}× the speed of {}", share < 9.995 ? fmt::format("{:.2f}", share) : times_text(share), of));
        break;
      case Standing::equal:
        equal.push_back(of);
        break;
      case Standing::unclear:
        unclear.push_back(of);
        break;
    }
  }
  std::vector<std::string> parts;
  if (!shares.empty()) parts.push_back(phrase("has {}", fmt::join(shares, ", ")));
  if (!equal.empty()) parts.push_back(phrase("is as fast as {}", fmt::join(equal, ", ")));
  if (!unclear.empty()) parts.push_back(phrase("cannot be distinguished from {}", fmt::join(unclear, ", ")));
  if (parts.empty()) return {};
  std::string words = phrase("It {}, timed alternately.", fmt::join(parts, tr(" and ")));
  if (another == nullptr) return words;
  const BenchUnit unit = time_unit(subject.time.median, subject.time.median);
  return words + phrase(" The kernel took {} in the peer's turns and {} in its own row.",
                        value_with_unit(another->time.median, unit), value_with_unit(subject.time.median, unit));
}

// "is 4.1 times as fast as A, 12 times B, is as fast as C and takes 1.3 times as long as D"
std::string comparison(const Measurement& subject, std::span<const Measurement* const> others) {
  std::string faster, equal, slower, unclear;
  for (const Measurement* m : others) {
    const double ratio = m->time.median / subject.time.median;
    const std::string id = shown_name(*m);
    switch (standing_of(subject, *m)) {
      case Standing::faster:
        faster += faster.empty() ? phrase("is {} times as fast as {}", times_text(ratio), id)
                                 : phrase(", {} times as fast as {}", times_text(ratio), id);
        break;
      case Standing::slower:
        slower += slower.empty() ? phrase("takes {} times as long as {}", times_text(1 / ratio), id)
                                 : phrase(", {} times as long as {}", times_text(1 / ratio), id);
        break;
      case Standing::equal:
        equal += equal.empty() ? phrase("is as fast as {}", id) : phrase(" and {}", id);
        break;
      case Standing::unclear:
        unclear += unclear.empty() ? phrase("cannot be distinguished from {}", id) : phrase(" or {}", id);
        break;
    }
  }
  std::string words = faster;
  for (const std::string& part : {equal, slower, unclear}) {
    if (!part.empty()) words += (words.empty() ? "" : tr(" and ")) + part;
  }
  return words;
}

// What else differs between two rows, as a sentence; empty where nothing does.
std::string not_alike(const Measurement& a, const BenchSlice& of_a, const Measurement& b, const BenchSlice& of_b) {
  Provenance where_a, where_b;
  where_a.driver = of_a.driver;
  where_b.driver = of_b.driver;
  const auto all = unfair(a, where_a, b, where_b);
  return all.empty() ? "" : phrase("Differences: {}.", fmt::join(all, "; "));
}

// The same within a run: the first of the others on the same device.
std::string not_alike_here(const Measurement& subject, std::span<const Measurement* const> others,
                           const BenchSlice& slice) {
  for (const Measurement* m : others) {
    if (!same_device(m->key, subject.key)) continue;
    const std::string words = not_alike(subject, slice, *m, slice);
    if (!words.empty()) return phrase("{} and {}: {}", shown_name(subject), shown_name(*m), words);
  }
  return {};
}

// Why two times can't be told apart, and of how few runs a time is.
std::string certainty_words(const Measurement& subject, std::span<const Measurement* const> others) {
  std::string words;
  for (const Measurement* m : others) {
    if (standing_of(subject, *m) != Standing::unclear) continue;
    const auto half = [](const TimeStatistics& t) { return 50 * (t.ci_high - t.ci_low) / t.median; };
    words += words.empty() ? "" : " ";
    words += phrase("The medians' intervals overlap for {} (± {:.0f} %) and {} (± {:.0f} %).", shown_name(subject),
                    half(subject.time), shown_name(*m), half(m->time));
  }
  std::vector<const Measurement*> all(others.begin(), others.end());
  all.insert(all.begin(), &subject);
  for (const Measurement* m : all) {
    if (median_interval(m->time.n).enough) continue;
    words += words.empty() ? "" : " ";
    words += m->time.n == 1 ? phrase("{} was timed only once.", shown_name(*m))
                            : phrase("{} was timed only {} times.", shown_name(*m), m->time.n);
  }
  return words;
}

// What goes with the value, where another extent follows it: "At L = 16384 (B = 1)".
std::string at_words(const BenchSlice& slice, std::int64_t value) {
  std::string words = phrase("At {} = {}", axis_letter(slice.axis), value);
  if (slice.rule.empty()) return words;
  const auto at = std::find_if(slice.rows.begin(), slice.rows.end(),
                               [&](const Measurement* m) { return m->key.problem.Lq == value; });
  return at == slice.rows.end() ? words : fmt::format("{} (B = {})", words, (*at)->key.problem.B);
}

// A line of the strip, with its lead.
std::string led(const char* lead, const std::string& words) {
  return words.empty() ? words : fmt::format("{}: {}", lead, words);
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
    if (!has_time(*m)) continue;
    if (!m->verdict || m->verdict->not_judged) {
      ++unchecked;
    } else if (m->verdict->pass) {
      ++checked;
    } else if (std::string name = shown_name(*m); std::find(wrong.begin(), wrong.end(), name) == wrong.end()) {
      wrong.push_back(std::move(name));
    }
  }
  if (!wrong.empty()) return {phrase("Wrong output from {}; see the table.", fmt::join(wrong, ", ")), true};
  if (unchecked > 0 && checked == 0) return {tr("The outputs were not checked.")};
  if (unchecked > 0) return {phrase("{} of {} outputs were not checked.", unchecked, checked + unchecked)};
  return {checked > 0 ? tr("Every output is within the allowed error.") : ""};
}

std::string drift_words(std::span<const Measurement* const> rows) {
  for (const Measurement* m : rows) {
    if (m->time.drifted) return phrase("{}'s time drifted during the measurement.", shown_name(*m));
  }
  return {};
}

// Quartiles that lie far apart say more about the machine than about the kernel.
std::string noise_words(const Measurement& subject, const Measurement& baseline) {
  for (const Measurement* m : {&subject, &baseline}) {
    const double spread = 100 * (m->time.q3 - m->time.q1) / m->time.median;
    if (spread > 25) return phrase("Noisy: {}'s quartiles are {:.0f} % apart.", shown_name(*m), spread);
  }
  return {};
}

std::string joined(std::initializer_list<std::string> parts, const char* between) {
  std::string out;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!out.empty()) out += between;
    out += part;
  }
  return out;
}

std::string sentences(std::initializer_list<std::string> parts) {
  return joined(parts, " ");
}

std::string lines(std::initializer_list<std::string> parts) {
  return joined(parts, "\n");
}

// A GPU kernel can't run where there is no GPU: the button does not say so.
std::string no_gpu_words(const SweepSpec& sweep, const Model& model) {
  if (!runs_on_gpu(sweep) || !model.gpu.looked || !model.gpu.gpus.empty()) return {};
  return tr("There is no GPU here, so GPU kernels are compiled but cannot run.");
}

// "naive no longer fits from L = 25 842 upwards (memory of NVIDIA H100 80GB HBM3)."
std::string memory_words(const State& state, const Model& model, const BenchSlice& slice) {
  const auto memory = gpu_memory(state, model, std::span(&slice, 1));
  const std::string words = memory ? no_longer_fits(*memory, slice) : "";
  return words.empty() ? words : fmt::format("{} ({}).", words, memory->name);
}

BenchVerdict before_any_row(const State& state, const Model& model, std::string_view estimate_words) {
  if (model.task.running)
    return {"", tr("Measuring the first point."), tr("Rows appear in the charts and the table as they finish.")};
  if (!model.task.error.empty()) return {"", tr("Nothing was measured."), model.task.error};
  if (!model.gpu.why_nothing.empty())
    return {"", tr("Nothing has been measured here; tick a run to see its results."), model.gpu.why_nothing};
  const SweepSpec& sweep = state.document.sweep;
  if (auto valid = validate(sweep); !valid) return {"", tr("This sweep cannot run yet."), valid.error().message};
  return {"", tr("Nothing has been measured yet; press Run."),
          sentences({plural(sweep.kernels.size(), "It measures {} kernel along {}: {}.",
                            "It measures {} kernels along {}: {}.", axis_letter(sweep.axis), estimate_words),
                     no_gpu_words(sweep, model)}),
          true};
}

BenchVerdict one_kernel(const Measurement& m, const BenchSlice& slice, std::int64_t value) {
  return {m.key.kernel,
          phrase("{}, {} takes {}.", at_words(slice, value), shown_name(m),
                 value_with_unit(m.time.median, time_unit(m.time.median, m.time.median))),
          lines({led(tr("Peers"), peer_words(m, timed_rows(slice, value))), led(tr("Limit"), limit_words(m)),
                 led(tr("Certainty"), sentences({answer_words(slice).words, certainty_words(m, {})})),
                 tr("Measure another kernel for comparison.")})};
}

}  // namespace

BenchVerdict bench_verdict(const State& state, const Model& model, const BenchSlice& slice,
                           std::optional<std::int64_t> chosen, std::string_view estimate_words) {
  if (slice.planned || slice.rows.empty() || !chosen) return before_any_row(state, model, estimate_words);
  auto rows = timed_rows(slice, *chosen);
  if (rows.empty()) {
    const Measurement* any = row_at(slice, bench_kernel(state), *chosen);
    if (any == nullptr) any = slice.rows.back();
    return {"", phrase("{}, no kernel has a time.", at_words(slice, *chosen)),
            any->reason.empty() ? tr("The table says why.") : fmt::format("{}: {}", shown_name(*any), any->reason)};
  }
  // The time of a wrong answer means nothing: such a row is neither praised nor compared with.
  const auto right = std::remove_if(rows.begin(), rows.end(), [](const Measurement* m) { return is_wrong_row(*m); });
  if (right == rows.begin())
    return {"", phrase("{}, no kernel gives the correct output.", at_words(slice, *chosen)),
            tr("The table says what differs.")};
  rows.erase(right, rows.end());
  const Measurement* subject = subject_of(state, rows);
  if (subject == nullptr) {
    const auto ours = std::ranges::find_if(rows, [](const Measurement* m) { return !is_of_a_peer(*m); });
    return one_kernel(ours != rows.end() ? **ours : *rows.front(), slice, *chosen);
  }
  if (rows.size() == 1) return one_kernel(*subject, slice, *chosen);
  const auto others = others_of(state, *subject, rows);
  if (others.empty()) return one_kernel(*subject, slice, *chosen);
  BenchVerdict v;
  v.kernel = subject->key.kernel;
  v.headline = fmt::format("{}, {} {}.", at_words(slice, *chosen), shown_name(*subject), comparison(*subject, others));
  const std::string other_problem = slice.of_this_sweep ? "" : tr("These rows are not from the planned sweep.");
  const AnswerWords answers = answer_words(slice);
  const std::string certainty =
      sentences({answers.wrong ? "" : answers.words, certainty_words(*subject, others),
                 not_alike_here(*subject, others, slice), drift_words(rows), noise_words(*subject, *others.front())});
  v.reason = lines({other_problem, answers.wrong ? answers.words : "", led(tr("Peers"), peer_words(*subject, rows)),
                    bytes_words(*subject, *others.front()), led(tr("Limit"), limit_words(*subject)),
                    led(tr("Memory"), memory_words(state, model, slice)), led(tr("Certainty"), certainty)});
  return v;
}

std::string strip_headline(const BenchVerdict& verdict, bool folded) {
  return folded && verdict.asks_for_run ? tr("Nothing has been measured yet; press sweep ... and then Run.")
                                        : verdict.headline;
}

std::string unlike_words(const BenchSlice& slice, const BenchSlices& beside, std::optional<std::int64_t> chosen) {
  std::vector<std::string> others, elsewhere;
  for (const BenchSlice& other : beside) {
    if (differ_in_problem(slice, other)) others.push_back(problem_words(other, chosen));
    if (other.elsewhere) elsewhere.push_back(phrase("{} ({})", other.letter, axis_letter(*other.elsewhere)));
  }
  const std::string problems = others.empty()
                                   ? ""
                                   : phrase("Different problems, so compare throughput, not times: {} and {}.",
                                            problem_words(slice, chosen), fmt::join(others, ", "));
  const std::string axes =
      elsewhere.empty()
          ? ""
          : phrase("Not drawn: {1}. These runs vary an axis other than {0}; untick the others to draw them.",
                   axis_letter(slice.axis), fmt::join(elsewhere, ", "));
  return lines({axes, problems});
}

std::string beside_words(const State& state, const BenchSlice& slice, const BenchSlices& beside,
                         std::optional<std::int64_t> chosen, std::string_view kernel) {
  std::vector<std::string> words;
  if (!chosen || slice.planned) return {};
  const std::string_view subject = kernel.empty() ? std::string_view(bench_kernel(state)) : kernel;
  const Measurement* mine = row_at(slice, subject, *chosen);
  constexpr std::size_t kMost = 2;  // a strip is no list: the table has them all
  for (const BenchSlice& other : beside) {
    if (other.planned || words.size() >= kMost) continue;
    const Measurement* its = row_at(other, subject, *chosen);
    if (mine == nullptr || !has_time(*mine) || its == nullptr || !has_time(*its)) continue;
    if (!(its->key.problem == mine->key.problem)) continue;  // unlike_words() says so
    const double ratio = its->time.median / mine->time.median;
    const std::string where = phrase("In {}, {}", other.letter, subject);
    switch (standing_of(*mine, *its)) {
      case Standing::faster:
        words.push_back(phrase("{} takes {} times as long.", where, times_text(ratio)));
        break;
      case Standing::slower:
        words.push_back(phrase("{} is {} times as fast.", where, times_text(1 / ratio)));
        break;
      case Standing::equal:
        words.push_back(phrase("{} is as fast.", where));
        break;
      case Standing::unclear:
        words.push_back(
            phrase("{} cannot be distinguished from this run: the 95 % intervals of the medians overlap.", where));
        break;
    }
    if (const std::string unlike = not_alike(*mine, slice, *its, other); !unlike.empty()) words.back() += " " + unlike;
  }
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace attn
