// What Step shows of a block's pipeline, on the recorded block whose moments are known.
#include "viz/step/facts/pipeline.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/orders/hopper/moments.h"
#include "kernels/orders/hopper/names.h"
#include "kernels/orders/hopper/recorded.h"
#include "viz/step/facts/abreast.h"
#include "viz/step/facts/scales.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {
namespace {

Recording recorded(std::int64_t keys = 32, std::int64_t pipeline = 1) {
  Problem p;
  p.Lq = 4;
  p.Lk = keys;
  p.D = p.Dv = 4;
  Options o;
  o.br = 2;
  o.bc = 4;
  choose(o, kPipeline, pipeline);
  const KernelRow& row = **find_kernel("cpu_flash");
  InputSpec spec;
  spec.generator = Generator::normal;
  auto rec = row.record(row, p, o, *make_inputs(p, spec), {});
  EXPECT_TRUE(rec) << (rec ? "" : rec.error().message);
  return *std::move(rec);
}

EventIndex step(const Recording& rec, std::int32_t i, std::int32_t j, Phase phase) {
  const auto e = rec.find({0, 0, i, j, phase});
  EXPECT_TRUE(e);
  return e.value_or(0);
}

std::vector<std::string> tokens_at(const Loop& loop, std::size_t node) {
  std::vector<std::string> words;
  for (const LoopToken& token : loop.tokens)
    if (token.node == node) words.push_back(plain_text(token.words));
  std::ranges::sort(words);
  return words;
}

using Words = std::vector<std::string>;

// By its own number, as in Profile, and what it holds by its tile.
TEST(PipelineView, ASlotHasOneNameInItsRowAndInTheRing) {
  const Recording rec = recorded();
  for (const std::int64_t pipeline : {1, 2, 3, 4}) {
    const PipelineView view = pipeline_view(recorded(32, pipeline), 0);
    std::size_t slot = 0;
    for (const LaneRow& row : view.rows)
      if (row.slot) {
        EXPECT_EQ(row.label, "slot " + std::to_string(slot++));
      }
    EXPECT_EQ(slot, view.ring.tokens.size());
    for (std::size_t n = 0; n < view.ring.tokens.size(); ++n)  // before the first request all are free
      EXPECT_EQ(plain_text(view.ring.tokens[n].words), "slot " + std::to_string(n));
  }
  // Of K and V in turn, as their requests are.
  const PipelineView view = pipeline_view(rec, 0);
  for (std::size_t n = 3; n < view.rows.size(); ++n)
    for (const LaneSpan& span : view.rows[n].spans)
      if (!span.letter.empty()) {
        EXPECT_EQ(span.letter, (n - 3) % 2 == 0 ? "K" : "V");
      }
}

// Clock 13 728 of the recorded block: consumer 0 has handed S of tile 2 over; consumer 1 has the maximum of tile 1; the
// producer waits for a slot for V of tile 3; K 2 is read, K 3 and V 2 are on their way, V 1 was let go by one.
TEST(PipelineView, TokensStandWhereTheRecordedBlockHadThem) {
  const Recording rec = recorded();
  const PipelineView view = pipeline_view(rec, step(rec, 0, 2, orders::hopper_names().wait_s));
  EXPECT_EQ(view.now, 13728);
  EXPECT_EQ(tokens_at(view.consumers, 3), Words{"consumer 0, tile 2"});
  EXPECT_EQ(tokens_at(view.consumers, 4), Words{"consumer 1, tile 1"});
  EXPECT_EQ(tokens_at(view.producer, 2), Words{"V3"});
  EXPECT_EQ(tokens_at(view.ring, 0), Words{});
  EXPECT_EQ(tokens_at(view.ring, 1), (Words{"K3", "V2"}));
  EXPECT_EQ(tokens_at(view.ring, 3), (Words{"K2", "V1 1 of 2"}));
  for (const LoopToken& token : view.consumers.tokens) EXPECT_EQ(token.live, token.lane == 0);
}

// The same step: K 2 landed with consumer 0's wait for its turn, V 2 was asked for, V 1 came with the issue of its
// product.
TEST(PipelineView, ASlotSaysWhatItHoldsAndLeadsToWhereThatCame) {
  const Recording rec = recorded();
  const auto& n = orders::hopper_names();
  const PipelineView view = pipeline_view(rec, step(rec, 0, 2, n.wait_s));
  const auto first_of = [&](std::int32_t j, Phase phase) {
    for (EventIndex e = 0; e < rec.events.size(); ++e)
      if (rec.events[e].id.j == j && rec.events[e].id.phase == phase) return e;
    return EventIndex{0};
  };
  const auto expect = [&](std::size_t slot, EventIndex at, const std::string& words) {
    const LoopToken& token = view.ring.tokens.at(slot);
    EXPECT_EQ(token.leads_to, at) << slot;
    const double ns = orders::hopper::moment_of(rec, at).at * view.ns_a_clock;
    EXPECT_EQ(token.tip, fmt::format(fmt::runtime(words), ns, at + 1) + "\nClick to go to that step");
  };
  expect(0, first_of(2, n.wait_turn), "Slot 0 holds K2 since {:.0f} ns, step {}.");
  expect(1, first_of(2, n.ask_v), "Slot 1: V2 is in flight since {:.0f} ns, step {}.");
  expect(2, first_of(3, n.ask_k), "Slot 2: K3 is in flight since {:.0f} ns, step {}.");
  expect(3, first_of(1, n.issue_o),
         "Slot 3 holds V1 since {:.0f} ns, step {}. Consumers that are done with it: 1 of 2.");
  EXPECT_EQ(pipeline_view(rec, 0).ring.tokens.at(2).tip, "Slot 2 is free: nothing was requested for it yet.");
  EXPECT_FALSE(pipeline_view(rec, 0).ring.tokens.at(2).leads_to);
}

// One meaning of a number in a lane: P, S and O of a key tile have its number whichever consumer's they are, as K and V
// have; Q alone has that of its rows, and what is stored has none.
TEST(PipelineView, EveryLetterButQIsNumberedByItsKeyTile) {
  const Recording rec = recorded();
  const auto& n = orders::hopper_names();
  EXPECT_EQ(plain_text(lane_state_words(rec, step(rec, 1, 3, n.wait_o))), "waits for O3");
  EXPECT_EQ(plain_text(lane_state_words(rec, step(rec, 1, 3, n.wait_s))), "waits for S3");
  EXPECT_EQ(plain_text(lane_state_words(rec, step(rec, 1, -1, n.wait_q))), "waits for Q1");
  const TextRuns aside = pipeline_view(rec, static_cast<EventIndex>(rec.events.size() - 2)).consumers.aside;
  EXPECT_EQ(plain_text(aside), "consumer 0 is done, consumer 1 divides and stores O");
  const PipelineView view = pipeline_view(rec, 0);
  for (std::int32_t c = 0; c < 2; ++c) {
    std::vector<std::int32_t> outputs;  // key tiles
    std::int32_t weights = -1;
    const std::vector<LaneSpan>& spans = view.rows.at(static_cast<std::size_t>(c) + 1).spans;
    for (const LaneSpan& span : spans) {
      if (span.letter == "P") weights = span.tile;
      EXPECT_TRUE(span.letter != "Q" || span.tile == c) << span.tile;
      EXPECT_TRUE(span.letter.empty() || span.tile >= 0 || &span == &spans.back()) << span.letter << " has no number";
      if (span.letter != "O") continue;
      EXPECT_TRUE(span.tile < 0 || span.tile == weights) << "O" << span.tile << " is the product of P" << weights;
      if (outputs.empty() || outputs.back() != span.tile) outputs.push_back(span.tile);
    }
    EXPECT_EQ(outputs, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, -1})) << c;
  }
}

