// Which entries of the command palette a query finds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/shell/palette/fuzzy.h"
#include "app/shell/palette/palette.h"
#include "kernels/base/letters.h"

namespace attn {
namespace {

// How a word of the query stands in a text, case aside.
enum class Stands : std::uint8_t { not_at_all, inside, begins_word, whole_word };

Stands stands_in(std::string_view word, std::string_view text) {
  const auto same = [](char x, char y) { return lower_case(x) == lower_case(y); };
  Stands best = Stands::not_at_all;
  for (auto at = text.begin(); at != text.end(); ++at) {
    at = std::search(at, text.end(), word.begin(), word.end(), same);
    if (at == text.end()) break;
    const auto after = at + static_cast<std::ptrdiff_t>(word.size());
    const bool begins = at == text.begin() || !is_word_byte(*(at - 1));
    const bool ends = after == text.end() || !is_word_byte(*after);
    best = std::max(best, begins && ends ? Stands::whole_word : begins ? Stands::begins_word : Stands::inside);
  }
  return best;
}

// Each run of letters that was found begins a word: "lo" of "late outlier".
bool are_initials(std::string_view text, const std::vector<std::size_t>& at) {
  return std::ranges::all_of(at, [&](std::size_t n) {
    const bool follows = std::ranges::binary_search(at, n - 1) && n > 0;
    return follows || n == 0 || !is_word_byte(text[n - 1]);
  });
}

struct Standing {
  bool sure = true;
  int whole_words = 0;
};

// `found`: the bytes of `words` that were found, where all of them were found there.
Standing standing(std::string_view query, std::string_view text, std::string_view words,
                  const std::vector<std::size_t>& found) {
  constexpr std::size_t kNoChance = 4;  // so many letters in a row are no chance
  Standing all;
  const bool initials = !found.empty() && found.back() < words.size() && are_initials(words, found);
  while (!query.empty()) {
    const std::string_view word = take_word(query);
    if (word.empty()) continue;
    const Stands stands = stands_in(word, text);
    if (stands == Stands::whole_word) ++all.whole_words;
    const bool sure = stands >= Stands::begins_word || (stands == Stands::inside && word.size() >= kNoChance);
    all.sure = all.sure && (sure || initials);
  }
  return all;
}

}  // namespace

std::vector<PaletteHit> palette_hits(const std::vector<PaletteEntry>& entries, std::string_view query) {
  constexpr int kWholeWord = 12;  // more than the initials of other words make
  constexpr int kQuestion = 18;   // where words fit both, what is done comes before what is asked
  std::vector<PaletteHit> hits;
  for (std::size_t n = 0; n < entries.size(); ++n) {
    const PaletteEntry& entry = entries[n];
    // Words first, so that a letter is found there before it is found in what stands beside them.
    const std::string text = fmt::format("{} {} {} {}", entry.words, entry.group, entry.more, entry.also);
    auto match = fuzzy_match(query, text);
    if (!match) continue;
    const Standing stands = standing(query, text, entry.words, match->at);
    const auto in_words = [&](std::size_t at) { return at < entry.words.size(); };
    const auto beside =
        std::count_if(match->at.begin(), match->at.end(), [&](std::size_t at) { return !in_words(at); });
    std::erase_if(match->at, [&](std::size_t at) { return !in_words(at); });
    const int asked = entry.answer.empty() || same_letters(query, entry.words) ? 0 : kQuestion;
    hits.push_back({n, match->score - 2 * static_cast<int>(beside) + kWholeWord * stands.whole_words - asked,
                    std::move(match->at), stands.sure});
  }
  if (query.find_first_not_of(' ') == query.npos) return hits;
  std::stable_sort(hits.begin(), hits.end(), [&](const PaletteHit& a, const PaletteHit& b) {
    const PaletteEntry &x = entries[a.entry], &y = entries[b.entry];
    if (a.sure != b.sure) return a.sure;
    if (x.why_not.empty() != y.why_not.empty()) return x.why_not.empty();
    if (a.score != b.score) return a.score > b.score;
    return x.words.size() < y.words.size();  // the query says more of it
  });
  return hits;
}

}  // namespace attn
