// Which phase of the algorithm a line and an instruction belong to. The instructions of three kernels are counted by
// phase and held against a table that was made by hand from their sources: a tag that moves fails it.
#include "kernels/gpu/compile/phases.h"

#include <array>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/compile/hooks.h"
#include "kernels/gpu/compile/listing/listing.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "tests/environment/paths.h"

namespace attn::gpu {
namespace {

using P = CodePhase;
using Counts = std::map<std::string, int>;

std::vector<P> phases(const std::string& text) {
  const auto read = phases_of_lines(text);
  EXPECT_TRUE(read) << read.error().message;
  return read.value_or(std::vector<P>());
}

TEST(Phases, HoldToTheNextTagOrTheFunctionsEnd) {
  EXPECT_EQ(phases("int f(int x) {\n"
                   "  int a;\n"
                   "  // @phase S\n"
                   "  for (;;) {\n"
                   "    a = 1;\n"
                   "  }\n"
                   "    // @phase alpha\n"
                   "  a = 2;\n"
                   "}\n"
                   "int g() { return 1; }\n"),
            (std::vector<P>{P::none, P::none, P::s, P::s, P::s, P::s, P::alpha, P::alpha, P::alpha, P::none}));
}

TEST(Phases, EndWithAMethodAndNotWithAStruct) {
  EXPECT_EQ(phases("template <class T>\n"
                   "struct alignas(8) Feed {\n"
                   "  int k = 0;\n"
                   "  explicit Feed(int x)\n"
                   "      : k(x) {\n"
                   "    // @phase K\n"
                   "    if (k) { k = '{'; }\n"
                   "  }\n"
                   "  void next() const { k += 1; }\n"
                   "};\n"),
            (std::vector<P>{P::none, P::none, P::none, P::none, P::none, P::k, P::k, P::k, P::none, P::none}));
}

TEST(Phases, GoBackToTheCallersWhereATagSaysSo) {
  EXPECT_EQ(phases("float over(float x) {\n"
                   "  // @phase barrier\n"
                   "  __syncthreads();\n"
                   "  // @phase caller\n"
                   "  return x;\n"
                   "}\n"),
            (std::vector<P>{P::none, P::barrier, P::barrier, P::none, P::none, P::none}));
}

TEST(Phases, NameTheLineOfATagThatIsNone) {
  const auto unknown = phases_of_lines("void f() {\n  // @phase T\n}\n");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("line 2: unknown @phase T; use caller"), std::string::npos)
      << unknown.error().message;
  const auto outside = phases_of_lines("// @phase S\nvoid f() {}\n");
  ASSERT_FALSE(outside);
  EXPECT_NE(outside.error().message.find("line 1"), std::string::npos) << outside.error().message;
  EXPECT_FALSE(phases_of_lines("void f() {\n  // @phase untagged\n}\n"));
}

TEST(Phases, AreNamedByALineOfTheirOwn) {
  EXPECT_EQ(phase_named_by("  // @phase S"), "S");
  EXPECT_EQ(phase_named_by("\t// @phase l  \r"), "l");
  EXPECT_FALSE(phase_named_by("x = 1;  // @phase S"));
  EXPECT_FALSE(phase_named_by("  // @phase S, as in the paper"));
  EXPECT_FALSE(phase_named_by("  // @phase"));
  EXPECT_EQ(without_phase_lines("a\n  // @phase S\nb // @phase S\n// @phase m"), "a\nb // @phase S\n");
}

TEST(Phases, OfEveryRungAreRead) {
  for (const KernelRow& row : gpu_kernel_table()) {
    const auto source = kernel_source(row.id, {});
    ASSERT_TRUE(source);
    const auto listing = list_source(*source, row.id, "sm_90a", "no compiler was asked");
    ASSERT_TRUE(listing) << listing.error().message;
    std::array<bool, kCodePhases> has{};
    for (const ListedFile& file : listing->files)
      for (const ListedLine& line : file.lines) has.at(static_cast<std::size_t>(line.phase)) = true;
    std::vector<P> wanted{P::setup, P::s, P::p, P::store};
    if (takes_pass(row, Pass::forward))
      wanted.insert(wanted.end(), {P::m, P::l, P::o});
    else
      wanted.insert(wanted.end(), {P::delta, P::d_p, P::d_s, P::d_v, P::d_k, P::d_q});
    for (const P phase : wanted)
      EXPECT_TRUE(has.at(static_cast<std::size_t>(phase))) << row.id << " has no line of " << name_of(phase);
  }
}

// ---- instructions by phase

// tests/kernels/gpu/compile/lines/ID.txt
struct LineCounts {
  std::vector<std::string> files;
  struct Chain {
    std::uint32_t count = 0;
    std::vector<SourceFrame> frames;
  };
  std::vector<Chain> chains;
};

LineCounts read_lines(const std::string& id) {
  LineCounts lines;
  std::ifstream file(test::source_folder() + "/tests/kernels/gpu/compile/lines/" + id + ".txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "#") continue;
    if (word == "file") {
      words >> lines.files.emplace_back();
      continue;
    }
    LineCounts::Chain chain;
    chain.count = static_cast<std::uint32_t>(std::stoul(word));
    while (words >> word) {
      const std::size_t colon = word.find(':');
      chain.frames.push_back({static_cast<std::uint32_t>(std::stoul(word.substr(0, colon))),
                              static_cast<std::uint32_t>(std::stoul(word.substr(colon + 1)))});
    }
    lines.chains.push_back(std::move(chain));
  }
  return lines;
}

std::string text_of(const std::string& name) {
  for (const SourceText& s : embedded_sources())
    if (s.name == name) return std::string(s.text);
  ADD_FAILURE() << "the program contains no " << name;
  return {};
}

// The phases of the lines that are no tags: the fixtures count without these, so that they stay where tags move.
std::vector<P> phases_without_tags(const std::string& text) {
  std::vector<P> kept;
  std::istringstream lines(text);
  std::size_t n = 0;
  const std::vector<P> all = phases(text);
  for (std::string line; std::getline(lines, line); ++n)
    if (!phase_named_by(line)) kept.push_back(all.at(n));
  return kept;
}

// `own`: the kernel's text, as it is or changed.
Counts counted(const std::string& id, const std::string& own) {
  const LineCounts lines = read_lines(id);
  std::vector<std::vector<P>> by_file;
  for (std::size_t n = 0; n < lines.files.size(); ++n)
    by_file.push_back(phases_without_tags(n == 0 ? own : text_of(lines.files[n])));
  Counts counts;
  for (const LineCounts::Chain& chain : lines.chains)
    counts[std::string(name_of(phase_of_chain(chain.frames, by_file)))] += static_cast<int>(chain.count);
  return counts;
}

// The lines were counted before a rung had hooks of the recorder, which are no code.
std::string counted_text(const std::string& id) {
  return without_hook_lines(text_of("kernels/gpu/" + id + ".cu"));
}

// Made by hand: ranges of lines of each function were given to phases on paper, and the instructions counted by them.
// Routines of the compiler's own (a division) are left out: they stand for no line.
const std::map<std::string, Counts> kByHand{
    {"naive",
     {{"setup", 356}, {"S", 200}, {"m", 183}, {"P", 246}, {"l", 130}, {"O", 96}, {"store", 61}, {"untagged", 13}}},
    {"tiled",
     {{"setup", 370},
      {"loop", 84},
      {"barrier", 4},
      {"Q", 195},
      {"K", 56},
      {"V", 82},
      {"S", 565},
      {"mask", 68},
      {"m", 47},
      {"P", 591},
      {"l", 193},
      {"O", 570},
      {"store", 881},
      {"untagged", 35}}},
    {"flash_simt",
     {{"setup", 189},
      {"loop", 166},
      {"barrier", 31},
      {"Q", 40},
      {"K", 120},
      {"V", 182},
      {"S", 640},
      {"mask", 180},
      {"m", 144},
      {"alpha", 34},
      {"P", 191},
      {"l", 143},
      {"O", 620},
      {"normalise", 184},
      {"store", 467},
      {"untagged", 1}}},
};

TEST(InstructionsByPhase, AreThoseOfTheTableMadeByHand) {
  for (const auto& [id, by_hand] : kByHand) EXPECT_EQ(counted(id, counted_text(id)), by_hand) << id;
}

// Lines of the kernel's own file that instructions stand for, counted without tags.
std::set<std::uint32_t> lines_with_instructions(const std::string& id) {
  std::set<std::uint32_t> lines;
  for (const LineCounts::Chain& chain : read_lines(id).chains)
    for (const SourceFrame& frame : chain.frames)
      if (frame.file == 0) lines.insert(frame.line);
  return lines;
}

// The text with the tag of line `n`, from 0, behind the next line that instructions stand for.
std::string with_tag_moved(const std::vector<std::string>& lines, std::size_t n, const std::set<std::uint32_t>& busy) {
  std::uint32_t number = 0;  // of the line, without tags
  std::string text;
  bool waits = false;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const bool tag = phase_named_by(lines[at]).has_value();
    if (!tag) ++number;
    if (at == n)
      waits = true;
    else
      text += lines[at] + "\n";
    if (!waits || tag || !busy.contains(number)) continue;
    text += lines[n] + "\n";
    waits = false;
  }
  return text;
}

// One tag at a time is moved by one line that has instructions. Not every move can be seen: the line may be that of a
// call whose callee has phases of its own, or the next line of the same phase.
TEST(InstructionsByPhase, ChangeWhereATagMoves) {
  for (const auto& [id, by_hand] : kByHand) {
    std::vector<std::string> lines;
    std::istringstream text(counted_text(id));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    const std::set<std::uint32_t> busy = lines_with_instructions(id);
    int tags = 0, seen = 0;
    for (std::size_t n = 0; n < lines.size(); ++n) {
      if (!phase_named_by(lines[n])) continue;
      const std::string moved = with_tag_moved(lines, n, busy);
      ++tags;
      if (!phases_of_lines(moved) || counted(id, moved) != by_hand) ++seen;
    }
    EXPECT_GT(tags, 10) << id;
    EXPECT_GE(seen, tags * 3 / 5) << id << ": " << seen << " of " << tags;
  }
}

}  // namespace
}  // namespace attn::gpu
