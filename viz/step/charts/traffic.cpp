#include "viz/step/charts/traffic.h"

#include <algorithm>
#include <array>
#include <compare>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/model/order_row.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

std::array<std::uint64_t, kTrafficParts> by_part(const Traffic& t) {
  std::array<std::uint64_t, kTrafficParts> out{};
  for (std::size_t n = 0; n < kTrafficParts; ++n) out[n] = t.of(static_cast<TrafficPart>(n));
  return out;
}

std::string bar_name(Order order) {
  const std::string_view own = order_look(order).bar;
  return std::string(own.empty() ? name_of(order) : tr_of(own));
}

// A bar beside, and what it is the sum of.
struct Beside {
  TrafficBar bar;
  Traffic traffic;
};

Beside beside_of(Order order, const Recording& rec, const Traffic& t) {
  TrafficBar bar;
  bar.order = order;
  bar.name = bar_name(order);
  bar.once = compulsory(order, rec.problem).total();
  bar.bytes = by_part(t);
  bar.so_far = bar.total = t.total();
  return {std::move(bar), t};
}

// The orders to compare with, the nearest first.
std::vector<Beside> others_of(const Recording& rec) {
  std::vector<Beside> all;
  const OrderLook& look = order_look(rec.order);
  for (const std::string_view walk : look.walks) {
    const Order order = *order_named(walk);
    if (order != rec.order) all.push_back(beside_of(order, rec, tile_loads(order, 0, rec.problem, rec.options)));
  }
  if (look.stored_weights != nullptr) {
    Traffic t = tile_loads(rec.order, 0, rec.problem, rec.options);
    t.read[static_cast<std::size_t>(TrafficPart::p)] += look.stored_weights(rec);
    all.push_back(beside_of(rec.order, rec, t));
    all.back().bar.name = tr("P stored");
    all.back().bar.stores_weights = true;
  }
  for (const std::string_view id : look.beside) {
    const auto row = find_kernel(id);
    if (!row || (*row)->order == rec.order) continue;
    // In the order that it is named for, whatever this run's options would make of it.
    const Traffic t = tile_loads((*row)->order, (*row)->score_reads, rec.problem, rec.options);
    all.push_back(beside_of((*row)->order, rec, t));
  }
  return all;
}

std::vector<TrafficBar> other_orders(const Recording& rec) {
  std::vector<TrafficBar> bars;
  for (Beside& other : others_of(rec)) bars.push_back(std::move(other.bar));
  return bars;
}

const TrafficBar* yardstick(const std::vector<TrafficBar>& bars) {
  const auto at = std::ranges::find_if(bars, [](const TrafficBar& b) { return order_look(b.order).yardstick; });
  return at == bars.end() ? nullptr : &*at;
}

// K and V are read anew for each query tile; with the key tile outside, Q, O and what goes with it for each key tile.
struct Extent {
  std::string_view name;
  std::int32_t size = 0;
};
Extent extent_of(const Recording& rec) {
  return order_row(rec.order).keys_outside ? Extent{"Bc", rec.options.bc} : Extent{"Br", rec.options.br};
}

// What the same order would ask at a size that GPUs see, with a tile as here and one of 64 rows.
void add_outlook(TrafficTotals& scene, const Recording& rec) {
  const KernelRow* naive = first_of(Order::naive, Processor::cpu);
  if (!order_look(rec.order).outlook || naive == nullptr) return;
  Problem p;
  p.Lq = p.Lk = 4096;
  p.D = p.Dv = 64;
  p.dtype = rec.problem.dtype;
  p.mask.causal = rec.problem.mask.causal;
  const Extent extent = extent_of(rec);
  Options small = rec.options, large = rec.options;
  large.br = large.bc = 64;
  // A window or lengths of keys are of this size alone.
  const TextRuns bytes{number(bytes_text(tile_loads(*naive, p, Options{}).total())),
                       number(bytes_text(tile_loads(rec.order, 0, p, small).total())),
                       number(bytes_text(tile_loads(rec.order, 0, p, large).total()))};
  const std::string at = p.mask.causal            ? tr("At 4096 × 64, causal")
                         : rec.problem.mask.any() ? tr("At 4096 × 64 without a mask")
                                                  : tr("At 4096 × 64");
  scene.words.push_back(woven(extent.size == large.br
                                  ? phrase("{}: naive {}, {} {} with {} {}.", at, place(0), name_of(rec.order),
                                           place(1), extent.name, extent.size)
                                  : phrase("{0}: naive {1}, {2} {3} with {4} {5}, {6} with {4} 64.", at, place(0),
                                           name_of(rec.order), place(1), extent.name, extent.size, place(2)),
                              bytes));
}

