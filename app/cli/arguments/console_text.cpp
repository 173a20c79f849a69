#include "app/cli/arguments/console_text.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <set>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include "app/system/posix.h"
#include "kernels/base/bytes.h"
#include "kernels/base/files.h"
#include "kernels/base/printable.h"
#include "kernels/base/text.h"

namespace attn::cli {

std::string why_no_output(int error) {
  if (error == EBADF) return tr("Cannot write the output: stdout is closed.");
  if (error == EPIPE) return tr("Cannot write the output to stdout: the reading process has ended.");
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    return tr("Cannot write the output to stdout: is the disk full?");
  return phrase("Cannot write the output to stdout: {}.", std::error_code(error, std::generic_category()).message());
}

Result<void> print(std::string_view words) {
  return print_data(printable(words));
}

Result<void> print_data(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return ok();
  return fail(ErrorKind::io, why_no_output(errno));
}

// Names of files, devices and kernels come from anywhere: a terminal would obey what they hold.
void say(std::string_view words) {
  const std::string line = printable(words) + '\n';
  if (talks_to_terminal()) std::fputs("\r\x1b[K", stderr);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void say_progress(std::string_view words) {
  if (!talks_to_terminal()) return;
  const std::string line = printable(words);
  std::fputs("\r\x1b[K", stderr);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::failed:
      return 1;
    case ErrorKind::bad_input:
      return 2;
    case ErrorKind::cannot_run:
    case ErrorKind::io:
      return 3;
    case ErrorKind::cancelled:
      return 130;
  }
  return 3;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

namespace {

bool parse_whole(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<std::vector<std::int64_t>> parse_numbers(const std::string& option, std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (const std::string& part : split(text, ',')) {
    std::int64_t number = 0;
    if (!parse_whole(part, number)) {
      return bad_input(phrase("{} {}: '{}' is not an integer; use a list such as 512,1024.", option, text, part));
    }
    numbers.push_back(number);
  }
  return numbers;
}

Result<std::uint64_t> parse_seed(const std::string& text, std::uint64_t max) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size() && seed <= max) return seed;
  return bad_input(phrase("Invalid --seed {}; use an integer from 0 to {}.", text, max));
}

Result<Extents> parse_extents(const std::string& option, std::string_view text, std::string_view what) {
  Extents e;
  const std::size_t x = text.find('x');
  const bool fits = x != std::string_view::npos && parse_whole(text.substr(0, x), e.first) &&
                    parse_whole(text.substr(x + 1), e.second);
  if (fits && e.first >= 1 && e.second >= 1) return e;
  return bad_input(phrase("Invalid {} {}; use a {}, with both numbers at least 1.", option, text, what));
}

Result<std::uint64_t> memory_limit_of(const std::string& text) {
  if (text.empty()) return 0;
  auto bytes = parse_bytes(text);
  if (!bytes) return bad_input("--memory-limit: " + bytes.error().message);
  return bytes;
}

Result<void> check_once(const std::string& option, const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names)
    if (!seen.insert(name).second) return bad_input(phrase("{} names {} twice.", option, name));
  return ok();
}

Result<void> write_text(const std::string& file, const std::string& text) {
  if (file == "-") return print_data(text);
  return write_file_atomically(file, std::as_bytes(std::span(text)));
}

Result<void> check_writable(const std::string& option, const std::string& file) {
  if (file == "-") return ok();
  std::error_code error;
  const std::filesystem::path path(file);
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    return bad_input(phrase("{} {} is a folder; name a file.", option, file));
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return ok();  // /dev/stdout
  if (is_read_only(path)) {
    return fail(ErrorKind::io, phrase("{} {} is read-only; make it writable or name another file.", option, file));
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder, error)) {
    return bad_input(phrase("{} {}: folder {} does not exist.", option, file, folder.string()));
  }
  if (!can_write_in(folder)) {
    return fail(ErrorKind::io, phrase("{} {}: folder {} is not writable.", option, file, folder.string()));
  }
  return ok();
}

namespace {

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error)) return true;
  // One that is not there yet has no identity but its name, and that of what a link leads to.
  const auto resolved = [&error](const std::string& file) {
    constexpr int kMaxLinks = 40;
    std::filesystem::path path = std::filesystem::absolute(file, error);
    for (int n = 0; n < kMaxLinks && std::filesystem::is_symlink(path, error); ++n)
      path = path.parent_path() / std::filesystem::read_symlink(path, error);
    return std::filesystem::weakly_canonical(path, error);
  };
  return resolved(a) == resolved(b);
}

bool is_device(const std::string& file) {
  std::error_code error;
  return file == "-" || std::filesystem::is_character_file(file, error);  // /dev/null takes everything
}

}  // namespace

Result<void> check_distinct(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs) {
  for (std::size_t n = 0; n < outputs.size(); ++n) {
    const NamedFile& out = outputs[n];
    if (out.file.empty() || is_device(out.file)) continue;
    for (const NamedFile& in : inputs) {
      if (in.file.empty() || !same_file(in.file, out.file)) continue;
      return bad_input(phrase("{} {} is also the file for {} and would be overwritten; name another file.", out.option,
                              out.file, in.option));
    }
    for (std::size_t before = 0; before < n; ++before) {
      if (outputs[before].file.empty() || !same_file(outputs[before].file, out.file)) continue;
      return bad_input(phrase("{} and {} name the same file; use two files.", outputs[before].option, out.option));
    }
  }
  return ok();
}

Result<void> check_is_png(const std::string& option, const std::string& file) {
  const std::string suffix = std::filesystem::path(file).extension().string();
  if (suffix == ".png" || suffix == ".PNG") return ok();
  return bad_input(phrase("{} {}: pictures are PNG; use a name that ends in .png.", option, file));
}

}  // namespace attn::cli
