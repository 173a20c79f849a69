#include "app/window/settings.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

class SettingsFile : public ::testing::Test {
 protected:
  void write(const std::string& text) const { std::ofstream(file_) << text; }
  std::string read(const fs::path& file) const {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  TempFolder temporary_;
  fs::path folder_ = temporary_.path(), file_ = folder_ / "settings.json";
};

TEST_F(SettingsFile, ComesBackAsItWasSaved) {
  Settings s;
  s.preferences.theme = Theme::light;
  s.preferences.scale = 1.35F;
  s.preferences.reduced_motion = true;
  s.window_width = 1000;
  s.window_height = 700;
  s.layout = "[Window][Log]\nPos=1,2\n";
  ASSERT_TRUE(save_settings(folder_ / "deep" / "settings.json", s));
  const LoadedSettings loaded = load_settings(folder_ / "deep" / "settings.json");
  EXPECT_TRUE(loaded.said.empty());
  EXPECT_EQ(settings_text(loaded.settings), settings_text(s));
  EXPECT_EQ(loaded.settings.preferences.scale, 1.35F);
}

TEST_F(SettingsFile, AMissingFileIsNoTrouble) {
  const LoadedSettings loaded = load_settings(file_);
  EXPECT_TRUE(loaded.said.empty());
  EXPECT_TRUE(loaded.may_save);
}

// The line for newcomers: at a first start, until it is closed, and not for who had settings before there was one.
TEST_F(SettingsFile, ANewcomerIsGreetedUntilTheLineIsClosed) {
  LoadedSettings first = load_settings(file_);
  EXPECT_TRUE(first.settings.preferences.greet);
  ASSERT_TRUE(save_settings(file_, first.settings));
  EXPECT_TRUE(load_settings(file_).settings.preferences.greet);
  first.settings.preferences.greet = false;
  ASSERT_TRUE(save_settings(file_, first.settings));
  EXPECT_FALSE(load_settings(file_).settings.preferences.greet);
  write(R"({"version": 1, "theme": "light"})");
  EXPECT_FALSE(load_settings(file_).settings.preferences.greet);
}

TEST_F(SettingsFile, WhatLearnPrefersIsKept) {
  Settings s;
  s.preferences.language = "de";
  s.preferences.card_right = true;
  ASSERT_TRUE(save_settings(file_, s));
  EXPECT_EQ(load_settings(file_).settings.preferences.language, "de");
  EXPECT_TRUE(load_settings(file_).settings.preferences.card_right);
  write(R"({"version": 1, "language": "../etc", "lesson_card": 3})");
  EXPECT_EQ(load_settings(file_).settings.preferences.language, "en");
  EXPECT_FALSE(load_settings(file_).settings.preferences.card_right);
}

TEST_F(SettingsFile, ThePythonOfPeersIsKeptAndNoneOfSeveralLinesTaken) {
  Settings s;
  s.preferences.python = "/opt/torch/bin/python3";
  ASSERT_TRUE(save_settings(file_, s));
  EXPECT_EQ(load_settings(file_).settings.preferences.python, "/opt/torch/bin/python3");
  for (const char* bad : {R"({"version": 1, "python": "a\nb"})", R"({"version": 1, "python": 3})"}) {
    write(bad);
    const LoadedSettings loaded = load_settings(file_);
    EXPECT_EQ(loaded.settings.preferences.python, "");
    EXPECT_EQ(loaded.said.size(), 1U);
  }
}

TEST_F(SettingsFile, ANewerVersionsFileStaysAsItIs) {
  const std::string theirs = R"({"version": 99, "theme": {"of": "the future"}})";
  write(theirs);
  const LoadedSettings loaded = load_settings(file_);
  EXPECT_FALSE(loaded.may_save);
  ASSERT_EQ(loaded.said.size(), 1U);
  EXPECT_NE(loaded.said[0].find("99"), std::string::npos);
  EXPECT_EQ(read(file_), theirs);
}

TEST_F(SettingsFile, ACorruptFileIsKeptBeside) {
  write("{\"version\": 1, \"theme\": ");
  const LoadedSettings loaded = load_settings(file_);
  EXPECT_TRUE(loaded.may_save);
  EXPECT_EQ(loaded.said.size(), 1U);
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_EQ(read(folder_ / "settings.json.bad"), "{\"version\": 1, \"theme\": ");
}

TEST_F(SettingsFile, OneBadValueTakesItsDefaultAndTheOthersHold) {
  write(R"({"version": 1, "theme": "light", "scale": 900, "window_width": "wide", "layout": 5})");
  const LoadedSettings loaded = load_settings(file_);
  EXPECT_EQ(loaded.settings.preferences.theme, Theme::light);
  EXPECT_EQ(loaded.settings.preferences.scale, 1);
  EXPECT_EQ(loaded.settings.window_width, Settings().window_width);
  EXPECT_EQ(loaded.said.size(), 3U);
}

TEST_F(SettingsFile, AHugeFileIsLeftAlone) {
  write("{\"version\": 1, \"layout\": \"" + std::string(1 << 20, 'x') + "\"}");
  const LoadedSettings loaded = load_settings(file_);
  EXPECT_FALSE(loaded.may_save);
  EXPECT_EQ(loaded.said.size(), 1U);
  EXPECT_TRUE(fs::exists(file_));
}

TEST_F(SettingsFile, AFolderInItsPlaceIsSaidAndLeft) {
  fs::create_directories(file_ / "inside");
  const LoadedSettings loaded = load_settings(file_);
  EXPECT_EQ(loaded.said.size(), 1U);
  const auto saved = save_settings(file_, Settings());
  EXPECT_FALSE(saved);
  EXPECT_TRUE(fs::exists(file_ / "inside"));
}

TEST_F(SettingsFile, WhereNothingCanBeWrittenTheErrorNamesTheFile) {
  // A file where a folder should be: refused for root too.
  write("a file");
  const auto saved = save_settings(file_ / "settings.json", Settings());
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().message.find(file_.string()), std::string::npos);
  // A full disk.
  if (fs::exists("/dev/full")) {
    fs::create_symlink("/dev/full", folder_ / "full.json");
    EXPECT_FALSE(save_settings(folder_ / "full.json", Settings()));
  }
  EXPECT_FALSE(save_settings({}, Settings()));
}

