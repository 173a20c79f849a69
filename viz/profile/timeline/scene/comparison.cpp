#include "viz/profile/timeline/scene/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr double kUs = 1e-3;
constexpr double kLeastChange = 0.01;  // of a key tile's time: below, a state is as it was
constexpr std::size_t kMostChanges = 3, kMostCauses = 2;
constexpr double kLeastCause = 0.1;     // of what two launches are apart
constexpr double kLeastFigure = 0.005;  // of a launch

double of_state(const PipelineScene& s, const std::string& words) {
  const auto at = std::ranges::find(s.states, words, &PipelineScene::StateTime::words);
  return at == s.states.end() ? 0 : at->ns;
}

// The states whose time differs most, by how much.
std::vector<std::string> state_causes(const PipelineScene& a, const PipelineScene& b) {
  std::vector<std::string> words;
  for (const auto* s : {&a, &b})
    for (const auto& state : s->states)
      if (std::ranges::find(words, state.words) == words.end()) words.push_back(state.words);
  const auto change = [&](const std::string& state) { return of_state(b, state) - of_state(a, state); };
  std::ranges::stable_sort(words, std::ranges::greater(), [&](const std::string& w) { return std::fabs(change(w)); });
  std::vector<std::string> told;
  for (const std::string& state : words) {
    if (told.size() == kMostChanges || std::fabs(change(state)) < kLeastChange * key_tile_ns(a)) break;
    told.push_back(phrase("{} {}, below {}", state, time_text(of_state(a, state)), time_text(of_state(b, state))));
  }
  return told;
}

std::string number(double x) {
  return fmt::format("{:.1f}", x);
}

double blocks_per_sm(const PipelineScene& s) {
  return s.band_rows > 0 ? static_cast<double>(s.timeline->grid_blocks) / s.band_rows : 0;
}

// A part of an SM's time that differs, µs, and how it is told.
struct LaunchFigure {
  double by = 0;
  std::string above, below, words;
};

LaunchFigure of_blocks(const PipelineScene& a, const PipelineScene& b) {
  const double above = sm_time(a).blocks, below = sm_time(b).blocks;
  LaunchFigure f{below - above, number(above), number(below), {}};
  f.words = phrase("in blocks {} µs per SM, below {} µs", f.above, f.below);
  const int rows = a.timeline->options.br, others = b.timeline->options.br;
  if (rows != others) f.words += " " + phrase("({} rows per query tile, below {})", rows, others);
  return f;
}

LaunchFigure of_gaps(const PipelineScene& a, const PipelineScene& b) {
  LaunchFigure f{
      sm_time(b).gaps - sm_time(a).gaps, number(100 * idle_before_end(a)), number(100 * idle_before_end(b)), {}};
  f.words = phrase("gaps {} % of SM time, below {} %", f.above, f.below);
  const std::string blocks = number(blocks_per_sm(a)), others = number(blocks_per_sm(b));
  if (blocks != others) f.words += " " + phrase("({} blocks per SM, below {})", blocks, others);
  return f;
}

LaunchFigure of_tail(const PipelineScene& a, const PipelineScene& b) {
  LaunchFigure f{sm_time(b).tail - sm_time(a).tail, number(100 * idle_at_end(a)), number(100 * idle_at_end(b)), {}};
  f.words = phrase("tail {} % of SM time, below {} %", f.above, f.below);
  return f;
}

// How many consumers have a product S in flight in the block.
std::size_t computing_consumers(const PipelineScene& scene) {
  return static_cast<std::size_t>(std::ranges::count_if(scene.rows, [&](const TimelineRow& row) {
    return row.kind == RowKind::products &&
           std::ranges::any_of(row.stretches, [&](const TimelineStretch& x) { return x.ink == Ink(TensorColour::s); });
  }));
}

// Of both, where they are not as many: " (3 consumers compute)".
std::pair<std::string, std::string> consumers_told(const PipelineScene& a, const PipelineScene& b) {
  const std::size_t above = computing_consumers(a), below = computing_consumers(b);
  const auto told = [&](std::size_t consumers) {
    if (above == below) return std::string();
    return fmt::format(" ({})", plural(consumers, "{0} consumer computes", "{0} consumers compute"));
  };
  return {told(above), told(below)};
}

// How much more the lower block takes for as much work, as a share; 0: nobody knows.
double whole_more_below(const PipelineScene& a, const PipelineScene& b) {
  if (a.work <= 0 || b.work <= 0) return 0;
  const auto per_work = [](const PipelineScene& s) { return static_cast<double>(s.length) * s.ns_a_clock / s.work; };
  return per_work(b) / per_work(a) - 1;
}

