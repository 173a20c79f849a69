#include "viz/step/facts/pipeline.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "kernels/orders/hopper/derived.h"
#include "kernels/orders/hopper/moments.h"
#include "kernels/orders/hopper/names.h"
#include "viz/draw/hands.h"

namespace attn {
namespace {

using orders::HopperNames;
using orders::hopper::Moment, orders::hopper::RingSlot, orders::hopper::SlotState;

const HopperNames& names() {
  return orders::hopper_names();
}

constexpr std::size_t kNoNode = 99;

// A state that lanes are in, and where it stands in the loop: what follows the words "consumer 0". A token stands at
// the node that its step tells of, and goes on with the lane's next step.
struct LaneStateRow {
  Phase phase;
  std::size_t node;
  const char* words;   // with {0} for the letter
  const char* letter;  // with the tile's number behind it; empty: none
  Ink ink;
  SpanLook look;
};

std::vector<LaneStateRow> lane_state_rows() {
  const HopperNames& n = names();
  return {{n.wait_slot_k, 0, marked("waits for a slot for {}"), "K", TensorColour::k, SpanLook::wait},
          {n.ask_k, 1, marked("requests {}"), "K", TensorColour::k, SpanLook::work},
          {n.wait_slot_v, 2, marked("waits for a slot for {}"), "V", TensorColour::v, SpanLook::wait},
          {n.ask_v, 3, marked("requests {}"), "V", TensorColour::v, SpanLook::work},
          {n.ask_q, kNoNode, marked("requests {}"), "Q", TensorColour::q, SpanLook::work},
          {n.take_rows, kNoNode, marked("takes its rows"), "", Token::dim, SpanLook::left_out},
          {n.wait_q, kNoNode, marked("waits for {}"), "Q", TensorColour::q, SpanLook::wait},
          {Phase::load_q, kNoNode, marked("has {}"), "Q", TensorColour::q, SpanLook::wait},
          {n.wait_k, 0, marked("waits for {}"), "K", TensorColour::k, SpanLook::wait},
          {n.wait_turn, 1, marked("has {} and waits for its turn"), "K", Token::dim, SpanLook::wait},
          {n.issue_s, 2, marked("hands over {}"), "S", TensorColour::s, SpanLook::work},
          {n.wait_s, 3, marked("waits for {}"), "S", TensorColour::s, SpanLook::wait},
          {Phase::scores, 3, marked("has {}"), "S", TensorColour::m, SpanLook::work},
          {Phase::mask, 4, marked("masks {}"), "S", TensorColour::m, SpanLook::work},
          {Phase::max, 4, marked("has {}"), "m", TensorColour::p, SpanLook::work},
          {Phase::rescale, 4, marked("has {}"), "α", TensorColour::p, SpanLook::work},
          {Phase::weights, 5, marked("has {}"), "P", TensorColour::p, SpanLook::work},
          {Phase::sum, 5, marked("has {}"), "ℓ", TensorColour::p, SpanLook::work},
          {n.wait_v, 6, marked("waits for {}"), "V", TensorColour::v, SpanLook::wait},
          {n.issue_o, 7, marked("hands over {}"), "O", TensorColour::o, SpanLook::work},
          {n.wait_o, 8, marked("waits for {}"), "O", TensorColour::o, SpanLook::wait},
          {Phase::output, 8, marked("has {}"), "O", TensorColour::o, SpanLook::wait},
          {Phase::normalise, kNoNode, marked("divides and stores {}"), "O", TensorColour::o, SpanLook::work},
          {Phase::store_o, kNoNode, marked("is done"), "", Token::dim, SpanLook::left_out}};
}

const LaneStateRow& state_of(Phase phase) {
  static const std::vector<LaneStateRow> kRows = lane_state_rows();
  const auto at = std::ranges::find(kRows, phase, &LaneStateRow::phase);
  return at == kRows.end() ? kRows.back() : *at;
}

Ink ink_of_letter(std::string_view letter, Ink otherwise) {
  if (letter == "K") return TensorColour::k;
  if (letter == "m") return TensorColour::m;
  if (letter == "α") return TensorColour::alpha;
  if (letter == "ℓ") return TensorColour::l;
  if (letter == "S") return TensorColour::s;
  return otherwise;
}

TextRuns with_tile(std::string_view text, std::int32_t tile, Ink ink) {
  TextRuns runs{letter(std::string(text), ink)};
  if (tile >= 0) runs.push_back(subscript(std::to_string(tile), ink));
  return runs;
}

// As in Profile's timeline: Q by its rows' tile, all else by its key tile, O too where a key tile's product is added to
// it; what is stored has no number.
std::int32_t tile_of_letter(std::string_view letter, const EventId& id) {
  return letter == "Q" ? id.i : id.j;
}

LoopNode loop_node(std::string_view sentence, std::string_view text, Ink ink, bool waits, std::string_view brief = "") {
  const TextRuns letters{letter(std::string(text), ink)};
  return {woven(sentence, letters, Token::text),
          ink,
          waits,
          {},
          brief.empty() ? TextRuns() : woven(brief, letters, Token::text)};
}

class PipelineMaker {
 public:
  PipelineMaker(const Recording& rec, EventIndex e) : rec_(rec), e_(e) {
    const EventId& id = rec.events[e].id;
    moments_ = orders::hopper::moments_of(rec.problem, rec.options, id.b);
    while (e > 0 && rec.events[e - 1].id.b == id.b && rec.events[e - 1].id.h == id.h) --e;
    first_ = e;
    if (!moments_.empty()) view_.length = std::max(1, moments_.back().at);
    // A lesson's recording may end early.
    moments_.resize(std::min<std::size_t>(moments_.size(), rec.events.size() - first_));
  }

