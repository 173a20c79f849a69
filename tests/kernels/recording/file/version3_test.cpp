// Format version 3: what it adds to files round-trips, hostile variants are refused in words, and what needs none of it
// is written as before.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/formats/npy_table.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/recording/file/recording_file.h"
#include "tests/environment/paths.h"
#include "tests/kernels/temp_folder.h"
#include "tests/kernels/version3.h"

namespace attn {
namespace {

using nlohmann::json;
using namespace test;

Recording small_recording() {
  const KernelRow& row = **find_kernel("cpu_flash");
  const Preset& preset = **find_preset("blackboard");
  Options o;
  o.br = preset.br;
  o.bc = preset.bc;
  const auto in = make_inputs(preset.problem, {preset.generator, preset.seed, {}, {}, {}, {}, {}});
  auto rec = row.record(row, preset.problem, o, *in, {});
  EXPECT_TRUE(rec);
  return rec ? *std::move(rec) : Recording();
}

// The container as a file of version 3 has it.
Container container_of(const std::vector<TensorSet>& sets, const std::vector<Timeline>& timelines,
                       const Recording* rec = nullptr) {
  json session = json::object();
  Container c;
  if (rec != nullptr) {
    const auto added = add_recording(*rec, 0, session, c);
    EXPECT_TRUE(added) << added.error().message;
  }
  const auto added = add_beside(sets, timelines, session, c);
  EXPECT_TRUE(added) << added.error().message;
  c.session_json = session_text(session, 3);
  return c;
}

// What a reader says of the file after `spoil`.
std::string refusal_of(const Container& good, const std::function<void(json&, Container&)>& spoil) {
  Container c = good;
  json session = json::parse(c.session_json);
  spoil(session, c);
  c.session_json = session.dump();
  const auto read = stored_in(c, "x.attn");
  return read ? "" : read.error().message;
}

TEST(Version3, SetsOfTensorsOfEveryKindRoundTrip) {
  const std::vector<TensorSet> sets{backward_set(), paged_set(), split_set()};
  const auto read = stored_in(container_of(sets, {}), "x.attn");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->tensors.size(), sets.size());
  for (std::size_t n = 0; n < sets.size(); ++n) {
    // Entries come in the order of their names.
    EXPECT_EQ(sorted(read->tensors[n]), sorted(sets[n])) << n;
  }
}

TEST(Version3, TimelinesInClocksAndOfHostsRoundTrip) {
  const std::vector<Timeline> timelines{clock_timeline(), host_timeline()};
  const Container c = container_of({}, timelines);
  const auto bytes = container_bytes(c);
  ASSERT_TRUE(bytes);
  const auto parsed = parse_container(*bytes, "x.attn");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto read = stored_in(*parsed, "x.attn");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->timelines, timelines);
}

TEST(Version3, ARecordingCarriesPartsLabelsAndItsTimeline) {
  Recording rec = small_recording();
  EXPECT_EQ(attn_version_of(rec), 1);
  const Problem& p = rec.problem;
  rec.splits = 2;
  rec.tensors = {{Tensor::partial_lse, Array(DType::f32, {2, p.B, p.Hq, p.Lq}), {}}};
  rec.tensors[0].numbers.set(1, 0.5F);
  for (std::int64_t r = 0; r < p.Lq; ++r) rec.labels.rows.push_back("word " + std::to_string(r));
  rec.timeline = std::make_shared<const Timeline>(clock_timeline());
  EXPECT_EQ(attn_version_of(rec), 3);
  TempFolder folder;
  const auto file = folder / "r.attn";
  const auto written = write_recording(file, rec);
  ASSERT_TRUE(written) << written.error().message;
  const auto read = read_recording(file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->splits, 2);
  EXPECT_EQ(read->tensors, rec.tensors);
  EXPECT_EQ(read->labels, rec.labels);
  ASSERT_NE(read->timeline, nullptr);
  EXPECT_EQ(*read->timeline, *rec.timeline);
  EXPECT_EQ(read->events.size(), rec.events.size());
}

TEST(Version3, IsNotWrittenWhereNothingOfItIsUsed) {
  const Recording rec = small_recording();
  json session = json::object();
  Container c;
  ASSERT_TRUE(add_recording(rec, 0, session, c));
  for (const char* key : {"splits", "tensors", "labels", "timeline"}) {
    EXPECT_FALSE(session["recordings"][0].contains(key)) << key;
  }
  EXPECT_FALSE(session.contains("tensors"));
  EXPECT_FALSE(session.contains("timelines"));
}

// Of the bundled ones, which earlier versions wrote: read and written again they are the same bytes.
TEST(Version3, BundledRecordingsAreWrittenAsTheyWere) {
  for (const char* kernel : {"flash_mma", "flash_simt", "flash_tf32x3", "flash_wmma", "naive", "tiled"}) {
    const std::string file = source_folder() + "/assets/recordings/late_outlier_64_" + kernel + ".attn";
    const auto before = read_container(file);
    ASSERT_TRUE(before) << before.error().message;
    const auto rec = read_recording(file);
    ASSERT_TRUE(rec) << rec.error().message;
    const json was = json::parse(before->session_json);
    EXPECT_EQ(attn_version_of(*rec), was["version"].get<int>());
    json session = json::object();
    Container again;
    ASSERT_TRUE(add_recording(*rec, 0, session, again));
    EXPECT_EQ(session["recordings"][0], was["recordings"][0]) << kernel;
    EXPECT_EQ(again.files, before->files) << kernel;
  }
}

