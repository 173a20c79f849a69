// Finds lines by a few letters of theirs, as the command palette does. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace attn {

// What words are made of: letters and digits of ASCII, and bytes of any other character.
bool is_word_byte(char c);
// The first word of a query, taken from it; empty where it began with a space.
std::string_view take_word(std::string_view& query);

struct FuzzyMatch {
  int score = 0;                // higher is better
  std::vector<std::size_t> at;  // bytes of the text that were matched, rising
};

// Each word of the query has to be in the text, in any order: its letters one after the other, case aside, others
// between them or not. Letters that begin a word of the text or follow one another count more; letters that are strewn
// about are no match. An empty query matches all.
std::optional<FuzzyMatch> fuzzy_match(std::string_view query, std::string_view text);

}  // namespace attn
