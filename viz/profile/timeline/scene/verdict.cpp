// The page's headline, what sets two recordings of one problem apart, and what the bracket between both says.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/profile/timeline/scene/comparison.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

constexpr double kLeastGain = 0.005;  // where no quartiles say how sure it is
constexpr double kUs = 1e-3;

std::int64_t step_of(const Timeline& t) {
  const auto at = std::ranges::find(t.options.further, std::string("step"), &Setting::name);
  return at == t.options.further.end() ? 0 : at->value;
}

// Steps of flash_hopper that add one idea to the one before.
std::pair<std::string, std::string> step_words(std::int64_t above, std::int64_t below) {
  if (above == 2 && below == 3) return {tr("turns off"), tr("turns on")};
  if (above == 6 && below == 7) return {tr("blocks that end"), tr("blocks that stay")};
  if (above == 7 && below == 8) return {tr("first rows first"), tr("last rows first")};
  return {phrase("step {}", above), phrase("step {}", below)};
}

double relative_spread(const Timeline& t) {
  return t.plain_us > 0 ? (t.plain_quartiles.q3 - t.plain_quartiles.q1) / t.plain_us : 0;
}

// As shown, so that a difference is that of the numbers beside it.
double shown(double us) {
  return std::round(10 * us) / 10;
}

// What two launches take, µs: without the recorder where both were measured so, else as recorded.
struct TwoLaunches {
  bool plain = false;
  double above = 0, below = 0;
  double gain() const { return 1 - below / above; }
};
TwoLaunches launches_of(const PipelineScene& a, const PipelineScene& b) {
  const bool plain = a.timeline->plain_us > 0 && b.timeline->plain_us > 0;
  return {plain, plain ? a.timeline->plain_us : a.launch_ns * kUs, plain ? b.timeline->plain_us : b.launch_ns * kUs};
}

std::string compared(const PipelineScene& a, const PipelineScene& b) {
  const TwoLaunches two = launches_of(a, b);
  const auto [first, second] = what_differs(*a.timeline, *b.timeline);
  const std::string what = first == second ? std::string(tr("The same launch, recorded twice"))
                                           : phrase("Above {}, below {}", first, second);
  std::string basis = two.plain ? tr("without the recorder") : tr("in these recordings");
  if (!on_same_card(*a.timeline, *b.timeline)) basis += std::string(", ") + tr("on two GPUs of one kind");
  const int later = later_below(a, b);
  if (later == 0) return phrase("{}: no difference {} ({:.1f} and {:.1f} µs).", what, basis, two.above, two.below);
  const std::string by =
      fmt::format("{:.1f} µs ({:.1f} %)", std::fabs(shown(two.above) - shown(two.below)), 100 * std::fabs(two.gain()));
  return later < 0 ? phrase("{}: {}, below ends {} sooner.", what, basis, by)
                   : phrase("{}: {}, below ends {} later.", what, basis, by);
}

}  // namespace

bool is_no_gain(const Timeline& above, const Timeline& below, double gain) {
  if (above.plain_quartiles.q1 <= 0 || below.plain_quartiles.q1 <= 0) return std::fabs(gain) < kLeastGain;
  return std::fabs(gain) <= 2 * std::hypot(relative_spread(above), relative_spread(below));
}

double later_share(const PipelineScene& above, const PipelineScene& below) {
  return -launches_of(above, below).gain();
}

int later_below(const PipelineScene& above, const PipelineScene& below) {
  return sign_against_spread(above, below, later_share(above, below));
}

