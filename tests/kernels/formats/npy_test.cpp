#include "kernels/formats/npy.h"

#include <bit>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

constexpr std::uint64_t kPlenty = 1 << 20;

// A file as numpy.lib.format describes it; `header` is taken as it is.
std::string npy(const std::string& header, const std::string& data, int major = 1) {
  std::string text = "\x93NUMPY";
  text += {static_cast<char>(major), 0};
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  for (std::size_t i = 0; i < length_bytes; ++i) text += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return text + header + data;
}

std::string header(const std::string& type, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

template <class T>
std::string raw(std::initializer_list<T> values, bool swapped = false) {
  std::string text;
  for (T value : values) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    text += swapped ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
  }
  return text;
}

Result<Array> parse(const std::string& text, std::optional<DType> to = {}, std::uint64_t limit = kPlenty) {
  return parse_npy(bytes_of(text), "x.npy", limit, to);
}

std::string refusal(const std::string& text) {
  const Result<Array> a = parse(text);
  return a ? "accepted" : a.error().message;
}

std::vector<float> numbers(const Result<Array>& a) {
  if (!a) return {};
  std::vector<float> values(static_cast<std::size_t>(a->size()));
  a->read(0, a->size(), values.data());
  return values;
}

const std::vector<float> kPair{1.5F, -2.0F};

TEST(Npy, ReadsEveryFloatingTypeInBothByteOrders) {
  for (bool swapped : {false, true}) {
    const std::string order = swapped ? ">" : "<";
    const auto halves = raw<std::uint16_t>({0x3e00, 0xc000}, swapped);
    const Result<Array> f2 = parse(npy(header(order + "f2", "(2,)"), halves));
    EXPECT_EQ(numbers(f2), kPair);
    EXPECT_EQ(f2->dtype(), DType::f16);
    EXPECT_EQ(numbers(parse(npy(header(order + "f4", "(2,)"), raw<float>({1.5F, -2.0F}, swapped)))), kPair);
    const Result<Array> f8 = parse(npy(header(order + "f8", "(2,)"), raw<double>({1.5, -2.0}, swapped)));
    EXPECT_EQ(numbers(f8), kPair);
    EXPECT_EQ(f8->dtype(), DType::f32);
  }
}

TEST(Npy, ReadsTheThreeVersionsOfTheFormat) {
  for (int major : {1, 2, 3}) {
    EXPECT_EQ(numbers(parse(npy(header("<f4", "(1, 2)"), raw<float>({1.5F, -2.0F}), major))), kPair) << major;
  }
  EXPECT_EQ(refusal(npy(header("<f4", "(1,)"), raw<float>({1}), 4)),
            "x.npy cannot be read: unknown .npy version 4.0; versions 1.0, 2.0 and 3.0 are supported.");
}

TEST(Npy, ReadsTheHeaderInAnyOrderAndSpacing) {
  for (const char* text : {"{'shape':(2,),'fortran_order':False,'descr':'<f4'}",
                           "  { \"descr\" : \"<f4\" , \"shape\" : ( 2 , ) , \"fortran_order\" : False , }   \n",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (1L, 2L), }\n"}) {
    EXPECT_EQ(numbers(parse(npy(text, raw<float>({1.5F, -2.0F})))), kPair) << text;
  }
}

TEST(Npy, RefusesHeadersThatAreNoDictionaryOfTheThreeKeys) {
  const std::string data = raw<float>({1.5F, -2.0F});
  for (const char* text :
       {"", "{", "{}", "{'descr': '<f4', 'shape': (2,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", "{'descr': '<f4, 'fortran_order': False",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}"}) {
    EXPECT_NE(refusal(npy(text, data)).find("its header is not a dictionary"), std::string::npos) << text;
  }
}

TEST(Npy, NonFiniteNumbersPassWithTheirBits) {
  const std::uint32_t nan = 0x7fc12345U;
  const auto a = parse(npy(header("<f4", "(3,)"), raw<std::uint32_t>({nan, 0x7f800000U, 0xff800000U})));
  ASSERT_TRUE(a);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(a->get(0)), nan);
  EXPECT_EQ(a->get(1), INFINITY);
  EXPECT_EQ(a->get(2), -INFINITY);
}

