#include "tests/gui/drawn_text.h"

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
  __real__ZN10ImDrawList7AddTextEP6ImFontfRK6ImVec2jPKcS6_fPK6ImVec4(list, font, size, at, ink, begin, end, wrap, clip);
}
}
