#include "viz/learn/figure/wall_draw.h"

#include <algorithm>
#include <string>

#include "kernels/base/text.h"
#include "viz/draw/number_text.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

constexpr TensorColour kGiven[] = {TensorColour::q, TensorColour::k, TensorColour::v, TensorColour::o};

std::string thousands_apart(std::int64_t n) {
  std::string text = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), " ");
  return text;
}

void words_at(ImDrawList* list, ImVec2 at, float room, Face face, float size, ImU32 ink, const std::string& words) {
  draw_text(list, at, face, size, ink, fitted_text(face, size, words, room));
}

// The same in as many lines as it takes, up to `lines`; returns the height of all of them.
float wrapped_at(ImDrawList* list, ImVec2 at, float room, Token ink, const std::string& words, int lines) {
  const Style& s = style();
  if (text_width(Face::text, 13, words) <= room) {
    draw_text(list, at, Face::text, 13, colour_of(ink), words);
    return s.px(17);
  }
  return draw_paragraph(list, at, room, 13, {{words, Face::text, ink, 0, false}}, lines);
}

// How far each memory is: a road as long as it takes to bring the same amount, all to one scale.
void draw_distances(ImDrawList* list, const Box& box, const WallScene& scene) {
  const Style& s = style();
  draw_text(list, box.min, Face::bold, 15, colour_of(Token::text), tr("How far away"));
  words_at(list, {box.min.x, box.min.y + s.px(24)}, box.width(), Face::text, 13, colour_of(Token::dim),
           tr("Time to load 1 MiB, all to scale"));
  double longest = 0;
  for (const WallPlace& place : scene.places) longest = std::max(longest, WallScene::seconds(place));
  float y = box.min.y + s.px(58);
  const float pitch = std::clamp((box.max.y - y) / static_cast<float>(scene.places.size()), s.px(46), s.px(84));
  for (const WallPlace& place : scene.places) {
    if (y + s.px(44) > box.max.y) break;
    const double seconds = WallScene::seconds(place);
    const std::string time = seconds > 0 ? significant_text(seconds * 1e9, 3) + " ns" : tr("in the core itself");
    draw_text(list, {box.min.x, y}, Face::bold, 14, colour_of(Token::text), place.name);
    const float right = text_width(Face::text, 13, time);
    draw_text(list, {box.max.x - right, y}, Face::text, 13, colour_of(Token::text), time);
    const std::string holds = phrase("{}, {}", memory_text(place.bytes), place.where);
    const float left = text_width(Face::bold, 14, place.name) + s.px(10);
    words_at(list, {box.min.x + left, y + s.px(1)}, box.width() - left - right - s.px(10), Face::text, 13,
             colour_of(Token::dim), holds);
    const float road = y + s.px(30);
    const float length = longest > 0 ? box.width() * static_cast<float>(seconds / longest) : 0;
    list->AddLine({box.min.x, road}, {box.max.x, road}, colour_of(Token::line), s.px(2));
    list->AddLine({box.min.x, road}, {box.min.x + length, road}, colour_of(Token::text), s.px(4));
    list->AddCircleFilled({box.min.x, road}, s.px(5), colour_of(Token::text));
    if (length > 0)
      list->AddRectFilled({box.min.x + length - s.px(3), road - s.px(8)},
                          {box.min.x + length + s.px(3), road + s.px(8)}, colour_of(Token::text), s.px(1));
    y += pitch;
  }
}

}  // namespace