// Whether naive attention, which finishes row after row, is somewhere when this order has done a part of its work. With
// the key tile outside all rows are begun before one is finished: it is nowhere.
bool has_same_moment(const Recording& rec) {
  return !order_row(rec.order).keys_outside;
}

// How far naive attention has to be to have made what a phase makes: which of its three passes over the rows, and how
// many of the phases of kNaivePhases in it.
struct NaivePlace {
  int pass = 0;
  std::int64_t row = 0;
  int phases = 0;
  auto operator<=>(const NaivePlace&) const = default;
};

// What naive asks for, row by row, by pass.
constexpr std::array<std::array<Phase, 4>, 3> kNaivePhases{
    {{Phase::load_q, Phase::load_k, Phase::mask, Phase::store_s},
     {Phase::max, Phase::sum, Phase::weights, Phase::scores},
     {Phase::load_v, Phase::store_o, Phase::scores, Phase::scores}}};

NaivePlace naive_place(const OrderLook& look, Phase phase, std::int64_t row) {
  const NaiveReach& reach = look.phase(phase).naive;
  return {reach.pass, reach.of_row ? row : 0, reach.phases};
}

// The furthest of what this head has made.
NaivePlace furthest(const Recording& rec, EventIndex e) {
  const auto br = std::min<std::int64_t>(rec.options.br, rec.problem.Lq);
  const OrderLook& look = order_look(rec.order);
  NaivePlace most;
  for (EventIndex n = e + 1; n-- > 0;) {
    const EventId& id = rec.events[n].id;
    if (id.b != rec.events[e].id.b || id.h != rec.events[e].id.h) break;
    const std::int64_t last_row = std::min<std::int64_t>((std::max(id.i, 0) + 1) * br, rec.problem.Lq) - 1;
    most = std::max(most, naive_place(look, id.phase, last_row));
  }
  return most;
}

// The first `phases` of one row of one pass.
std::uint64_t naive_row(const Problem& p, std::int32_t score_reads, int pass, std::int64_t row, int phases) {
  std::uint64_t bytes = 0;
  for (int n = 0; n < phases; ++n) {
    const Phase phase = kNaivePhases[static_cast<std::size_t>(pass)][static_cast<std::size_t>(n)];
    bytes += event_traffic(Order::naive, p, phase, pass, row, 1, p.Lk, score_reads).total();
  }
  return bytes;
}

std::string_view name_of_part(TrafficPart part, const OrderLook& look) {
  if (const std::string_view gradients = name_with_gradient(look.order, part); !gradients.empty()) return gradients;
  if (part == TrafficPart::stats) return look.stats;
  const auto* const piece = std::ranges::find(kTrafficPieces, part, &TrafficPiece::part);
  return piece == std::end(kTrafficPieces) ? "" : piece->letter;
}

// Elements of the whole tensor; of the statistics, rows.
std::uint64_t elements_of(const Problem& p, TrafficPart part) {
  std::int64_t n = p.B * p.Hq * p.Lq;
  switch (part) {
    case TrafficPart::q:
      n *= p.D;
      break;
    case TrafficPart::k:
      n = p.B * p.Hkv * p.Lk * p.D;
      break;
    case TrafficPart::v:
      n = p.B * p.Hkv * p.Lk * p.Dv;
      break;
    case TrafficPart::bias:
      n = 1;
      for (const std::int64_t extent : p.bias_shape) n *= extent;
      break;
    case TrafficPart::s:
    case TrafficPart::p:
      n *= p.Lk;
      break;
    case TrafficPart::o:
      n *= p.Dv;
      break;
    case TrafficPart::stats:
      break;
  }
  return static_cast<std::uint64_t>(n);
}

// Read and written by one event of this order: the counters of a recording do not part them.
Traffic traffic_of(const Recording& rec, EventIndex e) {
  const Problem& p = rec.problem;
  const auto br = std::min<std::int64_t>(rec.options.br, p.Lq), bc = std::min<std::int64_t>(rec.options.bc, p.Lk);
  const Event& event = rec.events[e];
  const std::int64_t rows = event.id.i < 0 ? 0 : std::min(br, p.Lq - event.id.i * br);
  const std::int64_t keys = event.id.j < 0 ? 0 : std::min(bc, p.Lk - event.id.j * bc);
  return event_traffic(rec.order, p, event.id.phase, event.pass, event.id.i, rows, keys, rec.score_reads);
}

