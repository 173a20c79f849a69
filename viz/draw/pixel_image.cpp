#include "viz/draw/pixel_image.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "imgui.h"
#include "imgui_internal.h"  // RegisterUserTexture

namespace attn {
namespace {

// A picture that grows a little with the window keeps its texture.
int with_room(int pixels) {
  constexpr int kStep = 128;
  return (pixels + kStep - 1) / kStep * kStep;
}

// Asks the renderer for the rows from `first` to `last`, as the font atlas does for its glyphs.
void ask_upload(ImTextureData& texture, int width, int first, int last) {
  if (texture.Status == ImTextureStatus_WantCreate) return;  // comes whole
  const ImTextureRect rect{0, static_cast<unsigned short>(first), static_cast<unsigned short>(width),
                           static_cast<unsigned short>(last - first + 1)};
  texture.Updates.push_back(rect);
  texture.UpdateRect = rect;
  texture.UsedRect = {0, 0, static_cast<unsigned short>(texture.Width), static_cast<unsigned short>(texture.Height)};
  texture.SetStatus(ImTextureStatus_WantUpdates);
}

}  // namespace

void PixelImages::Retire::operator()(ImTextureData* texture) const {
  if (ImGui::GetCurrentContext() != nullptr) {
    ImGui::UnregisterUserTexture(texture);
    ImGui::GetPlatformIO().Textures.find_erase(texture);
  }
  IM_DELETE(texture);
}

PixelImages::PixelImages() = default;
PixelImages::~PixelImages() = default;

// Textures that the renderer has destroyed are freed.
void PixelImages::bury() {
  std::erase_if(leaving_, [](const Texture& t) { return t->Status == ImTextureStatus_Destroyed; });
}

PixelImages::Texture& PixelImages::sized(int key, int width, int height) {
  Texture& texture = textures_[key];
  if (texture && texture->Width >= width && texture->Height >= height) return texture;
  if (texture) {
    texture->WantDestroyNextFrame = true;
    leaving_.push_back(std::move(texture));
  }
  texture.reset(IM_NEW(ImTextureData)());
  texture->Create(ImTextureFormat_RGBA32, with_room(width), with_room(height));
  texture->UseColors = true;
  ImGui::RegisterUserTexture(texture.get());
  return texture;
}

void PixelImages::draw(ImDrawList* list, int key, const Box& box, const PaintRow& paint, ImU32 tint) {
  const float left = std::floor(box.min.x), top = std::floor(box.min.y);
  const int width = static_cast<int>(std::ceil(box.max.x) - left);
  const int height = static_cast<int>(std::ceil(box.max.y) - top);
  // ImGui counts a texture's pixels in 16 bits.
  if (width <= 0 || height <= 0 || width > 0x7fff || height > 0x7fff) return;
  bury();
  ImTextureData& texture = *sized(key, width, height);
  row_.resize(static_cast<std::size_t>(width));
  const std::size_t bytes = row_.size() * sizeof(ImU32);
  int first = height, last = -1;
  for (int y = 0; y < height; ++y) {
    std::fill(row_.begin(), row_.end(), 0);
    paint(top + static_cast<float>(y) + 0.5F, left + 0.5F, row_);
    void* const there = texture.GetPixelsAt(0, y);
    if (std::memcmp(there, row_.data(), bytes) == 0) continue;
    std::memcpy(there, row_.data(), bytes);
    first = std::min(first, y);
    last = y;
  }
  if (last >= 0) ask_upload(texture, width, first, last);
  const ImVec2 end{static_cast<float>(width) / static_cast<float>(texture.Width),
                   static_cast<float>(height) / static_cast<float>(texture.Height)};
  list->AddImage(texture.GetTexRef(), {left, top}, {left + static_cast<float>(width), top + static_cast<float>(height)},
                 {0, 0}, end, tint);
}

}  // namespace attn
