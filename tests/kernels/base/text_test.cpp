#include "kernels/base/text.h"

#include <string>

#include <gtest/gtest.h>

namespace attn {
namespace {

// Speaks a language while it lives.
class Speaking {
 public:
  explicit Speaking(const Catalogue& catalogue) { speak(&catalogue); }
  Speaking(const Speaking&) = delete;
  Speaking& operator=(const Speaking&) = delete;
  ~Speaking() { speak(nullptr); }
};

TEST(Text, IsItselfInEnglish) {
  static constexpr const char* kText = "Measure";
  EXPECT_EQ(tr(kText), kText) << "the very letters: nothing is copied";
  EXPECT_EQ(phrase("{} of {:.1f}", 1, 2.0), "1 of 2.0");
  EXPECT_EQ(plural(1, "{} row", "{} rows"), "1 row");
  EXPECT_EQ(plural(0, "{} row of {}", "{} rows of {}", "a"), "0 rows of a");
}

TEST(Text, PutsArgumentsWhereTheLanguageHasThem) {
  Catalogue c;
  c.texts = {{"Measure", "Messen"}, {"{0} of {1:.1f}", "von {1:.1f}: {0}"}};
  const Speaking german(c);
  EXPECT_STREQ(tr("Measure"), "Messen");
  EXPECT_STREQ(tr("Compare"), "Compare") << "what the catalogue lacks stays English";
  EXPECT_EQ(phrase("{} of {:.1f}", 1, 2.0), "von 2.0: 1");
  EXPECT_EQ(phrase("{} at {}", 1, 2), "1 at 2");
}

TEST(Text, TakesTheFormOfANumberByTheRuleOfTheLanguage) {
  Catalogue c;
  c.rule = PluralRule::slavic;
  c.plurals = {{"{0} rows", {"{0} строка", "{0} строки", "{0} строк"}}};
  const Speaking russian(c);
  for (const auto& [n, words] : {std::pair<std::int64_t, const char*>{1, "1 строка"},
                                 {2, "2 строки"},
                                 {5, "5 строк"},
                                 {11, "11 строк"},
                                 {12, "12 строк"},
                                 {21, "21 строка"},
                                 {104, "104 строки"}})
    EXPECT_EQ(plural(n, "{} row", "{} rows"), words);
  EXPECT_EQ(plural(1, "{} file", "{} files"), "1 file");
}

TEST(Text, IsKnownByThePlacesOfItsArguments) {
  EXPECT_EQ(with_places("{} of {:.1f}"), "{0} of {1:.1f}");
  EXPECT_EQ(with_places("{:{}} {{}} {}"), "{0:{1}} {{}} {2}");
  EXPECT_EQ(with_places("{1} {0}"), "{1} {0}");
  EXPECT_EQ(with_places("none"), "none");
}

}  // namespace
}  // namespace attn