// The sentences of the steps number O as the lanes do.
TEST(PipelineView, TheStepsTextsNumberOByItsKeyTile) {
  const OrderRow& order = order_row(*order_named("hopper"));
  const auto& n = orders::hopper_names();
  for (const OrderPhase& phase : order.phases) {
    EXPECT_EQ(phase.title.find("O|{i}"), std::string_view::npos) << phase.title;
    EXPECT_EQ(phase.sentence.find("O|{i}"), std::string_view::npos) << phase.sentence;
    const bool of_o = phase.phase == n.issue_o || phase.phase == n.wait_o;
    EXPECT_EQ(phase.title.find("[O|{j}]") != std::string_view::npos, of_o) << phase.title;
  }
}

// One rule at every step: a token stands at the node that its lane's last step tells of, so none leaves the loop.
TEST(PipelineView, AConsumersTokenStandsAtTheNodeOfItsLastStep) {
  const Recording rec = recorded();
  const auto& n = orders::hopper_names();
  const std::map<Phase, std::string> nodes{
      {n.wait_k, "wait K"},         {n.wait_turn, "wait turn"},  {n.issue_s, "issue S"}, {n.wait_s, "S arrives"},
      {Phase::scores, "S arrives"}, {Phase::mask, "m, α"},       {Phase::max, "m, α"},   {Phase::rescale, "m, α"},
      {Phase::weights, "P, ℓ"},     {Phase::sum, "P, ℓ"},        {n.wait_v, "wait V"},   {n.issue_o, "issue O"},
      {n.wait_o, "O arrives"},      {Phase::output, "O arrives"}};
  std::size_t found = 0;
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    const PipelineView view = pipeline_view(rec, e);
    std::size_t in_loop = 0;
    for (std::int32_t c = 0; c < rec.query_tiles(); ++c)
      if (const auto last = orders::hopper::last_of_lane(rec, e, c))
        in_loop += nodes.contains(rec.events[*last].id.phase);
    EXPECT_EQ(view.consumers.tokens.size(), in_loop) << e;
    for (const LoopToken& token : view.consumers.tokens) {
      const auto last = orders::hopper::last_of_lane(rec, e, token.lane);
      ASSERT_TRUE(last);
      const Phase phase = rec.events[*last].id.phase;
      EXPECT_EQ(plain_text(view.consumers.nodes.at(token.node).words), nodes.at(phase)) << e << " " << name_of(phase);
      ++found;
    }
  }
  EXPECT_GT(found, 300U);
}

