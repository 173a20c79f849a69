// Pictures made pixel by pixel: a tile of tens of thousands of cells is one rectangle to the graphics driver, where a
// rectangle a cell would cost a software renderer longer than a frame.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "viz/draw/canvas.h"

struct ImTextureData;

namespace attn {

// The pictures of one GUI context, by a number that the caller chooses. Lives shorter than the context; what the
// renderer keeps of them goes when it shuts down.
class PixelImages {
 public:
  PixelImages();
  ~PixelImages();
  PixelImages(const PixelImages&) = delete;
  PixelImages& operator=(const PixelImages&) = delete;

  // Draws picture `key` over the pixels that `box` covers: `paint` is called for each row of them with the y of its
  // pixels' centres, the x of the first centre, and the row to fill (colours as IM_COL32; it comes transparent).
  using PaintRow = std::function<void(float y, float first_x, std::span<ImU32> row)>;
  // `tint` is multiplied in.
  void draw(ImDrawList* list, int key, const Box& box, const PaintRow& paint, ImU32 tint);

 private:
  struct Retire {
    void operator()(ImTextureData* texture) const;
  };
  using Texture = std::unique_ptr<ImTextureData, Retire>;
  Texture& sized(int key, int width, int height);
  void bury();

  std::map<int, Texture> textures_;
  std::vector<Texture> leaving_;  // too small; until the renderer has let go of them
  std::vector<ImU32> row_;
};

}  // namespace attn
