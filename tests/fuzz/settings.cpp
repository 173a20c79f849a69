// No text makes the settings' parser crash, and what it accepts is within its ranges.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "app/window/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)attn::layout_is_sane(text);
  const auto loaded = attn::parse_settings(text);
  if (!loaded) return 0;
  const attn::Settings& s = loaded->settings;
  const bool sane = s.preferences.scale >= 1 && s.preferences.scale <= 3 && s.window_width >= 320 &&
                    s.window_width <= 16384 && attn::layout_is_sane(s.layout);
  if (!sane) std::abort();
  const auto again = attn::parse_settings(attn::settings_text(s));
  if (!again || attn::settings_text(again->settings) != attn::settings_text(s)) std::abort();
  return 0;
}
