// What is shown and said of two recordings, on all pairs that come with the program: both blocks in sight, and every
// sentence of one mind with the headline, the panel and the others.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/environment/asked.h"
#include "tests/viz/profile/timeline/bundled_timelines.h"
#include "viz/profile/timeline/scene/common_part.h"
#include "viz/profile/timeline/scene/comparison.h"
#include "viz/profile/timeline/scene/recorded_panel.h"
#include "viz/profile/timeline/scene/shown_part.h"

namespace attn {
namespace {

bool says(const std::string& words, const std::string& part) {
  return words.find(part) != std::string::npos;
}

// Each pair as the page opens it.
template <class Each>
void each_pair(Each each) {
  const TimelinesView all = bundled_timelines({"h100-timeline", "h100-turns-timeline", "h100-warps-timeline"});
  std::size_t pairs = 0;
  for (const auto& above : all.all) {
    const PipelineScene alone = timeline_scene(above, all, above->kernel);
    for (const PipelineScene::Choice& c : alone.choices) {
      if (!c.may_be_beside || test::left_to_release(pairs++, 9)) continue;
      PipelineScene s = alone;
      put_beside(s, c.id, all);
      ASSERT_NE(s.beside, nullptr) << c.id;
      show_part(s, {});
      SCOPED_TRACE(id_of(*above) + " above " + c.id);
      each(s);
    }
  }
  EXPECT_EQ(pairs, 134U);
}

std::array<const PipelineScene*, 2> halves(const PipelineScene& s) {
  return {&s, s.beside.get()};
}

double us_of(const PipelineScene& s, std::int64_t clocks) {
  return static_cast<double>(clocks) * s.ns_a_clock * 1e-3;
}

// What a half shows of its block, as a share of the window, or of the block where that is shorter.
double seen(const PipelineScene& s) {
  const std::int64_t both = std::min(s.to, s.length) - std::max<std::int64_t>(s.from, 0);
  return static_cast<double>(both) / static_cast<double>(std::min(s.to - s.from, s.length));
}

TEST(TwoBlocks, AreBothInSightAsThePageOpens) {
  each_pair([](const PipelineScene& s) {
    for (const PipelineScene* const half : halves(s)) {
      EXPECT_GT(seen(*half), 0.7) << half->from << " to " << half->to << " of " << half->length;
      for (const TimelineRow& row : half->rows) {
        if (row.kind != RowKind::computes) continue;
        EXPECT_TRUE(std::ranges::any_of(row.stretches, [&](const TimelineStretch& x) {
          return x.to > half->from && x.from < half->to;
        })) << row.label;
      }
    }
  });
}

TEST(TwoBlocks, SayWhenTheyEndedWhereTheReaderPansPastOne) {
  std::size_t past = 0;
  each_pair([&](PipelineScene& s) {
    ProfileView view;
    for (const double share : {0.3, 0.9}) {
      view.time_from_ns = static_cast<std::int64_t>(us_of(s, s.length) * share * 1e3);
      view.time_to_ns = view.time_from_ns + 4000;
      show_part(s, view);
      for (const PipelineScene* const half : halves(s)) {
        const std::vector<BlockEdge> edges = block_edges(*half);
        EXPECT_EQ(std::ranges::any_of(edges, &BlockEdge::before), half->to > half->length);
        EXPECT_EQ(!std::ranges::all_of(edges, &BlockEdge::before), half->from < 0);
        for (const BlockEdge& edge : edges) {
          EXPECT_LT(edge.from, edge.to);
          if (!edge.before) continue;
          EXPECT_EQ(edge.words, fmt::format("block {} ended at {:.1f} µs", half->block, us_of(*half, half->length)));
          past += edge.from == half->from;
        }
      }
    }
  });
  EXPECT_GT(past, 2U);
}

// By its words: 1 more or later, -1 less or sooner, 0 neither.
int direction(const std::string& words, const char* less, const char* more) {
  return says(words, more) ? 1 : says(words, less) ? -1 : 0;
}

// "below ends 8.2 µs (5.0 %) later": 0.05; sooner: below 0.
double headline_share(const std::string& verdict) {
  const std::size_t at = verdict.find("µs (");
  if (at == std::string::npos || says(verdict, "no difference")) return 0;
  const double share = std::stod(verdict.substr(at + std::string("µs (").size())) / 100;
  return says(verdict, " sooner") ? -share : share;
}

TEST(Bracket, IsBoldWhereItSaysWhatTheHeadlineSaysAndElseHasTheCauseBesideIt) {
  std::map<bool, int> told;
  int other_size = 0;
  each_pair([&](const PipelineScene& s) {
    const auto ahead = ahead_of(s);
    if (!ahead) return;
    const AheadWords words = ahead_words(s, *ahead);
    const int headline = direction(verdict_of(s), " sooner", " later");
    const bool typical = s.typical && s.beside->typical;
    const double apart = std::fabs(more_below(*ahead) - headline_share(verdict_of(s)));
    const bool size = headline == 0 || apart <= std::max(0.5 * std::fabs(headline_share(verdict_of(s))), 0.01);
    for (const AheadForm& form : words.forms) {
      const int bracket = says(form.measured, "as long") ? 0 : more_below(*ahead) > 0 ? 1 : -1;
      EXPECT_EQ(words.agrees, bracket == headline && size && typical) << form.all() << " / " << verdict_of(s);
      EXPECT_EQ(words.agrees, form.cause.empty()) << form.all();
      const std::string share = fmt::format("{:.1f} %", 100 * std::fabs(more_below(*ahead)));
      EXPECT_TRUE(bracket == 0 || says(form.measured, share)) << form.all();
      const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
      EXPECT_TRUE(words.agrees || says(form.cause, "typical") || std::ranges::any_of(form.cause, digit)) << form.cause;
      EXPECT_EQ(says(form.cause, "typical"), !typical) << form.cause;
    }
    EXPECT_LT(words.forms.back().all().size(), words.forms.front().all().size());
    ++told[words.agrees];
    other_size += !size && typical && direction(words.forms[0].measured, " less below", " more below") == headline;
  });
  if (!test::asked("ATTNSCOPE_SANITIZED")) {
    EXPECT_GT(told[true], 15);
    EXPECT_GT(told[false], 10);
    EXPECT_GT(other_size, 0);
  }
}

// By the recording itself: rows of each consumer's products S between the marks, but for those at the marks.
TEST(Bracket, CountsTheRowsThatTakeItsKeyTiles) {
  each_pair([](const PipelineScene& s) {
    const auto ahead = ahead_of(s);
    if (!ahead) return;
    const auto rows_in = [](const PipelineScene& half, std::int64_t from, std::int64_t to) {
      const Timeline& t = *half.timeline;
      const auto p = pipeline_of(t, most_usual_block(t, detailed_blocks(t)));
      EXPECT_TRUE(p);
      std::int64_t products = 0;
      for (const Product& x : p->products)
        products += !x.of_o && x.issued - p->start >= from && x.issued - p->start < to;
      return static_cast<double>(64 * products);
    };
    constexpr double kAtTheMarks = 4 * 64;
    EXPECT_NEAR(ahead->above_work, rows_in(s, ahead->from_above, ahead->above), kAtTheMarks);
    EXPECT_NEAR(ahead->below_work, rows_in(*s.beside, ahead->from_below, ahead->below), kAtTheMarks);
  });
}

// Of two that stay on their SMs, with one tile: what the part in sight says is what the whole blocks do.
TEST(Bracket, IsOfAPartThatStandsForTheWhole) {
  std::size_t pairs = 0;
  each_pair([&](const PipelineScene& s) {
    const PipelineScene& b = *s.beside;
    const bool stay = s.issues.size() > 40 && b.issues.size() > 40 && s.issues.size() == b.issues.size();
    if (!stay || s.timeline->options.br != b.timeline->options.br) return;
    const auto ahead = ahead_of(s);
    ASSERT_TRUE(ahead);
    ++pairs;
    const double whole = us_of(b, b.length) / us_of(s, s.length) - 1;
    EXPECT_NEAR(more_below(*ahead), whole, 0.05) << ahead_words(s, *ahead).forms.front().measured;
  });
  EXPECT_GT(pairs, test::asked("ATTNSCOPE_SANITIZED") ? 0U : 15U);
}

// The number behind a name in the panel.
std::string in_panel(const RecordedPanel& panel, const std::string& name, bool above) {
  for (const PanelTable& table : panel.tables)
    for (const PanelRow& row : table.rows)
      if (row.name == name) return above ? row.above : row.below;
  return "not there";
}

TEST(Comparison, NamesWhatDiffersMostOfLaunchesThatDiffer) {
  std::size_t without = 0;
  each_pair([&](const PipelineScene& s) {
    const RecordedPanel panel = recorded_panel(s);
    const std::string& words = s.beside_words;
    const bool differ = !says(verdict_of(s), "no difference");
    EXPECT_TRUE(!differ || says(words, "What differs most between the launches: ")) << words;
    EXPECT_TRUE(!differ || says(words, "All SMs")) << words;
    // As in the panel.
    for (const auto& [name, text] : {std::pair("in blocks, µs per SM", "in blocks {} µs per SM, below {} µs"),
                                     {"gaps, % of SM time", "gaps {} % of SM time, below {} %"},
                                     {"tail, % of SM time", "tail {} % of SM time, below {} %"}}) {
      const std::string above = in_panel(panel, name, true), below = in_panel(panel, name, false);
      const std::string told = fmt::format(fmt::runtime(text), above, below);
      const std::string figures = words.substr(std::min(words.size(), words.find("between the launches")));
      EXPECT_TRUE(!says(figures.substr(0, figures.find(". ")), std::string(text).substr(0, 5)) || says(words, told))
          << told << " / " << words;
    }
    const SmTime time = sm_time(s);
    EXPECT_NEAR(time.blocks + time.gaps + time.tail, s.launch_ns * 1e-3, 1e-6);
    EXPECT_EQ(why_no_bracket(s).empty(), ahead_of(s).has_value());
    without += !ahead_of(s);
  });
  EXPECT_GT(without, 0U);
}

// In a low window one line stands for all; it speaks of nothing that may not be in sight.
TEST(Comparison, KeepsTheCauseInEveryShorterForm) {
  each_pair([](const PipelineScene& s) {
    ASSERT_FALSE(s.beside_forms.empty());
    const bool cause = says(s.beside_words, "What differs most");
    for (const std::string& form : s.beside_forms) {
      EXPECT_EQ(says(form, "What differs most"), cause) << form;
      EXPECT_FALSE(says(form, "Without the recorder")) << form;
      EXPECT_FALSE(says(form, "table")) << form;
    }
    EXPECT_FALSE(says(s.beside_words, "table")) << s.beside_words;
    for (std::size_t n = 1; n < s.beside_forms.size(); ++n)
      EXPECT_LT(s.beside_forms[n].size(), s.beside_forms[n - 1].size());
  });
}

TEST(Comparison, HasEachNumberOnce) {
  std::size_t about = 0, tiles = 0, by_number = 0;
  each_pair([&](const PipelineScene& s) {
    const RecordedPanel panel = recorded_panel(s);
    for (const PanelTable& table : panel.tables)
      for (const PanelRow& row : table.rows) {
        EXPECT_EQ(row.change == "=", row.above == row.below) << row.name;
        const double above = std::stod(row.above), below = std::stod(row.below);
        if (row.change == "≈") {
          ++about;
          EXPECT_LT(std::fabs(above - below), 0.0051 * std::max(above, below)) << row.name;
          EXPECT_TRUE(says(row.tip, "less than 0.5 %")) << row.tip;
        } else if (row.change != "=") {
          EXPECT_GT(std::fabs(above - below), 0.0049 * std::max(above, below)) << row.name;
        }
      }
    // The headline's difference is that of the first row.
    const double by = std::fabs(std::stod(panel.tables[0].rows[0].above) - std::stod(panel.tables[0].rows[0].below));
    if (!says(verdict_of(s), "no difference")) {
      EXPECT_TRUE(says(verdict_of(s), fmt::format("below ends {:.1f} µs (", by))) << verdict_of(s);
    }
    if (says(s.beside_words, "key tiles of a consumer ")) {
      const std::string told =
          fmt::format("key tiles of a consumer {}, below {}.", in_panel(panel, "key tiles of a consumer", true),
                      in_panel(panel, "key tiles of a consumer", false));
      EXPECT_TRUE(says(s.beside_words, told)) << s.beside_words << " / " << told;
      ++by_number;
    }
    if (const std::string all = in_panel(panel, "all", true); all != "not there") {
      ++tiles;
      EXPECT_NEAR(key_tile_ns(s), std::stod(all), 0.5);
      EXPECT_TRUE(says(s.beside_words, "A key tile takes " + time_text(key_tile_ns(s)))) << s.beside_words;
      EXPECT_NEAR(key_tile_ns(*s.beside), std::stod(in_panel(panel, "all", false)), 0.5);
      EXPECT_TRUE(says(s.beside_words, "and " + time_text(key_tile_ns(*s.beside)))) << s.beside_words;
    }
  });
  if (!test::asked("ATTNSCOPE_SANITIZED")) {
    EXPECT_GT(by_number, 1U);
  }
  EXPECT_GT(about, 0U);
  EXPECT_GT(tiles, 0U);
}

// By the recording itself: S products of each consumer.
TEST(Comparison, SaysWhoTakesAKeyTileWhereThatAreNotAllRows) {
  std::size_t few = 0, some = 0;
  each_pair([&](const PipelineScene& s) {
    if (!says(s.beside_words, "A key tile takes")) return;
    for (const PipelineScene* const half : halves(s)) {
      const Timeline& t = *half->timeline;
      const auto p = pipeline_of(t, most_usual_block(t, detailed_blocks(t)));
      ASSERT_TRUE(p);
      std::map<std::size_t, std::int64_t> products;
      for (const Product& x : p->products) products[x.lane] += !x.of_o;
      const auto consumers = static_cast<std::size_t>(
          std::ranges::count_if(p->lanes, [&](std::size_t lane) { return t.lanes[lane].kind == LaneKind::consumer; }));
      const std::size_t computing =
          static_cast<std::size_t>(std::ranges::count_if(products, [](const auto& lane) { return lane.second > 0; }));
      const std::string& all = s.beside_words;
      const std::size_t at = all.find("A key tile takes"), middle = all.find(" in the block above and ", at);
      const std::string words = half == &s ? all.substr(at, middle - at)
                                           : all.substr(middle, all.find(" in the block below", middle) - middle);
      EXPECT_EQ(says(words, fmt::format("({} of {} consumer", computing, consumers)), computing < consumers) << words;
      few += computing < consumers;
      double mean = 0, most = 0;
      for (const auto& [lane, count] : products)
        mean += static_cast<double>(count) / static_cast<double>(consumers),
            most = std::max(most, static_cast<double>(count));
      EXPECT_EQ(most, static_cast<double>(half->key_tiles));
      const bool full = mean > 0.995 * most;
      EXPECT_EQ(says(words, fmt::format("of {} rows)", t.options.br)), !full && computing == consumers) << words;
      some += !full && computing == consumers;
    }
  });
  EXPECT_GT(few, 0U);
  EXPECT_GT(some, 0U);
}

// States of a key tile are told as what differs where they make the launches differ, or where those do not.
TEST(Comparison, ListsNoStatesThatCancel) {
  std::map<std::string, int> told;
  each_pair([&](const PipelineScene& s) {
    const std::string& words = s.beside_words;
    if (!says(words, "A key tile takes")) return;
    const int headline = direction(verdict_of(s), " sooner", " later");
    const bool states = says(words, "in a consumer's key tile:"), denied = says(words, "does not explain");
    EXPECT_FALSE(states && denied) << words;
    if (denied) {
      EXPECT_NE(headline, 0) << words;
    }
    const bool per_row = says(words, ": per row ");
    const double more = key_tile_ns(*s.beside) / key_tile_ns(s) - 1;
    if (headline != 0 && states) {
      EXPECT_EQ(more > 0, headline > 0) << words << " / " << verdict_of(s);
    }
    if (per_row) {
      EXPECT_EQ(says(words, " % more."), headline > 0) << words << " / " << verdict_of(s);
      EXPECT_NE(headline, 0) << words;
    }
    EXPECT_TRUE(denied || states || per_row || headline == 0 || (more > 0) == (headline > 0)) << words;
    ++told[denied ? "denied" : states ? "states" : per_row ? "per row" : "neither"];
  });
  if (!test::asked("ATTNSCOPE_SANITIZED")) {
    EXPECT_GT(told["denied"], 3);
    EXPECT_GT(told["states"], 10);
    EXPECT_GT(told["per row"], 3);
  }
}

}  // namespace
}  // namespace attn