int sign_of(const PipelineScene& s, double more) {
  if (is_no_gain(*s.timeline, *s.beside->timeline, more)) return 0;
  return more > 0 ? 1 : -1;
}

}  // namespace

SmTime sm_time(const PipelineScene& s) {
  const double gaps = idle_before_end(s), tail = idle_at_end(s), us = s.launch_ns * kUs;
  return {us * (1 - gaps - tail), us * gaps, us * tail};
}

std::vector<std::string> launch_causes(const PipelineScene& a, const PipelineScene& b) {
  std::array figures{of_blocks(a, b), of_gaps(a, b), of_tail(a, b)};
  const double apart = std::fabs(b.launch_ns - a.launch_ns) * kUs;
  const int later = later_below(a, b);
  const auto explains = [&](const LaunchFigure& f) { return later == 0 || (f.by > 0) == (later > 0); };
  std::ranges::stable_sort(figures, [&](const LaunchFigure& x, const LaunchFigure& y) {
    return explains(x) != explains(y) ? explains(x) : std::fabs(x.by) > std::fabs(y.by);
  });
  std::vector<std::string> told;
  for (const LaunchFigure& f : figures) {
    const bool large = std::fabs(f.by) >= std::max(kLeastCause * apart, kLeastFigure * a.launch_ns * kUs);
    // What points the other way is told where nothing explains.
    if (!large || f.above == f.below || told.size() == kMostCauses || (!told.empty() && !explains(f))) continue;
    told.push_back(f.words);
  }
  return told;
}

double key_tile_ns(const PipelineScene& s) {
  if (s.states.empty()) return static_cast<double>(s.tile_clocks) * s.ns_a_clock;
  return std::accumulate(s.states.begin(), s.states.end(), 0.0,
                         [](double sum, const PipelineScene::StateTime& state) { return sum + state.ns; });
}

std::string why_no_key_tiles(const PipelineScene& a, const PipelineScene& b) {
  if (!a.typical && !b.typical) return tr("Neither block is typical of its launch, so key tiles are not compared.");
  if (!a.typical) return phrase("Block {} above is not typical of its launch, so key tiles are not compared.", a.block);
  if (!b.typical) return phrase("Block {} below is not typical of its launch, so key tiles are not compared.", b.block);
  return {};
}

namespace {

// Sentences in the order in which they are read; `lasts`: in a short form those go first that last least.
struct Sentence {
  int lasts = 0;
  std::string words;
};

std::string joined(const std::vector<Sentence>& sentences, int least) {
  std::string words;
  for (const Sentence& s : sentences)
    if (s.lasts >= least && !s.words.empty()) words += (words.empty() ? "" : " ") + s.words;
  return words;
}

enum Lasts : int { kTimes, kTile, kWhy, kDoor, kSecond, kCause };

std::string times_words(const PipelineScene& a, const PipelineScene& b) {
  const double from = a.timeline->plain_us, to = b.timeline->plain_us;
  if (from <= 0 || to <= 0 || later_below(a, b) == 0) return {};  // the headline has both times
  return phrase("Without the recorder, the upper launch takes {:.1f} µs and the lower one {:.1f} µs.", from, to);
}

std::string states_sentence(std::span<const std::string> states) {
  return states.empty() ? "" : phrase("What differs most in a consumer's key tile: {}.", fmt::join(states, "; "));
}
std::string launches_sentence(std::span<const std::string> figures) {
  return figures.empty() ? "" : phrase("What differs most between the launches: {}.", fmt::join(figures, "; "));
}

std::string why_no_bracket(const PipelineScene& s) {
  if (ahead_of(s)) return {};
  const std::size_t both = std::min(s.issues.size(), s.beside->issues.size());
  if (both == 0) return tr("There is no bracket: no key tiles are known of both blocks.");
  if (both == 1) return tr("There is no bracket: the blocks have only their first key tile in common.");
  return tr("There is no bracket: no two key tiles of both blocks are in sight.");
}

}  // namespace

