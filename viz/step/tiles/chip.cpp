#include "viz/step/tiles/chip.h"

#include "kernels/model/traffic.h"

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

}  // namespace

ChipScene chip_scene(const Recording& rec) {
  ChipScene scene;
  const auto bytes = on_chip_bytes(rec.order, rec.problem, rec.options);
  for (const std::uint64_t b : bytes) scene.total += b;
  for (const Part& p : kParts) {
    const std::uint64_t b = bytes[static_cast<std::size_t>(p.part)];
    if (b == 0) continue;
    scene.parts.push_back({p.hue, b, {letter(p.letter, p.hue), number(" " + std::to_string(b), Token::dim)}});
  }
  scene.sum = {number(std::to_string(scene.total) + " B"), word(" of SRAM and registers")};
  if (bytes[static_cast<std::size_t>(TrafficPart::p)] == 0)
    scene.note = {letter("P", TensorColour::p), word(" takes the place of "), letter("S", TensorColour::s)};
  return scene;
}

}  // namespace attn