// So far.
Traffic walked(const Recording& rec, EventIndex e) {
  Traffic sum;
  for (EventIndex n = 0; n <= e; ++n) sum += traffic_of(rec, n);
  return sum;
}

std::vector<std::uint64_t> written_by_event(const Recording& rec) {
  std::vector<std::uint64_t> out;
  out.reserve(rec.events.size());
  std::uint64_t sum = 0;
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    for (const std::uint64_t bytes : traffic_of(rec, e).written) sum += bytes;
    out.push_back(sum);
  }
  return out;
}

std::string way_words(const Problem& p, Order order, TrafficPart part, std::uint64_t bytes, const char* way) {
  const bool fp32 = part == TrafficPart::s || part == TrafficPart::stats || part == TrafficPart::bias;
  const std::uint64_t each = fp32 ? sizeof(float) : size_of(p.dtype), all = elements_of(p, part);
  std::string words = fmt::format("{} {}: {} B", name_of_part(part, order_look(order)), way, bytes);
  // FlashAttention-1 keeps O in fp32 between turns and writes it in the dtype at the end: no one size.
  const bool mixed = order_row(order).state_in_memory && part == TrafficPart::o && p.dtype != DType::f32;
  if (bytes % each != 0 || all == 0 || mixed) return words;
  const std::uint64_t numbers = bytes / each;
  words += phrase(" = {} numbers × {} B", numbers, each);
  if (part == TrafficPart::stats) return words;
  if (numbers % all == 0 && numbers > all) return words + phrase(", all {} of it {} times", all, numbers / all);
  if (numbers == all) return words + phrase(", all {} of it once", all);
  return words + phrase(", {:.3g} times its {}", static_cast<double>(numbers) / static_cast<double>(all), all);
}

}  // namespace

std::string_view name_with_gradient(Order order, TrafficPart part) {
  static constexpr std::pair<TrafficPart, std::string_view> kNames[] = {
      {TrafficPart::q, "Q dQ"}, {TrafficPart::k, "K dK"}, {TrafficPart::v, "V dV"},
      {TrafficPart::o, "O dO"}, {TrafficPart::s, "dS"},   {TrafficPart::stats, "LSE δ"}};
  if (order_row(order).pass != Pass::backward) return {};
  const auto* const at = std::ranges::find(kNames, part, [](const auto& each) { return each.first; });
  return at == std::end(kNames) ? std::string_view() : at->second;
}

std::uint64_t naive_so_far(const Recording& rec, EventIndex e) {
  const Problem& p = rec.problem;
  const KernelRow* naive = first_of(Order::naive, Processor::cpu);
  const std::int32_t reads = naive != nullptr ? naive->score_reads : 0;
  const NaivePlace at = furthest(rec, e);
  std::uint64_t head = 0, before = 0;
  for (int pass = 0; pass < 3; ++pass) {
    // Rows after the first ask for the same, whichever they are.
    const std::uint64_t first = naive_row(p, reads, pass, 0, 4), later = naive_row(p, reads, pass, 1, 4);
    const auto rows = [&](std::int64_t count) {
      return count <= 0 ? 0 : first + later * static_cast<std::uint64_t>(count - 1);
    };
    head += rows(p.Lq);
    if (pass < at.pass) before += rows(p.Lq);
    if (pass == at.pass) before += rows(at.row) + naive_row(p, reads, pass, at.row == 0 ? 0 : 1, at.phases);
  }
  const EventId& id = rec.events[e].id;
  return head * static_cast<std::uint64_t>(id.b * p.Hq + id.h) + before;
}

