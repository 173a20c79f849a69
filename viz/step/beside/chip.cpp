#include "viz/step/beside/chip.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/occupancy.h"
#include "kernels/model/traffic.h"
#include "viz/draw/number_text.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

struct Part {
  TrafficPart part;
  TensorColour hue;
  const char* letter;
};
constexpr Part kParts[] = {{TrafficPart::q, TensorColour::q, "Q"}, {TrafficPart::k, TensorColour::k, "K"},
                           {TrafficPart::v, TensorColour::v, "V"}, {TrafficPart::s, TensorColour::s, "S"},
                           {TrafficPart::p, TensorColour::p, "P"}, {TrafficPart::stats, TensorColour::m, "mℓ"},
                           {TrafficPart::o, TensorColour::o, "O"}};

// Bytes of the tiles that are live after the event, counted as on_chip_bytes() counts them: S in fp32, and P in its
// place where S is not stored; m and l once, old or new.
std::array<std::uint64_t, kTrafficParts> held_bytes(const Recording& rec, EventIndex e) {
  std::array<std::uint64_t, kTrafficParts> out{};
  const auto bytes = [&](Slot slot, std::uint64_t each) -> std::uint64_t {
    const VersionId id = rec.after(e, slot);
    if (id == kNoVersion) return 0;
    const Version& v = rec.version(id);
    const std::int32_t columns = v.holds.partial ? 1 : v.cols;  // l once a row, in however many parts
    return static_cast<std::uint64_t>(v.rows) * static_cast<std::uint64_t>(columns) * each;
  };
  const auto pass = static_cast<unsigned>(std::clamp(rec.events[e].pass, 0, 2));
  for (const ChipLook& part : order_look(rec.order).chip) {
    if ((part.passes >> pass & 1U) == 0) continue;
    const std::uint64_t each = part.fp32 ? sizeof(float) : size_of(rec.problem.dtype);
    for (const auto& [a, b] : part.slots)
      out[static_cast<std::size_t>(part.part)] += std::max(bytes(a, each), bytes(b, each));
  }
  return out;
}

}  // namespace

ChipScene chip_scene(const Recording& rec, EventIndex e, std::string_view arch) {
  ChipScene scene;
  // An order that stores S holds at most what its largest pass needs; shown is what this pass does.
  const auto passes = on_chip_of_passes(rec.order, rec.problem, rec.options);
  const auto pass = static_cast<std::size_t>(std::max(rec.events[e].pass, 0));
  const OnChip& bytes = passes[std::min(pass, passes.size() - 1)];
  const auto held = held_bytes(rec, e);
  for (const std::uint64_t b : on_chip_bytes(rec.order, rec.problem, rec.options)) scene.total += b;
  for (const Part& p : kParts) {
    const auto n = static_cast<std::size_t>(p.part);
    scene.now += held[n];
    if (bytes[n] == 0) continue;
    const auto& named = order_look(rec.order).chip_parts;
    const auto name = std::ranges::find(named, p.part, [](const auto& part) { return part.first; });
    const std::string letters(name == named.end() ? p.letter : name->second);
    scene.parts.push_back({p.hue,
                           bytes[n],
                           std::min(held[n], bytes[n]),
                           {letter(letters, p.hue), number(" " + std::to_string(bytes[n]), Token::dim)}});
  }
  scene.sum = woven(phrase("{} held now, {} at peak", place(0), place(1)),
                    {number(fmt::format("{} B", scene.now)), number(fmt::format("{} B", scene.total))});
  if (const auto limits = gpu::limits_of(arch)) {
    const TextRun share =
        number(significant_text(100 * static_cast<double>(scene.total) / limits->shared_block, 2) + " %");
    const auto kib = limits->shared_block / 1024;
    scene.limit = woven(phrase("{} of the {} KiB available to a block on {}", place(0), kib, arch), {share});
    scene.short_limit = woven(phrase("{} of {} KiB ({})", place(0), kib, arch), {share});
  }
  const std::optional<Phase> shares = order_look(rec.order).shares_room;
  const bool weights_in_s = scene.total > 0 && (!shares || rec.events[e].id.phase == shares);
  if (weights_in_s && bytes[static_cast<std::size_t>(TrafficPart::p)] == 0)
    scene.note = woven(phrase("{} replaces {}", place(0), place(1)),
                       {letter("P", TensorColour::p), letter("S", TensorColour::s)});
  return scene;
}

}  // namespace attn
