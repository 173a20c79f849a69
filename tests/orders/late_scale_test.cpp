// An order that the program does not know, in a folder and one table, appears whole: it is recorded, checked, replayed,
// kept in a file, counted, held against a wrong run, and shown.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "app/cli/step/step_text.h"
#include "app/state/apply/apply.h"
#include "app/state/string/state_string.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/replay/bounds.h"
#include "kernels/recording/replay/replay.h"
#include "kernels/recording/size.h"
#include "tests/kernels/temp_folder.h"
#include "tests/orders/late_scale.h"
#include "viz/step/facts/code_phase.h"
#include "viz/step/facts/letters.h"
#include "viz/step/facts/scales.h"
#include "viz/step/tiles/tiles_scene.h"
#include "viz/step/timeline/timeline.h"

namespace attn {
namespace {

// Masked, ragged, with a tile that is skipped; 16 bits, so that O has a rounded version.
Problem problem() {
  Problem p;
  p.Lq = 10;
  p.Lk = 13;
  p.D = 6;
  p.Dv = 5;
  p.dtype = DType::f16;
  p.mask.causal = true;
  return p;
}

Recording recorded(const KernelRow& row) {
  const Problem p = problem();
  Options o;
  o.br = o.bc = 4;
  InputSpec spec;
  spec.generator = Generator::normal;
  auto inputs = make_inputs(p, spec);
  EXPECT_TRUE(inputs) << (inputs ? "" : inputs.error().message);
  auto rec = row.record(row, p, o, *inputs, {});
  EXPECT_TRUE(rec) << (rec ? "" : rec.error().message);
  return std::move(*rec);
}

std::set<std::string> phases_of(const Recording& rec) {
  std::set<std::string> names;
  for (const Event& e : rec.events) names.emplace(name_of(e.id.phase));
  return names;
}

EventIndex first_of(const Recording& rec, std::string_view phase) {
  const auto at = std::ranges::find(rec.events, *phase_named(phase), [](const Event& e) { return e.id.phase; });
  EXPECT_NE(at, rec.events.end());
  return static_cast<EventIndex>(at - rec.events.begin());
}

TEST(UnknownOrder, HasIdsBeyondThoseOfTheProgram) {
  EXPECT_GE(static_cast<std::size_t>(*phase_named("product")), kPhases);
  EXPECT_GE(static_cast<std::size_t>(*slot_named("raw")), kSlots);
  EXPECT_EQ(name_of(*order_named("late-scale")), "late-scale");
  EXPECT_EQ(name_of(*slot_named("raw")), "raw");
  EXPECT_EQ(order_row(Order::flash).own_slots.size(), 0U) << "of the orders that the program knows none changes";
  EXPECT_EQ(order_row(*order_named("late-scale")).own_phases.size(), 2U);
}

// An order may bring slots of its own: what tells a replay where their tiles come from must not look beyond Q, K and V.
TEST(UnknownOrder, ASlotOfItsOwnIsCutFromNoTensorOfTheInputs) {
  const Recording rec = recorded(late_scale_row());
  const EventId& id = rec.events.at(first_of(rec, "product")).id;
  EXPECT_EQ(rows_of_input(rec, id, Slot::q)->tensor, &rec.inputs.q);
  EXPECT_EQ(rows_of_input(rec, id, Slot::k)->tensor, &rec.inputs.k);
  EXPECT_EQ(rows_of_input(rec, id, Slot::v)->tensor, &rec.inputs.v);
  EXPECT_FALSE(rows_of_input(rec, id, *slot_named("raw")));
  EXPECT_FALSE(rows_of_input(rec, id, Slot::s));
}

TEST(UnknownOrder, IsRecordedCheckedAndReplayedBitForBit) {
  const Recording rec = recorded(late_scale_row());
  const auto good = check_recording(rec, "late-scale");
  ASSERT_TRUE(good) << good.error().message;
  const auto difference = replay(rec);
  EXPECT_FALSE(difference) << (difference ? difference->words : "");
  EXPECT_TRUE(phases_of(rec).contains("product"));
  EXPECT_TRUE(phases_of(rec).contains("skipped"));
  EXPECT_FALSE(phases_of(rec).contains("scores"));
}

// Each own number that is changed by a bit is found, and named.
TEST(UnknownOrder, ReplayFindsANumberOfItsOwnSlotThatIsNotTheKernels) {
  Recording rec = recorded(late_scale_row());
  const EventIndex e = first_of(rec, "product");
  const Version& raw = rec.version(rec.after(e, *slot_named("raw")));
  rec.arena[raw.offset + 1] += 1;
  const auto difference = replay(rec);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->event, e);
  EXPECT_NE(difference->words.find("product): raw [0, 1]"), std::string::npos) << difference->words;
}

TEST(UnknownOrder, RecordingWithoutItsOwnVersionIsRefused) {
  Recording rec = recorded(late_scale_row());
  rec.own_after[first_of(rec, "product")] = kNoVersion;
  EXPECT_FALSE(check_recording(rec, "late-scale"));
  rec.own_after.pop_back();
  EXPECT_FALSE(check_recording(rec, "late-scale"));
}

TEST(UnknownOrder, ExactNumbersHoldEveryRecordedOneWithinTheirBound) {
  const Recording rec = recorded(late_scale_row());
  std::size_t held = 0;
  for (std::int32_t i = 0; i < rec.query_tiles(); ++i) {
    const ExactTile exact(rec, 0, 0, i);
    for (VersionId v = 0; v < rec.versions.size(); ++v) {
      if (rec.version(v).slot != *slot_named("raw")) continue;
      const auto values = rec.values(v);
      for (std::size_t n = 0; n < values.size(); ++n) {
        const auto at = exact.at(v, n);
        if (!at) continue;
        ++held;
        EXPECT_LE(std::fabs(static_cast<double>(values[n]) - at->exact), at->bound);
      }
    }
  }
  EXPECT_GT(held, 50U);
}

TEST(UnknownOrder, TakesAsManyBytesAsWereForeseen) {
  const Recording rec = recorded(late_scale_row());
  const std::uint64_t foreseen = recording_bytes(rec.order, rec.problem, rec.options);
  EXPECT_EQ(rec.bytes(), foreseen);
  // More than flash, which has neither the events nor the slot.
  EXPECT_GT(foreseen, recording_bytes(Order::flash, rec.problem, rec.options));
}

TEST(UnknownOrder, BytesOfItsEventsAddUpToItsTileLoads) {
  const Recording rec = recorded(late_scale_row());
  std::uint64_t counted = 0;
  for (const std::uint64_t bytes : rec.events.back().hbm_bytes) counted += bytes;
  EXPECT_EQ(counted, tile_loads(rec.order, 0, rec.problem, rec.options).total());
  EXPECT_GT(counted, tile_loads(Order::flash, 0, rec.problem, rec.options).total());
}

TEST(UnknownOrder, FileGivesBackWhatWasRecorded) {
  const Recording rec = recorded(late_scale_row());
  const TempFolder folder;
  const auto file = folder / "late.attn";
  const auto written = write_recording(file, rec);
  ASSERT_TRUE(written) << written.error().message;
  const auto read = read_recording(file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->order, rec.order);
  EXPECT_EQ(read->own_after, rec.own_after);
  EXPECT_EQ(read->arena, rec.arena);
  ASSERT_EQ(read->events.size(), rec.events.size());
  for (std::size_t e = 0; e < rec.events.size(); ++e) EXPECT_EQ(read->events[e].id, rec.events[e].id);
  for (std::size_t v = 0; v < rec.versions.size(); ++v) EXPECT_EQ(read->versions[v].slot, rec.versions[v].slot);
}

TEST(UnknownOrder, FirstWrongStepIsFoundWithItsCause) {
  const Recording right = recorded(late_scale_row());
  Recording wrong = right;
  const EventIndex e = first_of(wrong, "scale");
  const Version& s = wrong.version(wrong.after(e, Slot::s));
  const Version& raw = wrong.version(wrong.after(e, *slot_named("raw")));
  std::copy_n(wrong.arena.begin() + static_cast<std::ptrdiff_t>(raw.offset), s.rows * s.cols,
              wrong.arena.begin() + static_cast<std::ptrdiff_t>(s.offset));
  const auto found = find_first_wrong(wrong, right, {});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->event, e);
  EXPECT_EQ((*found)->cause, "The scale was left out.");
  EXPECT_NE(place_words(**found).find("(scale, query tile 0, key tile 0)"), std::string::npos);
}