std::pair<std::string, std::string> what_differs(const Timeline& above, const Timeline& below) {
  std::pair<std::string, std::string> words;
  const auto add = [&](const std::string& first, const std::string& second) {
    words.first += (words.first.empty() ? "" : ", ") + first;
    words.second += (words.second.empty() ? "" : ", ") + second;
  };
  if (step_of(above) != step_of(below)) {
    const bool down = step_of(above) > step_of(below);
    auto [first, second] =
        step_words(std::min(step_of(above), step_of(below)), std::max(step_of(above), step_of(below)));
    if (down) std::swap(first, second);
    add(first, second);
  }
  const Options &a = above.options, &b = below.options;
  if (a.stages != b.stages) add(phrase("{} slots", a.stages), phrase("{} slots", b.stages));
  if (a.br != b.br || a.bc != b.bc) add(phrase("tile {} × {}", a.br, a.bc), phrase("tile {} × {}", b.br, b.bc));
  if (words.first.empty()) return {recording_words(above, false), recording_words(below, false)};
  return words;
}

std::optional<std::size_t> aligned_product(const PipelineScene& above, const PipelineScene& below) {
  const std::size_t both = std::min(above.issues.size(), below.issues.size());
  if (both == 0) return std::nullopt;
  const auto first = std::ranges::lower_bound(above.issues, above.from) - above.issues.begin();
  return std::min(static_cast<std::size_t>(first), both - 1);
}

std::optional<Alignment> alignment_of(const PipelineScene& s) {
  if (s.beside == nullptr) return std::nullopt;
  const PipelineScene& b = *s.beside;
  const auto nth = aligned_product(s, b);
  if (!nth) return std::nullopt;
  Alignment a{s.issues[*nth], b.issues[*nth], s.issue_tiles[*nth], b.issue_tiles[*nth]};
  a.in_sight = a.above >= s.from && a.above < s.to;
  return a;
}

TextRuns alignment_words(const PipelineScene& s) {
  const auto a = alignment_of(s);
  if (!a) return {word(tr("aligned at the start of each block"))};
  TextRuns pieces;
  const auto product = [&](std::int32_t tile) {
    pieces.push_back(letter("S", TensorColour::s));
    pieces.push_back(subscript(tile < 0 ? "" : fmt::format("{}", tile), TensorColour::s));
    return place(pieces.size() - 2) + place(pieces.size() - 1);
  };
  const std::string above = product(a->tile_above), by = s.issues_by, by_below = s.beside->issues_by;
  std::string what = phrase("{} issues {}", by, above);
  if (by != by_below)
    what = phrase("{} issues {} above, {} {} below", by, above, by_below, product(a->tile_below));
  else if (a->tile_above != a->tile_below)
    what = phrase("{} issues {} above, {} below", by, above, product(a->tile_below));
  return woven(a->in_sight ? phrase("aligned at the dotted line, where {}", what)
                           : phrase("aligned where {}, at {}, out of sight", what, duration_text(s, a->above)),
               pieces);
}

std::optional<Ahead> ahead_of(const PipelineScene& s) {
  if (s.beside == nullptr) return std::nullopt;
  const PipelineScene& b = *s.beside;
  const auto nth = aligned_product(s, b);
  if (!nth || s.issues[*nth] < s.from) return std::nullopt;
  const auto first = static_cast<std::ptrdiff_t>(*nth);
  std::ptrdiff_t last = first;
  const auto in_sight = [](const PipelineScene& x, std::ptrdiff_t n) {
    return n < std::ssize(x.issues) && x.issues[static_cast<std::size_t>(n)] < x.to;
  };
  while (in_sight(s, last + 1) && in_sight(b, last + 1)) ++last;
  if (last <= first) return std::nullopt;
  const auto at = [](const PipelineScene& x, std::ptrdiff_t n) { return x.issues[static_cast<std::size_t>(n)]; };
  Ahead a{at(s, first), at(s, last), at(b, first), at(b, last), static_cast<std::size_t>(last - first)};
  a.above_ns = static_cast<double>(a.above - a.from_above) * s.ns_a_clock;
  a.below_ns = static_cast<double>(a.below - a.from_below) * b.ns_a_clock;
  const auto work = [&](const PipelineScene& x) {
    return std::accumulate(x.issue_rows.begin() + first, x.issue_rows.begin() + last, 0.0);
  };
  a.above_work = work(s);
  a.below_work = work(b);
  return a;
}

