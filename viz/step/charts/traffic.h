// "HBM traffic": the tile loads of this order so far, of its total, beside those of the other orders: what flash saves
// is visibly naive's S and P. The count is named: tile loads, or each element once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/traffic.h"
#include "kernels/recording/recording.h"
#include "viz/draw/text_runs.h"

namespace attn {

// The pieces of a bar, left to right.
struct TrafficPiece {
  TrafficPart part;
  TensorColour hue;
  const char* letter;
};
constexpr TrafficPiece kTrafficPieces[] = {
    {TrafficPart::q, TensorColour::q, "Q"}, {TrafficPart::k, TensorColour::k, "K"},
    {TrafficPart::v, TensorColour::v, "V"}, {TrafficPart::bias, TensorColour::alpha, "bias"},
    {TrafficPart::s, TensorColour::s, "S"}, {TrafficPart::p, TensorColour::p, "P"},
    {TrafficPart::o, TensorColour::o, "O"}, {TrafficPart::stats, TensorColour::l, "ℓ"}};

struct TrafficBar {
  Order order = Order::flash;
  std::string name;                                  // "flash", "naive"
  bool stores_weights = false;                       // this very order, were P stored and read
  std::string text;                                  // "1.2 MB of 3.4 MB"; written by traffic_scene()
  std::string widest;                                // that the text gets in this run: bars keep their length
  std::uint64_t once = 0;                            // each element once: the compulsory bytes
  std::array<std::uint64_t, kTrafficParts> bytes{};  // so far; of other orders in all
  std::uint64_t so_far = 0, total = 0;
  // Of naive beside another order: what it has asked for by the time it has made as much.
  std::optional<std::uint64_t> same_moment;
};

struct TrafficScene {
  std::string count;             // "tile loads, f32"
  std::vector<TrafficBar> bars;  // this order first
  TextRuns apart;                // what of its bytes so far was read, and what was written
  std::vector<TextRuns> words;   // what follows from them, one sentence each, most important first
  TextRuns marks, brief_marks;   // what line and triangle are; brief where there is little room
};
// What is counted once a recording: the bars of the other orders with the same tile, and what follows from all.
struct TrafficTotals {
  std::uint64_t once = 0;          // of this order
  std::vector<TrafficBar> others;  // the one to compare with first
  std::vector<TextRuns> words;
  std::vector<std::uint64_t> written;  // by event: of this run's bytes up to it, the other ones were read
  TextRuns marks, brief_marks;
};
TrafficTotals traffic_totals(const Recording& rec);
// What a part holds in an order of a backward: "Q dQ"; empty: its own letter alone.
std::string_view name_with_gradient(Order order, TrafficPart part);
TrafficScene traffic_scene(const Recording& rec, EventIndex e, const TrafficTotals& totals);
// The bytes that naive attention has asked for when it has made all that this run has made of the live head: scores in
// its first pass over the rows, weights in its second, output in its third. It never falls while the run goes on.
std::uint64_t naive_so_far(const Recording& rec, EventIndex e);
// What a piece of a bar says under the pointer: tensor, read or written, bytes, and how they come about. `bar` counts
// as in traffic_scene(); `at` is the step, for this order's own bar.
std::string piece_words(const Recording& rec, const TrafficBar& bar, TrafficPart part, EventIndex at);
// "273 MB", "5184 B": at most three digits with a unit of 1000, exact below 100 000 B.
std::string bytes_text(std::uint64_t bytes);

}  // namespace attn
