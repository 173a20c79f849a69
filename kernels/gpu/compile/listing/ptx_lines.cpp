#include "kernels/gpu/compile/listing/ptx_lines.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

namespace attn::gpu {
namespace {

constexpr std::string_view kBlank = " \t,";
constexpr std::size_t kDeepest = 32;  // a chain that is longer goes in a circle

std::string_view next_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlank), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlank));
  rest.remove_prefix(word.size());
  return word;
}

std::optional<std::uint32_t> next_number(std::string_view& rest) {
  const std::string_view word = next_word(rest);
  std::uint32_t n = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return n;
}

// File as PTX numbers it, line and column.
using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

std::optional<Place> next_place(std::string_view& rest) {
  const auto file = next_number(rest), line = next_number(rest), column = next_number(rest);
  if (!file || !line || !column) return std::nullopt;
  return Place{*file, *line, *column};
}

class Reader {
 public:
  explicit Reader(std::span<const std::string> ptx) {
    for (const std::string& line : ptx) name_file(line);
    out_.chains.reserve(ptx.size());
    for (const std::string& line : ptx) out_.chains.push_back(chain_of(line));
  }
  PtxLines take() { return std::move(out_); }

 private:
  // .file 1 "/a/kernel.cu"
  void name_file(std::string_view rest) {
    if (next_word(rest) != ".file") return;
    const auto number = next_number(rest);
    const auto from = rest.find('"'), to = rest.rfind('"');
    if (!number || from == std::string_view::npos || to <= from) return;
    if (files_.try_emplace(*number, static_cast<std::uint32_t>(out_.files.size())).second)
      out_.files.emplace_back(rest.substr(from + 1, to - from - 1));
  }
  // .loc 1 2 3, function_name $L__info_string1, inlined_at 1 5 3
  void move_to(std::string_view rest) {
    now_ = next_place(rest);
    if (!now_) return;
    caller_.erase(*now_);
    if (next_word(rest) != "function_name") return;
    next_word(rest);
    if (next_word(rest) != "inlined_at") return;
    if (const auto at = next_place(rest)) caller_[*now_] = *at;
  }
  std::vector<SourceFrame> chain_of(std::string_view line) {
    std::string_view rest = line;
    const std::string_view word = next_word(rest);
    if (word == ".loc") move_to(rest);
    const bool instruction =
        !word.empty() && word.front() != '.' && !word.starts_with("//") && !word.ends_with(':') && line.ends_with(';');
    std::vector<SourceFrame> chain;
    if (!instruction) return chain;
    for (auto at = now_; at && chain.size() < kDeepest;) {
      const auto file = files_.find(std::get<0>(*at));
      if (file != files_.end()) chain.push_back({file->second, std::get<1>(*at)});
      const auto outer = caller_.find(*at);
      at = outer == caller_.end() ? std::nullopt : std::optional(outer->second);
    }
    return chain;
  }

  PtxLines out_;
  std::map<std::uint32_t, std::uint32_t> files_;  // PTX's number, and ours
  std::map<Place, Place> caller_;                 // as the directives up to here have it
  std::optional<Place> now_;
};

}  // namespace

PtxLines ptx_lines(std::span<const std::string> ptx) {
  return Reader(ptx).take();
}

}  // namespace attn::gpu