// A reader of versions 1 and 2 passed over members that it did not know, and still does.
TEST(Version3, MembersOfItInAFileOfVersion2ArePassedOver) {
  Container c = container_of({backward_set()}, {clock_timeline()});
  json session = json::parse(c.session_json);
  session["version"] = 2;
  c.session_json = session.dump();
  const auto read = stored_in(c, "x.attn");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->tensors.empty());
  EXPECT_TRUE(read->timelines.empty());
}

TEST(Version3, HostileTensorsAreRefusedInWords) {
  const Container good = container_of({backward_set(), paged_set(), split_set()}, {});
  ASSERT_EQ(refusal_of(good, [](json&, Container&) {}), "");
  const auto expect = [&](const char* words, const std::function<void(json&, Container&)>& spoil) {
    const std::string refusal = refusal_of(good, spoil);
    EXPECT_NE(refusal.find(words), std::string::npos) << "'" << refusal << "' should say " << words;
    EXPECT_EQ(refusal.substr(0, 6), refusal.empty() ? "" : "x.attn");
  };
  expect("is not the name of a tensor", [](json& s, Container&) { s["tensors"][0]["tensors"]["dx"] = "t0/dq.npy"; });
  expect("has been used already", [](json& s, Container&) { s["tensors"][0]["tensors"]["dq"] = "t0/q.npy"; });
  expect("which is not in the file", [](json& s, Container&) { s["tensors"][0]["tensors"]["dq"] = "t9/q.npy"; });
  expect("δ cannot be stored with", [](json& s, Container&) { s["tensors"][0]["problem"].erase("pass"); });
  expect("The page table cannot be stored with",
         [](json& s, Container&) { s["tensors"][1]["problem"].erase("storage"); });
  expect("LSE of the parts cannot be stored with", [](json& s, Container&) { s["tensors"][2].erase("splits"); });
  expect("must be an integer from 2 to 4096", [](json& s, Container&) { s["tensors"][2]["splits"] = 100000; });
  expect("but the problem needs", [](json& s, Container&) { s["tensors"][0]["problem"]["Lq"] = 4; });
  expect("but the problem needs", [](json& s, Container&) { s["tensors"][2]["splits"] = 4; });
  expect("bytes; the limit is 67108864", [](json& s, Container&) { s["tensors"][0]["problem"]["B"] = 1 << 24; });
  expect("must be a table of <i4", [](json&, Container& c) {
    c.files["t1/page_table.npy"] = npy_table_bytes<std::int64_t>(std::vector<std::int64_t>{0, 1, 2, 3}, 2);
  });
  expect("entry 1 of batch 0 in the page table is 5; the pool has pages 0 to 4", [](json&, Container& c) {
    c.files["t1/page_table.npy"] = npy_table_bytes<std::int32_t>(std::vector<std::int32_t>{4, 5, 1, -1}, 2);
  });
  expect("labels for rows", [](json& s, Container&) { s["tensors"][0]["labels"]["rows"].push_back("more"); });
  expect("a label of columns has 300 bytes",
         [](json& s, Container&) { s["tensors"][0]["labels"]["columns"][1] = std::string(300, 'x'); });
  expect("must contain strings", [](json& s, Container&) { s["tensors"][0]["labels"]["rows"][0] = 3; });
  expect("must be a list of at most 256", [](json& s, Container&) { s["tensors"] = json::object(); });
}

