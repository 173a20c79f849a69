#include "viz/step/charts/traffic.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernels/ladder.h"
#include "kernels/model/kernel.h"

namespace attn {
namespace {

std::array<std::uint64_t, kTrafficParts> by_part(const Traffic& t) {
  std::array<std::uint64_t, kTrafficParts> out{};
  for (std::size_t n = 0; n < kTrafficParts; ++n) out[n] = t.of(static_cast<TrafficPart>(n));
  return out;
}

// The orders to compare with: naive first, from naive flash first.
std::vector<TrafficBar> other_orders(const Recording& rec) {
  std::vector<std::string_view> kernels{"cpu_sequential", "cpu_flash", "cpu_flash1", "cpu_tiled"};
  if (rec.order == Order::naive) std::swap(kernels[0], kernels[1]);
  std::vector<TrafficBar> bars;
  for (const std::string_view id : kernels) {
    const auto row = find_kernel(id);
    if (!row || (*row)->order == rec.order) continue;
    const Traffic t = tile_loads(**row, rec.problem, rec.options);
    bars.push_back({std::string(name_of((*row)->order)),
                    {},
                    compulsory((*row)->order, rec.problem).total(),
                    by_part(t),
                    t.total(),
                    t.total()});
  }
  return bars;
}

const TrafficBar* bar_named(const std::vector<TrafficBar>& bars, Order order) {
  const auto at = std::find_if(bars.begin(), bars.end(), [&](const TrafficBar& b) { return b.name == name_of(order); });
  return at == bars.end() ? nullptr : &*at;
}

// What the same order would ask at a size that GPUs see, with a tile as here and one of 64 rows.
void add_outlook(TrafficTotals& scene, const Recording& rec) {
  const auto naive = find_kernel("cpu_sequential");
  if (rec.order != Order::flash || !naive) return;
  Problem p;
  p.Lq = p.Lk = 4096;
  p.D = p.Dv = 64;
  p.dtype = rec.problem.dtype;
  Options small = rec.options, large = rec.options;
  large.br = large.bc = 64;
  Runs words{word("At 4096 × 64: naive "), number(bytes_text(tile_loads(**naive, p, Options{}).total())),
             word(", flash "), number(bytes_text(tile_loads(Order::flash, 0, p, small).total())),
             word(fmt::format(" with Br {}", rec.options.br))};
  if (rec.options.br != large.br) {
    words.push_back(word(", "));
    words.push_back(number(bytes_text(tile_loads(Order::flash, 0, p, large).total())));
    words.push_back(word(" with Br 64"));
  }
  words.push_back(word("."));
  scene.words.push_back(std::move(words));
}

}  // namespace

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
  const auto say = [&](Runs words) { out.words.push_back(std::move(words)); };
  out.once = compulsory(rec.order, rec.problem).total();
  out.others = other_orders(rec);
  const TrafficBar* naive = bar_named(out.others, Order::naive);
  if (rec.order == Order::naive) {
    say({word("naive writes and reads "), letter("S", s), word(" and "), letter("P", p),
         word(fmt::format("; flash, here with Br {}, never does.", rec.options.br))});
  } else {
    const int tiles = rec.query_tiles();
    if (rec.order == Order::tiled) {
      say({word("Both store "), letter("S", s), word(" and "), letter("P", p), word("; tiles change how often "),
           letter("Q", q), word(", "), letter("K", k), word(", "), letter("V", v), word(" are read.")});
    } else if (naive != nullptr && mine > naive->total) {
      say({word("Here this asks for more than storing "), letter("S", s), word(" and "), letter("P", p),
           word(fmt::format(" costs naive: Br {} is short for D {}.", rec.options.br, rec.problem.D))});
    } else if (rec.order == Order::flash1) {
      say({word("FlashAttention-1 stores no "), letter("S", s), word(", no "), letter("P", p),
           word("; it reads and writes "), letter("O", o), word(", "), letter("m", m), word(", "), letter("ℓ", l),
           word(" at every turn.")});
    } else {
      say({word("naive writes and reads "), letter("S", s), word(" and "), letter("P", p),
           word(". flash never does; it reads "), letter("K", k), word(", "), letter("V", v),
           word(tiles > 1 ? fmt::format(" for each of {} query tiles.", tiles) : " once.")});
    }
  }
  Runs line{word("A thin line marks each element once: "), number(bytes_text(out.once)), word(" here")};
  for (const TrafficBar& bar : out.others) {
    if (bar.once == out.once) continue;
    line.insert(line.end(),
                {word(", "), number(bytes_text(bar.once)), word(bar.once > out.once ? " with " : " without "),
                 letter("S", s), word(" and "), letter("P", p)});
    break;
  }
  line.push_back(word("."));
  say(std::move(line));
  add_outlook(out, rec);
  return out;
}

TrafficScene traffic_scene(const Recording& rec, EventIndex e, const TrafficTotals& totals) {
  TrafficScene scene;
  scene.count = fmt::format("tile loads, {}", name_of(rec.problem.dtype));
  TrafficBar mine;
  mine.name = std::string(name_of(rec.order));
  mine.once = totals.once;
  for (std::size_t n = 0; n < kTrafficParts; ++n) {
    mine.bytes[n] = rec.events[e].hbm_bytes[n];
    mine.so_far += mine.bytes[n];
    mine.total += rec.events.back().hbm_bytes[n];
  }
  scene.bars = {mine};
  scene.bars.insert(scene.bars.end(), totals.others.begin(), totals.others.end());
  for (TrafficBar& bar : scene.bars)
    bar.text = bar.so_far == bar.total ? bytes_text(bar.total)
                                       : fmt::format("{} of {}", bytes_text(bar.so_far), bytes_text(bar.total));
  scene.words = totals.words;
  return scene;
}

}  // namespace attn
