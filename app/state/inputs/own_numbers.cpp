#include "app/state/inputs/own_numbers.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "kernels/base/files.h"
#include "kernels/base/letters.h"
#include "kernels/base/text.h"
#include "kernels/formats/npy.h"

namespace attn {
namespace {

constexpr std::uint64_t kMostBytes = 16 << 20;
constexpr std::string_view kBetween = " \t,;\r";

Result<std::string> text_of(const std::string& file) {
  const auto bytes = read_file(file, kMostBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

bool is_csv(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  return same_letters(extension, ".csv") || same_letters(extension, ".txt");
}

Result<float> number_of(std::string_view word, const std::string& name, std::size_t line) {
  float value = 0;
  if (word.starts_with('+')) word.remove_prefix(1);
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code != std::errc() || end != word.data() + word.size())
    return bad_input(phrase("{}, row {}: '{}' is not a number.", name, line, std::string(word.substr(0, 40))));
  return value;
}

// Pieces between empty lines.
std::vector<std::string_view> blocks_of(std::string_view text) {
  std::vector<std::string_view> blocks;
  std::size_t begin = std::string_view::npos;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const bool empty = text.substr(at, end - at).find_first_not_of(kBetween) == std::string_view::npos;
    if (empty && begin != std::string_view::npos) blocks.push_back(text.substr(begin, at - begin));
    begin = empty ? std::string_view::npos : std::min(begin, at);
    at = end + 1;
  }
  if (begin != std::string_view::npos) blocks.push_back(text.substr(begin));
  return blocks;
}

Result<std::string> as_npy(std::string_view text, const std::string& name, const std::filesystem::path& file) {
  const auto matrix = matrix_of_text(text, name);
  if (!matrix) return tl::unexpected(matrix.error());
  if (const auto written = write_npy(file, *matrix, matrix->shape()); !written) return tl::unexpected(written.error());
  return file.string();
}

using Four = std::array<std::string, 4>;
constexpr std::array<const char*, 4> kNames{"q", "k", "v", "bias"};

Result<Four> of_one(const std::string& file) {
  const auto text = text_of(file);
  if (!text) return tl::unexpected(text.error());
  const auto blocks = blocks_of(*text);
  if (blocks.size() < 3 || blocks.size() > 4)
    return bad_input(
        phrase("{} has {} matrices; separate Q, K and V with empty lines, or give q.csv, k.csv and v.csv "
               "together.",
               std::filesystem::path(file).filename().string(), blocks.size()));
  Four paths;
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    auto path =
        as_npy(blocks[n], kNames[n], std::filesystem::path(file).parent_path() / (std::string(kNames[n]) + ".npy"));
    if (!path) return tl::unexpected(path.error());
    paths[n] = *std::move(path);
  }
  return paths;
}

}  // namespace

Result<Array> matrix_of_text(std::string_view text, const std::string& name) {
  std::vector<float> values;
  std::size_t rows = 0, columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::size_t count = 0, word = at;
    while ((word = text.find_first_not_of(kBetween, word)) < end) {
      const std::size_t stop = std::min(text.find_first_of(" \t,;\r\n", word), end);
      const auto value = number_of(text.substr(word, stop - word), name, rows + 1);
      if (!value) return tl::unexpected(value.error());
      values.push_back(*value);
      ++count;
      word = stop;
    }
    at = end + 1;
    if (count == 0) continue;
    if (rows > 0 && count != columns)
      return bad_input(plural(count, "{1}, row {2}: {0} number, but earlier rows have {3}.",
                              "{1}, row {2}: {0} numbers, but earlier rows have {3}.", name, rows + 1, columns));
    columns = count;
    ++rows;
  }
  if (rows == 0) return bad_input(phrase("{} contains no numbers.", name));
  Array matrix(DType::f32, {1, 1, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)});
  for (std::size_t n = 0; n < values.size(); ++n) matrix.set(static_cast<std::int64_t>(n), values[n]);
  return matrix;
}

std::optional<Result<Four>> arrays_of_numbers(const std::vector<std::string>& files) {
  if (files.empty() || !std::all_of(files.begin(), files.end(), is_csv)) return std::nullopt;
  if (files.size() == 1) return of_one(files.front());
  Four paths;
  for (std::size_t n = 0; n < kNames.size(); ++n) {
    const auto named = [&](const std::string& f) {
      const std::string name = std::filesystem::path(f).filename().string();
      return !name.empty() && (name.front() | 32) == *kNames[n];
    };
    const auto it = std::find_if(files.begin(), files.end(), named);
    if (it == files.end()) {
      if (n == 3) continue;
      return Result<Four>(bad_input(phrase("The files do not include {}.csv.", std::string(kNames[n]))));
    }
    const auto text = text_of(*it);
    if (!text) return Result<Four>(tl::unexpected(text.error()));
    auto path = as_npy(*text, std::filesystem::path(*it).filename().string(),
                       std::filesystem::path(*it).parent_path() / (std::string(kNames[n]) + ".npy"));
    if (!path) return Result<Four>(tl::unexpected(path.error()));
    paths[n] = *std::move(path);
  }
  return Result<Four>(paths);
}

}  // namespace attn
