// The header of a user's own kernel: what it declares is read, what it does not declare is refused, and whatever is
// wrong is said with its line.
#include "kernels/gpu/own_kernel/own_header.h"

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/own_kernel/json_lines.h"

namespace attn::gpu {
namespace {

const std::string kGood = R"cu(// What it is.
// attn: {"api": 1,
// attn:  "entries": [{"name": "scores", "grid": ["ceil_div(Lq, Br)", "B * Hq"], "block": [32, "threads / 32"]},
// attn:              {"name": "output", "grid": "B * Hq * Lq", "block": 64, "shared": "4 * Br * D"}],
// attn:  "dtypes": ["f32", "bf16"],
// attn:  "D": {"min": 16, "max": 128, "step": 16},
// attn:  "Dv": [64, 96],
// attn:  "masks": ["causal", "bias"],
// attn:  "options": {"Br": {"min": 16, "max": 64, "step": 16, "default": 32},
// attn:              "threads": {"min": 32, "max": 256, "step": 32, "default": 128}},
// attn:  "grouped": true, "stores_scores": true}
//
// More words.
#include "kernels/gpu/device.cuh"
)cu";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text) {
  const auto header = parse_own_header(text, "my.cu");
  return header ? "taken" : header.error().message;
}

TEST(OwnHeader, ATimelineHasLanesStatesAndALaunch) {
  const auto told = [](const std::string& timeline) {
    return with("\"grouped\": true", "\"grouped\": true, \"timeline\": " + timeline);
  };
  auto h = parse_own_header(told(R"({"lanes": 3, "states": ["load", "wait_K"]})"), "my.cu");
  ASSERT_TRUE(h) << h.error().message;
  EXPECT_EQ(h->timeline.lanes, 3);
  EXPECT_EQ(h->timeline.states, (std::vector<std::string>{"load", "wait_K"}));
  EXPECT_EQ(h->timeline.entry, "scores");
  h = parse_own_header(told(R"({"lanes": 1, "states": ["a"], "entry": "output"})"), "my.cu");
  ASSERT_TRUE(h) << h.error().message;
  EXPECT_EQ(h->timeline.entry, "output");
  EXPECT_EQ(parse_own_header(kGood, "my.cu")->timeline.lanes, 0);
  for (const auto& [timeline, words] :
       {std::pair(R"({"lanes": 0, "states": ["a"]})", "timeline.lanes"),
        {R"({"lanes": 33, "states": ["a"]})", "timeline.lanes"},
        {R"({"lanes": 2})", "states"},
        {R"({"lanes": 2, "states": []})", "must be a list of 1 to 24 names"},
        {R"({"lanes": 2, "states": ["a", "a"]})", R"(contains "a" twice)"},
        {R"({"lanes": 2, "states": ["a b"]})", "timeline.states"},
        {R"({"lanes": 2, "states": ["a"], "entry": "x"})", R"(is "x", which is not in "entries")"},
        {R"({"lanes": 2, "states": ["a"], "lane": 1})", "lane"},
        {"4", "must be an object with lanes and states"}})
    EXPECT_NE(refusal(told(timeline)).find(words), std::string::npos) << refusal(told(timeline));
}

TEST(OwnHeader, IsReadAsItStands) {
  const auto h = parse_own_header(kGood, "my.cu");
  ASSERT_TRUE(h) << h.error().message;
  ASSERT_EQ(h->entries.size(), 2U);
  EXPECT_EQ(h->entries[0].name, "scores");
  EXPECT_EQ(h->entries[0].grid[1].text(), "B * Hq");
  EXPECT_EQ(h->entries[0].grid[2].text(), "1");
  EXPECT_EQ(h->entries[0].block[0].text(), "32");
  EXPECT_EQ(h->entries[0].shared.text(), "0");
  EXPECT_EQ(h->entries[1].shared.text(), "4 * Br * D");
  EXPECT_EQ(h->dtypes, (std::vector<DType>{DType::f32, DType::bf16}));
  EXPECT_EQ(h->d.words(), "16 to 128 in steps of 16");
  EXPECT_EQ(h->dv.words(), "64 or 96");
  EXPECT_FALSE(h->dv_is_d);
  EXPECT_TRUE(h->causal && h->bias && h->grouped && h->stores_scores);
  EXPECT_FALSE(h->window || h->key_lengths);
  ASSERT_EQ(h->options.size(), 2U);
  EXPECT_TRUE(h->options[0].is(Option::br));
  EXPECT_EQ(h->options[0].step, 16);
  EXPECT_EQ(h->options[1].default_value, 128);
}

