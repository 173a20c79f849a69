#include "viz/profile/timeline/scene/key_entries.h"

#include <algorithm>
#include <utility>

#include "kernels/base/text.h"

namespace attn {
namespace {

bool in_sight(const PipelineScene& s, const TimelineStretch& x) {
  return x.to > s.from && x.from < s.to;
}

template <class Fits>
bool any_stretch(const PipelineScene& s, Fits fits) {
  return std::ranges::any_of(s.rows, [&](const TimelineRow& row) { return std::ranges::any_of(row.stretches, fits); });
}

bool has_look(const PipelineScene& s, StretchLook look) {
  return any_stretch(s, [&](const TimelineStretch& x) { return x.look == look; });
}

// Whether some are too short to be drawn one by one.
bool joins(const PipelineScene& s, float width) {
  const double least = static_cast<double>(kNarrowestStretch) / static_cast<double>(std::max(width, 1.0F)) *
                       static_cast<double>(s.to - s.from);
  return any_stretch(s, [&](const TimelineStretch& x) {
    const bool may = x.look == StretchLook::work || x.look == StretchLook::wait || x.look == StretchLook::flight;
    return may && in_sight(s, x) && static_cast<double>(x.to - x.from) < least;
  });
}

const char* brief_of(StretchLook look) {
  switch (look) {
    case StretchLook::work:
      return tr("other");
    case StretchLook::wait:
      return tr("waits, ns");
    case StretchLook::flight:
      return tr("in flight, at most");
    case StretchLook::read:
      return tr("read");
    case StretchLook::landed:
    case StretchLook::nothing:
      break;
  }
  return "";
}

const char* words_of(StretchLook look) {
  switch (look) {
    case StretchLook::work:
      return tr("other instructions");
    case StretchLook::wait:
      return tr("waits for that, ns");
    case StretchLook::flight:
      return tr("in flight, for at most this long");
    case StretchLook::landed:
      return tr("landed");
    case StretchLook::read:
      return tr("read, a line per consumer");
    case StretchLook::nothing:
      return tr("free");
  }
  return "";
}

}  // namespace

std::vector<KeyEntry> key_entries(const PipelineScene& s, float width, bool at_most) {
  std::vector<KeyEntry> entries;
  entries.reserve(s.operations.size());
  for (const PipelineScene::Operation& o : s.operations)
    entries.push_back({KeyEntry::Of::operation, StretchLook::work, o.ink, o.words, o.brief});
  const auto named = [&](const TimelineStretch& x) {
    return std::ranges::any_of(s.operations, [&](const auto& o) { return o.letter == x.letter && o.ink == x.ink; });
  };
  if (any_stretch(s, [&](const TimelineStretch& x) { return x.look == StretchLook::work && !named(x); }))
    entries.push_back(
        {KeyEntry::Of::look, StretchLook::work, Token::dim, words_of(StretchLook::work), brief_of(StretchLook::work)});
  for (const StretchLook look :
       {StretchLook::wait, StretchLook::flight, StretchLook::landed, StretchLook::read, StretchLook::nothing})
    if (has_look(s, look)) entries.push_back({KeyEntry::Of::look, look, Token::dim, words_of(look), brief_of(look)});
  if (at_most || joins(s, width))
    entries.push_back(
        {KeyEntry::Of::joined, StretchLook::work, Token::dim, tr("several, too short to tell apart"), tr("several")});
  if (!s.idle.empty()) entries.push_back({KeyEntry::Of::idle, StretchLook::nothing, Token::dim, tr("surely idle")});
  if ((at_most || s.with_path) && !s.path.empty())
    entries.push_back({KeyEntry::Of::path, StretchLook::work, Token::text, tr("the critical path"), tr("path")});
  if ((at_most || s.follow >= 0) && !s.releases.empty())
    entries.push_back({KeyEntry::Of::release, StretchLook::work, Token::dim, tr("who released whom"), tr("releases")});
  return entries;
}

}  // namespace attn
