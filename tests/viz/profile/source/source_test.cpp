#include "viz/profile/source/source.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/viz/profile/toy_kernel.h"

namespace attn {
namespace {

using profile_test::listed;
using profile_test::toy_listing;

constexpr const char* kKey = "toy";

SourceScene toy(const ProfileView& view = {}) {
  return source_scene(listed(toy_listing(), kKey), kKey, view);
}

TEST(ProfileSource, CountsEachLineAndFindsTheHottest) {
  const SourceScene scene = toy();
  ASSERT_EQ(scene.empty, "");
  EXPECT_EQ(scene.title, "toy for sm_90a: 6 instructions");
  ASSERT_EQ(scene.rows.size(), 8U);
  EXPECT_EQ(scene.rows[4].total, 3U);
  EXPECT_EQ(scene.rows[4].phase, gpu::CodePhase::s);
  EXPECT_EQ(scene.most, 3U);
  EXPECT_EQ(scene.hot, (std::vector<std::int32_t>{5, 1, 3, 7}));
  EXPECT_EQ(scene.rows[6].text, "        p[1] = exp2f(p[0]);") << "a tab is spaces";
  EXPECT_TRUE(scene.rows[3].is_tag);
  EXPECT_TRUE(scene.rows[3].names_phase);
  EXPECT_FALSE(scene.rows[4].names_phase) << "once for each stretch";
}

TEST(ProfileSource, NamesThatAreTensorsLettersWearTheirColours) {
  const SourceScene scene = toy();
  const SourceRow& row = scene.rows[4];  // "  p[0] = p[1] * p[0] + p[0];"
  ASSERT_EQ(row.letters.size(), 4U);
  for (const LetterSpan& letter : row.letters) {
    EXPECT_EQ(row.text.substr(letter.from, letter.size), "p");
    EXPECT_EQ(letter.hue, TensorColour::p);
  }
  EXPECT_TRUE(scene.rows[3].letters.empty()) << "a comment names no tensor";
  EXPECT_EQ(scene.rows[6].letters.size(), 2U) << "exp2f is another name";
}

TEST(ProfileSource, ListsThePhasesWithTheirSharesAndHottestLines) {
  const SourceScene scene = toy();
  ASSERT_EQ(scene.phases.size(), 4U);
  EXPECT_EQ(scene.phases[0].phase, gpu::CodePhase::setup);
  const PhaseRow& s = scene.phases[1];
  EXPECT_EQ(s.sign.text, "S");
  EXPECT_TRUE(s.sign.ink == Ink(TensorColour::s));
  EXPECT_EQ(s.total, 3U);
  EXPECT_DOUBLE_EQ(s.share, 0.5);
  EXPECT_EQ(s.line, 5);
  EXPECT_EQ(scene.phases[3].phase, gpu::CodePhase::none) << "what is untagged is shown";
  EXPECT_EQ(scene.phases[3].line, 1);
}

TEST(ProfileSource, LooksAtTheHottestLineUntilAnotherIsChosen) {
  ProfileView view;
  EXPECT_EQ(line_shown(toy(), view), 5);
  view.line = 7;
  EXPECT_EQ(line_shown(toy(), view), 7);
  view.line = 900;
  EXPECT_EQ(line_shown(toy(), view), 5) << "a line that this source does not have";
}

TEST(ProfileSource, GoesFromHotLineToHotLine) {
  const SourceScene scene = toy();
  EXPECT_EQ(next_hot(scene, 5, 1), 1);
  EXPECT_EQ(next_hot(scene, 5, -1), 7);
  EXPECT_EQ(next_hot(scene, 7, 1), 5);
  EXPECT_EQ(next_hot(scene, 2, 1), 5) << "from a line without instructions to the hottest";
}

TEST(ProfileSource, FindsWordsBothWaysAndAround) {
  const SourceScene scene = toy();
  EXPECT_EQ(find_in(scene, "P[0]", 5, 1), 7);
  EXPECT_EQ(find_in(scene, "p[0]", 7, 1), 5);
  EXPECT_EQ(find_in(scene, "p[0]", 5, -1), 7);
  EXPECT_EQ(find_in(scene, "@phase s", 1, 1), 2);
  EXPECT_FALSE(find_in(scene, "alpha", 1, 1));
  EXPECT_FALSE(find_in(scene, "", 1, 1));
}

TEST(ProfileSource, ShowsTheMachineCodeOfALine) {
  const gpu::KernelListing listing = toy_listing();
  const SourceScene scene = toy();
  const CodeScene code = code_scene(listing, scene, 5, CodeKind::sass);
  EXPECT_EQ(code.title, "SASS of line 5");
  ASSERT_EQ(code.rows.size(), 3U);
  EXPECT_EQ(code.rows[1].address, "0030");
  EXPECT_EQ(code.rows[1].text, "FFMA R4, R4, R4, R4");
  EXPECT_EQ(code_text(code), "0020\tLDG.E R4, [R2]\n0030\tFFMA R4, R4, R4, R4\n0040\tFFMA R4, R4, R4, R4\n");
  EXPECT_NE(code_scene(listing, scene, 2, CodeKind::sass).empty, "");
  EXPECT_NE(code_scene(listing, scene, 5, CodeKind::ptx).empty, "") << "this machine code carries none";
  EXPECT_EQ(mix_words(scene.rows[4].mix), "2 FMA · 1 global");
}

TEST(ProfileSource, SamplesStandBesideTheirInstructions) {
  const gpu::KernelListing listing = toy_listing();
  KernelSamples samples;
  samples.text_hash = listing.text_hash;
  samples.reasons = {"selected", "short_scoreboard"};
  samples.files = {listing.files[0].name};
  const std::vector<gpu::SourceFrame> line5{{0, 5}};
  samples.functions = {{listing.sass.functions[0].name,
                        {{0x20, gpu::CodePhase::s, line5, {{0, 10, 0}}},
                         {0x40, gpu::CodePhase::s, line5, {{0, 5, 0}, {1, 25, 20}}},
                         {0x50, gpu::CodePhase::p, {{0, 7}}, {{0, 40, 0}}}}}};
  const SourceScene scene = source_scene(listed(listing, kKey), kKey, {}, {&samples, nullptr, ""});
  ASSERT_TRUE(scene.sampled) << scene.why_no_samples;
  const CodeScene code = code_scene(listing, scene, 5, CodeKind::sass, &samples);
  ASSERT_TRUE(code.sampled);
  ASSERT_EQ(code.rows.size(), 3U);
  EXPECT_EQ(code.rows[0].share, "25") << "10 of the line's 40";
  EXPECT_EQ(code.rows[0].state, "issues");
  EXPECT_EQ(code.rows[1].share, "") << "no sample fell on it";
  EXPECT_EQ(code.rows[2].share, "75");
  EXPECT_EQ(code.rows[2].state, "waits for the queue of memory and special functions");
  EXPECT_EQ(code.rows[2].words,
            "37.5 % of all samples, 30: 83 % waits for the queue of memory and special functions, 17 % issues");
  EXPECT_FALSE(code_scene(listing, toy(), 5, CodeKind::sass, &samples).sampled) << "the text's lines have none";
  samples.text_hash = "another";
  const SourceScene other = source_scene(listed(listing, kKey), kKey, {}, {&samples, nullptr, ""});
  EXPECT_FALSE(code_scene(listing, other, 5, CodeKind::sass, &samples).sampled) << "from another version";
}

// Names of any length: an instruction is found by its function's and its address.
TEST(ProfileSource, EveryLaunchsInstructionsHaveTheirSamples) {
  gpu::KernelListing listing = toy_listing();
  KernelSamples samples;
  samples.text_hash = listing.text_hash;
  samples.reasons = {"selected"};
  samples.files = {"kernels/gpu/toy.cu"};
  samples.functions.clear();
  const std::string names[] = {"toy", "toy_output", "a_softmax_whose_name_is_long"};
  for (std::size_t n = 1; n < 3; ++n) {
    listing.sass.functions.push_back(listing.sass.functions[0]);
    listing.phases.push_back(listing.phases[0]);
  }
  auto& of_line = listing.files[0].lines[4].instructions;
  const auto first = of_line;
  for (std::uint32_t n = 0; n < 3; ++n) {
    listing.sass.functions[n].name = names[n];
    samples.functions.push_back({names[n], {{0x30, gpu::CodePhase::s, {{0, 5}}, {{0, 10 * (n + 1), 0}}}}});
    if (n == 0) continue;
    for (gpu::InstructionPlace place : first) {
      place.function = n;
      of_line.push_back(place);
    }
  }
  const SourceScene scene = source_scene(listed(listing, kKey), kKey, {}, {&samples, nullptr, ""});
  const CodeScene code = code_scene(listing, scene, 5, CodeKind::sass, &samples);
  std::vector<std::string> shares;
  for (const CodeRow& row : code.rows)
    if (row.address == "0030") shares.push_back(row.share);
  EXPECT_EQ(shares, (std::vector<std::string>{"17", "33", "50"}));
}

TEST(ProfileSource, SaysWhyWhereSomethingIsMissing) {
  ListingView view = listed(toy_listing(), kKey);
  EXPECT_NE(source_scene(view, "another problem", {}).empty, "");
  view.running = true;
  EXPECT_NE(source_scene(view, kKey, {}).empty, "");
  EXPECT_EQ(source_scene({kKey, false, nullptr, "no such kernel"}, kKey, {}).empty, "no such kernel");
  gpu::KernelListing without = toy_listing();
  without.sass = {};
  without.phases.clear();
  without.by_phase = {};
  without.why_no_sass = "nvdisasm was not found";
  for (auto& line : without.files[0].lines) line = {line.text, line.phase, {}, {}, {}};
  const SourceScene scene = source_scene(listed(without, kKey), kKey, {});
  EXPECT_EQ(scene.empty, "") << "the source is there all the same";
  EXPECT_EQ(scene.why_no_sass, "nvdisasm was not found");
  EXPECT_EQ(scene.rows[4].phase, gpu::CodePhase::s);
  EXPECT_EQ(code_scene(without, scene, 5, CodeKind::sass).empty, "nvdisasm was not found");
  EXPECT_EQ(code_scene(without, scene, 5, CodeKind::ptx).empty, "nvdisasm was not found") << "there is none either";
  // PTX stands in the compiler's answer, and says itself which line it is of.
  without.ptx = {"ret;", "\tfma.rn.f32 \t%f2;"};
  without.files[0].lines[4].ptx = {1};
  const CodeScene ptx = code_scene(without, scene, 5, CodeKind::ptx);
  EXPECT_EQ(ptx.empty, "");
  ASSERT_EQ(ptx.rows.size(), 1U);
  EXPECT_EQ(ptx.rows[0].address, "2");
  EXPECT_NE(code_scene(without, scene, 1, CodeKind::ptx).empty, "");
  EXPECT_EQ(code_scene(without, scene, 5, CodeKind::sass).empty, "nvdisasm was not found");
}

}  // namespace
}  // namespace attn
