#include "app/graphics/frame_sum.h"

#include <bit>
#include <cstddef>
#include <cstring>

#include "imgui.h"

namespace attn {
namespace {

// Eight bytes at a time, since a frame has megabytes of vertices: multiply and rotate, as MurmurHash3 does.
class Sum {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (; bytes >= sizeof(std::uint64_t); at += sizeof(std::uint64_t), bytes -= sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, sizeof(word));
      add(word);
    }
    std::uint64_t rest = bytes;
    std::memcpy(&rest, at, bytes);
    add(rest ^ (static_cast<std::uint64_t>(bytes) << 56));
  }
  void add(std::uint64_t word) {
    sum_ = std::rotl(sum_ ^ (word * 0x87c37b91114253d5ULL), 31) * 0x4cf5ad432745937fULL + 0x52dce729;
  }
  std::uint64_t value() const { return sum_ ^ (sum_ >> 32); }

 private:
  std::uint64_t sum_ = 0x9e3779b97f4a7c15ULL;
};

void add_list(Sum& sum, const ImDrawList& list) {
  sum.add(list.VtxBuffer.Data, static_cast<std::size_t>(list.VtxBuffer.size_in_bytes()));
  sum.add(list.IdxBuffer.Data, static_cast<std::size_t>(list.IdxBuffer.size_in_bytes()));
  for (const ImDrawCmd& command : list.CmdBuffer) {
    sum.add(&command.ClipRect, sizeof(command.ClipRect));
    // Not GetTexID(): a renderer that draws nothing gives its textures none.
    const ImTextureRef& texture = command.TexRef;
    sum.add(texture._TexData != nullptr ? static_cast<std::uint64_t>(texture._TexData->UniqueID)
                                        : static_cast<std::uint64_t>(texture._TexID));
    sum.add((static_cast<std::uint64_t>(command.VtxOffset) << 32) | command.IdxOffset);
    sum.add(command.ElemCount);
    sum.add(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(command.UserCallback)));
  }
}

}  // namespace

std::optional<std::uint64_t> frame_sum(const ImDrawData& data) {
  if (data.Textures != nullptr) {
    for (const ImTextureData* texture : *data.Textures) {
      if (texture->Status != ImTextureStatus_OK && texture->Status != ImTextureStatus_Destroyed) return std::nullopt;
    }
  }
  Sum sum;
  sum.add(&data.DisplaySize, sizeof(data.DisplaySize));
  sum.add(&data.FramebufferScale, sizeof(data.FramebufferScale));
  for (const ImDrawList* list : data.CmdLists) {
    for (const ImDrawCmd& command : list->CmdBuffer) {
      // One without data does the same each time: it switches the renderer's filter. Who knows what another draws.
      if (command.UserCallback != nullptr && command.UserCallbackData != nullptr) return std::nullopt;
    }
    add_list(sum, *list);
  }
  return sum.value();
}

}  // namespace attn