TEST(PipelineView, ALanesSpansHaveNoGapAndNoOverlapAndAStampMovesOneEdge) {
  const Recording rec = recorded();
  const PipelineView view = pipeline_view(rec, 0);
  ASSERT_EQ(view.rows.size(), 7U);
  std::vector<std::int32_t> stamps;
  for (const auto& stamp : orders::hopper::recorded_block().stamps)
    if (stamp.consumer == 0 && stamp.state != orders::hopper::State::ask_q) stamps.push_back(stamp.at);
  const LaneRow& lane = view.rows[1];
  EXPECT_EQ(lane.label, "consumer 0");
  for (std::size_t n = 1; n < lane.spans.size(); ++n) EXPECT_EQ(lane.spans[n].from, lane.spans[n - 1].to);
  for (const LaneSpan& span : lane.spans) {
    EXPECT_LT(span.from, span.to);
    EXPECT_NE(span.look, SpanLook::left_out);
  }
  EXPECT_EQ(lane.spans.back().to, stamps.back());
  // A slot's tile is asked for, landed and read, one after the other.
  for (const LaneRow& row : view.rows) {
    if (!row.slot) continue;
    ASSERT_EQ(row.spans.size(), 12U) << row.label;
    for (std::size_t n = 1; n < row.spans.size(); ++n) EXPECT_GE(row.spans[n].from, row.spans[n - 1].to) << row.label;
  }
}

