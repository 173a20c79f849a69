#include "viz/step/timeline/sentence.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/number_text.h"
#include "viz/step/timeline/attention.h"
#include "viz/step/timeline/heads.h"

namespace attn {
namespace {

// The closed form of a head of the toy (kernels/model/inputs/sentence.cpp).
TextRuns toy_title(std::int32_t h) {
  const TextRun s = letter("S", TensorColour::s);
  const bool first = h % 2 == 0;
  TextRuns out{{first ? tr("previous word") : tr("same letter"), Face::bold, Token::text, 0, false}, word("   ")};
  const std::string rule = first ? phrase("{} is minus the squared distance to the previous word", place(0))
                                 : phrase("{} is 3 if two words start with the same letter, otherwise 0", place(0));
  const TextRuns said = woven(rule, {s});
  out.insert(out.end(), said.begin(), said.end());
  return out;
}

// The number of a statistic of the row as it stands; none where the order keeps none.
std::optional<float> statistic(const Recording& rec, EventIndex e, Slot now, Slot before, std::int32_t row) {
  for (const Slot slot : {now, before}) {
    const VersionId id = rec.after(e, slot);
    if (id == kNoVersion || rec.version(id).cols != 1) continue;
    if (const auto values = row_of(rec, id, row); !values.empty()) return values[0];
  }
  return std::nullopt;
}

SentenceHead head_of(const Recording& rec, const StepPlace& at, std::int32_t h, bool toy) {
  SentenceHead head;
  head.h = h;
  const EventIndex e = h == at.h ? at.event : event_of_head(rec, at, at.b, h);
  head.title = toy ? toy_title(h) : TextRuns{{phrase("head {}", h), Face::bold, Token::text, 0, false}};
  const std::vector<float> shares = shares_of_row(rec, e, at.b, h, at.row);
  for (std::size_t key = 0; key < shares.size(); ++key) {
    if (std::isnan(shares[key])) continue;
    const auto n = static_cast<std::int32_t>(key);
    head.arcs.push_back({n, static_cast<double>(shares[key]), n >= at.first_key && n < at.first_key + at.keys});
  }
  double sum = 0;
  for (const SentenceArc& arc : head.arcs) sum += arc.share;
  head.finite = head.arcs.empty() || std::isfinite(sum);
  const auto m = statistic(rec, e, Slot::m_new, Slot::m_old, at.row),
             l = statistic(rec, e, Slot::l_new, Slot::l_old, at.row);
  if (m) head.sums.insert(head.sums.end(), {letter("m", TensorColour::m), word(" "), number(*m, TensorColour::m)});
  if (l)
    head.sums.insert(head.sums.end(),
                     {word(m ? "   " : ""), letter("ℓ", TensorColour::l), word(" "), number(*l, TensorColour::l)});
  return head;
}

WordLook look_of(const Recording& rec, const StepPlace& at, const SentenceScene& scene, std::int32_t key) {
  if (!rec.problem.visible(at.b, at.row, key)) return WordLook::hidden;
  if (at.j >= 0 && key >= at.first_key && key < at.first_key + at.keys) return WordLook::live;
  const auto weighed = [&](const SentenceHead& head) {
    return std::ranges::find(head.arcs, key, &SentenceArc::key) != head.arcs.end();
  };
  return std::ranges::any_of(scene.heads, weighed) ? WordLook::weighed : WordLook::to_come;
}

}  // namespace

SentenceScene sentence_scene(const Recording& rec, const StepPlace& at, bool toy, bool letters) {
  SentenceScene scene;
  const Problem& p = rec.problem;
  scene.b = at.b;
  scene.row = at.row;
  scene.query = row_word(rec, at.b, at.row);
  if (rec.labels.rows.empty() || rec.labels.columns.empty()) {
    scene.too_many = tr("Only one side has words: arcs need words for both rows and columns.");
    return scene;
  }
  if (p.Lk > kMostArcWords) {
    scene.too_many =
        phrase("{} words are too many to draw as arcs; use at most {}. See the attention map.", p.Lk, kMostArcWords);
    return scene;
  }
  const std::int64_t place_in_keys = at.row + p.Lk - p.Lq;
  if (place_in_keys >= 0 && key_word(rec, at.b, place_in_keys) == scene.query)
    scene.query_place = static_cast<std::int32_t>(place_in_keys);
  const std::int32_t first = at.h / 2 * 2;
  for (std::int32_t h = first; h < std::min<std::int32_t>(first + 2, static_cast<std::int32_t>(p.Hq)); ++h)
    scene.heads.push_back(head_of(rec, at, h, toy));
  for (std::int32_t key = 0; key < static_cast<std::int32_t>(p.Lk); ++key) {
    scene.words.push_back({std::string(key_word(rec, at.b, key)), WordLook::to_come});
    scene.words.back().look = look_of(rec, at, scene, key);
  }
  if (!letters) {
    for (SentenceHead& head : scene.heads) head.sums.clear();
    const char* share = tr("Thickness shows each word's share of the weight, 100 % in total.");
    scene.note = {word(toy ? fmt::format("{} {}", tr("A closed-form toy model: nothing was trained."), share) : share)};
    return scene;
  }
  // Naive's weights are divided as they are made.
  const char* weight = stores_scores(rec.order) ? "P" : "P / ℓ";
  scene.note = woven(
      toy ? phrase("A closed-form toy model: nothing was trained. Thickness shows {} so far, 100 % in total.", place(0))
          : phrase("Thickness shows {} so far, 100 % in total.", place(0)),
      {letter(weight, TensorColour::p)});
  return scene;
}

std::string arc_share_text(double share) {
  if (share == 0) return "0 %";
  if (!std::isfinite(share)) return significant_text(share, 2);
  const double percent = share * 100;
  if (percent >= 99.95 && share < 1) return "> 99.9 %";
  return significant_text(percent, percent < 10 ? 2 : 3) + " %";
}

std::string arc_share_text(double share, float room, const std::function<float(const std::string&)>& width) {
  const bool with_sign = width("88.8 %") <= room;
  const auto signless = [](const std::string& text) { return text.substr(0, text.find(" %")); };
  const std::string text = arc_share_text(share);
  std::string shown = with_sign ? text : signless(text);
  if (width(shown) <= room) return shown;
  if (share < kFaintBelow || !std::isfinite(share)) return {};
  std::string whole = fmt::format("{:.0f} %", share * 100);
  if (with_sign && width(whole) <= room) return whole;
  return width(signless(whole)) <= room ? signless(whole) : std::string();
}

std::string arc_words(const SentenceScene& scene, const SentenceHead& head, std::int32_t key) {
  const auto arc = std::ranges::find(head.arcs, key, &SentenceArc::key);
  const std::string& named = scene.words[static_cast<std::size_t>(key)].word;
  if (arc == head.arcs.end())
    return phrase("head {}: “{}” gets no attention from “{}” yet", head.h, named, scene.query);
  return phrase("head {}: “{}” gets {} of the attention of “{}” so far", head.h, named, arc_share_text(arc->share),
                scene.query);
}

}  // namespace attn
