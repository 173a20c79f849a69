#include "kernels/recording/file/timeline_file.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/recording/file/recording_file.h"

namespace attn {

Result<std::vector<std::byte>> timeline_bytes(const Timeline& t) {
  nlohmann::json session = nlohmann::json::object();
  Container c;
  if (auto added = add_beside({}, {&t, 1}, session, c); !added) return tl::unexpected(added.error());
  c.session_json = session_text(session, kAttnVersion);
  return container_bytes(c);
}

Result<Timeline> timeline_from(std::span<const std::byte> bytes, const std::string& name) {
  const auto container = parse_container(bytes, name);
  if (!container) return tl::unexpected(container.error());
  auto stored = stored_in(*container, name);
  if (!stored) return tl::unexpected(stored.error());
  if (stored->timelines.size() != 1)
    return bad_input(phrase("{} contains {} timelines, not one.", name, stored->timelines.size()));
  return std::move(stored->timelines.front());
}

}  // namespace attn
