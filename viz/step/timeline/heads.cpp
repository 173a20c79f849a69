#include "viz/step/timeline/heads.h"

#include <algorithm>
#include <limits>

namespace attn {
namespace {

HeadPicture picture_of(const Recording& rec, const HeadsScene& scene, const TensorScale& scale, std::int32_t b,
                       std::int32_t h) {
  HeadPicture picture{b, h, static_cast<std::int32_t>(rec.problem.kv_head(h)), {}};
  const auto last = static_cast<EventIndex>(rec.events.size() - 1);
  const auto br = static_cast<std::int32_t>(std::min<std::int64_t>(rec.options.br, rec.problem.Lq)),
             bc = static_cast<std::int32_t>(std::min<std::int64_t>(rec.options.bc, rec.problem.Lk));
  for (std::int32_t y = 0; y < scene.rows; ++y) {
    for (std::int32_t x = 0; x < scene.cols; ++x) {
      const auto row = static_cast<std::int32_t>((2 * y + 1) * rec.problem.Lq / (2 * scene.rows)),
                 key = static_cast<std::int32_t>((2 * x + 1) * rec.problem.Lk / (2 * scene.cols));
      float shade = std::numeric_limits<float>::quiet_NaN();
      const VersionId id = rec.tile_version(Slot::s, b, h, row / br, key / bc, last);
      if (id != kNoVersion && rec.problem.visible(b, row, key)) {
        const Version& v = rec.version(id);
        const auto n = static_cast<std::size_t>(row - v.first_row) * static_cast<std::size_t>(v.cols) +
                       static_cast<std::size_t>(key - v.first_col);
        shade = scale.shade(rec.values(id)[n]);
      }
      picture.shades.push_back(shade);
    }
  }
  return picture;
}

}  // namespace

HeadsScene heads_scene(const Recording& rec, const TensorScale& scale) {
  HeadsScene scene;
  scene.batches = static_cast<std::int32_t>(rec.problem.B);
  scene.heads = static_cast<std::int32_t>(rec.problem.Hq);
  scene.groups = static_cast<std::int32_t>(rec.problem.Hkv);
  scene.rows = static_cast<std::int32_t>(std::min<std::int64_t>(rec.problem.Lq, kPictureSide));
  scene.cols = static_cast<std::int32_t>(std::min<std::int64_t>(rec.problem.Lk, kPictureSide));
  if (scene.batches * scene.heads < 2) return scene;  // nothing to choose from
  for (std::int32_t b = 0; b < scene.batches; ++b) {
    for (std::int32_t h = 0; h < scene.heads; ++h) scene.pictures.push_back(picture_of(rec, scene, scale, b, h));
  }
  return scene;
}

EventIndex event_of_head(const Recording& rec, const StepPlace& at, std::int32_t b, std::int32_t h) {
  const Event& now = rec.events[at.event];
  if (const auto same = rec.find({b, h, now.id.i, now.id.j, now.id.phase}, now.pass)) return *same;
  const auto first =
      std::find_if(rec.events.begin(), rec.events.end(), [&](const Event& e) { return e.id.b == b && e.id.h == h; });
  return first == rec.events.end() ? at.event : static_cast<EventIndex>(first - rec.events.begin());
}

}  // namespace attn
