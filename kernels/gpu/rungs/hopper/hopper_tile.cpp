#include "kernels/gpu/rungs/hopper/hopper_tile.h"

#include <algorithm>
#include <queue>
#include <span>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/hopper/hopper_layout.h"

namespace attn::gpu {

constexpr Option kHopperForm{.name = "form",
                             .title = marked("form"),
                             .help = marked("4: each consumer overlaps its own work; 5: consumers overlap each other"),
                             .tuned = true};
constexpr Option kHopperQueries{
    .name = "queries", .title = marked("Q buffers"), .help = marked("Q buffers per warpgroup"), .tuned = true};
constexpr Option kHopperPack{.name = "pack",
                             .title = marked("pack"),
                             .unit = marked("heads"),
                             .help = marked("Number of heads packed as rows of a tile")};
constexpr Option kHopperSplit{.name = "split",
                              .title = marked("split"),
                              .unit = marked("eighths"),
                              .help = marked("Keys whose product with V overlaps the exponentials of the other keys"),
                              .tuned = true};
constexpr Option kHopperHalf{.name = "half",
                             .title = marked("half step"),
                             .unit = marked("keys"),
                             .help = marked("Number of keys in the shorter step on the diagonal; 0: no such step"),
                             .tuned = true};

namespace {

constexpr std::int64_t kCopyKinds[] = {0, 1, 2};
constexpr std::int64_t kNoYes[] = {0, 1};
constexpr std::int64_t kSteps[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

}  // namespace

constexpr Option kHopperStep{
    .name = "step",
    .title = marked("step"),
    .help = marked(
        "How many of the kernel's ideas are active. 1: TMA and wgmma. 2: two consumers and a ring. 3: the consumers "
        "take turns. 4: the consumers overlap their own work instead of taking turns. 5: the consumers overlap each "
        "other, which replaces 3 and 4. 6: P V of the first keys runs early. 7: persistent blocks. 8: longest tile "
        "first, in even waves. 9: the diagonal in half steps, with skips. 10: m moves only past 2^8. 11: exponentials "
        "before the maximum, with consumers taking turns at S, if P V is one product"),
    .swept = kSteps};
constexpr Option kHopperLate{
    .name = "late",
    .title = marked("late hand-back"),
    .help = marked("Whether the shared-memory rows used to write out O are released during the next query tile"),
    .swept = kNoYes};
constexpr Option kHopperTurns{.name = "turns",
                              .title = marked("turns"),
                              .help = marked("In form 4, the consumers take turns starting products"),
                              .tuned = true,
                              .swept = kNoYes};
constexpr Option kHopperCopies{
    .name = "copies",
    .title = marked("copies"),
    .help = marked("Tensors copied to align their rows to 16 bytes. 0: none; 1: unaligned tensors; 2: all"),
    .swept = kCopyKinds};

namespace {

constexpr std::int64_t kSharedOfBlock = 227 * 1024;
constexpr std::int64_t kMostSlots = 8;
constexpr std::int64_t kL2ForKeys = std::int64_t{32} << 20;
constexpr std::int32_t kRowsOfPiece = 64;
// The seam between query tiles shows where there are no more key tiles than this in one: then Q comes early, and takes
// the room of a slot. Under a mask consumers that skip tiles run apart, and miss the slot sooner.
constexpr double kShort = 48, kShortMasked = 10;
// A half step makes the loop's code larger, which costs every step about a twenty-fifth; it saves a quarter of a key
// tile in every query tile. So it pays where there are few.
constexpr double kFewForHalves = 6;
constexpr std::int32_t kLateFrom = 10;
// Steps 1 to 4 are two consumers' at most, as they are taught.
constexpr std::int32_t kSlotsOfPlain = 4;

std::int64_t pieces(std::int64_t rows) {
  return (rows + kRowsOfPiece - 1) / kRowsOfPiece;
}

std::int64_t slots_that_fit(const Problem& p, HopperTile t) {
  t.slots = 0;
  const std::int64_t none = shared_bytes(p, t);
  t.slots = 1;
  const std::int64_t slot = shared_bytes(p, t) - none;
  return std::min(kMostSlots, (kSharedOfBlock - none) / slot);
}

// Key tiles that a query tile sees, in the mean. Key lengths do not count: what is prepared may be given others, and
// the same tile gives the same bits.
double mean_key_tiles(Problem p, const HopperTile& t) {
  p.mask.key_lengths.clear();
  const double keys = p.visible_pairs() / static_cast<double>(p.B * p.Hq * p.Lq);
  return keys / t.keys;
}

// Of the rows of the pieces that exist.
double filled(std::int64_t rows) {
  return static_cast<double>(rows) / static_cast<double>(kRowsOfPiece * pieces(rows));
}

std::int32_t pack_for(const Problem& p) {
  constexpr double kWorthIt = 0.9;
  std::int32_t best = 1;
  for (std::int32_t n = 2; n <= 16 && p.Hq / p.Hkv % n == 0; n *= 2)
    if (filled(p.Lq * best) < kWorthIt * filled(p.Lq * n)) best = n;
  return best;
}

// What a tile of so many pieces costs, in full ones: with fewer consumers each has less to hide behind.
double cost_of(std::int64_t n, std::int32_t consumers) {
  if (n >= consumers) return 1;
  if (consumers <= 2) return 0.7;
  return n == 1 ? 0.6 : n == 2 ? 0.79 : 0.88;
}

// A row sees other keys than the next.
bool has_edge(const Problem& p) {
  return p.mask.causal || p.mask.window_left >= 0 || p.mask.window_right >= 0;
}

std::int32_t half_keys(std::int32_t keys) {
  return keys / 2 / 16 * 16;
}

std::int32_t half_of(const Problem& p, const HopperTile& t) {
  if (t.step < 9 || t.form == 4 || !has_edge(p) || mean_key_tiles(p, t) > kFewForHalves) return 0;
  return half_keys(t.keys);
}

// Consumers that overlap within themselves: two, with as many keys as S and P leave room for beside O.
HopperTile overlapped(const Problem& p, HopperTile t) {
  const std::int64_t width = std::max(p.D, p.Dv);
  t.form = 4, t.consumers = 2, t.split = 0, t.half = 0, t.turns = true;
  t.keys = width > 192 ? 80 : width > 128 ? 112 : 128;
  return t;
}

// Consumers that cover each other: as many as the registers of S and O leave room for.
HopperTile covering(const Problem& p, HopperTile t) {
  const std::int64_t width = std::max(p.D, p.Dv);
  t.form = 5, t.consumers = 3, t.keys = 128, t.split = 4;
  if (width > 192) {
    t.consumers = 2, t.keys = 96;
  } else if (width > 128) {
    t.consumers = 2, t.keys = 112;
  } else if (p.changes_scores()) {
    t.consumers = 2;  // bias, softcap and ALiBi take registers for addresses and products
    if (width > 64) t.keys = 112;
  } else if (width <= 64) {
    t.consumers = 4, t.keys = 96, t.split = 0;  // four have enough to hide behind
  }
  if (t.step < 6) t.split = 0;
  t.half = half_of(p, t);
  return t;
}

HopperTile usual_form(const Problem& p, std::int32_t step) {
  HopperTile t;
  t.step = step;
  if (step == 4) return overlapped(p, t);
  if (step < 4) {
    t = covering(p, t);
    t.consumers = std::min(step, 2), t.split = 0;
    if (std::max(p.D, p.Dv) <= 128) t.keys = 128;
    return t;
  }
  // Above 128 O leaves room for two consumers alone, who cannot cover each other well.
  return std::max(p.D, p.Dv) > 128 && step > 6 && !p.changes_scores() ? overlapped(p, t) : covering(p, t);
}

std::int32_t queries_for(const Problem& p, HopperTile t) {
  if (t.form == 4 || t.step < kStaysFrom) return 1;  // in form 4 Q is free long before its tile ends
  t.queries = 2;
  const std::int64_t slots = slots_that_fit(p, t);
  if (slots >= kMostSlots) return 2;
  return slots >= 4 && mean_key_tiles(p, t) <= (has_edge(p) ? kShortMasked : kShort) ? 2 : 1;
}

// Worth 1.3 % at L = 1024 and nothing from 2048 on, three consumers and no mask, on an H100. Under a mask consumers run
// apart, and four have enough to hide the seam behind: there it costs as much.
bool hands_back_late(const Problem& p, const HopperTile& t) {
  return t.step >= kLateFrom && t.form == 5 && t.consumers == 3 && t.queries == 2 && !has_edge(p);
}

}  // namespace

std::int64_t shared_bytes(const Problem& p, const HopperTile& t) {
  return hopper_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), t.keys, t.consumers, t.slots, t.queries).total;
}