std::string piece_words(const Recording& rec, const TrafficBar& bar, TrafficPart part, EventIndex at) {
  Traffic t;
  const bool mine = bar.order == rec.order && !bar.stores_weights;
  if (mine) {
    t = walked(rec, at);
  } else {
    for (const Beside& other : others_of(rec))
      if (other.bar.order == bar.order && other.bar.stores_weights == bar.stores_weights) t = other.traffic;
  }
  const std::uint64_t read = t.read[static_cast<std::size_t>(part)],
                      written = t.written[static_cast<std::size_t>(part)];
  std::string words = bar.name + (mine && at + 1 < rec.events.size() ? tr(", so far") : tr(", whole run"));
  if (read > 0) words += "\n" + way_words(rec.problem, bar.order, part, read, tr("read"));
  if (written > 0) words += "\n" + way_words(rec.problem, bar.order, part, written, tr("written"));
  return words;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 100000) return fmt::format("{} B", bytes);
  const auto b = static_cast<double>(bytes);
  if (b < 1e6) return fmt::format("{:.0f} kB", b / 1e3);
  if (b < 1e9) return fmt::format("{} MB", b < 1e7 ? fmt::format("{:.1f}", b / 1e6) : fmt::format("{:.0f}", b / 1e6));
  return fmt::format("{:.1f} GB", b / 1e9);
}

TrafficTotals traffic_totals(const Recording& rec) {
  using enum TensorColour;
  TrafficTotals out;
  std::uint64_t mine = 0;
  for (const std::uint64_t bytes : rec.events.back().hbm_bytes) mine += bytes;
  out.once = compulsory(rec.order, rec.problem).total();
  out.others = other_orders(rec);
  const OrderLook& look = order_look(rec.order);
  const TrafficBar* naive = yardstick(out.others);
  if (look.traffic != nullptr)
    out.words.push_back(look.traffic({rec, name_of(rec.order), extent_of(rec).name, extent_of(rec).size,
                                      rec.query_tiles(), naive != nullptr && mine > naive->total}));
  const auto other = std::ranges::find_if(out.others, [&](const TrafficBar& bar) { return bar.once != out.once; });
  TextRuns pieces{number(bytes_text(out.once))};
  std::string line = phrase(
      "A thin line marks the bytes that would move if each element were read or written once: {} here", place(0));
  if (other != out.others.end()) {
    pieces.insert(pieces.end(), {number(bytes_text(other->once)), letter("S", s), letter("P", p)});
    line += other->once > out.once ? phrase(", {} with {} and {}", place(1), place(2), place(3))
                                   : phrase(", {} without {} and {}", place(1), place(2), place(3));
  }
  const bool triangle = !look.yardstick && naive != nullptr && has_same_moment(rec);
  out.marks = woven(triangle ? phrase("{}. The triangle shows how far along naive is at this step.", line) : line + ".",
                    pieces);
  out.brief_marks = {word(triangle
                              ? tr("Line: each element once. The triangle shows how far along naive is at this step.")
                              : tr("A thin line marks the bytes that would move if each element moved once."))};
  add_outlook(out, rec);
  out.written = written_by_event(rec);
  return out;
}

TrafficScene traffic_scene(const Recording& rec, EventIndex e, const TrafficTotals& totals) {
  TrafficScene scene;
  scene.count = phrase("tile loads, {}", name_of(rec.problem.dtype));
  TrafficBar mine;
  mine.order = rec.order;
  mine.name = bar_name(rec.order);
  mine.once = totals.once;
  for (std::size_t n = 0; n < kTrafficParts; ++n) {
    mine.bytes[n] = rec.events[e].hbm_bytes[n];
    mine.so_far += mine.bytes[n];
    mine.total += rec.events.back().hbm_bytes[n];
  }
  scene.bars = {mine};
  scene.bars.insert(scene.bars.end(), totals.others.begin(), totals.others.end());
  for (TrafficBar& bar : scene.bars) {
    if (&bar != &scene.bars.front() && order_look(bar.order).yardstick && has_same_moment(rec))
      bar.same_moment = naive_so_far(rec, e);
    const std::uint64_t now = bar.same_moment.value_or(bar.so_far);
    bar.widest = now == bar.total && !bar.same_moment && &bar != &scene.bars.front()
                     ? bytes_text(bar.total)
                     : phrase("{} of {}", bytes_text(bar.total), bytes_text(bar.total));
    bar.text = now == bar.total ? bytes_text(bar.total) : phrase("{} of {}", bytes_text(now), bytes_text(bar.total));
  }
  const std::uint64_t written = totals.written[e];
  scene.apart = woven(phrase("{} read, {} written", place(0), place(1)),
                      {number(bytes_text(mine.so_far - written)), number(bytes_text(written))});
  scene.words = totals.words;
  scene.marks = totals.marks;
  scene.brief_marks = totals.brief_marks;
  return scene;
}

}  // namespace attn
