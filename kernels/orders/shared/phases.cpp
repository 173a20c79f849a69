#include "kernels/orders/shared/phases.h"

#include <iterator>
#include <string>
#include <vector>

#include "kernels/judge/first_wrong/causes.h"
#include "kernels/recording/replay/exact_walk.h"
#include "kernels/recording/replay/gpu_replayer.h"
#include "kernels/recording/replay/replayer.h"

namespace attn::orders {
namespace {

constexpr Newest kO{Slot::o_new, Slot::o_old}, kL{Slot::l_new, Slot::l_old}, kM{Slot::m_new, Slot::m_old};

std::string cause_of_load(const causes::WrongPlace& w) {
  return causes::load_cause(w.wrong, w.right, w.at, w.right_event);
}
std::string cause_of_end(const causes::WrongPlace& w) {
  return causes::end_cause(w.in(), w.at, w.elements);
}
// Of the causes that look at operands and numbers alone.
template <std::string (*cause)(const causes::Operands&, causes::Elements)>
std::string cause_of(const causes::WrongPlace& w) {
  return cause(w.in(), w.elements);
}

// What replays a phase: the three members of the same name.
template <void (Replayer::*cpu)(), void (GpuReplayer::*gpu)(), void (ExactWalk::*exact)()>
OrderPhase computed(Phase phase) {
  return {.phase = phase,
          .replay = [](Replayer& r) { (r.*cpu)(); },
          .replay_gpu = [](GpuReplayer& r) { (r.*gpu)(); },
          .exact = [](ExactWalk& w) { (w.*exact)(); }};
}

OrderPhase load(Phase phase, const std::vector<Slot>& inputs) {
  return {.phase = phase, .after = inputs, .loads = inputs, .brings = inputs, .cause = cause_of_load};
}

OrderPhase max_phase() {
  OrderPhase p = computed<&Replayer::max, &GpuReplayer::max, &ExactWalk::max>(Phase::max);
  p.cause = cause_of<causes::max_cause>;
  p.code = "m";
  return p;
}
OrderPhase weights_phase() {
  OrderPhase p = computed<&Replayer::weights, &GpuReplayer::weights, &ExactWalk::weights>(Phase::weights);
  p.cause = cause_of<causes::weights_cause>;
  p.code = "P";
  return p;
}
OrderPhase sum_phase() {
  OrderPhase p = computed<&Replayer::sum, &GpuReplayer::sum, &ExactWalk::sum>(Phase::sum);
  p.cause = cause_of<causes::sum_cause>;
  p.code = "l";
  return p;
}
OrderPhase output_phase() {
  OrderPhase p = computed<&Replayer::output, &GpuReplayer::output, &ExactWalk::output>(Phase::output);
  p.cause = cause_of<causes::output_cause>;
  p.code = "O";
  return p;
}

// S is read back by the phases of the softmax pass: this one reads it where it is read `reads` times or more.
template <std::int32_t reads>
Traffic score_bytes(const EventExtent& x) {
  Traffic t;
  if (x.score_reads >= reads) at(t.read, TrafficPart::s) = x.size.s;
  return t;
}

}  // namespace

OrderPhase load_q() {
  OrderPhase p = load(Phase::load_q, {Slot::q});
  p.key_tile = false;
  p.code = "Q";
  p.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.read, TrafficPart::q) = x.size.q;
    return t;
  };
  return p;
}

OrderPhase load_kv() {
  OrderPhase p = load(Phase::load_kv, {Slot::k, Slot::v});
  p.query_tile = false;
  p.visits_keys = true;
  p.code = "K";  // its tile is what the next step reads
  p.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.read, TrafficPart::k) = x.size.k;
    at(t.read, TrafficPart::v) = x.size.v;
    return t;
  };
  return p;
}

OrderPhase load_k() {
  OrderPhase p = load(Phase::load_k, {Slot::k});
  p.visits_keys = true;
  p.code = "K";
  p.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.read, TrafficPart::k) = x.size.k;
    return t;
  };
  return p;
}

OrderPhase load_v() {
  OrderPhase p = load(Phase::load_v, {Slot::v});
  p.code = "V";
  p.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.read, TrafficPart::v) = x.size.v;
    at(t.read, TrafficPart::p) = x.size.p;
    return t;
  };
  return p;
}

OrderPhase load_state() {
  OrderPhase p = load(Phase::load_state, {Slot::q});
  p.after = p.brings = {Slot::q, Slot::m_old, Slot::l_old, Slot::o_old};
  p.code = "Q";
  p.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.read, TrafficPart::q) = x.size.q;
    at(t.read, TrafficPart::o) = x.size.o_state;
    at(t.read, TrafficPart::stats) = 2 * x.size.stat;
    return t;
  };
  return p;
}

OrderPhase scores() {
  OrderPhase p = computed<&Replayer::scores, &GpuReplayer::scores, &ExactWalk::scores>(Phase::scores);
  p.before = {Slot::q, Slot::k};
  p.after = {Slot::q, Slot::k, Slot::s};
  p.cause = [](const causes::WrongPlace& w) {
    return causes::scores_cause(w.in(), w.right, w.right_event, w.elements);
  };
  p.code = "S";
  return p;
}

OrderPhase mask() {
  OrderPhase p = computed<&Replayer::mask, &GpuReplayer::mask, &ExactWalk::mask>(Phase::mask);
  p.before = p.after = {Slot::s};
  p.cause = [](const causes::WrongPlace& w) { return causes::mask_cause(w.wrong, w.at, w.elements); };
  p.code = "mask";
  p.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.read, TrafficPart::bias) = x.size.bias;
    return t;
  };
  return p;
}

