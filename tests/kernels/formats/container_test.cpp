#include "kernels/formats/container.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/kernels/temp_folder.h"
#include "tests/kernels/time_zone_of_test.h"

namespace attn {
namespace {

using nlohmann::json;

Container sample() {
  Container c;
  c.session_json = session_text(json{{"notes", {"one", "two"}}});
  c.files["r0/a.npy"] = bytes_of("first");
  c.files["r0/b.npy"] = bytes_of(std::string(100000, 'x'));
  c.files["r0/empty.npy"] = {};
  return c;
}

std::string zip_text(const Container& c) {
  const auto bytes = container_bytes(c);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

std::string refusal(const std::string& zip, const ContainerLimits& limits = {}) {
  const Result<Container> c = parse_container(bytes_of(zip), "x.attn", limits);
  return c ? "accepted" : c.error().message;
}

// Every occurrence of `from` in local headers and directory becomes `to`, of the same length.
std::string patched(std::string text, const std::string& from, const std::string& to) {
  EXPECT_EQ(from.size(), to.size());
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, to.size(), to);
  }
  return text;
}

// Sets a byte of every local header (at `local`) and directory entry (at `central`).
std::string with_field(std::string text, std::size_t local, std::size_t central, char value) {
  for (std::size_t at = 0; (at = text.find("PK\x03\x04", at)) != std::string::npos; ++at) text[at + local] = value;
  for (std::size_t at = 0; (at = text.find("PK\x01\x02", at)) != std::string::npos; ++at) text[at + central] = value;
  return text;
}

std::string zip_of_session(const std::string& text) {
  Container c;
  c.session_json = text;
  return zip_text(c);
}

TEST(Container, ComesBackAsItWasWritten) {
  const TempFolder folder;
  const Container c = sample();
  ASSERT_TRUE(write_file_atomically(folder / "a.attn", *container_bytes(c)));
  const Result<Container> back = read_container(folder / "a.attn");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->session_json, c.session_json);
  EXPECT_EQ(back->files, c.files);
}

TEST(Container, SameContentGivesTheSameBytesInEveryTimeZone) {
  const std::string first = zip_text(sample());
  const TimeZoneOfTest zone("Pacific/Kiritimati");
  EXPECT_EQ(first, zip_text(sample()));
}

TEST(Container, FormatAndVersionStandFirst) {
  const std::string text = session_text(json{{"a", 1}, {"format", "x"}});
  EXPECT_EQ(text.find("{\n \"format\": \"attnscope\",\n \"version\": 1,\n \"a\": 1"), 0U) << text;
}

TEST(Container, RefusesOtherFormatsAndNewerVersionsInWords) {
  EXPECT_NE(refusal(zip_of_session("{\"version\": 1}")).find("not from AttnScope"), std::string::npos);
  EXPECT_NE(refusal(zip_of_session("[1]")).find("not from AttnScope"), std::string::npos);
  EXPECT_NE(refusal(zip_of_session(R"({"format": "attnscope"})")).find("no version"), std::string::npos);
  EXPECT_NE(refusal(zip_of_session(R"({"format": "attnscope", "version": 0})")).find("no version"), std::string::npos);
  EXPECT_NE(refusal(zip_of_session(R"({"format": "attnscope", "version": "1"})")).find("no version"),
            std::string::npos);
  EXPECT_EQ(refusal(zip_of_session(R"({"format": "attnscope", "version": 4})")),
            "x.attn was written by a newer version of AttnScope (format 4); this version reads formats 1 to 3.");
  EXPECT_NE(refusal(zip_of_session(R"({"format": "attnscope", "version": 18446744073709551615})")).find("newer"),
            std::string::npos);
}

TEST(Container, RefusesTextThatIsNoJson) {
  EXPECT_EQ(refusal(zip_of_session(R"({"format": )")), "x.attn: session.json is not valid JSON (byte 12 of 11).");
  EXPECT_NE(refusal(zip_of_session("")).find("is not valid JSON"), std::string::npos);
  EXPECT_NE(refusal(zip_of_session("{\"a\": \"\xff\"}")).find("is not valid JSON"), std::string::npos);
  EXPECT_NE(refusal(zip_of_session("[1e999]")).find("out of range"), std::string::npos);
}

TEST(Container, BoundsTheDepthOfJson) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_TRUE(parse_json(nested(64), "t", 64));
  EXPECT_EQ(parse_json(nested(65), "t", 64).error().message, "t is nested more than 64 levels deep.");
  EXPECT_FALSE(parse_json(std::string(1000000, '['), "t", 64));
  EXPECT_FALSE(parse_json(std::string(1000000, '{'), "t", 64));
  EXPECT_TRUE(parse_json("\"" + std::string(100, '[') + "\\\"" + std::string(100, '[') + "\"", "t", 64));
}

