#include "app/graphics/gif.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gif_lib.h>

#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr int kColours = 256;

tl::unexpected<Error> failed(const char* what, int code) {
  const char* words = GifErrorString(code);
  return fail(ErrorKind::failed,
              phrase("Cannot create the GIF ({}): {}.", what, words ? words : tr("no reason given")));
}

// The part of a picture that a frame holds.
struct Part {
  int left = 0, top = 0, width = 0, height = 0;
};

std::span<const std::uint8_t> row_of(const Image& image, int y) {
  const auto bytes = static_cast<std::size_t>(image.width) * 4;
  return std::span(image.rgba).subspan(static_cast<std::size_t>(y) * bytes, bytes);
}

// The smallest rectangle outside of which two pictures are the same; one pixel where they are the same everywhere.
Part changed_part(const Image& before, const Image& now) {
  int left = now.width, right = 0, top = now.height, bottom = 0;
  for (int y = 0; y < now.height; ++y) {
    const auto a = row_of(before, y), b = row_of(now, y);
    const auto first = std::mismatch(a.begin(), a.end(), b.begin()).first;
    if (first == a.end()) continue;
    const auto last = std::mismatch(a.rbegin(), a.rend(), b.rbegin()).first;
    top = std::min(top, y);
    bottom = y + 1;
    left = std::min(left, static_cast<int>((first - a.begin()) / 4));
    right = std::max(right, static_cast<int>((a.rend() - last - 1) / 4) + 1);
  }
  return bottom == 0 ? Part{0, 0, 1, 1} : Part{left, top, right - left, bottom - top};
}

struct Indexed {
  std::vector<GifByteType> pixels;
  std::array<GifColorType, kColours> colours{};
};

using Colour = std::uint32_t;  // 0x00BBGGRR

int distance(Colour a, Colour b) {
  int sum = 0;
  for (int shift = 0; shift < 24; shift += 8) {
    const int d = static_cast<int>(a >> shift & 0xff) - static_cast<int>(b >> shift & 0xff);
    sum += d * d;
  }
  return sum;
}

Colour nearest(const std::vector<Colour>& palette, Colour c, std::size_t& index) {
  int best = INT32_MAX;
  for (std::size_t n = 0; n < palette.size() && best > 0; ++n) {
    const int d = distance(palette[n], c);
    if (d < best) best = d, index = n;
  }
  return palette[index];
}

// The commonest colours as they are: a window is flat fields, whose colours must not change from frame to frame (which
// is why this is not giflib's median cut, which begins with five bits a channel). Then colours far from those that
// there are, so that rare hues and the edges of letters find one.
std::vector<Colour> palette_of(const std::unordered_map<Colour, std::size_t>& counts) {
  constexpr std::size_t kExact = 160;
  std::vector<std::pair<std::size_t, Colour>> common;
  common.reserve(counts.size());
  for (const auto& [colour, count] : counts) common.emplace_back(count, colour);
  std::sort(common.begin(), common.end(), std::greater<>());
  std::vector<Colour> palette;
  for (const auto& [count, colour] : common) {
    if (palette.size() < kExact) palette.push_back(colour);
  }
  for (const int apart : {24, 12, 6, 0}) {
    for (const auto& [count, colour] : common) {
      if (palette.size() >= kColours) return palette;
      std::size_t index = 0;
      if (distance(nearest(palette, colour, index), colour) > apart * apart) palette.push_back(colour);
    }
  }
  return palette;
}

Indexed with_palette(const Image& image, const Part& part) {
  std::vector<Colour> pixels;
  pixels.reserve(static_cast<std::size_t>(part.width) * static_cast<std::size_t>(part.height));
  std::unordered_map<Colour, std::size_t> counts;
  for (int y = part.top; y < part.top + part.height; ++y) {
    const auto row = row_of(image, y).subspan(static_cast<std::size_t>(part.left) * 4);
    for (std::size_t x = 0; x < static_cast<std::size_t>(part.width); ++x) {
      const Colour c = static_cast<Colour>(row[x * 4]) | static_cast<Colour>(row[x * 4 + 1]) << 8U |
                       static_cast<Colour>(row[x * 4 + 2]) << 16U;
      pixels.push_back(c);
      ++counts[c];
    }
  }
  const std::vector<Colour> palette = palette_of(counts);
  Indexed out;
  for (std::size_t n = 0; n < palette.size(); ++n) {
    out.colours[n] = {static_cast<GifByteType>(palette[n] & 0xff), static_cast<GifByteType>(palette[n] >> 8 & 0xff),
                      static_cast<GifByteType>(palette[n] >> 16 & 0xff)};
  }
  for (auto& [colour, place] : counts) {
    std::size_t index = 0;
    nearest(palette, colour, index);
    place = index;
  }
  out.pixels.reserve(pixels.size());
  for (const Colour c : pixels) out.pixels.push_back(static_cast<GifByteType>(counts[c]));
  return out;
}

