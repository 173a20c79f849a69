#include "viz/learn/chapter_map.h"

#include <algorithm>

#include "kernels/base/text.h"

namespace attn {
namespace {

bool has_place(const ChapterScene& c) {
  return !c.own && c.x > 0;
}

const ChapterScene* chapter_named(const LearnScene& learn, const std::string& id) {
  const auto at = std::ranges::find(learn.chapters, id, &ChapterScene::id);
  return at == learn.chapters.end() ? nullptr : &*at;
}

// "needs A", "needs A and B": those that are not walked yet.
std::string needs_words(const LearnScene& learn, const ChapterScene& c) {
  std::vector<std::string> titles;
  for (const std::string& id : c.needs) {
    const ChapterScene* before = chapter_named(learn, id);
    if (before != nullptr && !gone_through(*before)) titles.push_back(before->title);
  }
  if (titles.empty()) return {};
  if (titles.size() == 1) return phrase("needs {}", titles.front());
  return titles.size() == 2 ? phrase("needs {} and {}", titles[0], titles[1])
                            : phrase("needs {} and {} others", titles[0], titles.size() - 1);
}

// "4, 5": the chapters that come first, by their numbers.
std::string needed_numbers(const LearnScene& learn, const ChapterScene& c) {
  std::string numbers;
  for (const std::string& id : c.needs) {
    const ChapterScene* before = chapter_named(learn, id);
    if (before == nullptr || gone_through(*before)) continue;
    if (!numbers.empty()) numbers += ", ";
    numbers += before->number.empty() ? before->title : before->number;
  }
  return numbers;
}

StopLook look_of(const LearnScene& learn, const ChapterScene& c) {
  if (gone_through(c)) return StopLook::walked;
  return needs_words(learn, c).empty() ? StopLook::open : StopLook::later;
}

// A column a heading, in the order in which they come; its edges are halfway between neighbours' stops.
void add_columns(const LearnScene& learn, ChapterMap& map) {
  struct Span {
    float least = 1, most = 0;
  };
  std::vector<Span> spans;
  for (const MapStop& stop : map.stops) {
    const ChapterScene& c = learn.chapters[stop.chapter];
    auto at = std::ranges::find(map.columns, c.part, &MapColumn::title);
    if (at == map.columns.end()) {
      at = map.columns.insert(at, MapColumn{c.part});
      spans.emplace_back();
    }
    Span& span = spans[static_cast<std::size_t>(at - map.columns.begin())];
    span.least = std::min(span.least, stop.x);
    span.most = std::max(span.most, stop.x);
    at->minutes += c.minutes;
  }
  for (std::size_t n = 0; n < map.columns.size(); ++n) {
    map.columns[n].left = n == 0 ? 0 : (spans[n - 1].most + spans[n].least) / 2;
    map.columns[n].right = n + 1 == map.columns.size() ? 1 : (spans[n].most + spans[n + 1].least) / 2;
  }
}

}  // namespace

bool gone_through(const ChapterScene& c) {
  return c.seen >= c.beats;
}

bool all_answered(const ChapterScene& c) {
  return gone_through(c) && c.known == c.questions;
}

std::optional<std::size_t> next_chapter(const LearnScene& learn) {
  const auto& all = learn.chapters;
  if (all.empty()) return std::nullopt;
  const auto begin = all.begin(), end = all.end();
  const auto index = [&](auto it) { return static_cast<std::size_t>(it - begin); };
  const auto last = std::ranges::find_if(all, &ChapterScene::last);
  if (last == end) return 0;
  if (!gone_through(*last)) return index(last);
  const auto open = [](const ChapterScene& c) { return !c.own && !gone_through(c); };
  const auto ready = [&](const ChapterScene& c) { return open(c) && look_of(learn, c) == StopLook::open; };
  auto next = std::find_if(begin, end, ready);
  if (next == end) next = std::find_if(begin, end, open);
  return next == end ? index(last) : index(next);
}

std::string progress_words(const ChapterScene& c) {
  if (c.seen == 0) return {};
  if (c.questions > 0 && c.known == c.questions) return phrase("{} of {} first try", c.first_try, c.questions);
  if (!gone_through(c) || all_answered(c)) return phrase("{} of {}", c.seen, c.beats);
  const std::size_t skipped = c.questions - c.known - c.shown;
  if (skipped == 0) return phrase("done, {} shown", c.shown);
  if (c.shown == 0) return phrase("done, {} skipped", skipped);
  return phrase("done, {} shown, {} skipped", c.shown, skipped);
}

std::string end_words(const ChapterScene& c) {
  const std::size_t skipped = c.questions - c.known - c.shown, left = c.exercises - c.exercises_done;
  std::string more;
  if (c.shown > 0) more += ", " + plural(c.shown, "{} answer shown", "{} answers shown");
  if (skipped > 0) more += ", " + plural(skipped, "{} question skipped", "{} questions skipped");
  if (left > 0) more += ", " + plural(left, "{} exercise skipped", "{} exercises skipped");
  return phrase("{}: done{}.", c.title, more);
}

ChapterMap chapter_map(const LearnScene& learn) {
  ChapterMap map;
  const auto next = next_chapter(learn);
  for (std::size_t n = 0; n < learn.chapters.size(); ++n) {
    const ChapterScene& c = learn.chapters[n];
    if (!has_place(c)) continue;
    MapStop stop;
    stop.chapter = n;
    stop.x = static_cast<float>(c.x) / 100, stop.y = static_cast<float>(c.y) / 100;
    stop.look = look_of(learn, c);
    stop.here = next == n;
    const std::string progress = progress_words(c);
    stop.needs = needs_words(learn, c);
    stop.words = !progress.empty()     ? phrase("{} min, {}", c.minutes, progress)
                 : !stop.needs.empty() ? phrase("{} min, needs {}", c.minutes, needed_numbers(learn, c))
                                       : phrase("{} min", c.minutes);
    map.stops.push_back(std::move(stop));
    map.minutes += c.minutes;
    if (gone_through(c)) map.walked_minutes += c.minutes;
  }
  for (std::size_t to = 0; to < map.stops.size(); ++to) {
    for (const std::string& id : learn.chapters[map.stops[to].chapter].needs) {
      for (std::size_t from = 0; from < map.stops.size(); ++from) {
        if (learn.chapters[map.stops[from].chapter].id != id) continue;
        const bool walked = map.stops[from].look == StopLook::walked;
        map.roads.push_back({from, to,
                             walked && map.stops[to].look == StopLook::walked ? StopLook::walked
                             : walked                                         ? StopLook::open
                                                                              : StopLook::later});
      }
    }
  }
  add_columns(learn, map);
  return map;
}

}  // namespace attn