std::string ends_words(const PipelineScene& above, const PipelineScene& below) {
  const double sooner = above.launch_ns - below.launch_ns;
  const std::string by =
      fmt::format("{:.1f} µs", std::fabs(shown(above.launch_ns * kUs) - shown(below.launch_ns * kUs)));
  if (is_no_gain(*above.timeline, *below.timeline, sooner / above.launch_ns))
    return phrase("in these recordings, both end together: {} apart", by);
  return sooner > 0 ? phrase("in these recordings, ends {} sooner", by)
                    : phrase("in these recordings, ends {} later", by);
}

EndsTold ends_told(const PipelineScene& above, const PipelineScene& below) {
  const std::string words = ends_words(above, below);
  const int recorded = sign_against_spread(above, below, below.launch_ns / above.launch_ns - 1);
  const int plain = later_below(above, below);
  if (recorded == plain) return {words, true};
  const TwoLaunches two = launches_of(above, below);
  const std::string by = fmt::format("{:.1f} µs", std::fabs(shown(two.above) - shown(two.below)));
  if (plain == 0) return {phrase("{}, but without the recorder there is no difference", words), false};
  return {plain > 0 ? phrase("{}, but without the recorder {} later", words, by)
                    : phrase("{}, but without the recorder {} sooner", words, by),
          false};
}

std::string verdict_of(const PipelineScene& s) {
  if (s.beside != nullptr) return compared(s, *s.beside);
  if (s.sms_shown) {
    const PipelineScene::Answer tail = tail_answer(s);
    return fmt::format("{} {}", tail.question, tail.answer);
  }
  if (s.typical) return s.headline;
  return phrase("Block {}, not typical: {}", s.block, s.headline);
}

double more_below(const Ahead& a) {
  const bool known = a.above_work > 0 && a.below_work > 0;
  return a.below_ns / a.above_ns * (known ? a.above_work / a.below_work : 1) - 1;
}

