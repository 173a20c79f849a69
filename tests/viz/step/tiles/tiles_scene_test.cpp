// What Step shows is what the kernel computed: every cell of every step, rounded correctly, within its bound of fp64,
// and nothing of the future.
#include "viz/step/tiles/tiles_scene.h"
#include "kernels/recording/replay/exact.h"

#include <cmath>
#include <map>
#include <random>

#include "tests/viz/step/fixture.h"
#include "viz/draw/number_text.h"
#include "viz/step/charts/row.h"
#include "viz/step/facts/dropped_tiles.h"
#include "viz/step/facts/values.h"
#include "viz/step/step_cache.h"

namespace attn {
namespace {

constexpr int kRoom = 7;

struct Walk {
  std::shared_ptr<const Recording> rec;
  StepCache cache;
  explicit Walk(std::shared_ptr<const Recording> r) : rec(std::move(r)) {}
  TilesScene scene(EventIndex e, const Selection& selection = {}, OutputReading reading = OutputReading::as_summed) {
    cache.follow(rec, e);
    TilesScene s = tiles_scene(*rec, e, selection, reading, cache.scales);
    const auto write = [&](TileScene& tile) { write_numbers(*rec, s, tile, kRoom, cache.bounds()); };
    for (TileScene& tile : s.tiles) write(tile);
    write(s.k);
    write(s.v);
    return s;
  }
};

std::vector<const TileScene*> all_tiles(const TilesScene& s) {
  std::vector<const TileScene*> tiles{&s.k, &s.v};
  for (const Column c : s.columns) tiles.push_back(&s.tiles[static_cast<std::size_t>(c)]);
  return tiles;
}

double last_digit(const std::string& text) {
  const std::size_t e = text.find('e');
  const std::string mantissa = text.substr(0, e);
  const std::size_t point = mantissa.find('.');
  const double decimals = point == std::string::npos ? 0 : static_cast<double>(mantissa.size() - point - 1);
  return std::pow(10.0, (e == std::string::npos ? 0 : value_of(text.substr(e + 1))) - decimals);
}

int digits_of(const std::string& text) {
  int digits = 0;
  bool leading = true;
  for (const char c : text.substr(0, text.find('e'))) {
    if (c >= '1' && c <= '9') leading = false;
    if (c >= '0' && c <= '9' && !leading) ++digits;
  }
  return digits;
}

// One cell against the recording itself, not through the scene's own look-up.
void check_cell(const Recording& rec, const TileScene& tile, const Cell& cell, std::int32_t r, std::int32_t c,
                VersionId id, const ExactTile* exact) {
  const Version& v = rec.version(id);
  const auto n = static_cast<std::size_t>(tile.transposed ? c : r) * static_cast<std::size_t>(v.cols) +
                 static_cast<std::size_t>(tile.transposed ? r : c);
  const float recorded = rec.values(id)[n];
  if (std::isnan(recorded)) {
    EXPECT_EQ(cell.text, "nan");
    return;
  }
  ASSERT_EQ(cell.value, recorded);
  if (std::isinf(recorded)) {
    EXPECT_EQ(cell.text, recorded > 0 ? "∞" : "−∞");
    return;
  }
  EXPECT_LE(std::abs(value_of(cell.text) - recorded), 0.5 * last_digit(cell.text) + 1e-12 * std::abs(recorded))
      << cell.text << " " << recorded;
  EXPECT_EQ(value_of(cell.text) == 0, recorded == 0) << cell.text;
  EXPECT_LE(digits_of(cell.text), kCellDigits) << cell.text;
  const auto known = exact != nullptr ? exact->at(id, n) : std::nullopt;
  if (!known || !std::isfinite(known->exact) || !std::isfinite(known->bound)) return;
  EXPECT_LE(std::abs(recorded - known->exact), known->bound);
  // The digits promise no more than the bound: one unit of the last is never exceeded.
  if (digits_of(cell.text) > 1) {
    EXPECT_LE(std::abs(value_of(cell.text) - known->exact), last_digit(cell.text) * (1 + 1e-9)) << cell.text;
  }
}

void check_step(Walk& walk, EventIndex e) {
  const TilesScene s = walk.scene(e);
  for (const TileScene* tile : all_tiles(s)) {
    const VersionId id = walk.rec->after(e, tile->slot);
    ASSERT_EQ(tile->live, id != kNoVersion && !is_dropped(*walk.rec, s.at, tile->slot));
    for (std::int32_t r = 0; r < tile->rows; ++r) {
      for (std::int32_t c = 0; c < tile->cols; ++c) {
        const Cell& cell = tile->cell(r, c);
        ASSERT_EQ(cell.look == CellLook::value, !cell.text.empty());
        if (cell.look == CellLook::value) check_cell(*walk.rec, *tile, cell, r, c, id, walk.cache.bounds());
      }
    }
  }
}

TEST(StepScene, EveryStepOfTheBlackboardIsTheRecordingForwardsAndBackwards) {
  for (const char* kernel : kRecordingKernels) {
    SCOPED_TRACE(kernel);
    Walk walk(record_preset("blackboard", kernel));
    const auto events = static_cast<EventIndex>(walk.rec->events.size());
    for (EventIndex e = 0; e < events; ++e) check_step(walk, e);
    for (EventIndex e = events; e-- > 0;) check_step(walk, e);
  }
}

TEST(StepScene, EveryPresetInEveryOrderIsTheRecordingAtRandomSteps) {
  std::mt19937 random(3);
  for (const Preset& preset : presets()) {
    for (const char* kernel : kRecordingKernels) {
      if (!takes_preset(kernel, preset)) continue;
      SCOPED_TRACE(std::string(preset.id) + " " + kernel);
      Walk walk(record_preset(preset.id, kernel));
      std::uniform_int_distribution<EventIndex> any(0, static_cast<EventIndex>(walk.rec->events.size() - 1));
      for (int n = 0; n < 25; ++n) check_step(walk, any(random));
      if (testing::Test::HasFailure()) return;
    }
  }
}

std::string text_at(const TilesScene& s, Column c, std::int32_t row, std::int32_t col) {
  return s.tiles[static_cast<std::size_t>(c)].cell(row, col).text;
}

TEST(StepScene, TheBlackboardShowsTheWorkedExample) {
  Walk walk(record_preset("blackboard", "cpu_flash"));
  const auto at = [&](std::int32_t i, std::int32_t j, Phase phase) {
    const auto e = walk.rec->find({0, 0, i, j, phase});
    EXPECT_TRUE(e.has_value());
    return walk.scene(e.value_or(0));
  };
  const TilesScene first = at(0, 0, Phase::output);
  EXPECT_EQ(text_at(first, Column::s, 0, 0), "2.475");  // beside 15.203 and 5.303: points in line
  EXPECT_EQ(text_at(first, Column::s, 0, 1), "6.718");
  EXPECT_EQ(text_at(first, Column::s, 1, 1), "15.203");
  EXPECT_EQ(text_at(first, Column::m_new, 0, 0), "6.718");
  EXPECT_EQ(text_at(first, Column::p, 0, 0), "0.0144");
  EXPECT_EQ(text_at(first, Column::p, 1, 0), "5.02e−5");
  EXPECT_EQ(text_at(first, Column::p, 1, 1), "1.0000");
  EXPECT_EQ(text_at(first, Column::l_new, 0, 0), "1.0144");
  EXPECT_EQ(text_at(first, Column::o, 0, 0), "0.3014");
  EXPECT_EQ(text_at(first, Column::o, 0, 1), "0.4029");
  const TilesScene second = at(0, 1, Phase::output);
  EXPECT_EQ(text_at(second, Column::m_new, 1, 0), "35.002");
  EXPECT_EQ(text_at(second, Column::alpha, 0, 0), "2.06e−4");
  EXPECT_EQ(text_at(second, Column::alpha, 1, 0), "2.52e−9");
  EXPECT_EQ(text_at(second, Column::l_new, 0, 0), "1.0146");
  EXPECT_EQ(text_at(second, Column::o, 0, 0), "0.7072");
  EXPECT_EQ(text_at(second, Column::o, 1, 1), "0.8000");
  const TilesScene last = at(0, -1, Phase::store_o);
  EXPECT_EQ(text_at(last, Column::o, 0, 0), "0.6971");
  EXPECT_EQ(text_at(last, Column::o, 0, 1), "0.7971");
  EXPECT_EQ(text_at(last, Column::o, 1, 1), "0.8000");
}

TEST(StepScene, TheOtherReadingDividesByTheSumOfTheMoment) {
  Walk walk(record_preset("blackboard", "cpu_flash"));
  const auto e = walk.rec->find({0, 0, 0, 0, Phase::output});
  const TilesScene s = walk.scene(*e, {}, OutputReading::divided);
  EXPECT_EQ(text_at(s, Column::o, 0, 0), "0.2972");
  EXPECT_EQ(text_at(s, Column::o, 0, 1), "0.3972");
  EXPECT_EQ(text_at(s, Column::o, 1, 0), "0.3000");
}

// A recording whose later numbers are poison: what is shown at e must not change.
Recording without_future(const Recording& rec, EventIndex e) {
  Recording out = rec;
  for (const Version& v : rec.versions) {
    if (v.made_by <= e) continue;
    for (std::int32_t n = 0; n < v.rows * v.cols; ++n) out.arena[v.offset + static_cast<std::uint64_t>(n)] = 12345.0F;
  }
  return out;
}

void expect_same(const TilesScene& a, const TilesScene& b) {
  const auto left = all_tiles(a), right = all_tiles(b);
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t n = 0; n < left.size(); ++n) {
    for (std::size_t k = 0; k < left[n]->cells.size(); ++k) {
      EXPECT_EQ(left[n]->cells[k].text, right[n]->cells[k].text);
      EXPECT_EQ(left[n]->cells[k].look, right[n]->cells[k].look);
      EXPECT_EQ(left[n]->cells[k].shade, right[n]->cells[k].shade);
    }
  }
}

void expect_same(const RowChartScene& a, const RowChartScene& b) {
  ASSERT_EQ(a.keys.size(), b.keys.size());
  for (std::size_t n = 0; n < a.keys.size(); ++n) {
    EXPECT_EQ(a.keys[n].scored, b.keys[n].scored);
    EXPECT_EQ(a.keys[n].score, b.keys[n].score);
    EXPECT_EQ(a.keys[n].weight, b.keys[n].weight);
    EXPECT_EQ(a.keys[n].ghost, b.keys[n].ghost);
    EXPECT_EQ(a.keys[n].share, b.keys[n].share);
  }
  for (std::size_t n = 0; n < a.tiles.size(); ++n) {
    EXPECT_EQ(a.tiles[n].m, b.tiles[n].m);
    EXPECT_EQ(a.tiles[n].has_l, b.tiles[n].has_l);
    EXPECT_EQ(a.tiles[n].l, b.tiles[n].l);
  }
  EXPECT_EQ(a.no_weight, b.no_weight);
  for (std::size_t n = 0; n < a.notes.size(); ++n) EXPECT_EQ(plain_text(a.notes[n]), plain_text(b.notes[n]));
}

TEST(StepScene, NothingOfTheFutureIsShown) {
  for (const char* preset : {"blackboard", "causal", "ragged"}) {
    for (const char* kernel : kRecordingKernels) {
      SCOPED_TRACE(std::string(preset) + " " + kernel);
      const auto rec = record_preset(preset, kernel);
      const TensorScales scales = scales_of(*rec);
      for (EventIndex e = 0; e < rec->events.size(); ++e) {
        const Recording past = without_future(*rec, e);
        const Selection row = pinned_row(1);
        TilesScene a = tiles_scene(*rec, e, row, OutputReading::as_summed, scales);
        TilesScene b = tiles_scene(past, e, row, OutputReading::as_summed, scales);
        for (TilesScene* s : {&a, &b}) {
          for (TileScene& tile : s->tiles) write_numbers(*rec, *s, tile, kRoom, nullptr);
        }
        expect_same(a, b);
        expect_same(row_chart_scene(*rec, a.at), row_chart_scene(past, b.at));
        const StepValues left = step_values(*rec, a.at, row, nullptr), right = step_values(past, b.at, row, nullptr);
        for (const auto& [name, number] : left.numbers) EXPECT_EQ(number.text, right.numbers.at(name).text) << name;
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(StepScene, MaskedSkippedAndRaggedTilesLookLikeWhatTheyAre) {
  Walk causal(record_preset("causal", "cpu_flash"));
  const auto masked = causal.rec->find({0, 0, 1, 1, Phase::mask});
  ASSERT_TRUE(masked.has_value());
  const TilesScene s = causal.scene(*masked);
  const TileScene& scores = s.tiles[static_cast<std::size_t>(Column::s)];
  for (std::int32_t r = 0; r < scores.rows; ++r) {
    for (std::int32_t c = 0; c < scores.cols; ++c) {
      EXPECT_EQ(scores.cell(r, c).look, c > r ? CellLook::masked : CellLook::value);
    }
  }
  const auto skipped = causal.rec->find({0, 0, 0, 1, Phase::skipped});
  ASSERT_TRUE(skipped.has_value());
  const TilesScene none = causal.scene(*skipped);
  // What is never loaded or computed is not "to come".
  for (const Column c : {Column::s, Column::p, Column::m_new, Column::alpha, Column::l_new}) {
    for (const Cell& cell : none.tiles[static_cast<std::size_t>(c)].cells) EXPECT_EQ(cell.look, CellLook::masked);
  }
  for (const TileScene* tile : {&none.k, &none.v}) {
    for (const Cell& cell : tile->cells) EXPECT_EQ(cell.look, CellLook::masked);
  }
  EXPECT_EQ(plain_text(none.tiles[static_cast<std::size_t>(Column::m_old)].title), "m");

  Walk ragged(record_preset("ragged", "cpu_flash"));
  const auto last = ragged.rec->find({0, 0, 2, 2, Phase::output});
  ASSERT_TRUE(last.has_value());
  const TilesScene t = ragged.scene(*last);
  for (const Column c : {Column::s, Column::p}) {
    const TileScene& tile = t.tiles[static_cast<std::size_t>(c)];
    for (std::int32_t r = 0; r < 4; ++r) {
      for (std::int32_t k = 0; k < 4; ++k)
        EXPECT_EQ(tile.cell(r, k).look, r < 2 && k < 2 ? CellLook::value : CellLook::past_end);
    }
  }
}

TEST(StepScene, OneTileIsMarkedAsMadeAndWhatIsNotComputedIsEmpty) {
  Walk walk(record_preset("late_outlier", "cpu_flash"));
  const auto e = walk.rec->find({0, 0, 1, 2, Phase::rescale});
  ASSERT_TRUE(e.has_value());
  const TilesScene s = walk.scene(*e);
  for (const Column c : s.columns) {
    EXPECT_EQ(s.tiles[static_cast<std::size_t>(c)].made, c == Column::alpha);
    EXPECT_EQ(s.captions[static_cast<std::size_t>(c)].live, c == Column::alpha);
  }
  for (const Cell& cell : s.tiles[static_cast<std::size_t>(Column::p)].cells) {
    EXPECT_EQ(cell.look, CellLook::empty);
    EXPECT_TRUE(cell.text.empty());
  }
  EXPECT_TRUE(s.tiles[static_cast<std::size_t>(Column::m_old)].superseded);
  EXPECT_FALSE(s.tiles[static_cast<std::size_t>(Column::l_old)].superseded);
  EXPECT_TRUE(s.next_any);
  EXPECT_EQ(s.next_column, Column::p);
}

// Without the maximum e^S is what is computed, and no caption may say otherwise.
TEST(Tiles, CaptionsSubtractNoMaximumWhereTheKernelDoesNot) {
  const auto captions = [](const char* kernel, bool subtract) {
    Options o;
    o.subtract_max = subtract;
    Walk walk(record_preset("blackboard", kernel, o));
    const TilesScene s = walk.scene(4);
    std::map<Column, std::string> said;
    for (const Column c : s.columns) said[c] = plain_text(s.captions[static_cast<std::size_t>(c)].words);
    return said;
  };
  const auto safe = captions("cpu_flash", true), unsafe = captions("cpu_flash", false);
  EXPECT_EQ(safe.at(Column::p), "P = eS − new");
  EXPECT_EQ(safe.at(Column::alpha), "α = eold − new");
  EXPECT_EQ(unsafe.at(Column::p), "P = eS");
  EXPECT_EQ(unsafe.at(Column::alpha), "α = eold − new");  // 0 in the first key tile, then 1
  // Naive takes no such what-if: it always subtracts.
  EXPECT_EQ(captions("cpu_sequential", false).at(Column::p), "P = eS − m / ℓ");
}

// Where O was divided while it was made its last step divides nothing.
TEST(Tiles, TheCaptionOfTheLastStepDividesOnlyWhereOIsNotYetDivided) {
  for (const char* kernel : kRecordingKernels) {
    Walk walk(record_preset("blackboard", kernel));
    const TilesScene s = walk.scene(static_cast<EventIndex>(walk.rec->events.size() - 1));
    const std::string said = plain_text(s.captions[static_cast<std::size_t>(Column::o)].words);
    EXPECT_EQ(said, walk.rec->order == Order::flash ? "O ← O / ℓ" : "O to HBM") << kernel;
  }
}

CellLook look_of(const TilesScene& s, Column c) {
  return s.tiles[static_cast<std::size_t>(c)].cell(0, 0).look;
}

TEST(StepScene, WhatWasDroppedDoesNotLookLikeWhatIsToCome) {
  Walk flash(record_preset("blackboard", "cpu_flash"));
  const auto at = [](Walk& walk, std::int32_t i, std::int32_t j, Phase phase) {
    const auto e = walk.rec->find({0, 0, i, j, phase});
    EXPECT_TRUE(e.has_value());
    return walk.scene(e.value_or(0));
  };
  for (const Column c : {Column::s, Column::p, Column::alpha, Column::m_new, Column::l_new}) {
    EXPECT_EQ(look_of(at(flash, 0, 0, Phase::load_kv), c), CellLook::empty);
    EXPECT_EQ(look_of(at(flash, 0, 1, Phase::load_kv), c), CellLook::empty);  // of the tile that has come
    EXPECT_EQ(look_of(at(flash, 0, -1, Phase::normalise), c), CellLook::dropped);
  }
  Walk tiled(record_preset("blackboard", "cpu_tiled"));
  const TilesScene pass3 = at(tiled, 0, 0, Phase::output);
  EXPECT_EQ(pass3.k.cell(0, 0).look, CellLook::dropped);
  const TilesScene pass1 = at(tiled, 0, 0, Phase::scores);
  EXPECT_EQ(pass1.v.cell(0, 0).look, CellLook::empty);
  Walk flash1(record_preset("blackboard", "cpu_flash1"));
  const auto second = flash1.rec->find({0, 0, -1, 1, Phase::load_kv});
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(look_of(flash1.scene(*second), Column::o), CellLook::dropped);
  EXPECT_EQ(look_of(flash1.scene(*second), Column::s), CellLook::empty);
}

// Every slot of every step: dropped means that it was live before, empty that it was not.
TEST(StepScene, ScoresAreDroppedOnlyAfterTheyWereLive) {
  for (const char* kernel : kRecordingKernels) {
    Walk walk(record_preset("causal", kernel));
    for (EventIndex e = 0; e < walk.rec->events.size(); ++e) {
      const TilesScene s = walk.scene(e);
      const StepPlace& at = s.at;
      for (const Column c : {Column::s, Column::p}) {
        const TileScene& tile = s.tiles[static_cast<std::size_t>(c)];
        bool was = false;
        for (EventIndex n = 0; n <= e; ++n) {
          const VersionId id = walk.rec->after(n, tile.slot);
          if (id == kNoVersion || walk.rec->events[n].id.h != at.h) continue;
          was = was ||
                (walk.rec->version(id).first_row == at.first_row && walk.rec->version(id).first_col == at.first_key);
        }
        if (look_of(s, c) == CellLook::dropped) {
          EXPECT_TRUE(was) << kernel << " step " << e + 1;
        }
        if (look_of(s, c) == CellLook::empty) {
          EXPECT_FALSE(was) << kernel << " step " << e + 1;
        }
      }
    }
  }
}

TEST(StepScene, ASignedTensorsZeroIsInTheMiddleOfItsScale) {
  const auto rec = record_preset("random", "cpu_flash");
  const TensorScales scales = scales_of(*rec);
  for (const TensorColour c : {TensorColour::q, TensorColour::k, TensorColour::v, TensorColour::s, TensorColour::o}) {
    const TensorScale& scale = scales[static_cast<std::size_t>(c)];
    EXPECT_EQ(scale.shade(0), 0);
    EXPECT_EQ(scale.shade(1), -scale.shade(-1));
    EXPECT_EQ(std::max(scale.shade(scale.max), -scale.shade(scale.min)), 1);
  }
  EXPECT_EQ(scales[static_cast<std::size_t>(TensorColour::p)].shade(0), -1);  // nothing below it
}

TEST(StepScene, AShadeNeverChangesForTheSameNumber) {
  Walk walk(record_preset("random", "cpu_flash"));
  std::map<std::pair<TensorColour, float>, float> shades;
  for (EventIndex e = 0; e < walk.rec->events.size(); ++e) {
    const TilesScene s = walk.scene(e);
    for (const TileScene* tile : all_tiles(s)) {
      for (const Cell& cell : tile->cells) {
        if (cell.look != CellLook::value) continue;
        const auto [at, fresh] = shades.emplace(std::pair{tile->hue, cell.value}, cell.shade);
        if (!fresh) {
          EXPECT_EQ(at->second, cell.shade);
        }
      }
    }
  }
}

// In a merge a dot means that the merge has made it, not that a part once had one of that name; each term has its
// index.
TEST(StepScene, AMergeHasNothingThatItHasNotComputed) {
  Options options;
  choose(options, kSplits, 2);
  Walk walk(record_preset("blackboard", "cpu_flash", options));
  const auto scene_of = [&](const char* phase) {
    for (EventIndex e = 0; e < walk.rec->events.size(); ++e)
      if (walk.rec->events[e].id.phase == *phase_named(phase)) return walk.scene(e);
    ADD_FAILURE() << phase;
    return TilesScene{};
  };
  for (const char* phase : {"load_part", "merge_max"}) {
    const TilesScene s = scene_of(phase);
    for (const Column c : {Column::alpha, Column::l_new, Column::o}) EXPECT_EQ(look_of(s, c), CellLook::empty) << phase;
  }
  EXPECT_EQ(look_of(scene_of("load_part"), Column::m_new), CellLook::empty);
  EXPECT_EQ(look_of(scene_of("merge_output"), Column::o), CellLook::value);
  EXPECT_EQ(look_of(scene_of("store_o"), Column::alpha), CellLook::dropped);
  const TilesScene merged = scene_of("merge_output");
  const auto caption = [&](Column c) { return plain_text(merged.captions[static_cast<std::size_t>(c)].words); };
  EXPECT_EQ(caption(Column::l_new), "α1ℓ1 + α2ℓ2");
  EXPECT_EQ(caption(Column::o), "α1O1 + α2O2");
}

}  // namespace
}  // namespace attn