OrderPhase store_s() {
  OrderPhase p{.phase = Phase::store_s, .before = {Slot::s}, .after = {Slot::s}, .code = "store"};
  p.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.written, TrafficPart::s) = x.size.s;
    return t;
  };
  return p;
}

OrderPhase store_state() {
  OrderPhase p{.phase = Phase::store_state, .code = "store"};
  p.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.written, TrafficPart::o) = x.size.o_state;
    at(t.written, TrafficPart::stats) = 2 * x.size.stat;
    return t;
  };
  return p;
}

OrderPhase normalise() {
  OrderPhase p = computed<&Replayer::normalise, &GpuReplayer::normalise, &ExactWalk::normalise>(Phase::normalise);
  p.key_tile = false;
  p.after = {Slot::o_new, Slot::lse};
  p.newest_before = {kO, kL, kM};
  p.cause = cause_of_end;
  p.code = "normalise";
  return p;
}

OrderPhase store_o() {
  OrderPhase p = computed<&Replayer::store_o, &GpuReplayer::store_o, &ExactWalk::store_o>(Phase::store_o);
  p.key_tile = false;
  p.after = {Slot::lse};
  p.newest_before = {kO};
  p.newest_after = {kO, kL, kM};
  p.cause = cause_of_end;
  p.code = "store";
  p.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.written, TrafficPart::o) = x.size.o;
    at(t.written, TrafficPart::stats) = x.size.stat;
    return t;
  };
  return p;
}

OrderPhase skipped() {
  return {.phase = Phase::skipped};
}

std::vector<Slot> first_state() {
  return {Slot::q, Slot::m_old, Slot::l_old, Slot::o_old};
}

namespace on_chip {

OrderPhase max() {
  OrderPhase p = max_phase();
  p.before = {Slot::s};
  p.after = {Slot::s, Slot::m_old, Slot::m_new};
  return p;
}

OrderPhase rescale() {
  OrderPhase p = computed<&Replayer::rescale, &GpuReplayer::rescale, &ExactWalk::rescale>(Phase::rescale);
  p.before = {Slot::m_old, Slot::m_new};
  p.after = {Slot::m_old, Slot::m_new, Slot::alpha};
  p.cause = cause_of<causes::rescale_cause>;
  p.code = "alpha";
  return p;
}

OrderPhase weights() {
  OrderPhase p = weights_phase();
  p.before = {Slot::s, Slot::m_new};
  p.after = {Slot::p, Slot::m_new};
  return p;
}

OrderPhase sum() {
  OrderPhase p = sum_phase();
  p.before = {Slot::p, Slot::alpha};
  p.after = {Slot::l_old, Slot::l_new};
  return p;
}

OrderPhase output() {
  OrderPhase p = output_phase();
  p.before = {Slot::p, Slot::v, Slot::alpha, Slot::o_old, Slot::l_old, Slot::l_new};
  p.after = {Slot::o_new};
  return p;
}

void add_tile(std::vector<WalkStep>& walk) {
  const WalkStep steps[] = {{.phase = Phase::scores, .creates = {Slot::s}},
                            {.phase = Phase::mask, .tiles = Tiles::masked, .creates = {Slot::s}},
                            {.phase = Phase::max, .creates = {Slot::m_new}},
                            {.phase = Phase::rescale, .creates = {Slot::alpha}},
                            {.phase = Phase::weights, .creates = {Slot::p}},
                            {.phase = Phase::sum, .creates = {Slot::l_new}},
                            {.phase = Phase::output, .creates = {Slot::o_new}}};
  walk.insert(walk.end(), std::begin(steps), std::end(steps));
}

std::vector<OnChip> bytes(const TileBytes& size) {
  return {{size.q, size.k, size.v, 0, size.s, 0, size.o_state, 2 * size.stat}};
}

}  // namespace on_chip

namespace stored {

OrderPhase max() {
  OrderPhase p = max_phase();
  p.after = {Slot::s, Slot::m_old, Slot::m_new};
  p.bytes = score_bytes<1>;
  return p;
}

OrderPhase weights() {
  OrderPhase p = weights_phase();
  p.before = {Slot::m_new, Slot::l_new};
  p.after = {Slot::s, Slot::p};
  p.bytes = [](const EventExtent& x) {
    Traffic t = score_bytes<2>(x);
    at(t.written, TrafficPart::p) = x.size.p;
    return t;
  };
  return p;
}

OrderPhase sum() {
  OrderPhase p = sum_phase();
  p.before = {Slot::m_new};
  p.after = {Slot::s, Slot::l_old, Slot::l_new};
  p.bytes = score_bytes<3>;
  return p;
}

OrderPhase output() {
  OrderPhase p = output_phase();
  p.before = {Slot::p, Slot::v, Slot::o_old};
  p.after = {Slot::o_new};
  return p;
}

WalkStep end_of_walk() {
  return {.phase = Phase::store_o, .pass = 2, .once = Once::query_tile, .creates = {Slot::lse}, .rounds = Slot::o_new};
}

Traffic skipped_bytes(const EventExtent& x) {
  Traffic t;
  if (x.pass == 0) {
    at(t.written, TrafficPart::s) = x.size.s;
  } else if (x.pass == 1) {
    at(t.read, TrafficPart::s) = x.size.s * static_cast<std::uint64_t>(x.score_reads);
    at(t.written, TrafficPart::p) = x.size.p;
  } else {
    at(t.read, TrafficPart::p) = x.size.p;
  }
  return t;
}

std::vector<OnChip> bytes(const TileBytes& size) {
  return {{size.q, size.k, 0, 0, size.s, 0, 0, 0},
          {0, 0, 0, 0, size.s, 0, 0, 2 * size.stat},
          {0, 0, size.v, 0, 0, size.p, size.o_state, 0}};
}

}  // namespace stored
}  // namespace attn::orders