  PipelineView make() {
    const auto& block = orders::hopper::followed_block(rec_.options);
    view_.first = first_;
    view_.ns_a_clock = block.ns_a_clock;
    for (const Moment& moment : moments_) view_.moments.push_back(moment.at);
    view_.now = view_.moments.empty() ? 0 : view_.moments.at(std::min<std::size_t>(e_ - first_, moments_.size() - 1));
    add_producer();
    add_ring();
    add_consumers();
    add_lanes();
    add_slots();
    view_.note = pipeline_note(rec_);
    return std::move(view_);
  }

 private:
  std::int64_t lane_of(std::size_t moment) const {
    return rec_.lane_of(first_ + static_cast<EventIndex>(moment)).value_or(-1);
  }
  bool is_q(const EventId& id) const { return id.phase == names().ask_q; }

  // The next step of a phase, or its first.
  std::optional<EventIndex> next_of(Phase phase, bool of_producer) const {
    std::optional<EventIndex> first;
    for (std::size_t n = 0; n < moments_.size(); ++n) {
      if (moments_[n].id.phase != phase || (lane_of(n) < 0) != of_producer) continue;
      const EventIndex at = first_ + static_cast<EventIndex>(n);
      if (at > e_) return at;
      if (!first) first = at;
    }
    return first;
  }

  void add_consumer_token(Loop& loop, std::int64_t lane, const std::string& who) {
    const auto at = orders::hopper::last_of_lane(rec_, e_, lane);
    if (!at) return;
    const EventId& id = rec_.events[*at].id;
    const LaneStateRow& state = state_of(id.phase);
    if (state.node == kNoNode) {
      loop.aside.push_back(word((loop.aside.empty() ? "" : ", ") + who + " "));
      for (TextRun& run : lane_state_words(rec_, *at)) loop.aside.push_back(std::move(run));
      return;
    }
    LoopToken token;
    token.node = state.node;
    token.ink = Token::text;
    token.lane = static_cast<std::int32_t>(lane);
    token.live = *at == e_;
    token.words = {word(phrase("{}, tile {}", who, id.j), Token::text)};
    token.brief = {word(phrase("{}: tile {}", lane, id.j), Token::text)};
    loop.tokens.push_back(std::move(token));
  }

  void add_producer() {
    const HopperNames& n = names();
    Loop& loop = view_.producer;
    loop.title = tr("Producer");
    loop.what = tr("one thread that copies");
    using enum TensorColour;
    const std::string slot = phrase("slot for {}", place(0)), ask = phrase("ask for {}", place(0));
    const std::string brief_slot = phrase("slot {}", place(0)), brief_ask = phrase("ask {}", place(0));
    loop.nodes = {loop_node(slot, "K", k, true, brief_slot), loop_node(ask, "K", k, false, brief_ask),
                  loop_node(slot, "V", v, true, brief_slot), loop_node(ask, "V", v, false, brief_ask)};
    const Phase phases[] = {n.wait_slot_k, n.ask_k, n.wait_slot_v, n.ask_v};
    for (std::size_t at = 0; at < loop.nodes.size(); ++at) loop.nodes[at].next = next_of(phases[at], true);
    // Of K and V: the lane that copies Q is another.
    const auto copies = [&](EventIndex e) { return !rec_.lane_of(e) && !is_q(rec_.events[e].id); };
    bool goes_on = false;  // else its last request is over: it is nowhere in the loop
    const EventIndex end = first_ + static_cast<EventIndex>(moments_.size());
    for (EventIndex e = e_; e < end && !goes_on; ++e) goes_on = copies(e);
    for (EventIndex e = e_ + 1; goes_on && e-- > first_;) {
      if (!copies(e)) continue;
      const EventId& id = rec_.events[e].id;
      const LaneStateRow& state = state_of(id.phase);
      loop.tokens.push_back({state.node, with_tile(state.letter, id.j, state.ink), {}, state.ink, 0, e == e_});
      break;
    }
  }

