#include "kernels/recording/file/recording_file.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/formats/npy_table.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem_json.h"
#include "kernels/recording/replay/replay.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

using nlohmann::json;

Recording recorded(const KernelRow& row, const Preset& preset, DType dtype) {
  Problem p = preset.problem;
  p.dtype = dtype;
  Options o;
  o.br = preset.br;
  o.bc = preset.bc;
  const Result<Inputs> in = make_inputs(p, {preset.generator, preset.seed, {}, {}, {}, {}, {}});
  EXPECT_TRUE(in) << in.error().message;
  Result<Recording> rec = row.record(row, p, o, *in, {});
  EXPECT_TRUE(rec) << rec.error().message;
  return rec ? std::move(*rec) : Recording();
}

Recording recorded(const char* kernel, const char* preset) {
  return recorded(**find_kernel(kernel), **find_preset(preset), DType::f32);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

bool same(const Event& a, const Event& b) {
  return a.id == b.id && a.pass == b.pass && a.after == b.after && a.hbm_bytes == b.hbm_bytes;
}

bool same(const Version& a, const Version& b) {
  return a.offset == b.offset && a.rows == b.rows && a.cols == b.cols && a.first_row == b.first_row &&
         a.first_col == b.first_col && a.made_by == b.made_by && a.slot == b.slot && a.holds == b.holds;
}

void expect_same(const Recording& a, const Recording& b) {
  EXPECT_EQ(a.problem, b.problem);
  EXPECT_EQ(a.options, b.options);
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.order, b.order);
  EXPECT_EQ(a.rules, b.rules);
  EXPECT_EQ(a.score_reads, b.score_reads);
  EXPECT_EQ(a.inputs.q, b.inputs.q);
  EXPECT_EQ(a.inputs.k, b.inputs.k);
  EXPECT_EQ(a.inputs.v, b.inputs.v);
  EXPECT_EQ(a.inputs.bias, b.inputs.bias);
  EXPECT_EQ(a.outputs.out, b.outputs.out);
  EXPECT_EQ(a.outputs.lse, b.outputs.lse);
  EXPECT_TRUE(same_bits(a.arena, b.arena));
  ASSERT_EQ(a.events.size(), b.events.size());
  for (std::size_t e = 0; e < a.events.size(); ++e) ASSERT_TRUE(same(a.events[e], b.events[e])) << e;
  ASSERT_EQ(a.versions.size(), b.versions.size());
  for (std::size_t v = 0; v < a.versions.size(); ++v) ASSERT_TRUE(same(a.versions[v], b.versions[v])) << v;
}

// In memory: many of them, and no disk.
Result<Recording> round_trip(const Recording& rec) {
  json session = json::object();
  Container c;
  if (auto r = add_recording(rec, 0, session, c); !r) return tl::unexpected(r.error());
  c.session_json = session_text(session);
  Result<std::vector<Recording>> back = recordings_of(c, "x.attn");
  if (!back) return tl::unexpected(back.error());
  return std::move(back->front());
}

TEST(RecordingFile, EveryKernelPresetAndDtypeComesBackBitForBit) {
  for (const KernelRow& row : cpu_kernel_table()) {
    for (const Preset& preset : presets()) {
      if (!check_takes(row, preset.problem)) continue;  // pages
      for (DType dtype : row.dtypes) {
        const Recording rec = recorded(row, preset, dtype);
        const Result<Recording> back = round_trip(rec);
        ASSERT_TRUE(back) << row.id << " " << preset.id << ": " << back.error().message;
        expect_same(rec, *back);
        const auto difference = replay(*back);
        EXPECT_FALSE(difference) << row.id << " " << preset.id << ": " << difference->words;
        EXPECT_EQ(back->find(rec.events.back().id, rec.events.back().pass), rec.events.size() - 1);
      }
    }
  }
}

TEST(RecordingFile, OptionsMasksAndScaleComeBack) {
  Problem p = (*find_preset("heads"))->problem;
  p.scale = 0.1;
  p.mask.causal = true;
  p.mask.window_left = 3;
  p.mask.key_lengths = {8, 5};
  Options o;
  o.br = 3;
  o.bc = 5;
  o.key_order = KeyOrder::right_to_left;
  o.subtract_max = false;
  o.accumulate = DType::bf16;
  const KernelRow& row = **find_kernel("cpu_flash");
  const Result<Recording> rec = row.record(row, p, o, *make_inputs(p, InputSpec{}), {});
  ASSERT_TRUE(rec) << rec.error().message;
  const Result<Recording> back = round_trip(*rec);
  ASSERT_TRUE(back) << back.error().message;
  expect_same(*rec, *back);
}

TEST(RecordingFile, NanPayloadsAndInfinitiesKeepTheirBits) {
  Recording rec = recorded("cpu_flash", "blackboard");
  rec.arena[0] = std::bit_cast<float>(0x7fc12345U);
  rec.arena[1] = std::bit_cast<float>(0xff800001U);
  rec.arena[2] = -INFINITY;
  rec.arena[3] = -0.0F;
  const Result<Recording> back = round_trip(rec);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(same_bits(rec.arena, back->arena));
}

