#include "kernels/gpu/own_kernel/build_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/formats/json_fields.h"
#include "kernels/formats/json_reading.h"

namespace attn::gpu {
namespace {

using nlohmann::json;

constexpr std::string_view kMark = "// attn-build:";
constexpr std::size_t kMaxLine = 4096;
constexpr std::size_t kMaxDepth = 4;

Result<BuildLine> line_from(std::string_view words, const std::string& where) {
  const auto root = parse_json(std::string(words), where, kMaxDepth);
  if (!root) return tl::unexpected(root.error());
  if (!root->is_object())
    return bad_input(where + R"(: "attn-build:" must be followed by an object, such as {"fast_math": true}.)");
  for (const auto& [key, value] : root->items())
    if (key != "edits" && key != "maxrregcount" && key != "fast_math")
      return bad_input(phrase("{}: unknown key \"{}\"; use edits, maxrregcount or fast_math.", where, key));
  JsonFields fields(*root, where);
  BuildLine line;
  if (fields.has("edits")) line.edits = fields.text("edits");
  if (fields.has("maxrregcount"))
    line.build.max_registers = static_cast<std::int32_t>(fields.integer("maxrregcount", 0, kMostMaxRegisters));
  if (fields.has("fast_math")) line.build.fast_math = fields.boolean("fast_math");
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  if (auto good = check_build(line.build); !good) return bad_input(fmt::format("{}: {}", where, good.error().message));
  return line;
}

}  // namespace

Result<void> check_build(const BuildChoices& build) {
  const std::int32_t n = build.max_registers;
  if (n == 0 || (n >= kLeastMaxRegisters && n <= kMostMaxRegisters)) return ok();
  return bad_input(phrase("maxrregcount is {2}; it must be {0} to {1}, or 0 to let the compiler choose",
                          kLeastMaxRegisters, kMostMaxRegisters, n));
}

std::vector<std::string> flags_of(const BuildChoices& build) {
  std::vector<std::string> flags;
  if (build.max_registers != 0) flags.push_back(fmt::format("--maxrregcount={}", build.max_registers));
  if (build.fast_math) flags.emplace_back("--use_fast_math");
  return flags;
}

std::string words_of(const BuildChoices& build) {
  std::string words;
  for (const std::string& flag : flags_of(build)) {
    if (!words.empty()) words += ' ';
    words.append(flag, 2);
  }
  return words;
}

Result<BuiltText> split_build_line(std::string_view text, std::string_view name) {
  BuiltText built;
  if (!text.starts_with(kMark)) {
    built.text = text;
    return built;
  }
  const std::size_t end = text.find('\n');
  const std::string where = phrase("{}, line 1", name);
  if (std::min(end, text.size()) > kMaxLine) return bad_input(phrase("{} is longer than {} bytes.", where, kMaxLine));
  std::string_view words = text.substr(kMark.size(), end == text.npos ? text.npos : end - kMark.size());
  if (words.ends_with('\r')) words.remove_suffix(1);
  auto line = reading(where, [&] { return line_from(words, where); });
  if (!line) return tl::unexpected(line.error());
  built.line = *std::move(line);
  if (end != text.npos) built.text = text.substr(end + 1);
  return built;
}

std::string with_build_line(const BuildLine& line, std::string_view text) {
  if (line == BuildLine()) return std::string(text);
  json j = json::object();
  if (!line.edits.empty()) j["edits"] = line.edits;
  if (line.build.max_registers != 0) j["maxrregcount"] = line.build.max_registers;
  if (line.build.fast_math) j["fast_math"] = true;
  return fmt::format("{} {}\n{}", kMark, j.dump(), text);
}

}  // namespace attn::gpu
