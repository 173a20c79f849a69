// What GifWriter writes, giflib reads back: size, frames, times, and the colours of the flat parts.
#include "app/graphics/gif.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include <gif_lib.h>

namespace attn {
namespace {

Image filled(int width, int height, std::uint32_t bgr) {
  Image image{width, height, {}};
  for (int n = 0; n < width * height; ++n) {
    for (int shift = 0; shift < 24; shift += 8) image.rgba.push_back(static_cast<std::uint8_t>(bgr >> shift));
    image.rgba.push_back(255);
  }
  return image;
}

void set_pixel(Image& image, int x, int y, std::uint32_t bgr) {
  const auto at = static_cast<std::size_t>(y * image.width + x) * 4;
  for (std::size_t c = 0; c < 3; ++c) image.rgba[at + c] = static_cast<std::uint8_t>(bgr >> (8 * c));
}

struct Reader {
  std::vector<std::byte> bytes;
  std::size_t at = 0;
};

int read_some(GifFileType* gif, GifByteType* to, int count) {
  auto& from = *static_cast<Reader*>(gif->UserData);
  const std::size_t n = std::min(static_cast<std::size_t>(count), from.bytes.size() - from.at);
  std::memcpy(to, from.bytes.data() + from.at, n);
  from.at += n;
  return static_cast<int>(n);
}

struct Close {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};

TEST(Gif, ReadsBackAsItWasDrawn) {
  auto gif = GifWriter::create(40, 30);
  ASSERT_TRUE(gif) << gif.error().message;
  Image first = filled(40, 30, 0x181412);
  // More colours than a GIF holds, beside a flat field.
  for (int n = 0; n < 600; ++n)
    set_pixel(first, n % 40, n / 40, 0x010203U * static_cast<unsigned>(n % 85) + 0x20U * static_cast<unsigned>(n));
  Image second = first;
  set_pixel(second, 7, 20, 0x3D5CED);
  set_pixel(second, 9, 25, 0x3D5CED);
  for (const Image& image : {first, second, second}) ASSERT_TRUE(gif->add(image, 0.7));
  auto bytes = gif->finish();
  ASSERT_TRUE(bytes) << bytes.error().message;
  Reader reader{*std::move(bytes)};
  int code = 0;
  const std::unique_ptr<GifFileType, Close> read(DGifOpen(&reader, read_some, &code));
  ASSERT_NE(read, nullptr) << code;
  ASSERT_EQ(DGifSlurp(read.get()), GIF_OK);
  EXPECT_EQ(read->SWidth, 40);
  EXPECT_EQ(read->SHeight, 30);
  ASSERT_EQ(read->ImageCount, 3);
  const auto colour = [&](int frame, int x, int y) {
    const SavedImage& image = read->SavedImages[frame];
    const GifColorType c = image.ImageDesc.ColorMap->Colors[image.RasterBits[y * image.ImageDesc.Width + x]];
    return static_cast<std::uint32_t>(c.Red | c.Green << 8 | c.Blue << 16);
  };
  EXPECT_EQ(colour(0, 20, 25), 0x181412U);
  // The second frame holds the changed rectangle, the third next to nothing.
  const GifImageDesc& part = read->SavedImages[1].ImageDesc;
  EXPECT_EQ(part.Left, 7);
  EXPECT_EQ(part.Top, 20);
  EXPECT_EQ(part.Width, 3);
  EXPECT_EQ(part.Height, 6);
  EXPECT_EQ(colour(1, 0, 0), 0x3D5CEDU);
  EXPECT_EQ(read->SavedImages[2].ImageDesc.Width, 1);
  GraphicsControlBlock control{};
  ASSERT_EQ(DGifSavedExtensionToGCB(read.get(), 1, &control), GIF_OK);
  EXPECT_EQ(control.DelayTime, 70);
}

}  // namespace
}  // namespace attn
