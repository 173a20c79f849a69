// The questions that fresh readers of a timeline are asked (tests/questions/timeline.json): their key is what the
// recordings say, counted here without the page, and the page answers each in a sentence with that number.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "profiling/timeline/pipeline.h"
#include "tests/environment/paths.h"
#include "tests/viz/profile/timeline/bundled_timelines.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

using nlohmann::json;

std::shared_ptr<const Timeline> recording_of(const TimelinesView& all, const json& of, int more_slots = 0) {
  for (const auto& t : all.all) {
    const auto step = std::ranges::find(t->options.further, std::string("step"), &Setting::name);
    if (t->problem.Lk == of.at("L") && t->problem.D == of.at("D") && t->problem.mask.causal == of.at("causal") &&
        step->value == of.at("step").get<std::int64_t>() && t->options.stages == of.at("slots").get<int>() + more_slots)
      return t;
  }
  return nullptr;
}

std::string percent(double share) {
  return share >= 9.95 ? fmt::format("{:.0f} %", share) : fmt::format("{:.1f} %", share);
}

bool says(const PipelineScene::Answer& answer, const std::string& number) {
  return (answer.answer + " " + answer.why).find(number) != std::string::npos;
}

void check_pace(const json& q, const Timeline& t, const PipelineScene& scene) {
  const auto p = pipeline_of(t, detailed_blocks(t).front());
  ASSERT_TRUE(p);
  const auto share = [&](PathOf of) {
    return 100 * static_cast<double>(p->on_path(of)) / static_cast<double>(p->length());
  };
  const double copies = share(PathOf::copy_k) + share(PathOf::copy_v) + share(PathOf::copy_q);
  for (const auto& [name, found] : {std::pair("instructions", share(PathOf::work)),
                                    {"tensor cores", share(PathOf::tensor_cores)},
                                    {"copies", copies}}) {
    EXPECT_NEAR(q.at(name).get<double>(), found, 0.51) << name;
    // "7.4 % copies": rounded so that all parts add up, by a tenth at most.
    const std::string& why = scene.answers.at(0).why;
    const std::size_t at =
        why.find(std::string(" % ") + (name == std::string_view("instructions") ? "consumers' own " : "") + name);
    ASSERT_NE(at, std::string::npos) << why;
    const std::size_t from = why.find_last_of(' ', at - 1) + 1;
    EXPECT_NEAR(std::stod(why.substr(from, at - from)), found, 0.151) << why;
  }
}

void check_slot(const json& q, const TimelinesView& all, const json& of, const Timeline& t,
                const PipelineScene& scene) {
  const auto more = recording_of(all, of, 1);
  ASSERT_EQ(more != nullptr, q.contains("measured"));
  if (more == nullptr) {
    const std::string words = q.value("in this block", "");
    const std::string none = fmt::format("Not measured: no recording here has {} slots.", t.options.stages + 1);
    EXPECT_EQ(scene.answers.at(1).answer, words.empty() ? none : words);
    return;
  }
  const double measured = 100 * (1 - more->plain_us / t.plain_us);
  EXPECT_NEAR(q.at("measured").get<double>(), measured, 0.051);
  EXPECT_TRUE(says(scene.answers.at(1), percent(measured))) << scene.answers[1].answer;
  if (q.contains("derived")) {
    EXPECT_TRUE(says(scene.answers.at(1), fmt::format("{:.1f} %", q.at("derived").get<double>())));
  }
}

void check_tail(const json& q, const Timeline& t, const PipelineScene& scene) {
  std::map<std::int32_t, std::int64_t> ends;
  std::int64_t start = t.blocks.front().start_ns;
  for (const TimedBlock& b : t.blocks) {
    ends[b.sm] = std::max(ends[b.sm], b.end_ns);
    start = std::min(start, b.start_ns);
  }
  const auto by_end = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [first, last] = std::ranges::minmax_element(ends, by_end);
  double idle = 0;
  for (const auto& [sm, end] : ends) idle += static_cast<double>(last->second - end);
  idle *= 100 / (static_cast<double>(last->second - start) * static_cast<double>(ends.size()));
  const double us = static_cast<double>(last->second - first->second) * 1e-3;
  EXPECT_NEAR(q.at("us").get<double>(), us, 0.051);
  EXPECT_NEAR(q.at("idle").get<double>(), idle, 0.051);
  EXPECT_TRUE(says(scene.answers.at(2), fmt::format("{:.1f} µs", us))) << scene.answers[2].why;
  EXPECT_TRUE(says(scene.answers.at(2), percent(idle))) << scene.answers[2].answer;
}

// Under a causal mask consumers multiply unlike numbers of tiles: that alone says nothing of their rows.
TEST(TimelineQuestions, AConsumerIsWithoutRowsOnlyWhereItNeverWaitsForQ) {
  const TimelinesView all = bundled_timelines();
  for (const auto& t : all.all) {
    if (t->kernel != "flash_hopper") continue;
    const std::string notes = timeline_scene(t, all, t->kernel).notes;
    const auto p = pipeline_of(*t, detailed_blocks(*t).front());
    ASSERT_TRUE(p);
    std::map<std::int32_t, int> waits;
    for (std::size_t l = 0; l < p->lanes.size(); ++l) {
      const TimelineLane& lane = t->lanes[p->lanes[l]];
      if (lane.kind != LaneKind::consumer) continue;
      waits[lane.index] = 0;
      for (const LaneInterval& i : p->intervals[l])
        if (t->tags[static_cast<std::size_t>(i.tag)] == "wait Q") ++waits[lane.index];
    }
    int most = 0;
    for (const auto& [index, count] : waits) most = std::max(most, count);
    for (const auto& [index, count] : waits)
      EXPECT_EQ(notes.find(fmt::format("Consumer {} has no rows", index)) != std::string::npos, count < most) << notes;
  }
}

TEST(TimelineQuestions, HaveTheirKeyFromTheRecordingsAndThePageAnswersThem) {
  std::ifstream in(test::source_folder() + "/tests/questions/timeline.json");
  const json file = json::parse(in);
  const TimelinesView all = bundled_timelines();
  ASSERT_EQ(file.at("pictures").size(), 3U);
  for (const json& picture : file.at("pictures")) {
    const json& of = picture.at("recording");
    const auto t = recording_of(all, of);
    ASSERT_NE(t, nullptr) << picture.at("id");
    EXPECT_EQ(without_take(id_of(*t)), picture.at("timeline").get<std::string>()) << picture.at("id");
    const PipelineScene scene = timeline_scene(t, all, t->kernel);
    ASSERT_EQ(scene.answers.size(), 3U);
    check_pace(picture.at("key").at("pace"), *t, scene);
    check_slot(picture.at("key").at("slot"), all, of, *t, scene);
    check_tail(picture.at("key").at("tail"), *t, scene);
  }
}

}  // namespace
}  // namespace attn