// What was not recorded says so, with what was changed and what that does.
TEST(PipelineView, ADerivedBlockSaysSoAndHasItsOwnRing) {
  EXPECT_EQ(pipeline_view(recorded(), 0).note.derived, "");
  const Recording one = recorded(32, 2);
  const PipelineView view = pipeline_view(one, step(one, 0, 2, orders::hopper_names().wait_k));
  EXPECT_NE(view.note.derived.find("one slot each"), std::string::npos) << view.note.derived;
  EXPECT_NE(view.note.outcome.find("instead of 20.1"), std::string::npos) << view.note.outcome;
  EXPECT_EQ(view.ring.tokens.size(), 2U);
  EXPECT_EQ(view.rows.size(), 5U);  // three lanes, a slot of K, a slot of V
  EXPECT_GT(view.length, pipeline_view(recorded(), 0).length);
  EXPECT_NE(pipeline_view(recorded(32, 3), 0).note.derived.find("third key tile"), std::string::npos);
}

// Recorded, so nothing is called derived; the lanes show what turns changed, and the source says so with both times.
TEST(PipelineView, ABlockWithoutTurnsIsRecordedAndNobodyWaitsForOne) {
  const Recording with = recorded(), without = recorded(32, 4);
  const auto waits = [](const Recording& rec) {
    std::size_t n = 0;
    for (const auto& event : rec.events) n += event.id.phase == orders::hopper_names().wait_turn ? 1 : 0;
    return n;
  };
  EXPECT_EQ(waits(with), 16U);
  EXPECT_EQ(waits(without), 0U);
  EXPECT_EQ(without.events.size() + 16, with.events.size());
  const PipelineView view = pipeline_view(without, 0);
  EXPECT_EQ(view.note.derived, "");
  EXPECT_NE(view.note.source.find("step 2"), std::string::npos) << view.note.source;
  EXPECT_EQ(told_words(view.note), "No turns: 20.8 µs, with turns 20.1.");
  EXPECT_EQ(view.rows.size(), pipeline_view(with, 0).rows.size());
  EXPECT_NE(view.length, pipeline_view(with, 0).length);
}

// The figure comes first and stays: the GPU's name goes before the source, the source before what was changed.
TEST(PipelineView, ANotesShorterFormsKeepItsFigure) {
  for (const std::int64_t pipeline : {1, 2, 3, 4}) {
    const PipelineNote note = pipeline_note(recorded(32, pipeline));
    const std::vector<NoteForm> forms = note_forms(note);
    ASSERT_GE(forms.size(), 2U);
    const auto size = [](const NoteForm& f) { return f.told.size() + f.source.size(); };
    for (std::size_t n = 1; n < forms.size(); ++n) EXPECT_LT(size(forms[n]), size(forms[n - 1])) << pipeline << n;
    EXPECT_NE(forms[0].source.find("H100"), std::string::npos);
    EXPECT_EQ(forms[1].source.find("H100"), std::string::npos);
    EXPECT_NE(forms[1].source.find("flash_hopper: step "), std::string::npos) << forms[1].source;
    const bool changed = pipeline != 1;
    std::size_t with_figure = 0;
    for (const NoteForm& f : forms) with_figure += f.told.find("20.1") != std::string::npos;
    // Where it was derived, the last form is the tag alone.
    EXPECT_EQ(with_figure, changed ? forms.size() - (note.derived.empty() ? 0 : 1) : 0) << pipeline;
  }
}

// With and without turns, and derived: what a slot holds has landed before anybody reads it, and is let go at the end.
TEST(PipelineView, WhatWasAskedForLandsInEveryRecordedBlock) {
  for (const std::int64_t pipeline : {1, 2, 3, 4}) {
    const Recording rec = recorded(32, pipeline);
    const PipelineView view = pipeline_view(rec, 60);
    for (const LaneRow& row : view.rows) {
      for (const LaneSpan& span : row.spans)
        EXPECT_TRUE(!row.slot || span.look != SpanLook::flight || span.to < view.length) << pipeline << row.label;
    }
  }
}

