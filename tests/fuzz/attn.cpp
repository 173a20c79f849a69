// No bytes make the .attn reader crash, and a recording that it accepts can be looked up, replayed and written again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "kernels/formats/container.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/replay/exact.h"
#include "kernels/recording/replay/replay.h"
#include "tests/fuzz/container_of.h"

namespace {

void use(const attn::Recording& rec) {
  for (attn::EventIndex e = 0; e < rec.events.size(); ++e) {
    const attn::EventId& id = rec.events[e].id;
    if (!rec.find(id, rec.events[e].pass)) std::abort();
    for (const attn::Slot s : {attn::Slot::s, attn::Slot::p, attn::Slot::m_new, attn::Slot::o_new}) {
      const attn::VersionId v = rec.tile_version(s, id.b, id.h, id.i, id.j, e);
      if (v != attn::kNoVersion && rec.values(v).empty()) std::abort();
    }
    if (e > 0 && id.i == rec.events[e - 1].id.i) continue;
    const attn::ExactTile exact(rec, id.b, id.h, std::max(id.i, 0));
    for (const attn::VersionId v : rec.events[e].after) {
      if (v == attn::kNoVersion) continue;
      for (std::int32_t r = 0; r < rec.version(v).rows; ++r) {
        const auto row = exact.row(v, r);
        if (!row.empty() && row.size() != static_cast<std::size_t>(rec.version(v).cols)) std::abort();
      }
    }
  }
  (void)attn::replay(rec);
  nlohmann::json session = nlohmann::json::object();
  attn::Container again;
  if (!attn::add_recording(rec, 0, session, again)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto c = attn::fuzz::container_of({reinterpret_cast<const std::byte*>(data), size});
  if (!c) return 0;
  const auto stored = attn::stored_in(*c, "fuzz.attn");
  if (!stored) return 0;
  for (const attn::Recording& rec : stored->recordings) {
    // The replay of a large one takes longer than an input may.
    if (rec.events.size() <= 1000) use(rec);
  }
  nlohmann::json session = nlohmann::json::object();
  attn::Container again;
  if (!attn::add_beside(stored->tensors, stored->timelines, session, again)) std::abort();
  return 0;
}
