// The rungs of this folder as the recorders, a file and the window have them: whole, by their rows alone.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "app/state/apply/apply.h"
#include "app/state/inputs/document_inputs.h"
#include "app/state/string/state_string.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/trace/trace.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/replay/replay.h"
#include "tests/declared/rung.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

using test::kDepth;
using test::kFlavour;

Document document_of_rung() {
  Document d = initial_state().document;
  d.kernel = "unheard_of";
  choose(d.options, kDepth, 3);
  choose(d.options, kFlavour, 1);
  return d;
}

TEST(DeclaredRecording, OfTheRungHasItsIdAndWhatWasChosen) {
  const auto rec = record_document(document_of_rung(), {});
  ASSERT_TRUE(rec) << rec.error().message;
  EXPECT_EQ(rec->kernel, "unheard_of");
  EXPECT_EQ(chosen(rec->options, kDepth), 3);
  const auto difference = replay(*rec);
  EXPECT_FALSE(difference) << (difference ? difference->words : "");
}

TEST(DeclaredRecording, ComesBackOutOfAFileOfVersionThree) {
  const auto rec = record_document(document_of_rung(), {});
  ASSERT_TRUE(rec) << rec.error().message;
  EXPECT_EQ(attn_version_of(*rec), 3);
  const TempFolder folder;
  const auto written = write_recording(folder / "r.attn", *rec);
  ASSERT_TRUE(written) << written.error().message;
  const auto read = read_recording(folder / "r.attn");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->kernel, "unheard_of");
  EXPECT_EQ(read->options, rec->options);
}

// The row says how many lanes share a row: so many columns has a recorded l, and so much larger is the buffer.
TEST(DeclaredRecording, OfAGpuReadsTheBufferAsTheRowSays) {
  const KernelRow& row = **find_kernel("unheard_of_gpu");
  Problem p;
  p.Lq = p.Lk = 8;
  p.D = p.Dv = 4;
  const auto plan = row.plan(row, p, gpu::smallest_tile(row), *gpu::device_for("sm_90a"));
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_TRUE(gpu::has_recorder(row, p, plan->options));
  const auto facts = gpu::trace_facts(row, p, plan->options);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->lanes, 2);
  const std::vector<float> buffer(gpu::trace_floats(*plan, *facts), 0.0F);
  EXPECT_LT(buffer.size(), gpu::trace_floats(*plan, gpu::flash_facts(16)));
  const auto inputs = make_inputs(p, {});
  ASSERT_TRUE(inputs);
  Outputs out{Array(p.dtype, {1, 1, 8, 4}), Array(DType::f32, {1, 1, 8})};
  const auto rec = gpu::recording_of_trace(*plan, *inputs, out, buffer, "a GPU", "");
  ASSERT_TRUE(rec) << rec.error().message;
  EXPECT_EQ(rec->kernel, "unheard_of_gpu");
  const auto sums = std::ranges::find_if(rec->versions, [](const Version& v) { return v.slot == Slot::l_new; });
  ASSERT_NE(sums, rec->versions.end());
  EXPECT_EQ(sums->cols, 2);
}

// What the frame that opens with the state draws.
std::set<std::string> drawn_of(const State& state) {
  const auto text = state_string(state);
  EXPECT_TRUE(text) << (text ? "" : text.error().message);
  TestWindow window(1440, 1800, "", false, {}, {}, {}, text.value_or("attn1"));
  const DrawnText drawn;
  window.draw_frames(4);
  return drawn.texts();
}

bool has(const std::set<std::string>& texts, std::string_view words) {
  return std::ranges::any_of(texts, [&](const std::string& t) { return t.find(words) != std::string::npos; });
}

TEST(DeclaredWindow, StepShowsTheRungAndItsOptions) {
  State state = initial_state();
  state.document = document_of_rung();
  const auto texts = drawn_of(state);
  EXPECT_TRUE(has(texts, "a rung of a test"));
}

TEST(DeclaredWindow, BenchShowsTheRungItsOptionsAndItsAxis) {
  State state = initial_state();
  state.view.workspace = Workspace::bench;
  SweepSpec& sweep = state.document.sweep;
  sweep.kernels = {"cpu_sequential", "unheard_of"};
  sweep.axis = Axis("keys");
  sweep.values = {8, 16, 32};
  choose(sweep.options, kDepth, 3);
  const auto texts = drawn_of(state);
  for (const char* words : {"unheard_of", "keys alone", "Depth", "Flavour"}) EXPECT_TRUE(has(texts, words)) << words;
}

}  // namespace
}  // namespace attn
