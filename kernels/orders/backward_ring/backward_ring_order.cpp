// A backward round a ring (kernels/model/ring.h): a rank's queries meet the keys that it has in a turn, key tile
// outside. dQ stays with the queries. What a turn gives dK and dV of a key tile is added to what the ranks before made
// of it; these sums go round with their keys, one turn behind, and once more, home.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "kernels/orders/backward/names.h"
#include "kernels/orders/backward/phases.h"
#include "kernels/orders/backward/sums.h"
#include "kernels/orders/backward_ring/names.h"
#include "kernels/orders/ring/send.h"
#include "kernels/orders/shared/phases.h"
#include "kernels/orders/table.h"
#include "kernels/recording/replay/exact_keys.h"
#include "kernels/recording/replay/replayer.h"

namespace attn::orders {
namespace {

using namespace backward;

struct Sum {
  Slot sum, came;
};
std::vector<Sum> sums() {
  const BackwardNames& n = backward_names();
  const BackwardRingNames& r = backward_ring_names();
  return {{n.dk, r.dk_came}, {n.dv, r.dv_came}};
}

// What came, where anything did, plus the turn's part: nothing where the rank's queries see no key of the tile.
void replay_sums(Replayer& r) {
  for (const auto& [sum, came] : sums()) {
    const Version& made = r.made(sum);
    const VersionId part = key_sum_before(r.recording(), r.index(), sum), before = r.recording().after(r.index(), came);
    Padded out = part != kNoVersion ? r.load(part) : Padded(made.rows, made.cols);
    if (before != kNoVersion) {
      const Padded old = r.load(before);
      const cpu::MutTile to = out.tile();
      for (std::int64_t row = 0; row < made.rows; ++row)
        for (std::int64_t c = 0; c < made.cols; ++c)
          to.data[row * to.ld + c] = old.read().data[row * old.read().ld + c] + to.data[row * to.ld + c];
    }
    r.compare(sum, out);
  }
}

// One addition: u of the sum, which may be off by both bounds.
void exact_sums(ExactKeys& w) {
  for (const auto& [sum, came] : sums()) {
    const VersionId part = key_sum_before(w.recording(), w.index(), sum), before = w.recording().after(w.index(), came);
    const std::int32_t cols = w.recording().version(w.recording().after(w.index(), sum)).cols;
    const auto number = [&](VersionId v, std::int32_t row, std::int32_t c) {
      return v == kNoVersion
                 ? ExactNumber{}
                 : w.sum(
                       v)[static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(c)];
    };
    w.make(sum, [&](std::int32_t row, std::int32_t c) {
      const ExactNumber a = number(before, row, c), b = number(part, row, c);
      const double x = a.exact + b.exact, off = a.bound + b.bound;
      return ExactNumber{x, before == kNoVersion ? off : off + w.unit() * (std::fabs(x) + off)};
    });
  }
}

OrderPhase send_sums(Phase phase) {
  OrderPhase p = send(phase);
  p.title = "dK and dV of the last turn follow their keys";
  p.sentence = "They arrive while the next rank computes its own part.";
  return p;
}

OrderPhase sums_home(Phase phase) {
  OrderPhase p = send(phase);
  p.query_tile = false;
  p.title = "dK and dV come home";
  p.sentence = "All ranks have added their parts. The sums move once more, to the rank that has their keys.";
  return p;
}

OrderPhase keep_sums(const BackwardNames& n, Phase phase) {
  return {.phase = phase,
          .after = {n.dk, n.dv},
          .bytes =
              [](const EventExtent& x) {
                Traffic t;
                at(t.written, TrafficPart::k) = x.size.k_sum;
                at(t.written, TrafficPart::v) = x.size.v_sum;
                return t;
              },
          .replay = replay_sums,
          .exact_keys = exact_sums,
          .title = "The first parts of dK and dV",
          .sentence = "They are kept in f32, neither scaled nor rounded, until they follow their keys."};
}

OrderPhase add_sums(const BackwardNames& n, const BackwardRingNames& r) {
  OrderPhase p = keep_sums(n, r.add_sums);
  p.after = {n.dk, n.dv, r.dk_came, r.dv_came};
  p.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.read, TrafficPart::k) = at(t.written, TrafficPart::k) = x.size.k_sum;
    at(t.read, TrafficPart::v) = at(t.written, TrafficPart::v) = x.size.v_sum;
    return t;
  };
  p.title = "This turn's parts are added to the sums that came";
  p.formula = "[dK] = [dK|came] + [dK|turn]";
  p.sentence = "The sums of the ranks before came with the keys, one turn behind.";
  return p;
}

}  // namespace

OrderRow backward_ring_order(OrderNames& names) {
  const BackwardNames n = backward_names(names);
  const BackwardRingNames r = backward_ring_names(names);
  OrderRow row = backward_order(names);
  row.name = "backward-ring";
  row.abreast = Abreast::ranks;
  OrderPhase keys = load_kv();
  keys.query_tile = true;  // of each turn, by the rank's first query tile
  row.phases = {send(r.send),
                send_sums(r.send_sums),
                load_o(n),
                row_dots(n),
                keys,
                skipped(),
                load_rows(n),
                scores(),
                mask(),
                weights_again(n),
                value_gradient(n),
                weight_gradient(n),
                score_gradient(n),
                key_gradient(n),
                query_gradient(n),
                keep_sums(n, r.keep_sums),
                add_sums(n, r),
                sums_home(r.sums_home),
                store_dq(n),
                store_dkv_from_memory(n)};
  // What a rank does once a turn is counted here with each key tile.
  for (WalkStep& step : row.walk) {
    if (step.phase == Phase::load_kv) step.once = Once::part;
    if (step.phase == n.store_dkv) step.pass = 2;
  }
  const WalkStep more[] = {
      {.phase = r.send, .pass = 1, .once = Once::merge, .tiles = Tiles::all},
      {.phase = r.send_sums, .pass = 1, .once = Once::merge, .tiles = Tiles::all},
      {.phase = r.keep_sums, .pass = 1, .once = Once::key_tile, .tiles = Tiles::all, .creates = {n.dk, n.dv}},
      {.phase = r.add_sums, .pass = 1, .once = Once::merge, .tiles = Tiles::all, .creates = {n.dk, n.dv}},
      {.phase = r.sums_home, .pass = 2, .once = Once::key_tile, .tiles = Tiles::all}};
  row.walk.insert(row.walk.end(), std::begin(more), std::end(more));
  return row;
}

}  // namespace attn::orders