void draw_wall_areas(ImDrawList* list, const Box& box, const WallScene& scene, bool words) {
  const Style& s = style();
  const double whole = std::max(scene.between_bytes, scene.memory().bytes);
  const float side = std::min(box.width(), box.height());
  const auto square = [&](ImVec2 corner, double bytes) {
    const auto long_side = static_cast<float>(side_of(bytes, whole, static_cast<double>(side)));
    return Box{corner, {corner.x + std::max(long_side, 1.5F), corner.y + std::max(long_side, 1.5F)}};
  };
  const ImVec2 origin{box.min.x + (words ? 0 : (box.width() - side) / 2), box.max.y - side};
  // S is drawn behind, the memory before it: what sticks out does not fit.
  const Box between = square(origin, scene.between_bytes);
  const Box behind{{between.min.x, box.max.y - between.height()}, {between.max.x, box.max.y}};
  if (scene.written) {
    list->AddRectFilled(behind.min, behind.max, faded(colour_of(TensorColour::s), 0.45F), s.px(3));
    draw_outline(list, behind, colour_of(TensorColour::s), 1.5F, 3);
  } else {
    draw_dashed(list, behind, colour_of(TensorColour::s), 3);
  }
  Box memory = square(origin, scene.memory().bytes);
  memory = {{memory.min.x, box.max.y - memory.height()}, {memory.max.x, box.max.y}};
  list->AddRectFilled(memory.min, memory.max, colour_of(Token::card), s.px(3));
  draw_outline(list, memory, colour_of(Token::text), 2, 3);
  const float in = s.px(words ? 16 : 5), line = s.px(words ? 24 : 0);
  float y = memory.min.y + (words ? s.px(44) : in);
  float x = memory.min.x + in;
  for (const TensorColour hue : kGiven) {
    const Box given = square({x, y}, scene.given_bytes);
    list->AddRectFilled(given.min, given.max, colour_of(hue), s.px(1));
    x = given.max.x + s.px(words ? 5 : 1.5F);
  }
  const double chip = scene.places.size() > 1 ? scene.places[1].bytes : 0;
  const Box given = square({x, y}, scene.given_bytes);
  const Box core = square({memory.min.x + in, given.max.y + (words ? s.px(34) : s.px(4))}, chip);
  list->AddRectFilled(core.min, core.max, colour_of(Token::text));
  if (!words) return;
  const ImU32 ink = colour_of(Token::text);
  const float room = behind.width() - 2 * in;
  draw_text(list, {behind.min.x + in, behind.min.y + s.px(12)}, Face::bold, 16, ink,
            fitted_text(Face::bold, 16,
                        scene.written ? phrase("Scores, in between: {}", memory_text(scene.between_bytes))
                                      : phrase("Never written: {}", memory_text(scene.between_bytes)),
                        room));
  const float over = memory.min.y - behind.min.y;  // of the scores, over the memory
  if (over > s.px(62))
    wrapped_at(
        list, {behind.min.x + in, behind.min.y + s.px(12) + line}, room, Token::text,
        phrase("every token scored against every token, {} heads, {} tokens", scene.heads, thousands_apart(scene.L)),
        static_cast<int>((over - s.px(36)) / s.px(17)));
  draw_text(list, {memory.min.x + in, memory.min.y + s.px(14)}, Face::bold, 14, ink,
            fitted_text(Face::bold, 14, phrase("Total GPU memory: {}", memory_text(scene.memory().bytes)),
                        memory.width() - 2 * in));
  wrapped_at(list, {x + s.px(6), y + given.height() / 2 - s.px(9)}, memory.max.x - x - in, Token::text,
             phrase("inputs and output: {}", memory_text(4 * scene.given_bytes)), 2);
  const float said =
      wrapped_at(list, {core.max.x + s.px(10), core.min.y - s.px(7)}, memory.max.x - core.max.x - in, Token::dim,
                 phrase("close to the cores, {}: {}", scene.places[1].where, memory_text(chip)), 4);
  if (scene.roads) return;  // each place has a line beside the areas
  // Nearest of all.
  const Box registers =
      square({core.min.x, std::max(core.max.y, core.min.y - s.px(7) + said) + s.px(16)}, scene.places.front().bytes);
  list->AddRectFilled(registers.min, registers.max, colour_of(Token::text));
  wrapped_at(list, {core.max.x + s.px(10), registers.min.y - s.px(7)}, memory.max.x - core.max.x - in, Token::text,
             phrase("registers, in the cores themselves, {}: {}", scene.places.front().where,
                    memory_text(scene.places.front().bytes)),
             4);
}

void draw_wall(const WallScene& scene, const Box& box) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  Box in{{box.min.x + s.px(24), box.min.y + s.px(18)}, {box.max.x - s.px(24), box.max.y - s.px(18)}};
  if (!scene.empty.empty()) {
    draw_paragraph(list, in.min, in.width(), 14, {{scene.empty, Face::text, Token::dim, 0, false}}, 3);
    return;
  }
  draw_text(list, in.min, Face::bold, 18, colour_of(Token::text), tr("What has to fit, to scale"));
  const float said = wrapped_at(
      list, {in.min.x, in.min.y + s.px(28)}, in.width(), Token::dim,
      phrase("Areas are proportional to bytes. {}; sizes of L2 and HBM are from the manufacturer.", scene.device), 4);
  in.min.y += std::max(s.px(64), s.px(28 + 14) + said);
  if (!scene.roads) {
    const float side = std::min(in.width(), in.height()), left = in.centre().x - side / 2;
    return draw_wall_areas(list, {{left, in.min.y}, {left + side, in.min.y + side}}, scene, true);
  }
  const bool beside = in.width() >= s.px(640);
  const float side = beside ? std::min(in.width() * 0.56F, in.height()) : std::min(in.width(), in.height() * 0.6F);
  const Box areas{{in.min.x, in.max.y - in.height()}, {in.min.x + side, in.min.y + side}};
  draw_wall_areas(list, areas, scene, true);
  const Box distances =
      beside ? Box{{areas.max.x + s.px(40), in.min.y}, in.max} : Box{{in.min.x, areas.max.y + s.px(20)}, in.max};
  if (distances.height() > s.px(100)) draw_distances(list, distances, scene);
}

}  // namespace attn
