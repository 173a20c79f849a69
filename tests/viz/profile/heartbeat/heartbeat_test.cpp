// The heartbeat: strips on one axis, what is said of it is what its figures hold, and why there is none.
#include "viz/profile/heartbeat/heartbeat.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/viz/profile/heartbeat/beats.h"
#include "tests/viz/profile/profile_rows.h"

namespace attn {
namespace {

using profile_test::made_beats;

Measurement row(Heartbeat h, const char* kernel = "flash_simt", double us = 96) {
  Measurement m = profile_test::h100_row(kernel, us);
  m.heartbeat = std::make_shared<const Heartbeat>(std::move(h));
  return m;
}

HeartbeatScene scene_of(const Measurement& m, const Measurement* against = nullptr, ProfileView view = {},
                        double waves = 0.1) {
  return heartbeat_scene(m, against, view, {"16 blocks on 132 SMs: 0.1 waves.", waves});
}

const BeatStrip& strip(const HeartbeatScene& scene, std::string_view id) {
  return *std::ranges::find(scene.strips, id, &BeatStrip::id);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(HeartbeatScene, HasAStripForEachCounterWithItsMeanAndItsScale) {
  const Measurement m = row(made_beats());
  const HeartbeatScene scene = scene_of(m);
  ASSERT_TRUE(scene.there);
  ASSERT_EQ(scene.strips.size(), beat_table().size());
  EXPECT_EQ(scene.strips[0].id, "issue");
  EXPECT_EQ(strip(scene, "fma").own.mean, "40.0 %");
  EXPECT_EQ(strip(scene, "fma").scale, 40);
  EXPECT_EQ(strip(scene, "fma").scale_text, "40 %");
  EXPECT_EQ(strip(scene, "tensor").scale, 20) << "what hardly works does not fill its strip";
  EXPECT_EQ(strip(scene, "clock").own.mean, "1700 MHz");
  EXPECT_EQ(strip(scene, "xu").own.counter, nullptr);
  EXPECT_TRUE(has(strip(scene, "xu").why_not, "GH100 does not read it"));
  EXPECT_TRUE(has(strip(scene, "fma").tip, "sm__inst_executed_pipe_fma")) << "CUPTI's name stays behind it";
  EXPECT_EQ(scene.from_us, 0);
  EXPECT_EQ(scene.to_us, 100);
  EXPECT_TRUE(scene.whole);
  EXPECT_TRUE(has(scene.axis, "µs"));
}

TEST(HeartbeatScene, LooksForTheBordersOncePerRunHoweverOftenItIsZoomed) {
  const Measurement m = row(made_beats(3)), other = row(made_beats(3));
  const HeartbeatScene first = scene_of(m);
  ASSERT_NE(first.borders, nullptr);
  EXPECT_EQ(heartbeat_scene(m, nullptr, {}, {}, &first).borders, first.borders);
  EXPECT_NE(heartbeat_scene(other, nullptr, {}, {}, &first).borders, first.borders) << "another run has its own";
}

TEST(HeartbeatScene, SaysTheBeatTheBlocksAndTheTailThatItsFiguresHold) {
  Heartbeat h = made_beats(3);  // long enough for a beat
  h.launches = {{"flash_simt", 0, 320}};
  const HeartbeatScene scene = scene_of(row(h));
  EXPECT_TRUE(has(scene.words, "A beat every 20")) << scene.words;
  EXPECT_TRUE(has(scene.words, "instructions issued")) << scene.words;
  EXPECT_TRUE(has(scene.words, "0.1 waves")) << scene.words;
  EXPECT_TRUE(has(scene.words, "In the last 10.0 µs of flash_simt, or 3.1 % of its time")) << scene.words;
  EXPECT_TRUE(has(scene.words, "are busy. Idling costs 1.6 % of the GPU's time in this launch.")) << scene.words;
  for (BeatCounter& c : h.counters)
    if (c.id == "sms") c.values.assign(h.samples.size(), 100);
  EXPECT_TRUE(
      has(scene_of(row(h)).words, "At least 90 % of the multiprocessors stay busy until the end of flash_simt."));
  for (BeatCounter& c : h.counters)
    if (c.id == "sms") c = {"sms", "", "not there", {}};
  EXPECT_FALSE(has(scene_of(row(h)).words, "multiprocessors")) << "without figures nothing is said";
}

// A beat every 20 us in 100 us: 5 of them, or 16 in 320.
TEST(HeartbeatScene, ABeatIsAKeyTileWhereTheTilesOfAPlaceAreTheBeats) {
  Heartbeat h = made_beats(3);
  h.launches = {{"flash_simt", 0, 320}};
  Measurement m = row(h);
  m.key.problem.Lk = 256;
  m.key.options.bc = 32;  // 8 key tiles
  const auto words = [&](double waves) { return scene_of(m, nullptr, {}, waves).words; };
  const std::string fits = "A block slot runs 2 consecutive blocks of 8 key tiles: a beat is a key tile.";
  EXPECT_TRUE(has(words(1.94), fits)) << words(1.94);
  // As many beats as one block has tiles are no key tiles where a place runs two of them.
  m.key.options.bc = 16;
  EXPECT_TRUE(has(words(1.94), "of 16 key tiles in 320 µs, 10.0 µs per tile on average. A beat is not a key tile."))
      << words(1.94);
  m.key.options.bc = 4;
  EXPECT_TRUE(has(words(1),
                  "runs 1 block of 64 key tiles in 320 µs, 5.00 µs per tile on average: too short to resolve with a "
                  "sample every 2.00 µs. A beat is not a key tile."))
      << words(1);
  EXPECT_FALSE(has(words(0), "key tile")) << "the waves are not known";
  m.key.options.bc = 32;
  m.key.problem.mask.causal = true;
  EXPECT_FALSE(has(words(1.94), "A block slot")) << "blocks have different numbers of tiles";
}

TEST(HeartbeatScene, TheMeansOfALongerKernelAreSaidToBeOfAllOfIt) {
  const Measurement naive = row(made_beats(3, "naive"), "naive"), flash = row(made_beats());
  EXPECT_TRUE(has(scene_of(flash, &naive).notes, "naive takes 320 µs. The means cover the whole run"));
  EXPECT_FALSE(has(scene_of(naive, &flash).notes, "The means cover the whole run"));
}

TEST(HeartbeatScene, SaysHowItWasTakenAndHowThatComparesWithTheTimings) {
  Measurement m = row(made_beats());
  profile_test::put(m, "sm_clock_mhz", 1755);
  const std::string notes = scene_of(m).notes;
  EXPECT_TRUE(has(notes, "52 samples of one warmed-up run, one every 2.00 µs, cold L2")) << notes;
  EXPECT_TRUE(has(notes, "The launches took 100 µs while the counters were read, and 96.0 µs without counters."))
      << notes;
  EXPECT_TRUE(has(notes,
                  "The cycle count puts the SM clock at 1700 MHz, or 96.9 % of the 1755 MHz that NVML read "
                  "between the timed launches."))
      << notes;
  Heartbeat h = made_beats();
  h.tries = 2;
  h.in_cycles = true;
  const std::string second = scene_of(row(h)).notes;
  EXPECT_TRUE(has(second, "attempt 2")) << second;
  EXPECT_TRUE(has(second, "one every 2000 cycles of the system clock")) << second;
}

TEST(HeartbeatScene, LaunchesStandOnOneAxisAndTheOtherKernelBesideThem) {
  const Measurement naive = row(made_beats(3, "naive"), "naive"), flash = row(made_beats());
  const HeartbeatScene scene = scene_of(naive, &flash);
  ASSERT_EQ(scene.marks.size(), 3U);
  EXPECT_EQ(scene.marks[1].kernel, "naive_1");
  EXPECT_EQ(scene.marks[1].from_us, 110);
  EXPECT_EQ(scene.other, "flash_simt");
  EXPECT_EQ(scene.no_other, "");
  ASSERT_EQ(scene.other_marks.size(), 1U);
  EXPECT_EQ(strip(scene, "fma").other.mean, "40.0 %");
  EXPECT_EQ(strip(scene, "issue").scale, 80) << "of both";
  const Measurement none = profile_test::h100_row("tiled", 100);
  EXPECT_EQ(scene_of(naive, &none).no_other, "tiled has no heartbeat here.");
  Measurement refused = none;
  refused.no_heartbeat = "CUPTI_ERROR";
  EXPECT_EQ(scene_of(naive, &refused).no_other, "tiled has no heartbeat: CUPTI_ERROR.");
}

TEST(HeartbeatScene, APartOfTheRunIsShownWhereOneIsChosen) {
  const Measurement m = row(made_beats());
  ProfileView view;
  view.beat_from_us = 20;
  view.beat_to_us = 60;
  HeartbeatScene scene = scene_of(m, nullptr, view);
  EXPECT_EQ(scene.from_us, 20);
  EXPECT_EQ(scene.to_us, 60);
  EXPECT_FALSE(scene.whole);
  for (const BeatTick& tick : scene.ticks) EXPECT_TRUE(tick.us >= 20 && tick.us <= 60) << tick.us;
  view.beat_to_us = 5000;
  EXPECT_EQ(scene_of(m, nullptr, view).to_us, 100) << "no further than the run";
  view.beat_from_us = 4000;
  EXPECT_TRUE(scene_of(m, nullptr, view).whole) << "a part of another kernel's run";
}

TEST(HeartbeatScene, AllValuesAtATimeAreRead) {
  const Measurement naive = row(made_beats(3, "naive"), "naive"), flash = row(made_beats());
  const HeartbeatScene scene = scene_of(naive, &flash);
  const BeatReading reading = reading_at(scene, 50);
  EXPECT_EQ(reading.title, "50.0 µs, naive_0");
  ASSERT_EQ(reading.lines.size(), beat_table().size() - 1) << "all but the one that has no values";
  EXPECT_EQ(reading.lines[1], "multiply-add pipe: 40.0 %; flash_simt 40.0 %");
  EXPECT_EQ(reading_at(scene, 104).title, "104 µs") << "between two launches";
  const BeatReading late = reading_at(scene, 250);
  EXPECT_EQ(late.lines[1], "multiply-add pipe: 40.0 %") << "the other has ended";
}

TEST(HeartbeatScene, SaysWhyThereIsNone) {
  Measurement m = profile_test::h100_row("flash_simt", 100);
  EXPECT_TRUE(has(scene_of(m).empty, "no heartbeat yet"));
  m.no_heartbeat = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
  EXPECT_EQ(scene_of(m).empty, "Not available: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES.");
  m.processor = Processor::cpu;
  EXPECT_TRUE(has(scene_of(m).empty, "CPU"));
}

TEST(HeartbeatScene, TicksAreRoundAndFew) {
  for (const auto& [from, to] : {std::pair{0.0, 100.0}, {0.0, 2613.0}, {640.0, 700.0}, {0.0, 99000.0}, {3.0, 4.0}}) {
    const auto times = round_times(from, to, 10);
    EXPECT_GE(times.size(), 3U) << to;
    EXPECT_LE(times.size(), 11U) << to;
    EXPECT_GE(times.front(), from);
    EXPECT_LE(times.back(), to);
  }
  EXPECT_TRUE(round_times(5, 5, 10).empty());
}

}  // namespace
}  // namespace attn
