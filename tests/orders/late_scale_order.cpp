#include <cmath>
#include <string>
#include <vector>

#include "kernels/arithmetic/tile_math.h"
#include "kernels/judge/first_wrong/causes.h"
#include "kernels/orders/shared/phases.h"
#include "kernels/recording/replay/exact_walk.h"
#include "kernels/recording/replay/gpu_replayer.h"
#include "kernels/recording/replay/replayer.h"
#include "tests/orders/late_scale.h"

namespace attn::orders {
namespace {

Slot raw() {
  return *slot_named("raw");
}

void replay_product(Replayer& r) {
  const Version& made = r.made(raw());
  const std::int64_t d = r.recording().problem.D;
  const Padded q = r.operand(Slot::q), k = r.operand(Slot::k);
  Padded kt(d, made.cols), out(made.rows, made.cols);
  cpu::transpose(k.read(), kt.tile(), made.cols, d);
  cpu::scaled_product(q.read(), kt.read(), out.tile(), made.rows, made.cols, d, 1);
  r.compare(raw(), out);
}

void replay_scale(Replayer& r) {
  const Version& made = r.made(Slot::s);
  const auto scale = static_cast<float>(r.recording().problem.effective_scale());
  Padded s = r.operand(raw());
  for (std::int64_t row = 0; row < made.rows; ++row) {
    for (std::int64_t c = 0; c < made.cols; ++c) s.tile().data[row * s.tile().ld + c] *= scale;
  }
  r.compare(Slot::s, s);
}

void exact_product(ExactWalk& w) {
  const auto q = w.recorded(w.live(Slot::q)), k = w.recording().values(w.live(Slot::k));
  const std::size_t d = q.size();
  w.make(raw(), [&](std::int64_t c) {
    double sum = 0, size = 0;
    for (std::size_t x = 0; x < d; ++x) {
      const double term = static_cast<double>(q[x]) * static_cast<double>(k[static_cast<std::size_t>(c) * d + x]);
      sum += term;
      size += std::fabs(term);
    }
    return ExactNumber{sum, gamma_of(static_cast<double>(d) + 1, w.arithmetic().unit) * size};
  });
}

void exact_scale(ExactWalk& w) {
  const double scale = w.recording().problem.effective_scale();
  const ExactRow& s = w.operand(w.live(raw()));
  w.make(Slot::s, [&](std::int64_t c) {
    const ExactNumber& x = s[static_cast<std::size_t>(c)];
    const double y = scale * x.exact;
    return ExactNumber{y, scale * x.bound + gamma_of(3, w.arithmetic().unit) * std::fabs(y)};
  });
}

// A scale that was left out is what can go wrong with it.
std::string cause_of_scale(const causes::WrongPlace& w) {
  const causes::Operands in = w.in();
  return causes::first_that_fits({{"The scale was left out.",
                                   [&](std::int32_t row, std::int32_t col) {
                                     return causes::Value{in.at(raw(), row, col), 0};
                                   }}},
                                 w.elements);
}

}  // namespace

OrderRow late_scale_order(OrderNames& names) {
  const Slot made = names.slot({.name = "raw", .letter = "R", .like = Slot::s, .columns = SlotColumns::keys});
  const Phase product =
      names.phase({.name = "product", .letter = "R", .makes = made, .maths = true, .elsewhere = {Phase::scores}});
  const Phase scale =
      names.phase({.name = "scale", .letter = "scale", .makes = Slot::s, .elsewhere = {Phase::mask, Phase::scores}});

  OrderRow row = flash_order(names);
  row.name = "late-scale";
  std::erase_if(row.phases, [](const OrderPhase& p) { return p.phase == Phase::scores; });
  row.phases.push_back({.phase = product,
                        .before = {Slot::q, Slot::k},
                        .after = {Slot::q, Slot::k, made},
                        .replay = replay_product,
                        .exact = exact_product,
                        .title = "Product",
                        .formula = "[R] = [Q][K]^(T)",
                        .sentence = "Each query meets the keys of the tile.",
                        .code = "S"});
  row.phases.push_back({.phase = scale,
                        .before = {made},
                        .after = {Slot::s},
                        // The unscaled tile goes to memory and comes back: a byte model of its own.
                        .bytes =
                            [](const EventExtent& x) {
                              Traffic t;
                              at(t.read, TrafficPart::s) = at(t.written, TrafficPart::s) = x.size.s;
                              return t;
                            },
                        .replay = replay_scale,
                        .exact = exact_scale,
                        .cause = cause_of_scale,
                        .title = "Scale",
                        .formula = "[S] = [R] · {scale}",
                        .sentence = "The scores are scaled once they are all there.",
                        .code = "S"});
  std::vector<WalkStep> walk;
  for (const WalkStep& step : row.walk) {
    if (step.phase != Phase::scores) {
      walk.push_back(step);
      continue;
    }
    walk.push_back({.phase = product, .creates = {made}});
    walk.push_back({.phase = scale, .creates = {Slot::s}});
  }
  row.walk = walk;
  return row;
}

}  // namespace attn::orders