TEST(Npy, Fp64IsRoundedOnceToTheTypeAskedFor) {
  // Through fp32 this would fall on a midpoint of f16 and go down.
  const std::string text = npy(header("<f8", "(1,)"), raw<double>({1.0 + 0x1p-11 + 0x1p-40}));
  EXPECT_EQ(parse(text, DType::f16)->get(0), 1.0F + 0x1p-10F);
  EXPECT_EQ(parse(text)->get(0), 1.0F + 0x1p-11F);
}

TEST(Npy, RefusesOrderTypesAndShapesWithWhatWouldDo) {
  const std::string data = raw<float>({1.5F, -2.0F});
  EXPECT_NE(refusal(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}", data)).find("np.ascontiguousarray"),
            std::string::npos);
  EXPECT_EQ(refusal(npy(header("|O", "(2,)"), data)),
            "x.npy cannot be read: its type is '|O', not f2, f4 or f8; objects are never loaded; save a plain array.");
  EXPECT_NE(refusal(npy(header("<i4", "(2,)"), data)).find(".astype(np.float32)"), std::string::npos);
  EXPECT_NE(refusal(npy(header("|V2", "(4,)"), data)).find("bf16"), std::string::npos);
  EXPECT_NE(refusal(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", data)).find("records"),
            std::string::npos);
  EXPECT_NE(refusal(npy(header("<f4", "()"), raw<float>({1}))).find("single number"), std::string::npos);
  EXPECT_NE(refusal(npy(header("<f4", "(-1, 2)"), data)).find("negative extent (-1)"), std::string::npos);
  EXPECT_NE(refusal(npy(header("<f4", "(99999999999999999999, 2)"), data)).find("63 bits"), std::string::npos);
  EXPECT_NE(refusal(npy(header("<f4", "(4294967296, 4294967296)"), data)).find("63 bits"), std::string::npos);
  EXPECT_NE(refusal(npy(header("<f8", "(1152921504606846976,)"), data)).find("63 bits"), std::string::npos);
  EXPECT_NE(refusal(npy(header("<f4", "(1,1,1,1,1,1,1,1,2)"), data)).find("8 axes"), std::string::npos);
}

TEST(Npy, RefusesTruncatedAndOverlongFiles) {
  const std::string whole = npy(header("<f4", "(2,)"), raw<float>({1.5F, -2.0F}));
  ASSERT_EQ(refusal(whole), "accepted");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(refusal(whole.substr(0, length)), "accepted") << length;
  }
  EXPECT_NE(refusal(whole.substr(0, whole.size() - 1)).find("8 bytes, but 7 bytes follow its header (it is truncated)"),
            std::string::npos);
  EXPECT_NE(refusal(whole + "x").find("there is extra data"), std::string::npos);
}

TEST(Npy, ChecksTheSizeBeforeItAllocates) {
  // Shape and file disagree by far more memory than any machine has.
  EXPECT_NE(refusal(npy(header("<f4", "(1000000000000000,)"), "abcd")).find("truncated"), std::string::npos);
  EXPECT_NE(refusal(npy(std::string(70000, ' '), "", 2)).find("claims to be 70000 bytes long"), std::string::npos);
  const Result<Array> a = parse(npy(header("<f4", "(3,)"), raw<float>({1, 2, 3})), {}, 8);
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error().kind, ErrorKind::cannot_run);
  EXPECT_EQ(a.error().message, "x.npy needs 12 B of memory as f32; the limit is 8 B.");
}

TEST(Npy, WritesWhatNumPyWrites) {
  // np.save of np.array([[1.5, -2.0]], np.float32): 10 bytes of preamble, header padded to 128, 8 bytes of data.
  Array a(DType::f32, {1, 2});
  a.set(0, 1.5F);
  a.set(1, -2.0F);
  std::string expected = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  expected.resize(117, ' ');
  expected = npy(expected + "\n", raw<float>({1.5F, -2.0F}));
  EXPECT_EQ(npy_bytes(a, a.shape()), bytes_of(expected));
}

