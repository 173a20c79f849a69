#include "kernels/base/text.h"

#include <string>
#include <string_view>
#include <thread>

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

// As a table of the program has them.
struct Named {
  const char* id;
  const char* name;
};
constexpr Named kNamed[] = {{"time", marked("Time")}, {"bytes", marked("Bytes")}};

TEST(Text, OfConstantDataIsSaidWhereItIsShown) {
  EXPECT_EQ(tr_of(kNamed[0].name), kNamed[0].name) << "the very letters: nothing is copied";
  const std::string_view english = "Time";
  EXPECT_EQ(tr_of(english).data(), english.data());
  Catalogue c;
  c.texts = {{"Time", "Zeit"}};
  const Speaking german(c);
  EXPECT_STREQ(kNamed[0].name, "Time");
  EXPECT_STREQ(tr_of(kNamed[0].name), "Zeit");
  EXPECT_STREQ(tr_of(kNamed[1].name), "Bytes") << "what the catalogue lacks stays English";
  EXPECT_EQ(tr_of(std::string_view("Time")), "Zeit");
}

TEST(Text, IsEnglishInWhatAFileKeeps) {
  Catalogue c;
  c.texts = {{"Measure", "Messen"}, {"{0} rows", "{0} Zeilen"}};
  const Speaking german(c);
  {
    const InEnglish file;
    EXPECT_STREQ(tr("Measure"), "Measure");
    {
      const InEnglish part;
      EXPECT_EQ(phrase("{} rows", 2), "2 rows");
    }
    EXPECT_STREQ(tr("Measure"), "Measure") << "the outer one still lives";
    std::string beside;
    std::thread([&] { beside = tr("Measure"); }).join();
    EXPECT_EQ(beside, "Messen") << "another thread speaks on";
  }
  EXPECT_STREQ(tr("Measure"), "Messen");
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