HopperTile hopper_tile(const Problem& p, const Options& asked) {
  HopperTile t = usual_form(p, static_cast<std::int32_t>(chosen(asked, kHopperStep).value_or(kLastStep)));
  if (const auto form = chosen(asked, kHopperForm); form && *form != t.form)
    t = *form == 4 ? overlapped(p, t) : covering(p, t);
  else if (!form && t.form == 4 && asked.br != 0 && asked.br != kRowsOfPiece * t.consumers)
    t = covering(p, t);  // no other number of consumers overlaps within
  if (asked.br != 0) t.consumers = std::max(1, asked.br / kRowsOfPiece);
  if (asked.bc != 0 && asked.bc != t.keys) t.keys = asked.bc, t.half = half_of(p, t);
  t.pack = static_cast<std::int32_t>(chosen(asked, kHopperPack).value_or(pack_for(p)));
  t.turns = chosen(asked, kHopperTurns).value_or(t.turns ? 1 : 0) != 0;
  t.copies = static_cast<Copies>(chosen(asked, kHopperCopies).value_or(needs_copies(p) ? 1 : 0));
  t.queries = static_cast<std::int32_t>(chosen(asked, kHopperQueries).value_or(0));
  if (t.queries == 0) t.queries = queries_for(p, t);
  if (asked.stages > slots_that_fit(p, t) && !chosen(asked, kHopperQueries)) t.queries = 1;
  t.late = chosen(asked, kHopperLate).value_or(hands_back_late(p, t) ? 1 : 0) != 0;
  const std::int64_t most = slots_that_fit(p, t);
  t.slots = static_cast<std::int32_t>(t.step == 1  ? 2
                                      : t.step < 5 ? std::min<std::int64_t>(most, kSlotsOfPlain)
                                                   : most);
  if (t.form == 4) t.slots -= t.slots % 2;
  return t;
}