TEST(Container, RefusesEveryTruncationAndWhatIsNoZip) {
  const std::string whole = zip_text(sample());
  ASSERT_EQ(refusal(whole), "accepted");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    ASSERT_NE(refusal(whole.substr(0, length)), "accepted") << length;
  }
  EXPECT_NE(refusal("not a zip").find("not a complete AttnScope file"), std::string::npos);
  EXPECT_EQ(refusal(""), "x.attn is empty.");
}

TEST(Container, RefusesDamagedContent) {
  std::string zip = zip_text(sample());
  const std::size_t name = zip.find("r0/a.npy");  // in its local header, which the data follows
  ASSERT_NE(name, std::string::npos);
  zip[name + 9] = static_cast<char>(zip[name + 9] ^ 1);
  EXPECT_NE(refusal(zip).find("damaged"), std::string::npos) << refusal(zip);
}

TEST(Container, RefusesNamesThatLeaveTheFolderOrRepeat) {
  const std::string zip = zip_text(sample());
  for (const char* name : {"../a.npy", "/0/a.npy", "r0//.npy", "r0/../np", "C:/a.npy", "r0\\a.npy", "r0/ .npy",
                           "r0/\xc3\xa4.np", "./a.npy0", "r0/a.np\n"}) {
    EXPECT_NE(refusal(patched(zip, "r0/a.npy", name)).find("is not a plain relative path"), std::string::npos)
        << name << ": " << refusal(patched(zip, "r0/a.npy", name));
  }
  EXPECT_NE(refusal(patched(zip, "r0/a.npy", "r0/b.npy")), "accepted");
}

TEST(Container, RefusesEncryptedEntriesAndUnknownCompression) {
  const std::string zip = zip_text(sample());
  EXPECT_NE(refusal(with_field(zip, 6, 8, 1)).find("encrypted"), std::string::npos)
      << refusal(with_field(zip, 6, 8, 1));
  EXPECT_NE(refusal(with_field(zip, 8, 10, 12)).find("compressed with method 12"), std::string::npos)
      << refusal(with_field(zip, 8, 10, 12));
}

TEST(Container, ChecksItsLimitsBeforeItDecompresses) {
  const std::string zip = zip_text(sample());
  ContainerLimits limits;
  limits.max_entry_bytes = 99999;
  EXPECT_EQ(refusal(zip, limits), "x.attn cannot be read: r0/b.npy claims 97.7 KiB; the limit is 97.7 KiB.");
  limits = {};
  limits.max_total_bytes = 100000;
  EXPECT_NE(refusal(zip, limits).find("its entries would unpack to more than"), std::string::npos);
  limits = {};
  limits.max_entries = 3;
  EXPECT_NE(refusal(zip, limits).find("has 4 entries; the limit is 3"), std::string::npos);
  limits = {};
  limits.max_json_bytes = 10;
  EXPECT_NE(refusal(zip, limits).find("session.json claims"), std::string::npos);
  limits = {};
  limits.max_file_bytes = 100;
  EXPECT_NE(refusal(zip, limits).find("the limit is 100 B"), std::string::npos);
}

TEST(Container, EntryThatClaimsAnotherSizeIsRefused) {
  std::string zip = zip_text(sample());
  // Bytes 24..27 of a directory entry, 22..25 of a local header: the size after decompression.
  for (std::size_t at = 0; (at = zip.find("PK\x01\x02", at)) != std::string::npos; ++at) {
    if (zip.compare(at + 46, 8, "r0/b.npy") == 0) zip[at + 26] = '\x11';
  }
  for (std::size_t at = 0; (at = zip.find("PK\x03\x04", at)) != std::string::npos; ++at) {
    if (zip.compare(at + 30, 8, "r0/b.npy") == 0) zip[at + 24] = '\x11';
  }
  EXPECT_NE(refusal(zip), "accepted");
}

TEST(Container, WritesNoNameThatItWouldNotRead) {
  for (const char* name : {"", "../x", "/x", "session.json", "a b"}) {
    Container c = sample();
    c.files[name] = {};
    EXPECT_FALSE(container_bytes(c)) << name;
  }
}

TEST(Container, NumbersThatJsonLacksAreTexts) {
  EXPECT_EQ(number_to_json(INFINITY), "inf");
  EXPECT_EQ(number_to_json(-INFINITY), "-inf");
  EXPECT_EQ(number_to_json(NAN), "nan");
  for (double x : std::initializer_list<double>{0.1, -0.0, 5e-324, 1.7976931348623157e308, INFINITY, -INFINITY}) {
    const auto back = number_from_json(json::parse(number_to_json(x).dump()), "x");
    ASSERT_TRUE(back);
    EXPECT_EQ(std::signbit(*back), std::signbit(x));
    EXPECT_EQ(*back, x);
  }
  EXPECT_TRUE(std::isnan(*number_from_json("nan", "x")));
  EXPECT_EQ(number_from_json("NaN", "x").error().message, R"(x must be a number, "inf", "-inf" or "nan".)");
  EXPECT_FALSE(number_from_json(json(), "x"));
  EXPECT_FALSE(number_from_json(true, "x"));
}

}  // namespace
}  // namespace attn
