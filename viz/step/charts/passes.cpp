#include "viz/step/charts/passes.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/pages.h"
#include "kernels/recording/size.h"
#include "viz/draw/number_text.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

// One of the two runs at its step.
struct Walk {
  const Recording& rec;
  EventIndex now = 0;
  std::int32_t b = 0, h = 0, row = 0, key = 0, col = 0;

  std::int32_t br() const { return std::max(std::min(rec.options.br, static_cast<std::int32_t>(rec.problem.Lq)), 1); }
  std::int32_t bc() const { return std::max(std::min(rec.options.bc, static_cast<std::int32_t>(rec.problem.Lk)), 1); }
  std::int32_t i() const { return row / br(); }

  // The event of that phase at key tile j, made at or before the current step.
  std::optional<EventIndex> made(Phase phase, std::int32_t j) const {
    const auto e = rec.find({b, h, i(), j, phase});
    return e && *e <= now ? e : std::nullopt;
  }
  std::optional<float> value(Phase phase, Slot slot, std::int32_t j, std::int32_t column) const {
    const auto e = made(phase, j);
    return e ? live_value(rec, *e, slot, row, column) : std::nullopt;
  }
  // The element's value in its own key tile.
  std::optional<float> at_key(Phase phase, Slot slot) const { return value(phase, slot, key / bc(), key); }

  std::vector<PassTile> tiles(Phase finishes, std::int32_t pass) const {
    std::vector<PassTile> out;
    const Event& live = rec.events[now];
    for (std::int32_t j = 0; j < rec.key_tiles(); ++j) {
      PassTile tile;
      tile.first_key = j * bc();
      tile.keys = static_cast<std::int32_t>(std::min<std::int64_t>(bc(), rec.problem.Lk - tile.first_key));
      const auto e = rec.find({b, h, i(), j, finishes});
      const auto skipped = rec.find({b, h, i(), j, Phase::skipped}, pass);
      if (const auto any = e ? e : skipped) tile.event = *any;
      const bool here = live.id.b == b && live.id.h == h && live.id.i == i() && live.id.j == j && live.pass == pass;
      if (!e && skipped)
        tile.look = PassLook::skipped;
      else if (here)
        tile.look = PassLook::live;
      else if (e && *e <= now)
        tile.look = PassLook::done;
      out.push_back(tile);
    }
    return out;
  }
};

PassStrip strip_of(const Walk& w, const StripLook& look) {
  PassStrip strip;
  strip.name = tr_of(look.name);
  strip.hue = look.hue;
  strip.makes = woven(look.makes, w.rec.problem.Lk);
  strip.waits = woven(look.waits, w.rec.problem.Lk);
  strip.tiles = w.tiles(look.finishes, look.pass);
  std::optional<float> value;
  for (const auto& [phase, slot] : look.at_key)
    if (!value) value = w.at_key(phase, slot);
  if (look.at_key.empty() && w.rec.events[w.now].pass == look.pass)
    value = live_value(w.rec, w.now, output_slot(w.rec, w.now), w.row, w.col);
  if (value)
    strip.value = {letter(std::string(look.value.text), look.value.ink), word(" = "), number(*value, look.value.ink)};
  return strip;
}

// What flash has done to the element since its own tile: P, the product of later alphas, l; of tiles whose l is summed.
struct Corrected {
  double p = 0, alpha = 1, l = 0;
  bool all = false;  // no key tile of the row is still to come
};
std::optional<Corrected> corrected(const Walk& w) {
  const auto own = w.made(Phase::sum, w.key / w.bc());
  const auto weight = w.at_key(Phase::weights, Slot::p);
  if (!own || !weight) return std::nullopt;
  Corrected c{*weight, 1, 0, true};
  EventIndex newest = *own;
  for (std::int32_t j = 0; j < w.rec.key_tiles(); ++j) {
    const bool exists = w.rec.find({w.b, w.h, w.i(), j, Phase::sum}).has_value();
    const auto sum = w.made(Phase::sum, j);
    if (!sum) {
      c.all = c.all && !exists;
      continue;
    }
    newest = std::max(newest, *sum);
    if (*sum > *own) c.alpha *= w.value(Phase::rescale, Slot::alpha, j, 0).value_or(1);
  }
  c.l = live_value(w.rec, newest, Slot::l_new, w.row, 0).value_or(0);
  if (!(c.l > 0) || !std::isfinite(c.p) || !std::isfinite(c.l) || !std::isfinite(c.alpha)) return std::nullopt;
  return c;
}