// Where one stands in another order of the same problem, and back.
TEST(UnknownOrder, HasItsPlaceBesideAnotherOrder) {
  const Recording rec = recorded(late_scale_row());
  const auto row = find_kernel("cpu_flash");
  ASSERT_TRUE(row);
  const Recording flash = recorded(**row);
  EXPECT_EQ(flash.events[nearest_event(rec, first_of(rec, "product"), flash)].id.phase, Phase::scores);
}

// The mask of a key tile has none like it in the tile before, which shows all its keys: the nearest is the step before
// it in the walk, which the order has of its own.
TEST(UnknownOrder, StepsBetweenTilesKeepToItsWalk) {
  const Recording rec = recorded(late_scale_row());
  const auto in_tile = [&](std::int32_t j, Phase phase) { return rec.find({0, 0, 1, j, phase}); };
  const auto masked = in_tile(2, Phase::mask);
  ASSERT_TRUE(masked);
  ASSERT_FALSE(in_tile(1, Phase::mask));
  EXPECT_EQ(step_from(rec, *masked, StepUnit::key_tile, -1), in_tile(1, *phase_named("scale")));
  EXPECT_EQ(step_from(rec, *in_tile(0, *phase_named("product")), StepUnit::key_tile, 1),
            in_tile(1, *phase_named("product")));
}