TEST(OwnHeader, SaysTheLineTheFieldAndWhatWouldDo) {
  for (const auto& [from, to, words] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"\"api\": 1,", "\"api\": 3,", "my.cu, line 2: \"api\" is 3; this version supports 1 and 2."},
           {"\"api\": 1,", "\"api\": 2,", "line 3: \"entries[0]\" lacks \"parameters\"."},
           {"\"api\": 1,", "\"api\": true,", "\"api\" is true; this version supports 1 and 2."},
           {"\"api\": 1,", "", "my.cu, line 2: \"api\" is missing; attnscope list --template prints one"},
           {"\"grouped\"", "\"groped\"", "my.cu, line 11: \"groped\" is not a known key; use api, entries"},
           {"\"grouped\": true", "\"grouped\": 1", "line 11: \"grouped\" is 1; it must be true or false."},
           {"\"grouped\": true", "\"api\": 1", "line 11: \"api\" appears twice"},
           {"\"f32\", \"bf16\"", "\"f32\", \"f64\"", "line 5: \"dtypes[1]\" is \"f64\"; use f32, f16, bf16."},
           {"\"f32\", \"bf16\"", "\"f32\", \"f32\"", "line 5: \"dtypes[1]\" repeats \"f32\"."},
           {"\"f32\", \"bf16\"", "", "line 5: \"dtypes\" is empty"},
           {"[\"f32\", \"bf16\"]", "\"f32\"",
            "line 5: \"dtypes\" is \"f32\"; it must be a list of any of these: f32, f16, bf16."},
           {"\"min\": 16, \"max\": 128", "\"min\": 0, \"max\": 128",
            "line 6: \"D.min\" is 0; it must be an integer from 1 to 256."},
           {"\"min\": 16, \"max\": 128", "\"min\": 16, \"max\": 8",
            "line 6: \"D.max\" is 8; it must be an integer from 16 to 256."},
           {"\"min\": 16, \"max\": 128", "\"min\": 16", "line 6: \"D\" lacks \"max\"."},
           {"[64, 96]", "[64, 96.5]", "line 7: \"Dv[1]\" is 96.5; it must be an integer"},
           {"[64, 96]", "[18446744073709551615]", "line 7: \"Dv[0]\" is 18446744073709551615; it must be"},
           {"[64, 96]", "\"all\"", "line 7: \"Dv\" is \"all\"; it must be a list such as [64, 128], or"},
           {"[64, 96]", "[]", "line 7: \"Dv\" has 0 elements; it must have 1 to 64."},
           {"\"causal\", \"bias\"", "\"casual\"",
            "line 8: \"masks[0]\" is \"casual\"; use causal, window, key_lengths, bias, softcap, alibi."},
           {"\"Br\": {", "\"br\": {", "line 9: \"options.br\" is not a known key; use Br, Bc, threads, stages."},
           {"\"default\": 32}", "\"default\": 40}",
            "line 9: \"options.Br.default\" is 40; it cannot be reached from 16 in steps of 16."},
           {"\"default\": 32}", "\"default\": 80}",
            "line 9: \"options.Br.default\" is 80; it must be an integer from 16 to 64."},
           {", \"default\": 128}", "}", "line 10: \"options.threads\" lacks \"default\"."},
           {"{\"min\": 32, \"max\": 256, \"step\": 32, \"default\": 128}", "128",
            "line 10: \"options.threads\" is 128; it must be an object such as"},
           {"\"name\": \"output\"", "\"name\": \"scores\"", "line 4: \"entries[1].name\" repeats \"scores\"."},
           {"\"name\": \"output\"", "\"name\": \"a b\"",
            "line 4: \"entries[1].name\" is \"a b\"; it must be the name of an extern"},
           {"\"name\": \"output\", ", "", "line 4: \"entries[1]\" lacks \"name\"."},
           {"\"grid\": \"B * Hq * Lq\", ", "", "line 4: \"entries[1]\" lacks \"grid\"."},
           {"\"block\": 64, ", "\"blocks\": 64, ",
            "line 4: \"entries[1].blocks\" is not a known key; use name, grid, block, shared."},
           {"\"B * Hq * Lq\"", "\"B * Hq * L\"",
            "line 4: \"entries[1].grid\" is invalid: 'B * Hq * L': unknown name L at column 10"},
           {"\"B * Hq * Lq\"", "[1, 1, 1, 1]", "line 4: \"entries[1].grid\" has 4 elements; it must have 1 to 3."},
           {"\"B * Hq * Lq\"", "true",
            "line 4: \"entries[1].grid\" is true; it must be an integer, or an expression in quotes."},
           {"\"4 * Br * D\"", "\"4 * Bc * D\"", "line 4: \"entries[1].shared\" reads Bc, which is not in \"options\"."},
           {"\"4 * Br * D\"", "-4", "line 4: \"entries[1].shared\" is -4; it must be an integer from 0 to"},
           {"\"threads / 32\"", "\"stages\"", "line 3: \"entries[0].block\" reads stages"},
           {"\"masks\": [\"causal\", \"bias\"],", "\"masks\": [\"causal\", \"bias\"]",
            "my.cu, line 9: the header is not valid JSON here"},
           {"\"stores_scores\": true}", "\"stores_scores\": true", "the header is not valid JSON here"},
           {"{\"api\": 1,", "[1, {\"api\": 1,", "the header is not valid JSON here"},
           {"// More words.", "// attn: {}",
            "my.cu, line 13: '// attn:' is separate from the header, which began at line 2"},
           {"#include \"kernels/gpu/device.cuh\"\n", "int x;\n// attn: {}\n",
            "line 15: '// attn:' comes after the first line of code"}}) {
    const std::string said = refusal(with(from, to));
    EXPECT_NE(said.find(words), std::string::npos) << to << ": " << said;
  }
  EXPECT_NE(refusal("int x;\n").find("my.cu has no header: its first lines must contain"), std::string::npos);
  EXPECT_NE(refusal("// attn: [1]\n").find("line 1: the header must be a JSON object"), std::string::npos);
  EXPECT_NE(
      refusal("// attn: " + std::string(40, '[') + std::string(40, ']') + "\n").find("nested more than 8 levels deep"),
      std::string::npos);
  EXPECT_NE(refusal("// attn: {}\n").find("\"api\" is missing"), std::string::npos);
}