  void add_ring() {
    Loop& loop = view_.ring;
    loop.title = tr("Ring");
    loop.what = tr("slots are reused in order");
    loop.nodes = {loop_node(tr("free"), "", Token::dim, true), loop_node(tr("in flight"), "", Token::dim, true),
                  loop_node(tr("landed"), "", Token::dim, false), loop_node(tr("read"), "", Token::dim, false)};
    for (std::size_t n = 0; n < loop.nodes.size(); ++n)
      loop.nodes[n].next = orders::hopper::slot_becomes(rec_, e_, static_cast<SlotState>(n));
    const auto before = e_ > first_ ? orders::hopper::ring_after(rec_, e_ - 1) : std::vector<RingSlot>();
    const auto ring = orders::hopper::ring_after(rec_, e_);
    for (std::size_t n = 0; n < ring.size(); ++n) {
      const RingSlot& slot = ring[n];
      LoopToken token;
      token.node = static_cast<std::size_t>(slot.state);
      token.ink = slot.state == SlotState::free ? Ink(Token::dim)
                  : slot.of_v                   ? Ink(TensorColour::v)
                                                : Ink(TensorColour::k);
      if (slot.state == SlotState::free) {
        token.words = {word(phrase("slot {}", n), Token::dim)};
        token.brief = {word(std::to_string(n), Token::dim)};
      } else {
        token.words = with_tile(slot.of_v ? "V" : "K", slot.j, token.ink);
      }
      if (slot.state == SlotState::read && slot.let_go > 0) {
        token.words.push_back(word(phrase(" {} of {}", slot.let_go, rec_.query_tiles()), token.ink));
        // The count is told once, in place of what the ring is.
        loop.aside = {word(phrase("{} of {}: consumers done with it", slot.let_go, rec_.query_tiles()))};
      }
      token.live = n < before.size() && (before[n].state != slot.state || before[n].let_go != slot.let_go);
      token.leads_to = slot.filled ? slot.filled : slot.since;
      token.tip = slot_words(n, slot);
      loop.tokens.push_back(std::move(token));
    }
  }

  // "Slot 0 holds K1 since 6210 ns, step 52."
  std::string slot_words(std::size_t n, const RingSlot& slot) const {
    const auto when = slot.filled ? slot.filled : slot.since;
    if (!when) return phrase("Slot {} is free: nothing was requested for it yet.", n);
    const double ns = moments_.at(*when - first_).at * view_.ns_a_clock;
    const EventIndex step = *when + 1;
    const std::string what = fmt::format("{}{}", slot.of_v ? "V" : "K", slot.j);
    std::string words = slot.state == SlotState::free ? phrase("Slot {} is free since {:.0f} ns, step {}.", n, ns, step)
                        : slot.state == SlotState::asked
                            ? phrase("Slot {}: {} is in flight since {:.0f} ns, step {}.", n, what, ns, step)
                            : phrase("Slot {} holds {} since {:.0f} ns, step {}.", n, what, ns, step);
    if (slot.let_go > 0)
      words += " " + phrase("Consumers that are done with it: {} of {}.", slot.let_go, rec_.query_tiles());
    return words + "\n" + for_hands(tr("Click to go to that step"), tr("Tap to go to that step"));
  }

