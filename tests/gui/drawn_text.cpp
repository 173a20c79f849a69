#include "tests/gui/drawn_text.h"

#include <algorithm>
#include <cfloat>
#include <string>

#include "imgui.h"

namespace attn {
namespace {

DrawnText*& collector() {
  static DrawnText* now = nullptr;
  return now;
}

void see(const char* begin, const char* end) {
  if (collector() != nullptr && begin != nullptr) collector()->add(end == nullptr ? begin : std::string(begin, end));
}

void see_at(const ImDrawList* list, ImFont* font, float size, const ImVec2& at, const char* begin, const char* end) {
  if (collector() == nullptr || begin == nullptr || font == nullptr) return;
  const std::string text = end == nullptr ? std::string(begin) : std::string(begin, end);
  const ImVec2 extent = font->CalcTextSizeA(size, FLT_MAX, 0, text.c_str());
  const ImVec2 least = list->GetClipRectMin(), most = list->GetClipRectMax();
  const DrawnText::Place place{text,
                               std::max(at.x, least.x),
                               std::max(at.y, least.y),
                               std::min(at.x + extent.x, most.x),
                               std::min(at.y + extent.y, most.y),
                               size};
  if (place.left < place.right && place.top < place.bottom) collector()->add(place);
}

}  // namespace

DrawnText::DrawnText() {
  collector() = this;
}

DrawnText::~DrawnText() {
  collector() = nullptr;
}

}  // namespace attn

// The linker's names for both overloads: __wrap_ is what is called, __real_ what Dear ImGui has.
extern "C" {
void __real__ZN10ImDrawList7AddTextERK6ImVec2jPKcS4_(ImDrawList* list, const ImVec2& at, ImU32 ink, const char* begin,
                                                     const char* end);
void __real__ZN10ImDrawList7AddTextEP6ImFontfRK6ImVec2jPKcS6_fPK6ImVec4(ImDrawList* list, ImFont* font, float size,
                                                                        const ImVec2& at, ImU32 ink, const char* begin,
                                                                        const char* end, float wrap,
                                                                        const ImVec4* clip);
void __wrap__ZN10ImDrawList7AddTextERK6ImVec2jPKcS4_(ImDrawList* list, const ImVec2& at, ImU32 ink, const char* begin,
                                                     const char* end);
void __wrap__ZN10ImDrawList7AddTextEP6ImFontfRK6ImVec2jPKcS6_fPK6ImVec4(ImDrawList* list, ImFont* font, float size,
                                                                        const ImVec2& at, ImU32 ink, const char* begin,
                                                                        const char* end, float wrap,
                                                                        const ImVec4* clip);

void __wrap__ZN10ImDrawList7AddTextERK6ImVec2jPKcS4_(ImDrawList* list, const ImVec2& at, ImU32 ink, const char* begin,
                                                     const char* end) {
  attn::see(begin, end);
  __real__ZN10ImDrawList7AddTextERK6ImVec2jPKcS4_(list, at, ink, begin, end);
}

void __wrap__ZN10ImDrawList7AddTextEP6ImFontfRK6ImVec2jPKcS6_fPK6ImVec4(ImDrawList* list, ImFont* font, float size,
                                                                        const ImVec2& at, ImU32 ink, const char* begin,
                                                                        const char* end, float wrap,
                                                                        const ImVec4* clip) {
  attn::see(begin, end);
  attn::see_at(list, font, size, at, begin, end);
  __real__ZN10ImDrawList7AddTextEP6ImFontfRK6ImVec2jPKcS6_fPK6ImVec4(list, font, size, at, ink, begin, end, wrap, clip);
}
}