std::string declared(const Problem& p, const std::string& text = kGood) {
  const auto h = parse_own_header(text, "my.cu");
  EXPECT_TRUE(h);
  const auto takes = check_declared(*h, p, "my");
  return takes ? "taken" : takes.error().message;
}

TEST(OwnHeader, WhatIsNotDeclaredIsRefused) {
  Problem p;
  p.Lq = p.Lk = 10;
  p.D = 64;
  p.Dv = 96;
  EXPECT_EQ(declared(p), "taken");
  p.D = 72;
  EXPECT_EQ(declared(p), "my supports D = 16 to 128 in steps of 16, not 72.");
  p.D = 64;
  p.Dv = 64;
  EXPECT_EQ(declared(p), "taken");
  p.Dv = 32;
  EXPECT_EQ(declared(p), "my supports Dv = 64 or 96, not 32.");
  EXPECT_EQ(declared(p, with("\"Dv\": [64, 96],", "")), "my supports only Dv = D, not D = 64 and Dv = 32.");
  p.Dv = 96;
  p.Hq = 4;
  p.Hkv = 2;
  EXPECT_EQ(declared(p), "taken");
  EXPECT_EQ(declared(p, with("\"grouped\": true, ", "")),
            "my does not declare \"grouped\" heads: Hq = 4 and Hkv = 2 must be equal.");
  p.mask.causal = true;
  p.bias_shape = {1, 1, 10, 10};
  EXPECT_EQ(declared(p), "taken");
  EXPECT_EQ(declared(p, with("\"causal\", ", "")), "my does not declare \"causal\" among its masks.");
  EXPECT_EQ(declared(p, with(", \"bias\"", "")), "my does not declare \"bias\" among its masks.");
  p.mask.window_left = 3;
  EXPECT_EQ(declared(p), "my does not declare \"window\" among its masks.");
  p.mask.window_left = -1;
  p.mask.key_lengths = {7};
  EXPECT_EQ(declared(p), "my does not declare \"key_lengths\" among its masks.");
}