  void add_consumers() {
    const HopperNames& n = names();
    Loop& loop = view_.consumers = consumer_loop();
    using enum TensorColour;
    const std::string wait = phrase("wait {}", place(0)), issue = phrase("issue {}", place(0));
    const std::string arrives = phrase("{} arrives", place(0));  // in flight, and there: its step stands here too
    loop.nodes = {loop_node(wait, "K", k, true),
                  loop_node(tr("wait turn"), "", Token::dim, true, tr("turn")),
                  loop_node(issue, "S", TensorColour::s, false),
                  loop_node(arrives, "S", TensorColour::s, true, wait),
                  loop_node(place(0), "m, α", m, false),
                  loop_node(place(0), "P, ℓ", p, false),
                  loop_node(wait, "V", v, true),
                  loop_node(issue, "O", o, false),
                  loop_node(arrives, "O", o, true, wait)};
    const Phase phases[] = {n.wait_k,       n.wait_turn, n.issue_s, n.wait_s, Phase::max,
                            Phase::weights, n.wait_v,    n.issue_o, n.wait_o};
    for (std::size_t at = 0; at < loop.nodes.size(); ++at) loop.nodes[at].next = next_of(phases[at], false);
    for (std::int32_t c = 0; c < rec_.query_tiles(); ++c) add_consumer_token(loop, c, phrase("consumer {}", c));
  }

  // A span from each moment of a lane to its next: the state is that of the last step of the moment.
  void add_lane(const std::string& label, std::int64_t lane, bool of_q) {
    LaneRow row;
    row.label = label;
    row.consumer = lane >= 0;
    const auto live = rec_.lane_of(e_).value_or(-1);
    row.live = live == lane && (lane >= 0 || is_q(rec_.events[e_].id) == of_q);
    std::vector<const Moment*> own;
    for (std::size_t n = 0; n < moments_.size(); ++n)
      if (lane_of(n) == lane && (lane >= 0 || is_q(moments_[n].id) == of_q)) own.push_back(&moments_[n]);
    for (std::size_t n = 0; n < own.size(); ++n) {
      const Moment& now = *own[n];
      if (n + 1 == own.size() || own[n + 1]->at == now.at) continue;
      const LaneStateRow& state = state_of(now.id.phase);
      if (now.id.phase == names().take_rows) continue;
      LaneSpan span{now.at, own[n + 1]->at, state.look, state.ink, state.letter, tile_of_letter(state.letter, now.id)};
      // What a consumer computes until the next stamp.
      if (now.id.phase == Phase::scores || now.id.phase == Phase::mask) span.letter = "m";
      if (now.id.phase == Phase::rescale) span.letter = "P";
      if (now.id.phase == names().wait_turn) span.letter.clear();
      // It asks for K only then; else tiles of the block follow that are not among these steps.
      if (now.id.phase == Phase::output && own[n + 1]->id.phase == Phase::normalise)
        span = {now.at, own[n + 1]->at, SpanLook::left_out, Token::dim, "", -1};
      row.spans.push_back(std::move(span));
    }
    view_.rows.push_back(std::move(row));
  }

  void add_lanes() {
    add_lane(tr("producer"), -1, false);
    for (std::int32_t c = 0; c < rec_.query_tiles(); ++c) add_lane(phrase("consumer {}", c), c, false);
  }

  // Asked for, landed at the latest when a consumer found it there, read until the last let it go.
  void add_slots() {
    std::map<std::int32_t, LaneRow> rows;
    for (const Moment& asked : moments_) {
      const bool of_v = asked.id.phase == names().ask_v;
      if (!of_v && asked.id.phase != names().ask_k) continue;
      std::int32_t landed = view_.length, read = view_.length, freed = asked.at;
      for (const Moment& x : moments_) {
        if (x.id.j != asked.id.j) continue;
        // Found there: by the wait that ends before O or the turn, and without turns before S.
        const bool found =
            of_v ? x.id.phase == names().issue_o : x.id.phase == names().wait_turn || x.id.phase == names().issue_s;
        if (found) landed = std::min(landed, x.at);
        if (x.id.phase == (of_v ? names().issue_o : names().issue_s)) read = std::min(read, x.at);
        if (x.id.phase == (of_v ? Phase::output : Phase::scores)) freed = std::max(freed, x.at);
      }
      LaneRow& row = rows[asked.slot];
      row.slot = true;
      row.ink = of_v ? Ink(TensorColour::v) : Ink(TensorColour::k);
      row.label = phrase("slot {}", asked.slot);
      row.spans.push_back({asked.at, landed, SpanLook::flight, row.ink, of_v ? "V" : "K", asked.id.j});
      row.spans.push_back({landed, read, SpanLook::landed, row.ink, "", asked.id.j});
      row.spans.push_back({read, freed, SpanLook::read, row.ink, of_v ? "V" : "K", asked.id.j});
    }
    for (auto& [slot, row] : rows) view_.rows.push_back(std::move(row));
  }