TEST(Version3, HostileTimelinesAreRefusedInWords) {
  const auto refusal = [](const std::function<void(Timeline&)>& spoil) {
    Timeline t = clock_timeline();
    spoil(t);
    const auto good = check_timeline(t, "here");
    return good ? std::string() : good.error().message;
  };
  ASSERT_EQ(refusal([](Timeline&) {}), "");
  const auto expect = [&](const char* words, const std::function<void(Timeline&)>& spoil) {
    EXPECT_NE(refusal(spoil).find(words), std::string::npos) << "'" << refusal(spoil) << "' should say " << words;
  };
  expect("lane 0 goes backwards from 140 to 130", [](Timeline& t) { t.events[2].at = 130; });
  expect("outside its block's 100 to 200", [](Timeline& t) { t.events[0].at = 99; });
  expect("outside its block's 100 to 200", [](Timeline& t) { t.events[3].at = 201; });
  expect("must end with \"done\"", [](Timeline& t) { t.events[3].tag = 0; });
  expect("must end with \"done\"", [](Timeline& t) { t.events[1].tag = 3; });
  expect("an invalid tag, tile or slot", [](Timeline& t) { t.events[1].tag = 4; });
  expect("the tag wait_k appears twice", [](Timeline& t) { t.tags[0] = "wait_k"; });
  expect("no tag is \"done\"", [](Timeline& t) { t.tags[3] = "finished"; });
  expect("do not follow the previous lane's", [](Timeline& t) { t.lanes[1].first = 3; });
  expect("do not follow the previous lane's", [](Timeline& t) { t.lanes[1].count = 1 << 20; });
  expect("2 events belong to no lane", [](Timeline& t) { t.lanes.pop_back(); });
  expect("an invalid block, rank or index", [](Timeline& t) { t.lanes[0].block = -1; });
  expect("an invalid block, rank or index", [](Timeline& t) { t.lanes[0].block = 7; });
  expect("block 5 is outside the grid of 2", [](Timeline& t) { t.blocks[0].block = 5; });
  expect("block 1 appears twice", [](Timeline& t) { t.blocks.push_back(t.blocks[0]); });
  expect("whose clock is unknown", [](Timeline& t) { t.blocks[0].sm = 8; });
  expect("ends before it starts", [](Timeline& t) { t.blocks[0].end_ns = 1; });
  expect("SM 7 appears twice", [](Timeline& t) { t.sms.push_back(t.sms[0]); });
  expect("is invalid", [](Timeline& t) { t.sms[0].ns_per_clock = 0; });
  expect("is invalid", [](Timeline& t) { t.sms[0].residual_ns = -1; });
  expect("a timestamp from SM 8, whose clock is unknown", [](Timeline& t) { t.points[2].sm = 8; });
  expect("the timestamps of both clocks go backwards at 1", [](Timeline& t) { t.points[1].clock = 100; });
  expect("the timestamps of both clocks go backwards at 2", [](Timeline& t) { t.points[2].ns = 5029; });
  expect("is not a valid time", [](Timeline& t) { t.plain_us = -1; });
  expect("do not enclose", [](Timeline& t) { t.plain_quartiles = {10.5, 11}; });
  expect("do not enclose", [](Timeline& t) { t.traced_quartiles = {10, 0}; });
  expect("65 tags; the limit is 64", [](Timeline& t) { t.tags.resize(65, "x"); });
  expect("in ns, not in clock cycles", [](Timeline& t) { t.buffer = EventBuffer::host; });
}

TEST(Version3, HostileTablesOfATimelineAreRefusedInWords) {
  const Container good = container_of({}, {clock_timeline()});
  const auto expect = [&](const char* words, const std::function<void(json&, Container&)>& spoil) {
    const std::string refusal = refusal_of(good, spoil);
    EXPECT_NE(refusal.find(words), std::string::npos) << "'" << refusal << "' should say " << words;
  };
  expect("\"unit\"", [](json& s, Container&) { s["timelines"][0]["unit"] = "weeks"; });
  expect("has an unknown name: 'spectator'", [](json& s, Container&) { s["timelines"][0]["kinds"][0] = "spectator"; });
  expect("\"sms\" must have at most 1024", [](json& s, Container&) {
    s["timelines"][0]["sms"] = json::array();
    for (int n = 0; n < 1025; ++n) s["timelines"][0]["sms"].push_back(0);
  });
  expect("points: row 0 contains a number that is out of range", [](json&, Container& c) {
    c.files["l0/points.npy"] = npy_table_bytes<std::int64_t>(std::vector<std::int64_t>{7, -1, 0}, 3);
  });
  expect("events: row 0 contains a number that is out of range", [](json&, Container& c) {
    c.files["l0/events.npy"] = npy_table_bytes<std::int64_t>(std::vector<std::int64_t>{-5, 0, -1, -1}, 4);
  });
  expect("lanes: row 0 contains a number that is out of range", [](json&, Container& c) {
    c.files["l0/lanes.npy"] = npy_table_bytes<std::int64_t>(std::vector<std::int64_t>{9, 0, 0, -1, 4}, 5);
  });
  expect("lanes: row 0 contains a number that is out of range", [](json&, Container& c) {
    c.files["l0/lanes.npy"] =
        npy_table_bytes<std::int64_t>(std::vector<std::int64_t>{0, 0, 0, -1, std::int64_t{1} << 40}, 5);
  });
  expect("must be a table of <i8 with 4 columns and at most 2097152 rows", [](json&, Container& c) {
    c.files["l0/events.npy"] = npy_table_bytes<std::int64_t>(std::vector<std::int64_t>{0, 0, 0}, 3);
  });
}

TEST(Version3, ARecordingOfAnotherPassThanItsOrderWalksIsRefused) {
  Recording rec = small_recording();
  json session = json::object();
  Container c;
  rec.problem.pass = Pass::backward;
  auto refused = add_recording(rec, 0, session, c);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("order flash supports only a forward pass in layout bhld"), std::string::npos);
  rec.problem.pass = Pass::forward;
  rec.tensors = {{Tensor::q, rec.inputs.q, {}}};
  refused = add_recording(rec, 0, session, c);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("Q must be a separate member"), std::string::npos);
}

}  // namespace
}  // namespace attn
