// The same element in two orders: naive's three passes over a stored S, and where each waits for what, above flash's
// one pass at the corresponding step. Pure scene and its drawing; the run in the other order is recorded by the cache.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "viz/draw/text_runs.h"
#include "viz/step/place/place.h"

namespace attn {

enum class PassLook : std::uint8_t { to_come, live, done, skipped };

struct PassTile {
  std::int32_t first_key = 0, keys = 0;
  PassLook look = PassLook::to_come;
  EventIndex event = 0;  // of the run that the strip belongs to
};
// One walk over the keys of the followed row.
struct PassStrip {
  std::string name;  // "pass 1"
  TextRuns makes;    // "S = Q K^T, stored"
  TensorColour hue = TensorColour::s;
  std::vector<PassTile> tiles;
  bool other = false;  // of the other run: not the one that Step shows
  TextRuns value;      // the element there; empty where it is not made yet
  TextRuns waits;      // what it waited for, or waits for
};
struct PassesScene {
  std::int32_t row = 0, key = 0, col = 0, keys = 0;
  std::string naive_name, flash_name;  // "naive", "flash"
  std::string naive_step, flash_step;  // "12 of 44"
  bool flash_shown = false;            // Step shows the flash run
  EventIndex other_event = 0;          // the corresponding step of the other run
  std::vector<PassStrip> strips;       // naive's three, then flash's one
  TextRuns together;                   // both say the same: P alpha / l = P
  std::string nothing;                 // why there is no such view; else empty
};
// The kernel whose run stands beside `rec`: naive for flash orders, flash for those that store S.
std::string_view companion_kernel(Order order);
// Recordings above this are not made in passing.
constexpr std::uint64_t kCompanionLimit = 4ULL << 20;
// The run of the same problem in the companion's order; null with `why` where it is too large or is refused.
std::shared_ptr<const Recording> record_companion(const Recording& rec, std::string& why);

// `key`, `col`: the element, a key and a column of O: the pinned one, or the one that the sentence follows. `other`
// null: `why` says why.
PassesScene passes_scene(const Recording& rec, const StepPlace& at, std::int32_t key, std::int32_t col,
                         const Recording* other, const std::string& why);

}  // namespace attn
