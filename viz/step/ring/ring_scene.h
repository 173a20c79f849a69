// A ring at one step: its ranks side by side, each with the queries that stay, the keys that are there now, what it
// makes of them and what the turns so far come to; who computes what in which turn; and the work of each rank by both
// ways of dealing. Plain data; pure functions of the recording and the step.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/model/ring.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact.h"
#include "viz/draw/text_runs.h"
#include "viz/step/facts/scales.h"
#include "viz/step/place/place.h"
#include "viz/step/ring/ring_rows.h"

namespace attn {

enum class RingSquareLook : std::uint8_t { hidden, later, now, done };
// Queries of one chunk against the keys of one.
struct RingSquare {
  RingSquareLook look = RingSquareLook::hidden;
  bool cut = false;  // the mask hides a part of it
  std::int64_t rank = 0, turn = 0;
  std::optional<EventIndex> event;  // where it begins
};

// Pairs of tiles that a rank computes, by turn.
struct RingWork {
  std::vector<std::vector<std::int64_t>> by_rank;
  std::int64_t of_rank(std::size_t rank) const;
  std::int64_t most() const;  // of the rank that has the most to do: when the last is done
};

struct RingScene {
  StepPlace at;
  Ring ring;
  std::int64_t turn = 0;  // as many as ranks: after the last
  bool dividing = false;  // after the last turn
  bool backward = false;  // dQ stays, dK and dV go round
  std::string dense;      // why there are no cells: there are too many. Empty: there are
  std::string title, map_title, map_words;
  Slot scores = Slot::s;  // what stands where queries meet keys
  std::vector<RingRankRow> ranks;
  std::int32_t chunks = 0;
  std::vector<RingSquare> squares;  // by chunk of queries, then of keys
  RingWork dealt, otherwise;        // as it is, and by the other deal
  std::string sent_words;           // "Each rank sends 256 B of K and V per turn, for a total of 3072 B."
  RingBytes bytes;
  const RingSquare& square(std::int32_t queries, std::int32_t keys) const {
    return squares[static_cast<std::size_t>(queries) * static_cast<std::size_t>(chunks) +
                   static_cast<std::size_t>(keys)];
  }
};

// `exact`: fp64 of the query tiles of the step's head by index; with it the cells have texts. Empty: they have none.
RingScene ring_scene(const Recording& rec, const StepPlace& at, const TensorScales& scales,
                     const std::vector<ExactTile>& exact);

// How a turn of the work dealt this way stands: hidden, if it is the other way, which does not run.
RingSquareLook ring_turn_look(const RingScene& scene, bool zigzag, std::int64_t turn);

// Over the scores of some ranks, what stands in them as it is made: "S, then P", since one may have weights while
// another has scores still. Where nothing stands in them: `otherwise`.
TextRuns scores_heading(const std::vector<const RingGrid*>& scores, Slot otherwise);

// What a rank computes under the problem's mask if tiles are dealt so.
RingWork ring_work(const Problem& p, const Options& o, std::int32_t b, bool zigzag);

}  // namespace attn