std::vector<HopperTile> hopper_tiles(const Problem& p, const Options& asked) {
  struct Shape {
    std::int32_t form, consumers, keys;
  };
  static constexpr Shape kNarrow[] = {{5, 4, 96}, {5, 4, 80}, {5, 3, 128}, {5, 3, 160}, {5, 2, 256}, {4, 2, 128}};
  static constexpr Shape kMiddle[] = {{5, 3, 128}, {5, 3, 112}, {5, 2, 128}, {5, 2, 160}, {4, 2, 128}, {4, 2, 160}};
  static constexpr Shape kWide[] = {{4, 2, 112}, {4, 2, 96}, {5, 2, 112}, {5, 2, 80}};
  static constexpr Shape kWidest[] = {{4, 2, 80}, {4, 2, 64}, {5, 2, 96}, {5, 2, 80}, {5, 2, 64}};
  const std::int64_t width = std::max(p.D, p.Dv);
  const std::span<const Shape> shapes = width > 192   ? std::span<const Shape>(kWidest)
                                        : width > 128 ? std::span<const Shape>(kWide)
                                        : width > 64  ? std::span<const Shape>(kMiddle)
                                                      : std::span<const Shape>(kNarrow);
  std::vector<HopperTile> all;
  const auto free = [](std::int64_t fixed, std::int64_t value) { return fixed == 0 || fixed == value; };
  for (const Shape& shape : shapes) {
    if (!free(asked.br, kRowsOfPiece * shape.consumers) || !free(asked.bc, shape.keys)) continue;
    if (!free(chosen(asked, kHopperForm).value_or(0), shape.form)) continue;
    Options o = asked;
    choose(o, kHopperForm, shape.form);
    o.br = kRowsOfPiece * shape.consumers;
    o.bc = shape.keys;
    for (const std::int64_t queries : {1, 2}) {
      if (!free(chosen(asked, kHopperQueries).value_or(0), queries)) continue;
      choose(o, kHopperQueries, queries);
      const HopperTile t = hopper_tile(p, o);
      all.push_back(t);
      if (t.form == 4) continue;
      // Undivided and with a second buffer of Q, 128 keys of D = 128 spill.
      if (t.split == 0 || queries == 1) {
        all.push_back(t);
        all.back().split = t.split == 0 ? 4 : 0;
      }
      if (!has_edge(p)) continue;
      all.push_back(t);
      all.back().half = t.half == 0 ? half_keys(t.keys) : 0;
    }
  }
  return all;
}

std::int64_t packed_rows(const Problem& p, const HopperTile& t) {
  return p.Lq * t.pack;
}
std::int64_t packed_heads(const Problem& p, const HopperTile& t) {
  return p.B * (p.Hq / t.pack);
}

std::int64_t query_tiles(const Problem& p, const HopperTile& t, std::int32_t sms) {
  constexpr std::int64_t kManyWaves = 24;  // from so many on the last one hardly counts
  const std::int64_t all = pieces(packed_rows(p, t)), heads = packed_heads(p, t);
  const std::int64_t least = (all + t.consumers - 1) / t.consumers;
  if (t.step < kEvensFrom || least * heads > kManyWaves * sms) return least;
  std::int64_t best = least;
  double best_end = 0;
  const std::int64_t most = std::min(all, std::max(all * 5 / (4 * t.consumers) + 3, sms / heads));
  for (std::int64_t n = least; n <= most; ++n) {
    const std::int64_t each = all / n, more = all % n;
    std::priority_queue<double, std::vector<double>, std::greater<>> ends;
    for (std::int32_t i = 0; i < sms; ++i) ends.push(0);
    double end = 0;
    for (std::int64_t i = 0; i < n * heads; ++i) {
      const double at = ends.top() + cost_of(i < more * heads ? each + 1 : each, t.consumers);
      ends.pop();
      ends.push(at);
      end = std::max(end, at);
    }
    if (n == least || end < best_end - 1e-9) best = n, best_end = end;
  }
  return best;
}

