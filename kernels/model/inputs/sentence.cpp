// Q, K and V of the words of a sentence, in closed form: a toy of two heads that a pen can check. Nothing is trained.
//   even heads, "previous word":  S = -(j - (i - 1))^2 = 2 (i - 1) j - j^2 - (i - 1)^2
//   odd heads, "same letter":     S = 3 where the words begin alike, else 0
//   V: the word's place, and how many letters it has
// Every term is a small whole number, exact in fp32 and, up to a place of 45, in f16.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/printable.h"
#include "kernels/base/text.h"
#include "kernels/model/inputs/generators.h"

namespace attn {
namespace {

// Capitals of Latin, Greek and Cyrillic as their small letters.
char32_t small(char32_t c) {
  const bool latin = (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7);
  const bool other = (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f);
  if (latin || other) return c + 0x20;
  return c >= 0x400 && c <= 0x40f ? c + 0x50 : c;
}

bool is_letter(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 0xc0 && c != 0xd7 && c != 0xf7 && c < 0x2000) ||
         c >= 0x2070;
}

struct Token {
  char32_t first = 0;        // its first letter, small; of marks alone the first mark
  std::int64_t letters = 0;  // of it, digits too
};

Token token_of(std::string_view word) {
  Token token;
  std::optional<char32_t> mark;
  while (!word.empty()) {
    const Character one = first_character(word);
    if (one.bytes == 0) break;
    word.remove_prefix(one.bytes);
    const char32_t c = small(one.code);
    if (!mark) mark = c;
    if (!is_letter(c)) continue;
    if (token.letters++ == 0) token.first = c;
  }
  if (token.letters == 0) token.first = mark.value_or(0);
  return token;
}

}  // namespace

Result<std::vector<std::string>> sentence_words(std::string_view sentence) {
  if (sentence.empty()) sentence = kUsualSentence;
  if (sentence.size() > kMaxSentenceBytes)
    return bad_input(phrase("The sentence has {} bytes; the limit is {}.", sentence.size(), kMaxSentenceBytes));
  std::vector<std::string> words;
  std::size_t characters = 0;  // of the last word
  bool within = false;
  for (std::size_t at = 0; at < sentence.size();) {
    const Character one = first_character(sentence.substr(at));
    if (one.bytes == 0) return bad_input(phrase("The sentence is not valid UTF-8 at byte {}.", at + 1));
    if (one.code < 0x20 || (one.code >= 0x7f && one.code < 0xa0))
      return bad_input(phrase("The sentence has a control character at byte {}; separate words with spaces.", at + 1));
    const bool blank = one.code == ' ' || one.code == 0xa0;
    if (!blank && !within) words.emplace_back(), characters = 0;
    within = !blank;
    if (within) words.back() += sentence.substr(at, one.bytes);
    if (within && ++characters > kMaxWordLetters)
      return bad_input(phrase("The word '{}…' is longer than {} characters.", words.back(), kMaxWordLetters));
    at += one.bytes;
  }
  if (words.size() >= kMinWords && words.size() <= kMaxWords) return words;
  return bad_input(phrase("The sentence has {}; type {} to {} words.", plural(words.size(), "{} word", "{} words"),
                          kMinWords, kMaxWords));
}

WordNumbers::WordNumbers(std::string_view sentence) {
  auto words = sentence_words(sentence);
  if (!words) words = sentence_words({});
  std::vector<char32_t> letters;  // those that words begin with, in the order of the sentence
  for (const std::string& word : *words) {
    const Token token = token_of(word);
    const auto known = std::find(letters.begin(), letters.end(), token.first);
    begins_.push_back(known - letters.begin());
    if (known == letters.end()) letters.push_back(token.first);
    letters_.push_back(token.letters);
  }
  distinct_ = static_cast<std::int64_t>(letters.size());
}

double WordNumbers::value(InputTensor t, std::int64_t head, std::int64_t at, std::int64_t col,
                          std::int64_t cols) const {
  const auto words = static_cast<std::int64_t>(begins_.size());
  const std::int64_t n = at % words;  // a longer problem has the sentence over again
  const auto place = static_cast<double>(n), before = place - 1;
  if (t == InputTensor::v)
    return col == 0 ? place : col == 1 ? static_cast<double>(letters_[static_cast<std::size_t>(n)]) : 0;
  const bool query = t == InputTensor::q;
  if (head % 2 == 1) {
    const bool begins = begins_[static_cast<std::size_t>(n)] % std::max<std::int64_t>(cols, 1) == col;
    return begins ? (query ? kSameLetter : 1) : 0;
  }
  const double terms[] = {query ? 2 * before : place, query ? -1 : place * place, query ? 0 - before * before : 1};
  return col < 3 ? terms[col] : 0;
}

Problem problem_of_words(std::string_view sentence, Problem p) {
  const WordNumbers numbers(sentence);
  p.B = 1;
  p.Hq = p.Hkv = 2;
  p.Lq = p.Lk = numbers.words();
  p.D = std::max<std::int64_t>(3, numbers.distinct_letters());
  p.Dv = 2;
  p.scale = 1;
  p.mask = {};
  p.mask.causal = true;
  p.bias_shape.clear();
  p.softcap.reset();
  p.alibi.reset();
  return p;
}

bool is_of_words(const Problem& p, const InputSpec& spec) {
  if (spec.generator != Generator::words || !spec.q_file.empty() || !spec.k_file.empty() || !spec.v_file.empty())
    return false;
  Problem own = problem_of_words(spec.sentence, p);
  own.mask = p.mask;  // what a query may see changes no score
  return own == p;
}

}  // namespace attn
