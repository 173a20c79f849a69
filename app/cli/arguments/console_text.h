// Text in and out: data to stdout, words to stderr, and the small grammars of option values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/options.h"

namespace attn::cli {

// Why nothing could be written to stdout, by what the system says (errno).
std::string why_no_output(int error);
// To stdout. A full disk or a closed file behind it is an error. Words and tables go without what a terminal would obey
// (kernels/base/printable.h); data, such as CSV and JSON, as they are.
Result<void> print(std::string_view words);
Result<void> print_data(std::string_view text);
// A line to stderr.
void say(std::string_view words);
// One line that the next one overwrites; only where stderr is a terminal.
void say_progress(std::string_view words);

int exit_code(ErrorKind kind);

// `option` is for messages: "--values".
// "512,1024"
Result<std::vector<std::int64_t>> parse_numbers(const std::string& option, std::string_view text);
// A whole number from 0 to `max`; what a library makes of "-1" is a very large seed.
Result<std::uint64_t> parse_seed(const std::string& text, std::uint64_t max);
std::vector<std::string> split(std::string_view text, char separator);
// "64x32"; both from 1
struct Extents {
  std::int64_t first = 0, second = 0;
};
Result<Extents> parse_extents(const std::string& option, std::string_view text, std::string_view what);

// "--memory-limit": bytes; 0 where it is left out.
Result<std::uint64_t> memory_limit_of(const std::string& text);

// Text to a file, or to stdout where the file is "-".
Result<void> write_text(const std::string& file, const std::string& text);
// Refuses a file whose folder is not there or cannot be written, before work is spent on it. "-" is fine.
Result<void> check_writable(const std::string& option, const std::string& file);

// Refuses a list that names something twice: it would be done twice, and no list is longer than what there is to name.
Result<void> check_once(const std::string& option, const std::vector<std::string>& names);

// A file named on the command line, and by which option. An empty name is left out.
struct NamedFile {
  std::string option, file;
};
// Refuses an output that is also an input or another output, by whatever name: links and "./" are seen through.
Result<void> check_distinct(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs);
// A picture is written as what its name says: PNG.
Result<void> check_is_png(const std::string& option, const std::string& file);

}  // namespace attn::cli