TEST(OwnHeader, FitsAProblemToWhatItTakes) {
  const auto h = parse_own_header(with("\"grouped\": true, ", ""), "my.cu");
  ASSERT_TRUE(h);
  for (const auto& [d, nearest] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 16}, {16, 16}, {23, 16}, {25, 32}, {64, 64}, {127, 128}, {256, 128}}) {
    Problem p;
    p.Hq = 4;
    p.Hkv = 2;
    p.D = d;
    p.Dv = d;
    const Problem q = fitted(*h, p);
    EXPECT_EQ(q.D, nearest) << d;
    EXPECT_EQ(q.Dv, d > 80 ? 96 : 64) << d;
    EXPECT_EQ(q.Hkv, 4);
    EXPECT_TRUE(check_declared(*h, q, "my")) << d;
  }
  OwnDims odd;
  odd.min = 3;
  odd.max = 10;
  odd.step = 3;
  for (std::int64_t d = 1; d <= kMaxHeadDim; ++d) EXPECT_TRUE(odd.take(odd.nearest(d))) << d;
  EXPECT_EQ(odd.nearest(256), 9);
}

// Bytes changed, left out and doubled at random: an answer or words with the file's name, whatever it was.
TEST(OwnHeader, NoMutatedHeaderGetsPastTheReader) {
  std::mt19937 random(7);
  const std::string signs = "\"{}[]:,/ 0179eE-+.\\nullBrLq\n\xff";
  int taken = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = kGood;
    for (int change = static_cast<int>(random() % 3); change >= 0; --change) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = signs[random() % signs.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 8);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), 1 + random() % 20));
      }
    }
    const auto h = parse_own_header(text, "my.cu");
    if (h) {
      ++taken;
      ASSERT_FALSE(h->entries.empty() || h->dtypes.empty()) << text;
      for (const OptionSpec& o : h->options) ASSERT_TRUE(o.min >= 1 && o.default_value <= o.max && o.step >= 1) << text;
    } else {
      ++refused;
      ASSERT_EQ(h.error().kind, ErrorKind::bad_input);
      ASSERT_EQ(h.error().message.substr(0, 5), "my.cu") << h.error().message;
    }
  }
  EXPECT_GT(taken, 100);  // words around the header may change
  EXPECT_GT(refused, 1000);
}

TEST(JsonLines, FindEveryMember) {
  const auto lines = json_lines("{\"a\": 1,\n \"b\": [{\"c\":\n \"}\\\"\"}, 2,\n 3]}");
  ASSERT_TRUE(lines);
  EXPECT_EQ(*lines, (JsonLines{{"a", 1}, {"b", 2}, {"b[0]", 2}, {"b[0].c", 2}, {"b[1]", 3}, {"b[2]", 4}}));
  const auto twice = json_lines("{\"a\": {\"b\": 1,\n \"b\": 2}}");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "line 2: \"a.b\" appears twice");
}

}  // namespace
}  // namespace attn::gpu