namespace {

constexpr double kApart = 0.5, kLeastApart = 0.01;  // of the headline's share, and of the time: another size

// How much more the lower block takes for as much work, as a share; 0: nobody knows.
double whole_more_below(const PipelineScene& a, const PipelineScene& b) {
  if (a.work <= 0 || b.work <= 0) return 0;
  const auto per_work = [](const PipelineScene& s) { return static_cast<double>(s.length) * s.ns_a_clock / s.work; };
  return per_work(b) / per_work(a) - 1;
}

// Whether such a share says what the headline says, about in size too.
bool as_headline(const PipelineScene& s, double more) {
  const int later = later_below(s, *s.beside);
  if (sign_against_spread(s, *s.beside, more) != later) return false;
  const double share = later_share(s, *s.beside);
  return later == 0 || std::fabs(more - share) <= std::max(kApart * std::fabs(share), kLeastApart);
}

// Rows that take a key tile.
std::string rows_text(double work, std::size_t tiles) {
  const double rows = work / static_cast<double>(tiles);
  const std::string text = fmt::format("{:.0f}", rows);
  return std::fmod(work, static_cast<double>(tiles)) == 0 ? text : phrase("on average {}", text);
}

// How much is told: without what is general, without the times, in the fewest words.
enum class Told : std::uint8_t { all, brief, share, least };

std::string tiles_text(const Ahead& a, Told told) {
  if (told == Told::least) return plural(a.tiles, "{0} tile", "{0} tiles");
  if (told != Told::all) return plural(a.tiles, "{0} key tile in sight", "{0} key tiles in sight");
  return plural(a.tiles, "In these two blocks, the {0} key tile in sight",
                "In these two blocks, the {0} key tiles in sight");
}

// Of what the bracket is a measure: time, or where more rows take the key tiles of one, time for a row.
std::string measured(const PipelineScene& s, const Ahead& a, Told told) {
  const double more = more_below(a), by_ns = a.below_ns - a.above_ns;
  const std::string by = time_text(std::fabs(by_ns)), share = fmt::format("{:.1f} %", 100 * std::fabs(more));
  const std::string tiles = tiles_text(a, told);
  const int way = sign_against_spread(s, *s.beside, more);
  const bool times = told == Told::all || told == Told::brief;
  if (a.above_work == a.below_work) {
    if (way == 0) return times ? phrase("{}: as long, {} apart", tiles, by) : phrase("{}: as long", tiles);
    const std::string much = times ? fmt::format("{} ({})", by, share) : share;
    return way < 0 ? phrase("{}: {} less below", tiles, much) : phrase("{}: {} more below", tiles, much);
  }
  std::string words = way == 0  ? phrase("{}: as long per row below", tiles)
                      : way < 0 ? phrase("{}: per row {} less below", tiles, share)
                                : phrase("{}: per row {} more below", tiles, share);
  if (!times) return words;
  const std::string rows = rows_text(a.below_work, a.tiles), others = rows_text(a.above_work, a.tiles);
  return words + " (" +
         (by_ns < 0 ? phrase("{} rows in {} less than {} above", rows, by, others)
                    : phrase("{} rows in {} more than {} above", rows, by, others)) +
         ")";
}

// As a sentence's end and briefly.
using Cause = std::pair<std::string, std::string>;

Cause whole_blocks(const PipelineScene& s, double whole) {
  const std::string share = fmt::format("{:.1f} %", 100 * std::fabs(whole));
  const int later = later_below(s, *s.beside);
  if (later == 0)
    return {phrase("but over the whole blocks {} apart per row", share), phrase("whole blocks: {} apart", share)};
  return later < 0 ? Cause{phrase("but over the whole blocks {} less per row", share),
                           phrase("whole blocks: {} less per row", share)}
                   : Cause{phrase("but over the whole blocks {} more per row", share),
                           phrase("whole blocks: {} more per row", share)};
}

// Why key tiles do not differ as the launches do.
Cause cause_of(const PipelineScene& s, double more) {
  const PipelineScene& b = *s.beside;
  if (const std::string why = not_typical(s, b); !why.empty()) {
    if (!s.typical && !b.typical) return {why, tr("neither block is typical")};
    return {why, s.typical ? phrase("block {} is not typical", b.block) : phrase("block {} is not typical", s.block)};
  }
  if (const double whole = whole_more_below(s, b); whole != 0 && as_headline(s, whole)) return whole_blocks(s, whole);
  const double missing = later_share(s, b) - more;
  if (const std::string few = few_consumers_cause(s, -missing); !few.empty()) return {few, few};
  if (const std::string tiles = key_tiles_cause(s); !tiles.empty()) {
    const std::string words = phrase("but {}", tiles);
    return {words, words};
  }
  // What makes up for it.
  if (const auto figure = launch_cause_towards(s, b, missing); later_below(s, b) != 0 && !figure.empty())
    return {phrase("but {}", figure.front()), phrase("but {}", figure.back())};
  const std::string ends = phrase("but {}", ends_words(s, b));
  return {ends, ends};
}

}  // namespace

AheadWords ahead_words(const PipelineScene& s, const Ahead& a) {
  AheadWords words;
  const double more = more_below(a);
  words.agrees = not_typical(s, *s.beside).empty() && as_headline(s, more);
  const Cause cause = words.agrees ? Cause{} : cause_of(s, more);
  for (const Told told : {Told::all, Told::brief, Told::share})
    words.forms.push_back({measured(s, a, told), cause.first});
  for (const Told told : {Told::share, Told::least}) words.forms.push_back({measured(s, a, told), cause.second});
  return words;
}

}  // namespace attn
