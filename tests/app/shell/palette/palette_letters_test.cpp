// Each letter of the glossary is in the palette, and a door of a letter or a term leads to a beat that there is.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/shell/palette/palette.h"
#include "tests/environment/paths.h"

namespace attn {
namespace {

// What the tables of the glossary define as computed; not shapes, indices or inputs.
constexpr const char* kComputed[] = {"S", "m", "α", "P", "ℓ", "O", "LSE", "dP", "dS", "δ"};

std::string glossary() {
  std::ifstream in(std::filesystem::path(test::source_folder()) / "docs" / "glossary.md");
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(PaletteLetters, EachComputedLetterOfTheGlossaryHasOne) {
  const std::string page = glossary();
  const auto all = palette_letters();
  for (const std::string letter : kComputed) {
    EXPECT_TRUE(page.find("| " + letter + " |") != std::string::npos || letter == "dP" || letter == "dS") << letter;
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const auto& e) { return e.words == letter; })) << letter;
  }
  EXPECT_NE(page.find("| dP, dS |"), std::string::npos);
  EXPECT_EQ(all.size(), std::size(kComputed));
}

TEST(PaletteLetters, EachDoorLeadsToABeatOfAShippedLesson) {
  std::set<std::string> beats;
  for (const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(test::source_folder()) / "assets" / "lessons")) {
    std::ifstream in(file.path());
    const auto lesson = nlohmann::json::parse(in);
    if (!lesson.contains("beats")) continue;
    for (const auto& beat : lesson["beats"])
      if (beat.contains("id")) beats.insert(lesson["id"].get<std::string>() + "/" + beat["id"].get<std::string>());
  }
  std::vector<PaletteEntry> all = palette_letters();
  for (PaletteEntry& e : palette_terms()) all.push_back(std::move(e));
  for (const PaletteEntry& e : all) {
    ASSERT_EQ(e.commands.size(), 1U);
    const auto* start = command_as<StartLesson>(e.commands[0]);
    ASSERT_NE(start, nullptr);
    EXPECT_TRUE(beats.contains(start->lesson + "/" + start->beat)) << start->lesson << "/" << start->beat;
  }
}

}  // namespace
}  // namespace attn
