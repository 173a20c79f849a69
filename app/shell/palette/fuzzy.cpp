#include "app/shell/palette/fuzzy.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/base/letters.h"

namespace attn {
namespace {

constexpr int kWordStart = 8, kFollows = 9, kElsewhere = -3, kGapCost = -2;
constexpr std::size_t kMaxWord = 64, kMaxText = 512;  // bytes: of more, the rest is not looked at
constexpr int kNone = std::numeric_limits<int>::min() / 2;

bool starts_word(std::string_view text, std::size_t i) {
  return is_word_byte(text[i]) && (i == 0 || !is_word_byte(text[i - 1]));
}

// One word against the text: the best of all ways to lay its letters. table[q][t]: the best score with letter q at t.
class Aligned {
 public:
  Aligned(std::string_view word, std::string_view text)
      : word_(word), text_(text), score_(word.size() * text.size(), kNone), from_(score_.size()) {
    for (std::size_t q = 0; q < word.size(); ++q) lay(q);
  }
  std::optional<FuzzyMatch> best() const {
    const std::size_t row = (word_.size() - 1) * text_.size();
    const auto first = score_.begin() + static_cast<std::ptrdiff_t>(row);
    const auto top = std::max_element(first, first + static_cast<std::ptrdiff_t>(text_.size()));
    // Strewn about: that each letter is somewhere in a sentence says nothing.
    if (*top < static_cast<int>(word_.size())) return std::nullopt;
    FuzzyMatch match{*top, {}};
    auto t = static_cast<std::size_t>(top - first);
    for (std::size_t q = word_.size(); q-- > 0; t = from_[q * text_.size() + t]) match.at.push_back(t);
    std::reverse(match.at.begin(), match.at.end());
    return match;
  }

 private:
  void lay(std::size_t q) {
    const std::size_t n = text_.size();
    int before = kNone;  // the best of the letter before, of those that do not touch this one; gaps cost, but little
    std::size_t before_at = 0;
    for (std::size_t t = 0; t < n; ++t) {
      if (q > 0 && t >= 2 && score_[(q - 1) * n + t - 2] + kGapCost > before) {
        before = score_[(q - 1) * n + t - 2] + kGapCost;
        before_at = t - 2;
      }
      if (lower_case(text_[t]) != lower_case(word_[q])) continue;
      const int start = starts_word(text_, t) ? kWordStart : kElsewhere;
      int& best = score_[q * n + t];
      if (q == 0) {
        best = start;
        continue;
      }
      if (before > kNone / 2) best = before + start, from_[q * n + t] = before_at;
      const int touching = t == 0 ? kNone : score_[(q - 1) * n + t - 1];
      if (touching > kNone / 2 && touching + std::max(kFollows, start) > best)
        best = touching + std::max(kFollows, start), from_[q * n + t] = t - 1;
    }
  }

  std::string_view word_, text_;
  std::vector<int> score_;
  std::vector<std::size_t> from_;
};

}  // namespace

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

std::string_view take_word(std::string_view& query) {
  const std::size_t end = std::min(query.find(' '), query.size());
  const std::string_view word = query.substr(0, end);
  query.remove_prefix(std::min(end + 1, query.size()));
  return word;
}

std::optional<FuzzyMatch> fuzzy_match(std::string_view query, std::string_view text) {
  text = text.substr(0, kMaxText);
  FuzzyMatch all;
  while (!query.empty()) {
    const std::string_view word = take_word(query).substr(0, kMaxWord);
    if (word.empty()) continue;
    if (text.empty()) return std::nullopt;
    if (std::none_of(word.begin(), word.end(), is_word_byte)) {  // "%" of "300 %"
      if (text.find(word) == text.npos) return std::nullopt;
      continue;
    }
    auto match = Aligned(word, text).best();
    if (!match) return std::nullopt;
    all.score += match->score;
    all.at.insert(all.at.end(), match->at.begin(), match->at.end());
  }
  std::sort(all.at.begin(), all.at.end());
  all.at.erase(std::unique(all.at.begin(), all.at.end()), all.at.end());
  return all;
}

}  // namespace attn
