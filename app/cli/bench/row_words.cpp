#include "app/cli/bench/row_words.h"

#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/peers.h"
#include "profiling/spec/tile_words.h"

namespace attn::cli {
namespace {

// What ours took in a peer's turns, and in its own row where that is another time. `rows`: those so far.
std::string turns_words(const TimedBeside& turns, const Measurement& peer, std::span<const Measurement> rows) {
  std::string words = phrase(", {} in its turns {:.1f} µs", turns.kernel, turns.time.median);
  for (const Measurement& m : rows)
    if (beside(peer, m) == &turns && differs_from_own_row(turns, m))
      return words + phrase(" ({:.1f} µs in its own row)", m.time.median);
  return words;
}

// "ranks = 2, ": where the row stands on an axis that its problem does not tell. Empty: it is the same all along it.
std::string place_words(const Axis& axis, const Measurement& m) {
  if (m.peer || kind_of(axis).option == nullptr) return {};
  const std::int64_t value = axis_value(axis, m.key.kernel, m.key.problem, m.key.options);
  return value == 0 ? "" : fmt::format("{} = {}, ", axis.name(), value);
}

}  // namespace

std::string row_words(const Measurement& m, const Axis& axis, std::span<const Measurement> rows) {
  const std::string what = fmt::format("{}, {}{}", m.key.kernel, place_words(axis, m), describe(m.key.problem));
  std::string words = what + ": ";
  if (const auto row = find_kernel(m.key.kernel); row && m.tile_from == "tuned" && m.state == RowState::done)
    words = phrase("{}, tuned tile {}: ", what, tile_words(**row, m.key.options));
  if (m.state != RowState::done) return words + fmt::format("{}: {}", name_of(m.state), m.reason);
  words += phrase("{:.1f} µs (quartiles {:.1f} to {:.1f}, n = {})", m.time.median, m.time.q1, m.time.q3, m.time.n);
  if (const Figure& held = figure(m, "held_down_pct"); held.available() && held.value > 0)
    words += phrase(", clocks throttled in {:.0f} % of the readings ({})", held.value, held.limiter);
  for (const TimedBeside& b : m.peer ? m.peer->beside : std::vector<TimedBeside>{}) words += turns_words(b, m, rows);
  if (m.peer && !m.peer->how.empty()) words += fmt::format(", {}", m.peer->how);
  if (!m.verdict) return phrase("{}, not verified", words);
  if (m.verdict->not_judged) return words + ", " + m.verdict->reason;
  if (!m.verdict->pass) return words + ", WRONG: " + m.verdict->reason;
  if (!makes_gradients(m.key.problem.pass))
    return words + phrase(", correct: error {:.2e}, allowed {:.2e}", m.verdict->error(), m.verdict->allowed());
  std::vector<std::string> errors;
  for (const Tensor t : {Tensor::o, Tensor::d_q, Tensor::d_k, Tensor::d_v}) {
    if (const OutputVerdict* j = m.verdict->of(t))
      errors.push_back(phrase("{} {:.2e} of {:.2e}", words_of(t), j->error, j->allowed));
  }
  return words + phrase(", correct: {} allowed", fmt::join(errors, ", "));
}

}  // namespace attn::cli