// After its last request it is at no place of its loop; before, it is at one.
TEST(PipelineView, AProducerThatHasAskedForAllIsNowhereInItsLoop) {
  const Recording rec = recorded();
  EXPECT_EQ(pipeline_view(rec, 60).producer.tokens.size(), 1U);
  EXPECT_TRUE(pipeline_view(rec, static_cast<EventIndex>(rec.events.size() - 1)).producer.tokens.empty());
}

TEST(PipelineView, WhereFewerTilesAreFollowedTheRestIsLeftOut) {
  const Recording rec = recorded(16);
  const PipelineView view = pipeline_view(rec, 0);
  EXPECT_NE(view.note.source.find("the first 4 of its 8 key tiles"), std::string::npos) << view.note.source;
  EXPECT_EQ(std::ranges::count(view.rows[1].spans, SpanLook::left_out, &LaneSpan::look), 1);
  EXPECT_EQ(std::ranges::count(pipeline_view(recorded(), 0).rows[1].spans, SpanLook::left_out, &LaneSpan::look), 0);
}

// Of each step: what is in flight has no value in any cell, whoever's step it is.
TEST(PipelineView, TilesInFlightHaveNoNumbers) {
  const Recording rec = recorded();
  const TensorScales scales = scales_of(rec);
  const auto& n = orders::hopper_names();
  std::size_t flights = 0;
  for (EventIndex now = 0; now < rec.events.size(); ++now) {
    for (std::int64_t lane = 0; lane < abreast(rec); ++lane) {
      const auto e = last_abreast(rec, now, lane);
      if (!e) continue;
      const TilesScene scene = tiles_scene(rec, *e, now, {}, scales);
      const Phase phase = rec.events[*e].id.phase;
      const TileScene &s = scene.tiles[static_cast<std::size_t>(Column::s)],
                      &o = scene.tiles[static_cast<std::size_t>(Column::o)];
      ASSERT_EQ(s.flight, phase == n.issue_s || phase == n.wait_s);
      ASSERT_EQ(o.flight, phase == n.issue_o || phase == n.wait_o);
      for (const TileScene* tile : {&s, &o, &scene.k, &scene.v}) {
        if (!tile->flight) continue;
        ++flights;
        for (const Cell& cell : tile->cells) ASSERT_NE(cell.look, CellLook::value);
      }
    }
  }
  EXPECT_GT(flights, 100U);
}

// A slot has one truth: K or V that lies in it has its numbers for both consumers, until both have let it go.
TEST(PipelineView, WhatLiesInASlotIsShownAlikeToBothConsumers) {
  const Recording rec = recorded();
  const TensorScales scales = scales_of(rec);
  std::size_t held = 0, alone = 0, freed = 0;
  for (EventIndex now = 0; now < rec.events.size(); ++now) {
    const auto ring = orders::hopper::ring_after(rec, now);
    for (const bool of_v : {false, true}) {
      std::vector<std::pair<std::int32_t, std::vector<float>>> shown;  // by consumer: key tile and numbers
      for (std::int64_t lane = 0; lane < abreast(rec); ++lane) {
        const auto e = last_abreast(rec, now, lane);
        if (!e || rec.events[*e].id.j < 0) continue;
        const std::int32_t j = rec.events[*e].id.j;
        const auto slot = std::ranges::find_if(ring, [&](const auto& s) { return s.of_v == of_v && s.j == j; });
        bool lies = slot != ring.end() && (slot->state == orders::hopper::SlotState::landed ||
                                           slot->state == orders::hopper::SlotState::read);
        // A consumer lets go behind the step that has its product.
        lies =
            lies || (rec.events[now].id.j == j && rec.events[now].id.phase == (of_v ? Phase::output : Phase::scores));
        const TilesScene scene = tiles_scene(rec, *e, now, {}, scales);
        const TileScene& tile = of_v ? scene.v : scene.k;
        std::vector<float> numbers;
        for (const Cell& cell : tile.cells)
          if (cell.look == CellLook::value) numbers.push_back(cell.value);
        ASSERT_EQ(numbers.size() == tile.cells.size(), lies) << now << (of_v ? " V" : " K") << j << " " << lane;
        held += lies;
        freed += !lies;
        alone += lies && slot != ring.end() && slot->let_go == 1;
        shown.emplace_back(j, numbers);
      }
      if (shown.size() == 2 && shown[0].first == shown[1].first) {
        EXPECT_EQ(shown[0].second, shown[1].second);
      }
    }
  }
  EXPECT_GT(held, 100U);
  EXPECT_GT(alone, 20U) << "one has let it go, the other has not";
  EXPECT_GT(freed, 100U);
}

