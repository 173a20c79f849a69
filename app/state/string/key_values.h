// Values of a state string: text to value and back. Errors say what is wrong with the value; its key and place are
// added by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/options.h"
#include "viz/state/state.h"

namespace attn {

Result<std::int64_t> whole(std::string_view text, std::int64_t min, std::int64_t max);
Result<double> number(std::string_view text, bool finite);
std::vector<std::string_view> split(std::string_view text, char at);
// Whole numbers from `min` up, with '/' between them.
Result<std::vector<std::int64_t>> whole_list(std::string_view text, std::int64_t min, std::size_t max_items);

// Options that single kernels declare: "none", or NAME:VALUE with '/' between them.
std::string further_options_text(const Options& o);
Result<void> read_further_options(Options& o, std::string_view text);
// Some kernel of the ladder declares one.
bool declares_further_options();

// BATCH:HEAD:I:J:PHASE:PASS, with '/' between them; "none" where there is none.
std::string bookmarks_text(const std::vector<Bookmark>& bookmarks);
Result<std::vector<Bookmark>> parse_bookmarks(std::string_view text);

// Everything but letters, digits and "_.-/" as %XX.
std::string percent_encoded(std::string_view text);
Result<std::string> percent_decoded(std::string_view text);

}  // namespace attn
