#include "kernels/formats/catalogue_file.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace attn {
namespace {

std::string file_of(const std::string& entries, const std::string& rule = "one_other") {
  return fmt::format(R"({{"version": 1, "language": "de", "plural": "{}", "texts": [{}]}})", rule, entries);
}

TEST(CatalogueFile, GivesWhatIsTranslated) {
  const auto c = parse_catalogue(file_of(R"({"en": "Measure", "to": "Messen", "in": ["a.cpp"]}, {"en": "Compare"},
    {"en": "{0} of {1:.1f}", "to": "{1:.1f}, davon {0}"},
    {"en": ["{0} row", "{0} rows"], "to": ["eine Zeile", "{0} Zeilen"]})"),
                                 "de.json");
  ASSERT_TRUE(c) << c.error().message;
  EXPECT_EQ(c->language, "de");
  EXPECT_EQ(c->texts.size(), 2U) << "what has no \"to\" stays English";
  EXPECT_EQ(c->texts.at("{0} of {1:.1f}"), "{1:.1f}, davon {0}");
  EXPECT_EQ(c->plurals.at("{0} rows").front(), "eine Zeile") << "the form of one may leave the number out";
}

// A text with an argument that English has not would end the program where it is said.
TEST(CatalogueFile, RefusesATextWithOtherArguments) {
  for (const auto& [entry, words] : {
           std::pair{R"({"en": "{0} of {1}", "to": "{0}"})", "'{0}' and '{0} of {1}'"},
           std::pair{R"({"en": "{0}", "to": "{0} {1}"})", "different arguments"},
           std::pair{R"({"en": "{0:.1f}", "to": "{0:d}"})", "different arguments"},
           std::pair{R"({"en": ["{0} row", "{0} rows"], "to": ["{0} Zeile"]})", "1 forms instead of 2"},
           std::pair{R"({"en": "a", "to": ["a", "b"]})", "2 forms instead of 1"},
       }) {
    const auto c = parse_catalogue(file_of(entry), "de.json");
    ASSERT_FALSE(c) << entry;
    EXPECT_NE(c.error().message.find(words), std::string::npos) << c.error().message;
    EXPECT_EQ(c.error().message.rfind("de.json: ", 0), 0U) << c.error().message;
  }
  EXPECT_FALSE(parse_catalogue(file_of("", "dual"), "de.json"));
  EXPECT_FALSE(parse_catalogue("[", "de.json"));
  EXPECT_FALSE(parse_catalogue(R"({"version": 2})", "de.json"));
}

TEST(CatalogueFile, PseudoTextsAreLongerAndKeepTheirArguments) {
  const std::string english = "{0} of {1:.1f} points are finished in this file";
  const std::string pseudo = pseudo_text(english);
  EXPECT_NE(pseudo.find("{0}"), std::string::npos);
  EXPECT_NE(pseudo.find("{1:.1f}"), std::string::npos);
  EXPECT_GT(pseudo.find("ö"), 0U);
  std::size_t letters = 0;  // accents take two bytes
  for (const char c : pseudo) letters += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(letters), 1.35 * static_cast<double>(english.size()), 5);
  EXPECT_EQ(pseudo_text("Run##go"), "[Rüñ]##go") << "what names a widget stays";
  const auto c = pseudo_catalogue(file_of(R"({"en": "Measure"}, {"en": ["{0} row", "{0} rows"]})"), "en.json");
  ASSERT_TRUE(c) << c.error().message;
  EXPECT_EQ(c->plurals.at("{0} rows").size(), 2U);
  EXPECT_EQ(c->language, kPseudoLanguage);
}

}  // namespace
}  // namespace attn
