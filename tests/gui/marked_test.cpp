// In the language that nobody speaks (kernels/formats/catalogue_file.h) every vowel and n of a text has an accent. A
// word on show with a plain one was not marked, or is none of the program's texts: those are listed below, with why.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "kernels/base/text.h"
#include "kernels/formats/catalogue_file.h"
#include "kernels/ladder.h"
#include "tests/environment/paths.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

class Speaking {
 public:
  explicit Speaking(const Catalogue* catalogue) { speak(catalogue); }
  Speaking(const Speaking&) = delete;
  Speaking& operator=(const Speaking&) = delete;
  ~Speaking() { speak(nullptr); }
};

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Letters, digits, '_' and all bytes beyond ASCII.
bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<signed char>(c) < 0;
}

std::set<std::string> words_in(std::string_view text) {
  std::set<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end > at) words.emplace(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// Three ASCII letters or more, of which one would have an accent.
bool looks_english(const std::string& word) {
  const bool letters =
      std::ranges::all_of(word, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
  return letters && word.size() >= 3 && word.find_first_of("aeiounAEOU") != std::string::npos;
}

// Words on show that are no texts of the program.
const std::set<std::string>& no_texts() {
  static const std::set<std::string> words = [] {
    std::set<std::string> all{
        // Names of the field and of makers, the same in every language.
        "softmax",
        "NVIDIA",
        "CUDA",
        "NVRTC",
        "CUPTI",
        "SASS",
        "FMA",
        "MUFU",
        "DRAM",
        "LSE",
        "AttnScope",
        "naive",
        "TFLOP",
        "GFLOP",
        "FLOP",
        "GiB",
        "MiB",
        "KiB",
        "mma",
        "sync",
        "ALiBi",
        "HBM",
        // Types, generators, keys of the keyboard and what is typed into a field, which are the command line's, too.
        "Ctrl",
        "Shift",
        "Enter",
        "Tab",
        "Esc",
        "Space",
        "causal",
        "normal",
        "usual",
        "auto",
        "tuned",
        "free",
        "all",
        // Lengths of time.
        "min",
        // Dear ImGui's own window, which is hidden, and kinds of files.
        "Debug",
        "CSV",
        "JSON",
        "PNG",
        "CPU",
        "GPU",
    };
    // Names of kernels.
    for (const KernelRow* row : ladder())
      for (const std::string& word : words_in(row->id)) all.insert(word);
    // The steps' sentences and the lessons are files of their own, each with its translations beside it.
    const std::filesystem::path assets = std::filesystem::path(test::source_folder()) / "assets";
    for (const std::string_view file : kStepTextFiles)
      for (const std::string& word : words_in(text_of(assets / file))) all.insert(word);
    for (const auto& file : std::filesystem::directory_iterator(assets / "lessons"))
      for (const std::string& word : words_in(text_of(file.path()))) all.insert(word);
    return all;
  }();
  return words;
}

Catalogue pseudo() {
  auto read =
      pseudo_catalogue(text_of(std::filesystem::path(test::source_folder()) / "assets/texts/en.json"), "en.json");
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read ? *std::move(read) : Catalogue();
}

// What is on show and looks English, each with the text that it stands in.
std::string unmarked_in(const std::set<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts)
    for (const std::string& word : words_in(text))
      if (looks_english(word) && !no_texts().contains(word)) all += "\n'" + word + "' in \"" + text + "\"";
  return all;
}

TEST(MarkedTexts, AreAllThatAWorkspaceShows) {
  const Catalogue nobody = pseudo();
  const Speaking speaking(&nobody);
  for (const Workspace workspace : {Workspace::step, Workspace::bench, Workspace::profile, Workspace::learn}) {
    SCOPED_TRACE(name_of(workspace));
    TestWindow w;
    w.controller().update({ChooseWorkspace{workspace}});
    w.draw_frames(3);
    const DrawnText drawn;
    w.draw_frames(2);
    EXPECT_GT(drawn.texts().size(), 10U);
    EXPECT_EQ(unmarked_in(drawn.texts()), "");
  }
}

TEST(MarkedTexts, AreToldFromThoseThatAreNot) {
  EXPECT_EQ(unmarked_in({pseudo_text("Measure these rows"), "flash_simt", "12.5 ms"}), "");
  EXPECT_NE(unmarked_in({"Measure these rows"}), "");
  TestWindow w;
  const DrawnText drawn;
  w.draw_frames(2);
  EXPECT_NE(unmarked_in(drawn.texts()), "") << "English itself is not marked";
}

}  // namespace
}  // namespace attn
