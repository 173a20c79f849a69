// The critical path and the arrows over the lanes of every recording that comes with the program: one line, upright and
// level, and no letter under it.
#include "viz/profile/timeline/scene/path_lines.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/viz/profile/timeline/bundled_timelines.h"
#include "viz/profile/timeline/scene/key_entries.h"
#include "viz/profile/timeline/scene/row_heights.h"
#include "viz/profile/timeline/scene/shown_part.h"

namespace attn {
namespace {

constexpr float kWidth = 1000, kLetter = 8, kHalf = 6, kMargin = 3;

TimelinesView hopper() {
  return bundled_timelines({"h100-timeline", "h100-turns-timeline"});
}

PipelineScene scene_at(const TimelinesView& all, std::size_t n, ProfileView view = {}) {
  PipelineScene s = timeline_scene(all.all.at(n), all, "flash_hopper");
  show_part(s, view);
  return s;
}

std::vector<RowPlace> places_of(const PipelineScene& s) {
  std::vector<RowPlace> places;
  float y = 0;
  for (const TimelineRow& row : s.rows) {
    const float height = RowHeights().of(row);
    places.push_back({y + row.gap, y + row.gap + height});
    y += row.gap + height;
  }
  return places;
}

bool crosses(const PathLine& l, float left, float right, float top, float bottom) {
  const float x0 = std::min(l.x0, l.x1), x1 = std::max(l.x0, l.x1), y0 = std::min(l.y0, l.y1),
              y1 = std::max(l.y0, l.y1);
  return x1 > left && x0 < right && y1 > top && y0 < bottom;
}

TEST(PathLines, AreOneUnbrokenLineOfUprightAndLevelParts) {
  const TimelinesView all = hopper();
  for (std::size_t n = 0; n < all.all.size(); ++n) {
    const PipelineScene s = scene_at(all, n);
    if (s.path.empty()) continue;
    ASSERT_TRUE(s.with_path);
    const auto lines = path_lines(s, {0, kWidth, s.from, s.to}, places_of(s));
    ASSERT_GT(lines.size(), 4U);
    for (std::size_t l = 0; l < lines.size(); ++l) {
      EXPECT_TRUE(lines[l].x0 == lines[l].x1 || lines[l].y0 == lines[l].y1);
      if (l == 0) continue;
      EXPECT_NEAR(lines[l].x0, lines[l - 1].x1, 0.01F);
      EXPECT_NEAR(lines[l].y0, lines[l - 1].y1, 0.51F);
    }
  }
}

// A letter stands in the wider part beside what crosses its box, or nowhere.
TEST(PathLines, CrossNoLetter) {
  const TimelinesView all = hopper();
  std::size_t letters = 0, beside = 0, left_out = 0;
  for (std::size_t n = 0; n < all.all.size(); ++n) {
    const PipelineScene s = scene_at(all, n);
    const TimeAxis axis{0, kWidth, s.from, s.to};
    const std::vector<RowPlace> places = places_of(s);
    const auto lines = path_lines(s, axis, places);
    for (std::size_t r = 0; r < s.rows.size(); ++r)
      for (const TimelineStretch& x : s.rows[r].stretches) {
        const bool named = s.rows[r].kind == RowKind::slot ? x.look == StretchLook::flight
                                                           : x.look == StretchLook::work || x.look == StretchLook::wait;
        if (!named || x.letter.empty() || x.to < s.from || x.from > s.to) continue;
        const float from = std::max(axis.x_of(x.from), 0.0F), to = std::min(axis.x_of(x.to), kWidth);
        const float middle = places[r].top + places[r].height() * (x.top + x.bottom) / 2;
        const auto at = place_between(from, to, crossings(lines, middle - kHalf, middle + kHalf), kLetter, kMargin);
        if (!at) {
          left_out += to - from > 3 * kLetter;
          continue;
        }
        ++letters;
        beside += std::fabs(*at + kLetter / 2 - (from + to) / 2) > 1;
        EXPECT_GE(*at, from);
        EXPECT_LE(*at + kLetter, to);
        for (const PathLine& l : lines)
          EXPECT_FALSE(crosses(l, *at, *at + kLetter, middle - kHalf + 1, middle + kHalf - 1))
              << n << " " << s.rows[r].label << " " << x.letter << x.tile;
      }
  }
  EXPECT_GT(letters, 1000U);
  EXPECT_GT(beside, 30U) << "the path does cross boxes";
  EXPECT_LT(left_out, letters / 20);
}

TEST(PathLines, OfAnArrowBeginAtTheBoxThatLetGoAndEndAtTheWait) {
  const TimelinesView all = hopper();
  std::size_t told = 0;
  for (std::size_t n = 0; n < all.all.size(); ++n) {
    const PipelineScene s = scene_at(all, n);
    const TimeAxis axis{0, kWidth, s.from, s.to};
    const std::vector<RowPlace> places = places_of(s);
    for (const ReleaseArrow& a : s.releases) {
      const auto lines = arrow_lines(s, a, axis, places);
      if (lines.empty()) continue;
      ++told;
      EXPECT_EQ(lines.front().x0, lines.front().x1) << "it leaves upright";
      EXPECT_NEAR(lines.back().x1, axis.x_of(a.to), 0.01F);
      const RowPlace& by = places[a.by_row];
      EXPECT_GE(lines.front().y0, by.top - 0.01F);
      EXPECT_LE(lines.front().y0, by.bottom + 0.01F);
      for (const PathLine& l : lines) EXPECT_TRUE(l.x0 == l.x1 || l.y0 == l.y1);
    }
  }
  EXPECT_GT(told, 200U);
}

TEST(PlaceBetween, TakesTheMiddleOfTheWidestFreePart) {
  EXPECT_FLOAT_EQ(place_between(0, 100, {}, 10, 3).value_or(-1), 45);
  const std::vector<float> at30{30};
  EXPECT_FLOAT_EQ(place_between(0, 100, at30, 10, 3).value_or(-1), 61.5F);  // 33 to 100
  const std::vector<float> two{30, 70};
  EXPECT_FLOAT_EQ(place_between(0, 100, two, 10, 3).value_or(-1), 45);
  EXPECT_FALSE(place_between(0, 20, std::vector<float>{10}, 10, 3));
  EXPECT_FALSE(place_between(0, 8, {}, 10, 3));
}

// The letter of a slot stays with its part of the tile's time, however far the axis is zoomed.
TEST(PathLines, LeaveALetterInTheSamePartAtEveryZoom) {
  EXPECT_EQ(widest_part(100, 200, {120, 160}), (std::pair<std::int64_t, std::int64_t>(120, 160)));
  EXPECT_EQ(widest_part(100, 200, {150}), (std::pair<std::int64_t, std::int64_t>(100, 150))) << "of equals the first";
  EXPECT_EQ(widest_part(100, 200, {}), (std::pair<std::int64_t, std::int64_t>(100, 200)));
  EXPECT_EQ(widest_part(100, 200, {50, 130, 250}), (std::pair<std::int64_t, std::int64_t>(130, 200)));
}

// Colour and shape: what two entries mean is told apart by eye.
TEST(KeyEntries, LookAllDifferentAndNameWhatIsThere) {
  const TimelinesView all = bundled_timelines({"h100-timeline", "h100-turns-timeline", "h100-warps-timeline"});
  for (std::size_t n = 0; n < all.all.size(); ++n) {
    PipelineScene s = scene_at(all, n);
    for (const bool whole : {false, true}) {
      ProfileView view;
      if (whole) view.time_to_ns = 1000000000;
      show_part(s, view);
      const std::vector<KeyEntry> entries = key_entries(s, kWidth);
      std::set<std::tuple<int, int, std::string>> looks;
      std::set<std::string> words;
      for (const KeyEntry& e : entries) {
        const std::string ink =
            (e.ink.tensor ? "tensor " : "token ") +
            std::to_string(e.ink.tensor ? static_cast<int>(e.ink.hue) : static_cast<int>(e.ink.token));
        // A filled swatch is a filled swatch, whatever it means.
        const int kind =
            e.of == KeyEntry::Of::operation ? static_cast<int>(KeyEntry::Of::look) : static_cast<int>(e.of);
        EXPECT_TRUE(looks.emplace(kind, static_cast<int>(e.look), ink).second) << e.words;
        EXPECT_TRUE(words.insert(e.words).second) << e.words;
      }
      const auto has = [&](KeyEntry::Of of) { return std::ranges::find(entries, of, &KeyEntry::of) != entries.end(); };
      EXPECT_EQ(has(KeyEntry::Of::path), s.with_path && !s.path.empty());
      if (whole && s.length > 20000) {
        EXPECT_TRUE(has(KeyEntry::Of::joined)) << s.length;
      }
    }
  }
}

// The parts of the path are told apart by hue or by how they are filled: none by a shade alone.
TEST(KeyEntries, OfThePathLookAllDifferentAndAddUp) {
  const TimelinesView all = hopper();
  for (std::size_t n = 0; n < all.all.size(); ++n) {
    const PipelineScene s = scene_at(all, n);
    std::set<std::tuple<bool, int, bool, bool>> looks;
    double sum = 0, told = 0;
    for (const PathShare& part : s.shares) {
      EXPECT_FALSE(part.words.empty());
      const int hue = part.ink.tensor ? static_cast<int>(part.ink.hue) : -1;  // tokens of a theme are all greys
      EXPECT_TRUE(looks.emplace(part.ink.tensor, hue, part.hatched, part.hollow).second) << part.words;
      sum += part.share;
      told += std::stod(part.value);
    }
    if (s.shares.empty()) continue;
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_NEAR(told, 100, 1e-6);
  }
}

// S that is handed over, the maximum that is computed: as in Step, of two letters and two colours.
TEST(KeyEntries, TellWhatIsIssuedFromWhatIsComputed) {
  const TimelinesView all = hopper();
  const PipelineScene s = scene_at(all, 0);
  const auto of = [&](const std::string& what) {
    for (const TimelineRow& row : s.rows)
      for (const TimelineStretch& x : row.stretches)
        if (x.what.find(what) != std::string::npos) return x;
    ADD_FAILURE() << what;
    return TimelineStretch();
  };
  EXPECT_EQ(of("hands S to the tensor cores").letter, "S");
  EXPECT_EQ(of("mask and row maxima").letter, "m");
  EXPECT_EQ(of("mask and row maxima").ink, Ink(TensorColour::m));
  EXPECT_EQ(of("exponentials").letter, "P");
}

}  // namespace
}  // namespace attn