void tell_comparison(PipelineScene& s) {
  const PipelineScene &a = s, &b = *s.beside;
  const std::string why = why_no_key_tiles(a, b);
  const std::vector<std::string> states = why.empty() ? state_causes(a, b) : std::vector<std::string>();
  const std::vector<std::string> figures = launch_causes(a, b);
  std::vector<Sentence> told{{kTimes, times_words(a, b)}};
  if (why.empty()) {
    const auto [above, below] = consumers_told(a, b);
    told.push_back({kTile, phrase("A key tile takes {} in the upper launch and {} in the lower one.",
                                  time_text(key_tile_ns(a)) + above, time_text(key_tile_ns(b)) + below)});
  } else {
    told.push_back({kTile, why});
  }
  // Key tiles explain a launch that differs as they do.
  const bool by_tiles = !states.empty() && sign_of(s, whole_more_below(a, b)) == later_below(a, b);
  const bool by_launch = !by_tiles && !figures.empty();
  told.push_back({by_launch ? kSecond : kCause, states_sentence(states)});
  told.push_back({by_launch ? kCause : kSecond, launches_sentence(figures)});
  told.push_back({kWhy, why_no_bracket(s)});
  if (!figures.empty()) told.push_back({kDoor, tr("All SMs shows gaps and tail.")});
  s.beside_words = joined(told, kTimes);
  s.beside_forms.clear();
  for (int least = kTile; least <= kCause; ++least)
    if (std::string form = joined(told, least);
        !form.empty() && (s.beside_forms.empty() || form != s.beside_forms.back()))
      s.beside_forms.push_back(std::move(form));
  const std::vector<std::string>& causes = by_launch ? figures : states;
  for (std::size_t n = causes.size(); n-- > 1;) {
    const std::span few(causes.data(), n);
    s.beside_forms.push_back(by_launch ? launches_sentence(few) : states_sentence(few));
  }
  if (s.beside_forms.empty()) s.beside_forms.push_back(s.beside_words);
}

double more_below(const Ahead& a) {
  const bool known = a.above_work > 0 && a.below_work > 0;
  return a.below_ns / a.above_ns * (known ? a.above_work / a.below_work : 1) - 1;
}

namespace {

// Rows that take a key tile.
std::string rows_text(double work, std::size_t tiles) {
  const double rows = work / static_cast<double>(tiles);
  const std::string text = fmt::format("{:.0f}", rows);
  return std::fmod(work, static_cast<double>(tiles)) == 0 ? text : phrase("on average {}", text);
}

// Of what the bracket is a measure: time, or where more rows take the key tiles of one, time for a row. `brief`:
// without what is general.
std::string measured(const PipelineScene& s, const Ahead& a, bool brief) {
  const double more = more_below(a), by_ns = a.below_ns - a.above_ns;
  const std::string by = time_text(std::fabs(by_ns)), share = fmt::format("{:.1f} %", 100 * std::fabs(more));
  const std::string tiles = brief ? plural(a.tiles, "{0} key tile in sight", "{0} key tiles in sight")
                                  : plural(a.tiles, "In these two blocks, the {0} key tile in sight",
                                           "In these two blocks, the {0} key tiles in sight");
  const int way = sign_of(s, more);
  if (a.above_work == a.below_work) {
    if (way == 0) return phrase("{}: as long, {} apart", tiles, by);
    return way < 0 ? phrase("{}: {} ({}) less below", tiles, by, share)
                   : phrase("{}: {} ({}) more below", tiles, by, share);
  }
  const std::string rows = rows_text(a.below_work, a.tiles), others = rows_text(a.above_work, a.tiles);
  const std::string span = by_ns < 0 ? phrase("{} less for {} rows, above {}", by, rows, others)
                                     : phrase("{} more for {} rows, above {}", by, rows, others);
  if (way == 0) return phrase("{}: as long per row below, {}", tiles, span);
  return way < 0 ? phrase("{}: {} less per row below, {}", tiles, share, span)
                 : phrase("{}: {} more per row below, {}", tiles, share, span);
}

// Why key tiles do not differ as the launches do.
std::string cause_of(const PipelineScene& s) {
  const PipelineScene& b = *s.beside;
  if (!s.typical && !b.typical) return tr("neither block is typical of its launch");
  if (!s.typical) return phrase("block {} above is not typical of its launch", s.block);
  if (!b.typical) return phrase("block {} below is not typical of its launch", b.block);
  const int later = later_below(s, b);
  const double whole = whole_more_below(s, b);
  if (sign_of(s, whole) == later && whole != 0) {
    const std::string share = fmt::format("{:.1f} %", 100 * std::fabs(whole));
    if (later == 0) return phrase("but over the whole blocks {} apart per row", share);
    return later < 0 ? phrase("but over the whole blocks {} less per row", share)
                     : phrase("but over the whole blocks {} more per row", share);
  }
  if (const std::vector<std::string> figures = launch_causes(s, b); later != 0 && !figures.empty())
    return phrase("but {}", figures.front());
  return phrase("but {}", ends_words(s, b));
}

}  // namespace

AheadWords ahead_words(const PipelineScene& s, const Ahead& a) {
  AheadWords words;
  words.agrees = sign_of(s, more_below(a)) == later_below(s, *s.beside);
  if (!words.agrees) words.cause = cause_of(s);
  for (const bool brief : {false, true})
    words.forms.push_back(measured(s, a, brief) + (words.agrees ? "" : "; " + words.cause));
  return words;
}

}  // namespace attn
