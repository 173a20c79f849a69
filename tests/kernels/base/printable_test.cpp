// Nothing that a terminal or a reader obeys is left of words of strangers, and all that is shown stays as it was.
#include "kernels/base/printable.h"
#include "tests/environment/asked.h"

#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace attn {
namespace {

std::string utf8(std::uint32_t c) {
  std::string s;
  if (c < 0x80) {
    s += static_cast<char>(c);
  } else if (c < 0x800) {
    s += static_cast<char>(0xC0U | (c >> 6U));
    s += static_cast<char>(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    s += static_cast<char>(0xE0U | (c >> 12U));
    s += static_cast<char>(0x80U | ((c >> 6U) & 0x3FU));
    s += static_cast<char>(0x80U | (c & 0x3FU));
  } else {
    s += static_cast<char>(0xF0U | (c >> 18U));
    s += static_cast<char>(0x80U | ((c >> 12U) & 0x3FU));
    s += static_cast<char>(0x80U | ((c >> 6U) & 0x3FU));
    s += static_cast<char>(0x80U | (c & 0x3FU));
  }
  return s;
}

const std::string kInstead = "\xEF\xBF\xBD";

TEST(Printable, EveryCharacterThatIsObeyedIsReplacedAndNoOther) {
  for (std::uint32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c > 0xFFFF && test::left_to_release(c, 8)) continue;
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    const bool obeyed = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c <= 0x9F) || c == 0x61C || c == 0x200E ||
                        c == 0x200F || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
    ASSERT_EQ(printable("a" + utf8(c) + "b"), "a" + (obeyed ? kInstead : utf8(c)) + "b") << std::hex << c;
  }
}

TEST(Printable, BytesThatAreNoUtf8AreReplaced) {
  for (const char* bytes : {"\x80", "\xFF", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82",
                            "\xC2", "\xF8\x88\x80\x80\x80"}) {
    const std::string shown = printable(std::string("a") + bytes + "b");
    EXPECT_EQ(shown.substr(0, 1) + shown.substr(shown.size() - 1), "ab");
    EXPECT_EQ(shown.find(kInstead), 1U);
  }
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m \xE2\x80\xAE"
                      "evil"),
            kInstead + "[31mred" + kInstead + "[0m " + kInstead + "evil");
}

// Whatever bytes come: what is shown is clean, and cleaning it again changes nothing.
TEST(Printable, TwiceIsOnce) {
  std::mt19937 random(7);
  for (int n = 0; n < 20000; ++n) {
    std::string bytes(random() % 24, ' ');
    for (char& c : bytes) c = static_cast<char>(random());
    const std::string once = printable(bytes);
    ASSERT_EQ(printable(once), once);
    ASSERT_EQ(once.find('\x1b'), std::string::npos);
  }
}

// RFC 3629: the length, the shortest form, no half of a pair, nothing beyond U+10FFFF, and no more than there is.
TEST(FirstCharacter, IsDecodedOrHasNoBytes) {
  const auto is = [](std::string_view text, char32_t code, std::size_t bytes) {
    const Character c = first_character(text);
    EXPECT_EQ(c.code, code) << text;
    EXPECT_EQ(c.bytes, bytes) << text;
  };
  is("ab", U'a', 1);
  is("\u00DF!", U'\u00DF', 2);
  is("\u20AC", U'\u20AC', 3);
  is("\U0001F600", U'\U0001F600', 4);
  is("\xF4\x8F\xBF\xBF", U'\U0010FFFF', 4);
  for (const std::string_view wrong :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xE2\x82", "\xE2\x28\xA1", "\xFF"})
    is(wrong, 0, 0);
}

}  // namespace
}  // namespace attn
