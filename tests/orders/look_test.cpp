// An order that the program does not know is drawn, said and written whole: from its row in kernels/orders alone.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "app/cli/step/step_text.h"
#include "kernels/model/inputs/inputs.h"
#include "tests/orders/late_scale.h"
#include "viz/draw/text_runs.h"
#include "viz/step/bars/strip.h"
#include "viz/step/beside/chip.h"
#include "viz/step/charts/error.h"
#include "viz/step/charts/hindsight.h"
#include "viz/step/charts/row.h"
#include "viz/step/charts/traffic.h"
#include "viz/step/facts/scales.h"
#include "viz/step/facts/values.h"
#include "viz/step/orders/look.h"
#include "viz/step/orders/looks.h"
#include "viz/step/problem/problem_fields.h"
#include "viz/step/tiles/pointed.h"
#include "viz/step/tiles/tiles_scene.h"
#include "viz/step/timeline/map.h"

namespace attn {
namespace {

Recording run_of_late_scale() {
  Problem p;
  p.Lq = 10;
  p.Lk = 13;
  p.D = 6;
  p.Dv = 5;
  p.mask.causal = true;
  Options o;
  o.br = o.bc = 4;
  InputSpec spec;
  spec.generator = Generator::normal;
  const auto inputs = make_inputs(p, spec);
  EXPECT_TRUE(inputs);
  const KernelRow row = late_scale_row();
  auto rec = row.record(row, p, o, *inputs, {});
  EXPECT_TRUE(rec) << (rec ? "" : rec.error().message);
  return *std::move(rec);
}

Slot raw() {
  return *slot_named("raw");
}

EventIndex step_named(const Recording& rec, std::string_view phase) {
  const auto at = std::ranges::find(rec.events, *phase_named(phase), [](const Event& e) { return e.id.phase; });
  EXPECT_NE(at, rec.events.end());
  return static_cast<EventIndex>(at - rec.events.begin());
}

TilesScene scene_at(const Recording& rec, EventIndex e) {
  return tiles_scene(rec, e, Selection{}, OutputReading::as_summed, scales_of(rec));
}

// Where its own column stands among the others.
std::size_t own_column(const TilesScene& scene) {
  const auto at = std::ranges::find(scene.look->columns, raw(), &ColumnLook::slot);
  EXPECT_NE(at, scene.look->columns.end());
  return static_cast<std::size_t>(at - scene.look->columns.begin());
}

TEST(UnknownOrderOnShow, OwnSlotIsAColumnBesideItsNearestRelative) {
  const Recording rec = run_of_late_scale();
  const TilesScene scene = scene_at(rec, step_named(rec, "product"));
  const std::size_t n = own_column(scene);
  ASSERT_GT(n, 0U);
  EXPECT_EQ(scene.columns[n - 1], Column::s);
  const auto column = static_cast<std::size_t>(scene.columns[n]);
  const TileScene& tile = scene.tiles[column];
  EXPECT_EQ(plain_text(tile.title), "R");
  EXPECT_TRUE(tile.live && tile.made);
  EXPECT_EQ(tile.hue, TensorColour::s);
  EXPECT_EQ(tile.rows, 4);
  EXPECT_EQ(tile.cols, 4);
  EXPECT_EQ(plain_text(scene.captions[column].words), "R = QKT");
  EXPECT_TRUE(scene.captions[column].live);
  // The rest stands as in the order that works alike.
  EXPECT_EQ(scene.k.rows, 6);
  EXPECT_EQ(plain_text(scene.captions[static_cast<std::size_t>(Column::o)].words), "O ← αO + PV");
  EXPECT_EQ(scene.columns.size(), order_look(Order::flash).columns.size() + 1);
}

TEST(UnknownOrderOnShow, StepBeforeItSaysThatItsColumnIsNext) {
  const Recording rec = run_of_late_scale();
  const TilesScene scene = scene_at(rec, step_named(rec, "product") - 1);
  EXPECT_TRUE(scene.next_any);
  EXPECT_EQ(scene.next_column, scene.columns[own_column(scene)]);
}

TEST(UnknownOrderOnShow, StripSaysWhatItsRowSaysWithItsNumbers) {
  const Recording rec = run_of_late_scale();
  const StepPlace at = place_of(rec, step_named(rec, "product"), Selection{});
  const StepValues values = step_values(rec, at, Selection{}, nullptr);
  ASSERT_TRUE(values.numbers.contains("raw"));
  EXPECT_TRUE(values.numbers.at("raw").value);
  EXPECT_EQ(values.numbers.at("raw").ink, Ink(TensorColour::s));
  const StripScene strip = strip_scene(rec, at, values, StepTexts{});
  EXPECT_TRUE(strip.position.ends_with(": R")) << strip.position;
  EXPECT_EQ(plain_text(strip.headline), "Product");
  EXPECT_EQ(plain_text(strip.sentence), "Each query meets the keys of the tile.");
  EXPECT_EQ(plain_text(strip.formula), "R = QKT");
}

TEST(UnknownOrderOnShow, StepIsWrittenAsTextAndAsJson) {
  const Recording rec = run_of_late_scale();
  cli::StepWriter writer(rec, StepTexts{});
  const EventIndex e = step_named(rec, "product");
  const std::string text = writer.text(e);
  EXPECT_NE(text.find("Product"), std::string::npos) << text;
  EXPECT_NE(text.find("R rows 0 to 3, keys 0 to 3"), std::string::npos) << text;
  const std::string json = writer.json(e);
  EXPECT_NE(json.find(R"("phase":"product")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("tensor":"raw")"), std::string::npos) << json;
  EXPECT_NE(writer.json_heading().find("late-scale"), std::string::npos);
}

TEST(UnknownOrderOnShow, CellOfItsOwnSlotHasItsValueUnderThePointer) {
  const Recording rec = run_of_late_scale();
  const TilesScene scene = scene_at(rec, step_named(rec, "product"));
  const PointedScene pointed = pointed_scene(rec, scene, {{raw(), 1, 0}, PointedBy::pointer}, nullptr);
  EXPECT_TRUE(plain_text(pointed.title).starts_with("R1,0 = ")) << plain_text(pointed.title);
  EXPECT_FALSE(pointed.full.empty());
}

TEST(UnknownOrderOnShow, PanelsAndChartsHaveItToo) {
  const Recording rec = run_of_late_scale();
  const EventIndex e = step_named(rec, "store_o");
  const auto letters = letter_words(rec.order);
  EXPECT_NE(std::ranges::find(letters, "R", &LetterWords::letter), letters.end());
  const StepPlace at = place_of(rec, e, Selection{});
  EXPECT_EQ(traffic_scene(rec, e, traffic_totals(rec)).bars.front().name, "late-scale");
  EXPECT_TRUE(hindsight_scene(rec, at).nothing.empty());
  EXPECT_TRUE(row_chart_scene(rec, at).any_weight);
  EXPECT_GT(chip_scene(rec, e, "sm_90a").total, 0U);
  EXPECT_GT(map_scene(rec, at).done, 0);
  ErrorScan scan(std::make_shared<const Recording>(rec), 0, 0);
  while (!scan.advance(1 << 20)) {
  }
  EXPECT_FALSE(scan.first) << "its numbers are fp32's";
}

}  // namespace
}  // namespace attn