TEST(Npy, EveryDtypeRoundTripsThroughAFile) {
  const TempFolder folder;
  for (DType t : {DType::f32, DType::f16, DType::bf16}) {
    Array a(t, {2, 3});
    for (std::int64_t i = 0; i < 6; ++i) a.set(i, 0.1F * static_cast<float>(i));
    a.set(5, NAN);
    const std::int64_t shape[] = {3, 2};
    ASSERT_TRUE(write_npy(folder / "a.npy", a, shape));
    const Result<NpyHeader> head = read_npy_header(folder / "a.npy");
    ASSERT_TRUE(head);
    EXPECT_EQ(head->shape, (std::vector<std::int64_t>{3, 2}));
    EXPECT_EQ(head->type, t == DType::f16 ? "<f2" : "<f4");
    const Result<Array> back = read_npy(folder / "a.npy", kPlenty, t);
    ASSERT_TRUE(back);
    EXPECT_EQ(0, std::memcmp(back->data(), a.data(), a.bytes()));
  }
}

TEST(Npy, ReadsFilesLargerThanOnePieceInEveryType) {
  const TempFolder folder;
  const std::int64_t count = 700001;  // 5.6 MB as f8: several pieces, the last one short
  std::string data;
  for (std::int64_t i = 0; i < count; ++i) data += raw<double>({static_cast<double>(i) / 2});
  put_file(folder / "a.npy", npy(header("<f8", "(700001,)"), data));
  const Result<Array> a = read_npy(folder / "a.npy", 1 << 24);
  ASSERT_TRUE(a) << a.error().message;
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) wrong += a->get(i) == static_cast<float>(i) / 2 ? 0 : 1;
  EXPECT_EQ(wrong, 0);
  const std::vector<std::byte> bytes = npy_bytes(*a, a->shape());
  put_file(folder / "b.npy", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  EXPECT_EQ(*read_npy(folder / "b.npy", 1 << 24), *a);
}

// Another process puts a file of that name in its place, or writes into it, while it is open.
TEST(Npy, TheNumbersAreThoseOfTheHeaderThatWasRead) {
  const TempFolder folder;
  const auto write = [&](const std::string& name, std::int64_t rows, float value) {
    Array a(DType::f32, {rows, 4});
    for (std::int64_t i = 0; i < a.size(); ++i) a.set(i, value);
    EXPECT_TRUE(write_npy(folder / name, a, a.shape()));
  };
  write("a.npy", 2, 1);
  auto open = NpyFile::open(folder / "a.npy");
  ASSERT_TRUE(open) << open.error().message;
  write("a.npy", 100000, 2);  // renamed over it
  const auto old = open->read(kPlenty);
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->shape(), (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(old->get(7), 1);

  auto large = NpyFile::open(folder / "a.npy");
  ASSERT_TRUE(large);
  std::filesystem::resize_file(folder / "a.npy", 200000);  // in place, behind what the header took along
  const auto cut = large->read(1 << 24);
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().message.find("was truncated"), std::string::npos) << cut.error().message;
}

TEST(Npy, ABf16ArrayOfSeveralPiecesIsWrittenWidened) {
  const TempFolder folder;
  Array a(DType::bf16, {3, 200001});
  for (std::int64_t i = 0; i < a.size(); ++i) a.set(i, static_cast<float>(i % 251));
  ASSERT_TRUE(write_npy(folder / "a.npy", a, a.shape()));
  const std::vector<std::byte> whole = npy_bytes(a, a.shape());
  EXPECT_EQ(get_file(folder / "a.npy"), std::string(reinterpret_cast<const char*>(whole.data()), whole.size()));
  const Array none(DType::f32, {0, 3});
  ASSERT_TRUE(write_npy(folder / "b.npy", none, none.shape()));
  EXPECT_EQ(read_npy(folder / "b.npy", kPlenty)->shape(), (std::vector<std::int64_t>{0, 3}));
}

TEST(Npy, MissingFilesAndFoldersAreErrorsThatNameThem) {
  const TempFolder folder;
  const Result<Array> missing = read_npy(folder / "no.npy", kPlenty);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::io);
  EXPECT_NE(missing.error().message.find("no.npy: No such file"), std::string::npos);
  EXPECT_NE(read_npy(folder.path(), kPlenty).error().message.find("a folder"), std::string::npos);
  EXPECT_NE(read_npy("/dev/zero", kPlenty).error().message.find("not a regular file"), std::string::npos);
}

}  // namespace
}  // namespace attn
