// Attention as arcs over the words that stand at rows and columns: from the followed query word to each key word
// that it has weighed, of every head at the same tile. Shares are P / l so far, so they sum to 1 at every step; of key
// tiles that are to come there is nothing. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "viz/draw/text_runs.h"
#include "viz/step/place/place.h"

namespace attn {

enum class WordLook : std::uint8_t {
  weighed,  // some head has a share of it
  live,     // of the key tile at hand
  to_come,  // its tile is still to come: dashed
  hidden,   // the mask hides it from the query
};
struct SentenceWord {
  std::string word;
  WordLook look = WordLook::to_come;
};
struct SentenceArc {
  std::int32_t key = 0;
  double share = 0;
  bool live = false;  // of the key tile at hand
};
struct SentenceHead {
  std::int32_t h = 0;
  TextRuns title;                 // "Head 0, previous word: S is ..."
  TextRuns sums;                  // m and l so far
  std::vector<SentenceArc> arcs;  // by key
  bool finite = true;             // the weights add up to a number
};
struct SentenceScene {
  std::string too_many;  // why no arcs are drawn; empty: they are
  std::int32_t b = 0, row = 0;
  std::string query;                        // the word that asks
  std::optional<std::int32_t> query_place;  // among the keys, where it is one of them
  std::vector<SentenceWord> words;          // the keys
  std::vector<SentenceHead> heads;          // one or two: above the words and below
  TextRuns note;
};
constexpr std::int64_t kMostArcWords = 48;

// `toy`: the numbers are those of `words` as it is described (is_of_words). `letters`: m and l are known.
SentenceScene sentence_scene(const Recording& rec, const StepPlace& at, bool toy, bool letters = true);
// "“too” on “the”: 31 % so far" of a head.
std::string arc_words(const SentenceScene& scene, const SentenceHead& head, std::int32_t key);
// "31 %", "0.12 %": as much as can be read.
std::string arc_share_text(double share);
// The same where its neighbours stand near: in `room`, without its sign where that has none of the usual numbers, or
// rounded to a whole one; empty where there is none for it.
constexpr double kFaintBelow = 0.005;  // a share
std::string arc_share_text(double share, float room, const std::function<float(const std::string&)>& width);

}  // namespace attn