TEST(PipelineView, AMomentOfTheAxisIsTheLastStepThatBeganByThen) {
  const Recording rec = recorded();
  const PipelineView view = pipeline_view(rec, 0);
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    const EventIndex at = step_at(view, view.moments.at(e));
    EXPECT_EQ(view.moments.at(at), view.moments.at(e));
    EXPECT_GE(at, e);
  }
  EXPECT_EQ(step_at(view, 0), 0U);
}

// While a product is in flight the sentence tells of the other lane as it is recorded, to the very end, where the other
// divides and stores.
TEST(PipelineView, WhatTheOtherConsumerDoesMeanwhileIsThatOfItsLane) {
  const Recording rec = recorded();
  const auto& n = orders::hopper_names();
  EXPECT_TRUE(meanwhile_words(rec, step(rec, 0, 2, n.issue_s)).empty());
  std::size_t told = 0, stores = 0, computes = 0, waits = 0;
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    const std::string words = plain_text(meanwhile_words(rec, e));
    const Phase phase = rec.events[e].id.phase;
    if (phase != n.wait_s && phase != n.wait_o) {
      EXPECT_EQ(words, "");
      continue;
    }
    const std::int64_t other = 1 - rec.lane_of(e).value_or(0);
    std::optional<EventIndex> last;
    for (EventIndex x = 0; x <= e; ++x)
      if (rec.lane_of(x) == other) last = x;
    if (!last) {
      EXPECT_EQ(words, "");
      continue;
    }
    ++told;
    EXPECT_EQ(words.rfind("Meanwhile consumer " + std::to_string(other) + " ", 0), 0U) << words;
    const Phase now = rec.events[*last].id.phase;
    const bool storing = now == Phase::normalise;
    EXPECT_EQ(words.find("stores") != std::string::npos, storing) << words;
    const bool computing = now == Phase::scores || now == Phase::mask || now == Phase::max || now == Phase::rescale;
    EXPECT_EQ(words.find("computes") != std::string::npos, computing) << words;
    stores += storing;
    computes += computing;
    waits += words.find("waits") != std::string::npos;
  }
  EXPECT_EQ(told, 32U) << "two products of each of eight tiles of both consumers";
  EXPECT_GT(stores, 0U);
  EXPECT_GT(computes, 0U);
  EXPECT_GT(waits, 0U);
}

// A title never says both that a tile comes next and that it is in flight.
TEST(PipelineView, WhatIsInFlightIsNotCalledNext) {
  const Recording rec = recorded();
  std::size_t flights = 0;
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    const TilesScene scene = tiles_scene(rec, e, {}, OutputReading::as_summed, scales_of(rec));
    if (scene.next.empty()) continue;
    EXPECT_FALSE(scene.tiles[static_cast<std::size_t>(scene.next_column)].flight) << e;
    ++flights;
  }
  EXPECT_GT(flights, 0U);
}

}  // namespace
}  // namespace attn