TEST(RecordingFile, GoesThroughAFileAndManyFitInOneContainer) {
  const TempFolder folder;
  const Recording flash = recorded("cpu_flash", "blackboard"), tiled = recorded("cpu_tiled", "causal");
  ASSERT_TRUE(write_recording(folder / "a.attn", flash));
  const Result<Recording> back = read_recording(folder / "a.attn");
  ASSERT_TRUE(back) << back.error().message;
  expect_same(flash, *back);

  json session = json::object();
  Container c;
  ASSERT_TRUE(add_recording(flash, 0, session, c));
  ASSERT_TRUE(add_recording(tiled, 1, session, c));
  c.session_json = session_text(session);
  const auto both = recordings_of(c, "x.attn");
  ASSERT_TRUE(both) << both.error().message;
  ASSERT_EQ(both->size(), 2U);
  expect_same(tiled, (*both)[1]);
}

TEST(RecordingFile, FileWithoutARecordingSaysSo) {
  const TempFolder folder;
  Container c;
  c.session_json = session_text(json::object());
  ASSERT_TRUE(write_file_atomically(folder / "a.attn", *container_bytes(c)));
  EXPECT_NE(read_recording(folder / "a.attn").error().message.find("contains no recording"), std::string::npos);
}

// Reads a small recording whose JSON or entries were changed, and gives the refusal.
std::string refusal_of(const std::function<void(json&, Container&)>& change) {
  json session = json::object();
  Container c;
  EXPECT_TRUE(add_recording(recorded("cpu_flash", "causal"), 0, session, c));
  change(session["recordings"][0], c);
  c.session_json = session_text(session);
  const auto back = recordings_of(c, "x.attn");
  return back ? "accepted" : back.error().message;
}

TEST(RecordingFile, RefusesJsonThatIsWrongWithItsPlace) {
  EXPECT_EQ(refusal_of([](json&, Container&) {}), "accepted");
  EXPECT_EQ(refusal_of([](json& j, Container&) { j = 3; }), "x.attn: recordings[0] must be a JSON object.");
  EXPECT_EQ(refusal_of([](json& j, Container&) { j["order"] = "spiral"; }),
            "x.attn: recordings[0]: \"order\" must be one of naive, tiled, flash, flash-1, backward, naive-backward, "
            "backward-queries, split, ring, hopper, backward-ring.");
  EXPECT_EQ(refusal_of([](json& j, Container&) { j["problem"]["D"] = 300; }),
            "x.attn: recordings[0].problem: D is 300; the limit for head dimensions is 256.");
  EXPECT_NE(refusal_of([](json& j, Container&) { j["problem"]["Lq"] = 1e300; }).find("\"Lq\" must be an integer"),
            std::string::npos);
  EXPECT_NE(
      refusal_of([](json& j, Container&) { j["phases"][3] = "backward"; }).find("has an unknown name: 'backward'"),
      std::string::npos);
  EXPECT_NE(refusal_of([](json& j, Container&) { j["options"]["br"] = 0; }).find("tile"), std::string::npos);
  EXPECT_NE(refusal_of([](json& j, Container&) { j["arena"] = "r0/none.npy"; }).find("which is not in the file"),
            std::string::npos);
  EXPECT_NE(refusal_of([](json& j, Container&) { j["k"] = "r0/q.npy"; }).find("has been used already"),
            std::string::npos);
}

TEST(RecordingFile, EveryMissingMemberIsRefused) {
  json session = json::object();
  Container c;
  ASSERT_TRUE(add_recording(recorded("cpu_flash", "causal"), 0, session, c));
  for (const auto& [key, value] : session["recordings"][0].items()) {
    const std::string& member = key;
    EXPECT_NE(refusal_of([&](json& j, Container&) { j.erase(member); }), "accepted") << key;
  }
}

TEST(RecordingFile, RefusesAProblemThatItsEventsCannotCover) {
  // Look-up tables of this problem would take more memory than there is.
  const auto huge = [](json& j, Container&) {
    j["problem"]["Lq"] = 2000000000;
    j["problem"]["Lk"] = 2000000000;
    j["options"]["br"] = 1;
    j["options"]["bc"] = 1;
  };
  EXPECT_NE(refusal_of(huge), "accepted");
}

// One whole number of a table changed.
template <class T>
void poke(Container& c, const std::string& name, std::size_t columns, std::size_t row, std::size_t column, T value) {
  std::vector<T> table = *parse_npy_table<T>(c.files.at(name), columns, 1 << 20, name);
  table.at(row * columns + column) = value;
  c.files.at(name) = npy_table_bytes<T>(table, columns);
}