int append(GifFileType* gif, const GifByteType* bytes, int count) {
  auto& out = *static_cast<std::vector<std::byte>*>(gif->UserData);
  const auto* first = reinterpret_cast<const std::byte*>(bytes);
  out.insert(out.end(), first, first + count);
  return count;
}

struct CloseGif {
  void operator()(GifFileType* gif) const { EGifCloseFile(gif, nullptr); }
};

struct FreeMap {
  void operator()(ColorMapObject* map) const { GifFreeMapObject(map); }
};

}  // namespace

struct GifWriter::Impl {
  std::vector<std::byte> bytes;  // before the file that writes into it
  std::unique_ptr<GifFileType, CloseGif> gif;
  Image before;  // empty before the first frame
};

GifWriter::GifWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GifWriter::GifWriter(GifWriter&&) noexcept = default;
GifWriter& GifWriter::operator=(GifWriter&&) noexcept = default;
GifWriter::~GifWriter() = default;

Result<GifWriter> GifWriter::create(int width, int height) {
  auto impl = std::make_unique<Impl>();
  int code = 0;
  impl->gif.reset(EGifOpen(&impl->bytes, append, &code));
  if (impl->gif == nullptr) return failed(tr("its header"), code);
  GifFileType* gif = impl->gif.get();
  EGifSetGifVersion(gif, true);  // GIF89a: time and repetition
  if (EGifPutScreenDesc(gif, width, height, 8, 0, nullptr) != GIF_OK) return failed(tr("its header"), gif->Error);
  // "Repeat for ever" as browsers have understood it since Netscape 2.0.
  const std::array<GifByteType, 3> repeat{1, 0, 0};
  if (EGifPutExtensionLeader(gif, APPLICATION_EXT_FUNC_CODE) != GIF_OK ||
      EGifPutExtensionBlock(gif, 11, "NETSCAPE2.0") != GIF_OK ||
      EGifPutExtensionBlock(gif, static_cast<int>(repeat.size()), repeat.data()) != GIF_OK ||
      EGifPutExtensionTrailer(gif) != GIF_OK) {
    return failed(tr("its loop setting"), gif->Error);
  }
  return GifWriter(std::move(impl));
}

Result<void> GifWriter::add(const Image& image, double seconds) {
  GifFileType* gif = impl_->gif.get();
  const Part part =
      !impl_->before.rgba.empty() ? changed_part(impl_->before, image) : Part{0, 0, image.width, image.height};
  Indexed indexed = with_palette(image, part);
  const std::unique_ptr<ColorMapObject, FreeMap> map(GifMakeMapObject(kColours, indexed.colours.data()));
  if (map == nullptr) return failed(tr("a frame's colours"), E_GIF_ERR_NOT_ENOUGH_MEM);
  GraphicsControlBlock control{};
  control.DisposalMode = DISPOSE_DO_NOT;
  control.DelayTime = std::clamp(static_cast<int>(std::lround(seconds * 100)), 2, 65535);
  control.TransparentColor = NO_TRANSPARENT_COLOR;
  std::array<GifByteType, 4> block{};
  EGifGCBToExtension(&control, block.data());
  bool good = EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, static_cast<int>(block.size()), block.data()) == GIF_OK &&
              EGifPutImageDesc(gif, part.left, part.top, part.width, part.height, false, map.get()) == GIF_OK;
  for (int y = 0; good && y < part.height; ++y) {
    const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(part.width);
    good = EGifPutLine(gif, indexed.pixels.data() + at, part.width) == GIF_OK;
  }
  if (!good) return failed("a frame", gif->Error);
  impl_->before = image;
  return ok();
}

Result<std::vector<std::byte>> GifWriter::finish() {
  int code = 0;
  if (EGifCloseFile(impl_->gif.release(), &code) != GIF_OK) return failed(tr("its trailer"), code);
  return std::move(impl_->bytes);
}

}  // namespace attn