std::int64_t heads_together(const Problem& p, const HopperTile& t) {
  const std::int64_t heads = packed_heads(p, t), share = p.Hq / p.Hkv / t.pack;
  const std::int64_t fit = std::max<std::int64_t>(1, kL2ForKeys / (2 * p.Lk * (p.D + p.Dv))) * share;
  std::int64_t n = std::min(heads, fit);
  while (heads % n != 0) --n;
  return n;
}

std::string words_of(const Problem& p, const HopperTile& t, std::int32_t sms) {
  const std::int64_t heads = packed_heads(p, t), all = pieces(packed_rows(p, t)), n = query_tiles(p, t, sms);
  const std::int64_t each = all / n, more = all % n;
  const double waves = static_cast<double>(n * heads) / sms;
  std::string words = n * heads <= sms ? phrase("{} query tiles for {} multiprocessors", n * heads, sms)
                      : more > 0 ? phrase("{:.1f} waves: rows shared out as {} to {}", waves, kRowsOfPiece * (each + 1),
                                          kRowsOfPiece * each)
                                 : phrase("{:.1f} waves of {} rows per tile", waves, kRowsOfPiece * each);
  words = t.form == 4        ? phrase("{}; {} consumers that overlap their own work", words, t.consumers)
          : t.consumers == 1 ? phrase("{}; one consumer", words)
          : t.step < 5       ? phrase("{}; {} consumers", words, t.consumers)
                             : phrase("{}; {} consumers that overlap each other", words, t.consumers);
  words = phrase("{}; {} keys per tile, {} slots", words, t.keys, t.slots);
  if (t.queries == 2) words = phrase("{}; two Q buffers: {:.0f} key tiles per query tile", words, mean_key_tiles(p, t));
  if (t.late) words = phrase("{}; O's rows released during the next tile", words);
  if (t.step >= kGuessesFrom && t.form == 5 && t.split == 0)
    words = phrase("{}; exponentials before the maximum, S computed in turns", words);
  if (t.split > 0) words = phrase("{}; P V of {} keys first", words, t.keys / 16 * t.split / 8 * 16);
  if (t.half > 0) words = phrase("{}; half steps of {} keys at the mask's edge", words, t.half);
  if (t.pack > 1)
    words = phrase("{}; {} heads packed because one head would fill only {:.0f} % of a tile's rows", words, t.pack,
                   100 * filled(p.Lq));
  return words + words_of(p, t.copies);
}

std::int32_t product_waits(const HopperTile& t) {
  constexpr std::int32_t kOfStep = 2;   // for S, for O
  if (t.form == 4) return kOfStep + 2;  // and before the loop for the first S, behind it for the last O
  return kOfStep * (t.half > 0 ? 2 : 1);
}

HopperTile tile_of(const Options& o) {
  HopperTile t;
  const auto of = [&](const Option& option) { return static_cast<std::int32_t>(chosen(o, option).value_or(0)); };
  t.consumers = o.br / kRowsOfPiece;
  t.keys = o.bc;
  t.slots = o.stages;
  t.form = of(kHopperForm);
  t.queries = of(kHopperQueries);
  t.pack = of(kHopperPack);
  t.split = of(kHopperSplit);
  t.half = of(kHopperHalf);
  t.step = of(kHopperStep);
  t.late = of(kHopperLate) != 0;
  t.turns = of(kHopperTurns) != 0;
  t.copies = static_cast<Copies>(of(kHopperCopies));
  return t;
}

Options options_of(const HopperTile& t, const Options& asked) {
  Options o = asked;
  if (o.br == 0) o.br = kRowsOfPiece * t.consumers;
  if (o.bc == 0) o.bc = t.keys;
  if (o.stages == 0) o.stages = t.slots;
  if (o.threads == 0) o.threads = 128 * (o.br / kRowsOfPiece + 1);
  const auto fill = [&](const Option& option, std::int64_t value) {
    if (!chosen(o, option)) choose(o, option, value);
  };
  fill(kHopperForm, t.form);
  fill(kHopperQueries, t.queries);
  fill(kHopperPack, t.pack);
  fill(kHopperSplit, t.split);
  fill(kHopperHalf, t.half);
  fill(kHopperStep, t.step);
  fill(kHopperLate, t.late ? 1 : 0);
  fill(kHopperTurns, t.turns ? 1 : 0);
  fill(kHopperCopies, static_cast<std::int64_t>(t.copies));
  return o;
}

}  // namespace attn::gpu
