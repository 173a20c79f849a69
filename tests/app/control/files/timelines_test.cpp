// Recorded timelines in the whole program: which are drawn, and how one leaves it.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/control/controller.h"
#include "profiling/session/session.h"
#include "profiling/timeline/timeline_text.h"
#include "tests/app/control/headless.h"
#include "tests/environment/paths.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

class TimelinesTest : public control_test::Headless {
 protected:
  static std::vector<Timeline> bundled() {
    auto session = read_session(test::source_folder() + "/assets/sessions/h100-turns-timeline.attn");
    EXPECT_TRUE(session) << (session ? "" : session.error().message);
    return session ? std::move(session->timelines) : std::vector<Timeline>();
  }
  static std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(TimelinesTest, OneIsWrittenAsATableAndAsATrace) {
  Controller c(options());
  const std::vector<Timeline> all = bundled();
  c.show(all);
  c.update({ExportTimeline{id_of(all.at(1)), false}});
  c.wait();
  ASSERT_EQ(files(".csv").size(), 1U) << last_words(c);
  EXPECT_EQ(text_of(files(".csv")[0]), timeline_csv(all.at(1)));
  c.update({ExportTimeline{id_of(all.at(1)), true}});
  c.wait();
  ASSERT_EQ(files(".json").size(), 1U) << last_words(c);
  const auto trace = nlohmann::json::parse(text_of(files(".json")[0]));
  EXPECT_EQ(trace.at("otherData").at("kernel"), "flash_hopper");
  c.update({ExportTimeline{"nobody", false}});
  EXPECT_NE(last_words(c).find("no recorded timeline"), std::string::npos) << last_words(c);
}

// A recording tells of the text that ran: of another one, such as an edited copy, it says nothing.
TEST_F(TimelinesTest, OneOfAnotherSourceIsNamedAndNotDrawn) {
  Controller c(options());
  std::vector<Timeline> all = bundled();
  ASSERT_GE(all.size(), 2U);
  all[1].source_hash[0] = all[1].source_hash[0] == '0' ? '1' : '0';
  c.show(all);
  const TimelinesView& known = c.model().timelines;
  ASSERT_EQ(known.refused.size(), 1U);
  const PipelineScene own = timeline_scene(known.all.at(0), known, "flash_hopper");
  const PipelineScene other = timeline_scene(known.all.at(1), known, "flash_hopper");
  EXPECT_TRUE(own.there) << own.empty;
  EXPECT_FALSE(other.there);
  EXPECT_NE(other.empty.find("a different source of flash_hopper: " + all[1].source_hash.substr(0, 8)),
            std::string::npos)
      << other.empty;
  // Nor is it set against others.
  const auto choice = std::ranges::find(own.choices, id_of(all[1]), &PipelineScene::Choice::id);
  ASSERT_NE(choice, own.choices.end());
  EXPECT_FALSE(choice->may_be_beside);
}

}  // namespace
}  // namespace attn
