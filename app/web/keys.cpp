#include "app/web/keys.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace attn {
namespace {

struct NamedKey {
  std::string_view code;
  ImGuiKey key;
};
constexpr NamedKey kKeys[] = {
    {"Tab", ImGuiKey_Tab},
    {"ArrowLeft", ImGuiKey_LeftArrow},
    {"ArrowRight", ImGuiKey_RightArrow},
    {"ArrowUp", ImGuiKey_UpArrow},
    {"ArrowDown", ImGuiKey_DownArrow},
    {"PageUp", ImGuiKey_PageUp},
    {"PageDown", ImGuiKey_PageDown},
    {"Home", ImGuiKey_Home},
    {"End", ImGuiKey_End},
    {"Insert", ImGuiKey_Insert},
    {"Delete", ImGuiKey_Delete},
    {"Backspace", ImGuiKey_Backspace},
    {"Space", ImGuiKey_Space},
    {"Enter", ImGuiKey_Enter},
    {"NumpadEnter", ImGuiKey_KeypadEnter},
    {"Escape", ImGuiKey_Escape},
    {"Quote", ImGuiKey_Apostrophe},
    {"Comma", ImGuiKey_Comma},
    {"Minus", ImGuiKey_Minus},
    {"Period", ImGuiKey_Period},
    {"Slash", ImGuiKey_Slash},
    {"Semicolon", ImGuiKey_Semicolon},
    {"Equal", ImGuiKey_Equal},
    {"BracketLeft", ImGuiKey_LeftBracket},
    {"Backslash", ImGuiKey_Backslash},
    {"BracketRight", ImGuiKey_RightBracket},
    {"Backquote", ImGuiKey_GraveAccent},
    {"NumpadAdd", ImGuiKey_KeypadAdd},
    {"NumpadSubtract", ImGuiKey_KeypadSubtract},
    {"NumpadMultiply", ImGuiKey_KeypadMultiply},
    {"NumpadDivide", ImGuiKey_KeypadDivide},
    {"NumpadDecimal", ImGuiKey_KeypadDecimal},
    {"ShiftLeft", ImGuiKey_LeftShift},
    {"ShiftRight", ImGuiKey_RightShift},
    {"ControlLeft", ImGuiKey_LeftCtrl},
    {"ControlRight", ImGuiKey_RightCtrl},
    {"AltLeft", ImGuiKey_LeftAlt},
    {"AltRight", ImGuiKey_RightAlt},
    {"MetaLeft", ImGuiKey_LeftSuper},
    {"MetaRight", ImGuiKey_RightSuper},
};

ImGuiKey nth(ImGuiKey first, int n) {
  return static_cast<ImGuiKey>(static_cast<int>(first) + n);
}

}  // namespace

ImGuiKey key_of(std::string_view code) {
  if (code.size() == 4 && code.starts_with("Key") && code[3] >= 'A' && code[3] <= 'Z')
    return nth(ImGuiKey_A, code[3] - 'A');
  if (code.size() == 6 && code.starts_with("Digit") && code[5] >= '0' && code[5] <= '9')
    return nth(ImGuiKey_0, code[5] - '0');
  if (code.size() == 7 && code.starts_with("Numpad") && code[6] >= '0' && code[6] <= '9')
    return nth(ImGuiKey_Keypad0, code[6] - '0');
  for (int n = 1; n <= 12; ++n)
    if (code == "F" + std::to_string(n)) return nth(ImGuiKey_F1, n - 1);
  const auto* const it =
      std::find_if(std::begin(kKeys), std::end(kKeys), [&](const NamedKey& k) { return k.code == code; });
  return it == std::end(kKeys) ? ImGuiKey_None : it->key;
}

}  // namespace attn