TEST(SettingsFollow, WhatTheUserChoosesBackIsKeptToo) {
  Preferences kept, seen, now;
  now.theme = Theme::light;
  now.scale = 2;
  follow_preferences(now, seen, kept);
  EXPECT_EQ(kept.theme, Theme::light);
  EXPECT_EQ(kept.scale, 2);
  now = {};
  follow_preferences(now, seen, kept);
  EXPECT_EQ(kept.theme, Theme::dark);
  EXPECT_EQ(kept.scale, 1);
}

TEST(SettingsFollow, WhatTheCommandLineChoseForOneRunIsNotKept) {
  Preferences kept, seen;
  seen.theme = Theme::light;  // --theme light
  seen.scale = 2;             // --scale 2
  Preferences now = seen;
  follow_preferences(now, seen, kept);
  EXPECT_EQ(kept.theme, Theme::dark);
  now.scale = 1.5F;
  follow_preferences(now, seen, kept);
  EXPECT_EQ(kept.scale, 1.5F);
  EXPECT_EQ(kept.theme, Theme::dark);
  now.theme = Theme::dark;
  follow_preferences(now, seen, kept);
  now.theme = Theme::light;
  follow_preferences(now, seen, kept);
  EXPECT_EQ(kept.theme, Theme::light);
}

TEST(SettingsLayout, TakesWhatDearImGuiWrites) {
  EXPECT_TRUE(layout_is_sane(""));
  EXPECT_TRUE(
      layout_is_sane("[Window][###workspace]\nPos=0,46\nSize=1440,854\nDockId=0x00000002,0\n\n[Docking][Data]\n"
                     "DockSpace     ID=0x0D9A1B7C Window=0xA787BDB4 Pos=0,46 Size=1440,854 Split=Y\n"
                     "  DockNode    ID=0x00000001 Parent=0x0D9A1B7C SizeRef=1440,648 CentralNode=1\n"
                     "  DockNode    ID=0x00000002 Parent=0x0D9A1B7C SizeRef=1440,204 Selected=0x3F1B7C0A\n"));
}

TEST(SettingsLayout, RefusesTreesThatAreNone) {
  const std::string root = "[Docking][Data]\nDockSpace ID=0x00000001 Pos=0,0 Size=9,9 Split=Y\n";
  EXPECT_FALSE(layout_is_sane(root + "DockNode ID=0x00000002 Parent=0x00000003 SizeRef=1,1\n")) << "no such parent";
  EXPECT_FALSE(layout_is_sane(root + "DockNode ID=0x00000001 Parent=0x00000001 SizeRef=1,1\n")) << "its own parent";
  EXPECT_FALSE(layout_is_sane(root + "DockNode ID=0x00000002 Parent=0x00000001 SizeRef=1,1\n")) << "half a split";
  std::string many = root;
  for (int i = 2; i < 200; ++i) many += "DockSpace ID=0x000001" + std::to_string(10 + i % 90) + " Pos=0,0 Size=1,1\n";
  EXPECT_FALSE(layout_is_sane(many));
  EXPECT_FALSE(layout_is_sane("[Evil][x]\n"));
  EXPECT_FALSE(layout_is_sane(std::string("[Window][a]\0b", 13)));
}

}  // namespace
}  // namespace attn