TEST(UnknownOrder, PhasesStandOnTheTimelineUnderTheirLetters) {
  const Recording rec = recorded(late_scale_row());
  const EventIndex e = first_of(rec, "product");
  const TimelineScene scene = timeline_scene(rec, place_of(rec, e, {}), scrubber_marks(rec), {});
  const auto chip = std::ranges::find(scene.chips, e, &TrackChip::event);
  ASSERT_NE(chip, scene.chips.end());
  EXPECT_EQ(chip->letter, "R");
  EXPECT_TRUE(chip->maths);
  EXPECT_TRUE(chip->live);
}

TEST(UnknownOrder, PhaseOfTheSourceIsAStepAndBack) {
  const Recording rec = recorded(late_scale_row());
  EXPECT_EQ(code_phase_of(*phase_named("product")), gpu::CodePhase::s);
  const auto step = step_of(rec, gpu::CodePhase::s);
  ASSERT_TRUE(step);
  EXPECT_TRUE(*step == first_of(rec, "scale") || *step == first_of(rec, "product"));
}

// Its own tile stands beside S, which it is like, with the numbers that were recorded.
TEST(UnknownOrder, TileOfItsOwnSlotIsOnShow) {
  const Recording rec = recorded(late_scale_row());
  const TensorScales scales = scales_of(rec);
  const EventIndex e = first_of(rec, "product");
  const TilesScene scene = tiles_scene(rec, e, {}, OutputReading::as_summed, scales);
  const auto own = static_cast<Column>(kNamedColumns);
  const auto s = std::ranges::find(scene.columns, Column::s);
  ASSERT_NE(s, scene.columns.end());
  EXPECT_EQ(*(s + 1), own);
  const TileScene& tile = scene.tiles.at(kNamedColumns);
  EXPECT_TRUE(tile.live);
  EXPECT_TRUE(tile.made);
  EXPECT_EQ(tile.title.at(0).text, "R");
  EXPECT_EQ(tile.cell(1, 2).value, rec.values(rec.after(e, *slot_named("raw")))[6]);
  EXPECT_TRUE(scene.captions.at(kNamedColumns).live);
  EXPECT_EQ(scene.next_column, Column::s) << "the scaled tile comes next";
  // In the orders that the program knows there is no such tile.
  const auto flash = find_kernel("cpu_flash");
  const Recording other = recorded(**flash);
  EXPECT_EQ(tiles_scene(other, 1, {}, OutputReading::as_summed, scales_of(other)).tiles.size(), kNamedColumns);
}

TEST(UnknownOrder, StepsAreSaidAsTextAndAsJson) {
  const Recording rec = recorded(late_scale_row());
  const EventIndex e = first_of(rec, "scale");
  cli::StepWriter writer(rec, {});
  const std::string text = writer.text(e);
  EXPECT_NE(text.find("The scores are scaled once they are all there."), std::string::npos) << text;
  EXPECT_NE(text.find("HBM: "), std::string::npos) << text;
  const std::string json = writer.json(first_of(rec, "product"));
  EXPECT_NE(json.find("\"phase\":\"product\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"tensor\":\"raw\""), std::string::npos) << json;
  EXPECT_NE(writer.json_heading().find("\"order\":\"late-scale\""), std::string::npos);
}

// A shared phase of an order without texts has those of an order that works alike.
TEST(UnknownOrder, SharedPhasesHaveTheTextsOfAnOrderThatWorksAlike) {
  StepTexts texts;
  texts.texts["flash/max"] = {{"", "of flash", ".", "", ""}};
  texts.texts["flash-1/max"] = {{"", "of flash-1", ".", "", ""}};
  const auto* found = texts.find(*order_named("late-scale"), Phase::max);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->front().headline, "of flash");
  EXPECT_EQ(texts.find(Order::flash, Phase::scores), nullptr);
}

TEST(UnknownOrder, StateStringNamesItsSlotAndItsPhase) {
  State state;
  state.document.problem = problem();
  state.document.selection.slot = *slot_named("raw");
  state.document.selection.col = 2;
  Bookmark mark;
  mark.id.phase = *phase_named("product");
  state.view.step.bookmarks = {mark};
  const auto text = state_string(state);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_NE(text->find("raw"), std::string::npos) << *text;
  const auto read = parse_state_string(*text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->state.document.selection.slot, *slot_named("raw"));
  ASSERT_EQ(read->state.view.step.bookmarks.size(), 1U);
  EXPECT_EQ(read->state.view.step.bookmarks[0].id.phase, *phase_named("product"));
}

}  // namespace
}  // namespace attn