TEST(RecordingFile, RefusesEventsOutsideTheProblem) {
  const auto event = [](std::size_t column, std::int32_t value) {
    return refusal_of([&](json&, Container& c) { poke<std::int32_t>(c, "r0/events.npy", 6, 2, column, value); });
  };
  EXPECT_EQ(event(0, 1), "x.attn: recordings[0]: event 2 refers to a batch or head that does not exist.");
  EXPECT_NE(event(1, -1), "accepted");
  EXPECT_EQ(event(2, 4), "x.attn: recordings[0]: event 2 refers to a tile that does not exist.");
  EXPECT_NE(event(2, -1), "accepted");
  EXPECT_NE(event(3, 1 << 30), "accepted");
  EXPECT_NE(event(4, 99).find("event 2 has phase 99"), std::string::npos);
  EXPECT_NE(event(4, -1), "accepted");
  EXPECT_EQ(event(5, 3), "x.attn: recordings[0]: event 2 refers to a pass that does not exist.");
}

TEST(RecordingFile, RefusesVersionsThatDoNotFitTheArenaOrTheTiling) {
  const auto version = [](std::size_t column, std::int64_t value) {
    return refusal_of([&](json&, Container& c) { poke<std::int64_t>(c, "r0/versions.npy", 8, 1, column, value); });
  };
  EXPECT_EQ(version(0, 1LL << 40), "x.attn: recordings[0]: version 1 lies outside the arena.");
  EXPECT_EQ(version(0, -1), "x.attn: recordings[0]: version 1 contains a number that is out of range.");
  for (std::size_t column = 1; column < 6; ++column) {
    for (std::int64_t value : {-1LL, 3LL, 1000000LL, 0x7fffffffLL, 0x100000000LL}) {
      if (column == 5 && value == 3) continue;  // made by another event: allowed where that event is earlier
      EXPECT_NE(version(column, value), "accepted") << column << " " << value;
    }
  }
  EXPECT_NE(version(6, 200), "accepted");
  EXPECT_NE(version(7, 16), "accepted");
}

TEST(RecordingFile, RefusesLiveVersionsThatAreNotTheEvents) {
  const Recording rec = recorded("cpu_flash", "causal");
  EventIndex e = 0;  // a product of the second query tile
  while (rec.events[e].id.phase != Phase::output || rec.events[e].id.i != 1) ++e;
  const auto live = [&](Slot s, std::uint32_t value) {
    return refusal_of([&](json&, Container& c) {
      poke<std::uint32_t>(c, "r0/live.npy", kSlots, e, static_cast<std::size_t>(s), value);
    });
  };
  const auto count = static_cast<std::uint32_t>(rec.versions.size());
  EXPECT_NE(live(Slot::o_new, count).find("shows a version that does not exist"), std::string::npos);
  EXPECT_NE(live(Slot::o_new, count - 1), "accepted");
  EXPECT_NE(live(Slot::o_new, kNoVersion), "accepted");
  EXPECT_NE(live(Slot::q, rec.after(e, Slot::k)).find("of another tensor"), std::string::npos);
  EXPECT_NE(live(Slot::o_new, rec.after(0, Slot::o_old)), "accepted");  // of another query tile
}

TEST(RecordingFile, RefusesTablesOfOtherTypesAndLengths) {
  EXPECT_NE(refusal_of([](json&, Container& c) { c.files["r0/events.npy"] = c.files["r0/live.npy"]; }), "accepted");
  EXPECT_NE(refusal_of([](json&, Container& c) { c.files["r0/arena.npy"] = c.files["r0/q.npy"]; }), "accepted");
  EXPECT_NE(refusal_of([](json&, Container& c) { c.files["r0/lse.npy"] = c.files["r0/out.npy"]; }), "accepted");
  EXPECT_NE(refusal_of([](json&, Container& c) { c.files["r0/live.npy"].resize(200); }), "accepted");
  const auto fewer = [](json&, Container& c) {
    c.files["r0/hbm_bytes.npy"] = npy_table_bytes<std::uint64_t>(std::vector<std::uint64_t>(8), 8);
  };
  EXPECT_NE(refusal_of(fewer).find("different numbers of rows"), std::string::npos);
}

TEST(ProblemJson, RoundTripsAndFillsMissingOptions) {
  Problem p = (*find_preset("bias"))->problem;
  p.dtype = DType::bf16;
  p.scale = -0.25;
  p.mask.window_right = 2;
  p.mask.key_lengths = {3};
  const Result<Problem> back = problem_from_json(json::parse(problem_to_json(p).dump()), "p");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, p);
  Options o;
  o.br = 7;
  o.accumulate = DType::f16;
  o.key_order = KeyOrder::right_to_left;
  EXPECT_EQ(*options_from_json(options_to_json(o), "o"), o);
  Options only_br;
  only_br.br = 7;
  EXPECT_EQ(*options_from_json(json{{"br", 7}}, "o"), only_br);
  EXPECT_FALSE(options_from_json(json{{"br", -1}}, "o"));
  EXPECT_FALSE(options_from_json(json{{"br", 5000000000}}, "o"));
}

}  // namespace
}  // namespace attn
