// JSON in pieces, held against nlohmann::json, which parses it whole.
#include "kernels/formats/json_slices.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "kernels/formats/container.h"
#include "tests/environment/asked.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr int kDepth = 12;

struct Parsed {
  Result<json> whole;
  int pieces = 0;
};

Parsed in_pieces(const std::string& text) {
  JsonSlices slices(text, "it", kDepth);
  for (int pieces = 1;; ++pieces) {
    const auto done = slices.step();
    if (!done) return {tl::unexpected(done.error()), pieces};
    if (*done) return {slices.take(), pieces};
    if (pieces > 1000000) return {bad_input("it does not end"), pieces};
  }
}

void expect_as_whole(const std::string& text) {
  const auto whole = parse_json(text, "it", kDepth);
  const auto pieces = in_pieces(text).whole;
  ASSERT_EQ(pieces.has_value(), whole.has_value()) << text.substr(0, 300);
  if (!whole) {
    EXPECT_EQ(pieces.error().message, whole.error().message);
  } else {
    EXPECT_TRUE(*pieces == *whole) << text.substr(0, 300);
  }
}

// Rows of several sizes, longer than a piece some of them, in objects and lists of both.
std::string long_text(int indent, int count = 60) {
  json rows = json::array();
  for (int r = 0; r < count; ++r) {
    json row = {{"name", std::string(static_cast<std::size_t>(r * 37), 'a') + "\\ \" ] } , é"}, {"none", nullptr}};
    for (int i = 0; i < r * 50; ++i) row["samples"].push_back(i * 0.37);
    row["deep"] = {{"list", {{{"x", 1}, {"y", json::array()}}, json::object(), "s", true, -2}}};
    rows.push_back(std::move(row));
  }
  const json all = {{"format", "attnscope"}, {"rows", rows}, {"runs", {{{"rows", rows}}, {{"rows", json::array()}}}}};
  return all.dump(indent);
}

TEST(JsonSlices, GiveWhatTheWholeGives) {
  for (const int indent : {-1, 1}) {
    const std::string text = long_text(indent);
    expect_as_whole(text);
    EXPECT_GT(in_pieces(text).pieces, 30);
  }
}

TEST(JsonSlices, TakeWhatIsShortAtOnce) {
  for (const char* text : {"1", "\"a\"", "[]", "{}", " [1, 2] ", "null", R"({"a":[{"b":1}]})"}) {
    expect_as_whole(text);
    EXPECT_EQ(in_pieces(text).pieces, 1) << text;
  }
}

TEST(JsonSlices, KeepTheLastOfMembersOfOneName) {
  const std::string filler = "\"" + std::string(40000, 'x') + "\"";
  expect_as_whole(R"({"a":[)" + filler + R"(,1],"b":2,"a":[2,)" + filler + "]}");
}

TEST(JsonSlices, RefuseInTheWordsOfTheWhole) {
  const std::string filler = "\"" + std::string(40000, 'x') + "\"";
  for (const std::string& text : {std::string(),
                                  std::string("  "),
                                  std::string("["),
                                  "[" + filler,
                                  "[" + filler + ",]",
                                  "[," + filler + "]",
                                  "[" + filler + " 1]",
                                  "{" + filler + "}",
                                  "{" + filler + ":}",
                                  "{" + filler + ":1,}",
                                  "{" + filler + ":1 \"b\":2}",
                                  "[" + filler + "}",
                                  "[" + filler + "] 1",
                                  "[" + filler +
                                      ",\xEF\xBB\xBF"
                                      "1]",
                                  "{" + filler +
                                      ":\xEF\xBB\xBF"
                                      "1}",
                                  "[" + filler + ",1" + std::string(1, '\0') + "]",
                                  "[" + filler + ",01]",
                                  "[" + filler + ",1e999]",
                                  "[" + filler + ",nul]",
                                  "[" + filler + ",\"\\x\"]",
                                  "{1:" + filler + "}",
                                  "[" + filler + ",[1}]",
                                  "\xEF\xBB\xBF[" + filler + "]"})
    expect_as_whole(text);
}

TEST(JsonSlices, AreAsDeepAsTheWholeMayBe) {
  const std::string filler = "\"" + std::string(40000, 'x') + "\"";
  for (int depth = kDepth - 3; depth <= kDepth + 2; ++depth) {
    const auto brackets = static_cast<std::size_t>(depth);
    expect_as_whole(std::string(brackets, '[') + filler + std::string(brackets, ']'));
    expect_as_whole("[" + filler + "," + std::string(brackets - 1, '[') + std::string(brackets - 1, ']') + "]");
  }
}

TEST(JsonSlices, TakeADamagedTextAsTheWholeIsTaken) {
  const std::string text = long_text(-1, 20);
  std::mt19937 random(39);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const std::string signs = "[]{},:\"\\ 1-e.n\n";
  const int times = test::asked("ATTNSCOPE_SANITIZED") ? 6 : 40;
  for (int n = 0; n < times; ++n) {
    std::string damaged = text;
    for (std::size_t places = 1 + below(3); places > 0; --places) {
      const std::size_t at = below(damaged.size());
      switch (below(3)) {
        case 0:
          damaged[at] = signs[below(signs.size())];
          break;
        case 1:
          damaged.erase(at, 1 + below(4));
          break;
        default:
          damaged.insert(at, 1, signs[below(signs.size())]);
      }
    }
    expect_as_whole(damaged);
  }
}

}  // namespace
}  // namespace attn