void add_together(PassesScene& scene, const Walk& naive, const Walk& flash) {
  using enum TensorColour;
  const auto c = corrected(flash);
  if (!c) return;
  const double share = c->p * c->alpha / c->l;
  const double operands[] = {c->p, c->alpha, c->l};
  const WorkedFormula f =
      worked_formula([](std::span<const double> x) { return x[0] * x[1] / x[2]; }, operands, share, 0, 4, 3);
  if (!f.agrees) return;
  const auto mono = [](const std::string& text, Ink ink) { return TextRun{text, Face::mono, ink, 0, false}; };
  scene.together = {word(scene.flash_name + ": "),
                    letter("P ", p),
                    mono(f.operands[0], p),
                    word(" × "),
                    letter("α ", alpha),
                    mono(f.operands[1], alpha),
                    word(" ÷ "),
                    letter("ℓ ", l),
                    mono(f.operands[2], l),
                    word(" = "),
                    mono(f.result, p)};
  const auto stored = naive.at_key(Phase::weights, Slot::p);
  if (!c->all)
    scene.together.push_back(word(tr(" if the row ended here")));
  else if (stored)
    scene.together.insert(scene.together.end(),
                          {word(phrase("; {} stored ", scene.naive_name)), letter("P ", p), number(*stored, p)});
  else
    scene.together.push_back(word(phrase("; {} has not reached it", scene.naive_name)));
}

std::string step_words(const Recording& rec, EventIndex e) {
  return phrase("{} of {}", e + 1, rec.events.size());
}

}  // namespace

std::string_view companion_kernel(Order order) {
  return order_look(order).companion;
}

std::shared_ptr<const Recording> record_companion(const Recording& rec, std::string& why) {
  if (companion_kernel(rec.order).empty()) {
    why = phrase("There is no run to compare with the order {}.", name_of(rec.order));
    return nullptr;
  }
  const auto row = find_kernel(companion_kernel(rec.order));
  if (!row) {
    why = row.error().message;
    return nullptr;
  }
  Options options;
  options.br = rec.options.br;
  options.bc = rec.options.bc;
  const auto resolved = resolve(**row, options, Device());  // the tile; the threads are the run's own
  if (!resolved) {
    why = resolved.error().message;
    return nullptr;
  }
  // The other order need not read pages: its numbers are the same.
  const bool paged = rec.problem.storage.kind() == Storage::paged;
  const Problem problem = without_pages(rec.problem);
  const std::uint64_t bytes = recording_bytes((*row)->order, problem, *resolved);
  if (bytes > kCompanionLimit) {
    why = phrase(
        "The {} run of this problem takes {:.0f} MiB, too much to record for comparison. To step through the run, "
        "choose the order {} in the Problem panel.",
        name_of((*row)->order), static_cast<double>(bytes) / 0x1p20, name_of((*row)->order));
    return nullptr;
  }
  auto made = (*row)->record(**row, problem, options, paged ? gathered(rec.problem, rec.inputs) : rec.inputs, {});
  if (!made) {
    why = made.error().message;
    return nullptr;
  }
  why.clear();
  return std::make_shared<const Recording>(*std::move(made));
}

PassesScene passes_scene(const Recording& rec, const StepPlace& at, std::int32_t key, std::int32_t col,
                         const Recording* other, const std::string& why) {
  PassesScene scene;
  scene.row = at.row;
  scene.keys = static_cast<std::int32_t>(rec.problem.Lk);
  scene.key = std::clamp(key, 0, scene.keys - 1);
  scene.col = std::clamp(col, 0, static_cast<std::int32_t>(rec.problem.Dv) - 1);
  if (other == nullptr) {
    scene.nothing = why;
    return scene;
  }
  scene.flash_shown = !stores_scores(rec.order);
  scene.other_event = nearest_event(rec, at.event, *other);
  const Walk mine{rec, at.event, at.b, at.h, at.row, scene.key, scene.col};
  const Walk theirs{*other, scene.other_event, at.b, at.h, at.row, scene.key, scene.col};
  const Walk& naive = scene.flash_shown ? theirs : mine;
  const Walk& flash = scene.flash_shown ? mine : theirs;
  scene.naive_name = name_of(naive.rec.order);
  scene.flash_name = name_of(flash.rec.order);
  scene.naive_step = step_words(naive.rec, naive.now);
  scene.flash_step = step_words(flash.rec, flash.now);
  for (const Walk* walk : {&naive, &flash}) {
    for (const StripLook& pass : order_look(walk->rec.order).passes) {
      scene.strips.push_back(strip_of(*walk, pass));
      scene.strips.back().other = walk != &mine;
    }
  }
  add_together(scene, naive, flash);
  return scene;
}

}  // namespace attn
