// No text makes the reader of lessons throw or crash; what it takes has beats, each with a run, and no more runs than a
// lesson may have.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "app/state/lessons/lesson_runs.h"
#include "viz/learn/lesson/lesson.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto lesson = attn::parse_lesson(text, "fuzz.json");
  if (!lesson) {
    if (lesson.error().message.empty()) std::abort();
    return 0;
  }
  if (lesson->beats.empty() || lesson->runs.empty() || lesson->runs.size() > 32) std::abort();
  for (const attn::Beat& beat : lesson->beats) {
    if (!lesson->runs.contains(beat.run)) std::abort();
    if (const auto view = attn::beat_view(*lesson, beat); !view && view.error().message.empty()) std::abort();
  }
  (void)attn::add_translation(text, "fuzz.de.json", *lesson);
  return 0;
}
