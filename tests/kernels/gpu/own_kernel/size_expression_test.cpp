// Sizes of a user's own kernel: the numbers that Python comes to, and refusals in words where there is no number.
#include "kernels/gpu/own_kernel/size_expression.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace attn::gpu {
namespace {

// B, Hq, Hkv, Lq, Lk, D, Dv, Br, Bc, threads, stages
constexpr SizeValues kValues{2, 8, 4, 4097, 513, 64, 96, 48, 32, 160, 3};

std::string refusal(const std::string& text) {
  const auto e = SizeExpression::parse(text);
  if (!e) return e.error().message;
  const auto value = e->value(kValues);
  return value ? "it is " + std::to_string(*value) : value.error().message;
}

// Drawn at random and worked out by Python, with // for / and -(-a // b) for ceil_div.
const std::vector<std::pair<std::string, std::int64_t>> kPython{
    {"ceil_div(ceil_div(Br, Hq)/(stages) + max(Hkv, Hq) + threads, Br)", 4},
    {"(((17)))/Lq % 6/4 + 3/ceil_div(40, D)", 3},
    {"min(((37)) - threads, ceil_div(ceil_div(stages, (Lq)), (stages)/Hq + Lq))", -123},
    {"max(4 - threads % 13, Lq + 33) % 28*2 + Lk + Br", 589},
    {"(29 - Lq) - 34*30*30 % (Bc) % Lq + Dv", -3980},
    {"ceil_div(stages, Bc)*(threads) - (Lk) % max(2 % threads + ceil_div(Br, Dv), (min(Br, 26)))", 141},
    {"B + ((D)) - Hq % B/threads - Lq % threads", -31},
    {"(D - Hq - 24 + Bc) - (D*D % Br + threads)", -112},
    {"13 - 3 - Hq*max(threads, B) - (ceil_div(min(0, 40), 37*7))", -1270},
    {"max(Dv, Hkv) + 22 % 19*(min(Br, Dv)) % Lq", 240},
    {"((0) - stages/Dv + Lq/15 + Br - threads)", 161},
    {"Hq - min(stages, ceil_div(Dv, Hkv))*(Bc) % threads % 15", 2},
    {"((D)) - (min(7, Lq))/max(min(ceil_div(Lk, Hkv), max(D, 36)), B + threads + D*20)", 64},
    {"((ceil_div((Lq), max(Lk, Bc))))", 8},
    {"((Hkv - 33) + Bc % Dv - Lq + Hkv)", -4090},
    {"(max(10 + min(Bc, 9), max(Dv, Lq) % 19/Bc))", 19},
    {"(33)/D % 21 + Hkv/threads % Br/Dv + Bc", 32},
    {"min(Hq % 19 + 28, max(19, Lk)*max(3, D))/Bc", 1},
    {"((20*Hkv)*14*Lk - 17*Hq)", 574424},
    {"((40 + 33)) + Lk % (12 - B)", 76},
    {"((35/Hq % D*D))", 256},
    {"(min(39/26, (Lq))) - ceil_div((4 + Br), Dv/32/(stages))", -51},
    {"Hkv - min(ceil_div(35, Lk), (Br)) % 10 % 22 + B - Bc", -27},
    {"9223372036854775807", 9223372036854775807},
    {"  Lq  ", 4097},
};

TEST(SizeExpressions, ComeToWhatPythonComesTo) {
  for (const auto& [text, wanted] : kPython) {
    const auto e = SizeExpression::parse(text);
    ASSERT_TRUE(e) << e.error().message;
    const auto value = e->value(kValues);
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_EQ(*value, wanted) << text;
  }
}

TEST(SizeExpressions, SayWhereTheyCannotBeRead) {
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "'': unexpected end at column 1; use a number, a name or '('"},
           {"Lq +", "'Lq +': unexpected end at column 5; use a number"},
           {"Lq Lk", "unexpected 'L' at column 4; use an operator, or end the expression here"},
           {"(Lq", "unexpected end at column 4; use ')'"},
           {"Lq)", "unexpected ')' at column 3; use an operator"},
           {"min(Lq)", "unexpected ')' at column 7; use ','"},
           {"max Lq", "unexpected 'L' at column 5; use '('"},
           {"ceil(Lq, 2)", "unknown name ceil at column 1; use B, Hq, Hkv, Lq, Lk, D, Dv, Br, Bc, threads, stages"},
           {"lq", "unknown name lq at column 1"},
           {"-1", "unexpected '-' at column 1; use a number"},
           {"1.5", "unexpected '.' at column 2; use an operator"},
           {"0x10", "unexpected 'x' at column 2"},
           {"Lq / / 2", "unexpected '/' at column 6"},
           {"99999999999999999999", "the number at column 1 is too large"},
           {std::string(33, '(') + "1" + std::string(33, ')'), "more than 32 open parentheses"},
           {std::string(1001, '1'), "the expression has 1001 characters; the limit is 1000"}}) {
    EXPECT_NE(refusal(text).find(words), std::string::npos) << text << ": " << refusal(text);
  }
}

TEST(SizeExpressions, RefuseWhatHasNoNumber) {
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"Lq / (B - 2)", "4097 / 0 divides by zero"},
           {"Lq % 0", "4097 % 0 divides by zero"},
           {"ceil_div(Lq, 0)", "4097 / 0 divides by zero"},
           {"(1 - Lq) / 2", "-4096 / 2 divides negative numbers"},
           {"Lq % (1 - Lq)", "4097 % -4096 divides negative numbers"},
           {"9223372036854775807 + 1", "9223372036854775807 + 1 does not fit in 64 bits"},
           {"0 - 9223372036854775807 - 2", "-9223372036854775807 - 2 does not fit in 64 bits"},
           {"4294967296 * 4294967296", "4294967296 * 4294967296 does not fit in 64 bits"}}) {
    EXPECT_NE(refusal(text).find(words), std::string::npos) << text << ": " << refusal(text);
  }
}

TEST(SizeExpressions, KnowWhatTheyRead) {
  const auto e = SizeExpression::parse("ceil_div(Lq, Br) * B");
  ASSERT_TRUE(e);
  EXPECT_TRUE(e->reads(SizeName::Lq));
  EXPECT_TRUE(e->reads(SizeName::br));
  EXPECT_FALSE(e->reads(SizeName::bc));
  EXPECT_EQ(name_of(SizeName::threads), "threads");
}

}  // namespace
}  // namespace attn::gpu