  const Recording& rec_;
  EventIndex e_, first_ = 0;
  std::vector<Moment> moments_;
  PipelineView view_;
};

}  // namespace

Loop consumer_loop() {
  Loop loop;
  loop.title = tr("Consumers");
  loop.what = tr("two warpgroups run the same loop");
  return loop;
}

PipelineView pipeline_view(const Recording& rec, EventIndex e) {
  return PipelineMaker(rec, e).make();
}

EventIndex step_at(const PipelineView& view, std::int32_t clock) {
  const auto after = std::ranges::upper_bound(view.moments, clock);
  const auto at = std::max<std::ptrdiff_t>(after - view.moments.begin() - 1, 0);
  return view.first + static_cast<EventIndex>(at);
}

TextRuns lane_state_words(const Recording& rec, EventIndex e) {
  const EventId& id = rec.events[e].id;
  const LaneStateRow& state = state_of(id.phase);
  const Ink ink = ink_of_letter(state.letter, state.ink);
  if (state.letter[0] == '\0') return {word(std::string(tr_of(state.words)))};
  const std::int32_t tile = tile_of_letter(state.letter, id);
  const std::string text(tr_of(state.words));
  const std::size_t hole = text.find("{}");
  TextRuns runs{word(text.substr(0, hole))};
  for (TextRun& run : with_tile(state.letter, tile, ink)) runs.push_back(std::move(run));
  if (hole + 2 < text.size()) runs.push_back(word(text.substr(hole + 2)));
  return runs;
}

TextRuns meanwhile_words(const Recording& rec, EventIndex e) {
  const Phase phase = rec.events[e].id.phase;
  const auto own = rec.lane_of(e);
  if (order_row(rec.order).abreast != Abreast::rows || !own || (phase != names().wait_s && phase != names().wait_o))
    return {};
  TextRuns runs;
  for (std::int32_t c = 0; c < rec.query_tiles(); ++c) {
    const auto last = orders::hopper::last_of_lane(rec, e, c);
    if (c == *own || !last) continue;
    const std::string who = phrase("Meanwhile consumer {} ", c);
    runs.push_back(word((runs.empty() ? "" : " ") + who));
    // A step that makes a number ends there; what its consumer computes from then on is the next one.
    const EventId& id = rec.events[*last].id;
    const bool maxima = id.phase == Phase::scores || id.phase == Phase::mask;
    const bool exponentials = id.phase == Phase::max || id.phase == Phase::rescale;
    if (maxima || exponentials) {
      runs.push_back(word(tr("computes ")));
      for (TextRun& run : with_tile(maxima ? "m" : "P", id.j, maxima ? TensorColour::m : TensorColour::p))
        runs.push_back(std::move(run));
    } else {
      for (TextRun& run : lane_state_words(rec, *last)) runs.push_back(std::move(run));
    }
    runs.push_back(word("."));
  }
  return runs;
}

EventIndex tiles_step(const Recording& rec, EventIndex e, std::int32_t row) {
  if (order_row(rec.order).abreast != Abreast::rows || e >= rec.events.size() || rec.lane_of(e)) return e;
  const std::int32_t i = rec.events[e].id.i;
  const std::int32_t br = static_cast<std::int32_t>(std::clamp<std::int64_t>(rec.options.br, 1, rec.problem.Lq));
  const std::int64_t lane = i >= 0 ? i : std::clamp(row / br, 0, rec.query_tiles() - 1);
  return orders::hopper::last_of_lane(rec, e, lane).value_or(e);
}

namespace {

template <class Fits>
bool any_slot(const Recording& rec, EventIndex e, bool of_v, std::int32_t j, Fits fits) {
  if (order_row(rec.order).abreast != Abreast::rows) return false;
  const auto ring = orders::hopper::ring_after(rec, e);
  return std::ranges::any_of(ring, [&](const RingSlot& s) { return s.of_v == of_v && s.j == j && fits(s.state); });
}

}  // namespace

bool on_its_way(const Recording& rec, EventIndex e, bool of_v, std::int32_t j) {
  return any_slot(rec, e, of_v, j, [](SlotState state) { return state == SlotState::asked; });
}

bool lies_in_slot(const Recording& rec, EventIndex e, bool of_v, std::int32_t j) {
  if (order_row(rec.order).abreast != Abreast::rows) return false;
  // The step that has the product still shows what it was made of: the consumer lets go behind it.
  if (rec.lane_of(e) && rec.events[e].id.j == j && rec.after(e, of_v ? Slot::v : Slot::k) != kNoVersion) return true;
  return any_slot(rec, e, of_v, j,
                  [](SlotState state) { return state == SlotState::landed || state == SlotState::read; });
}

}  // namespace attn
