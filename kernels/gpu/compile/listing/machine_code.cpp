#include "kernels/gpu/compile/listing/machine_code.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/letters.h"
#include "kernels/base/text.h"

namespace attn::gpu {
namespace {

constexpr std::string_view kLabel = "`(.L_";  // "`(.L_x_4)": numbered anew by each compilation

using Lines = std::vector<std::string>;

// Which lines of `a` and `b` are the longest common subsequence, by the bit-parallel recurrence of Hyyrö (2004): a bit
// of row i is 0 where the length of a[0..i) and b[0..j] grows at j. Rows are kept, so that one way back can be walked.
class CommonLines {
 public:
  CommonLines(const Lines& a, const Lines& b) : words_((b.size() + 63) / 64), rows_((a.size() + 1) * words_, ~0ULL) {
    std::unordered_map<std::string_view, std::vector<std::uint64_t>> places;
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::vector<std::uint64_t>& at = places.try_emplace(b[j], words_, 0ULL).first->second;
      at[j / 64] |= 1ULL << (j % 64);
    }
    const std::vector<std::uint64_t> nowhere(words_, 0ULL);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto found = places.find(a[i]);
      const std::vector<std::uint64_t>& match = found == places.end() ? nowhere : found->second;
      std::uint64_t carry = 0;
      for (std::size_t w = 0; w < words_; ++w) {
        const std::uint64_t before = rows_[i * words_ + w], both = before & match[w];
        const std::uint64_t low = before + both, sum = low + carry;
        carry = static_cast<std::uint64_t>(low < before) | static_cast<std::uint64_t>(sum < low);
        rows_[(i + 1) * words_ + w] = sum | (before & ~match[w]);
      }
    }
  }
  // Whether a[i - 1] adds to the common lines of what ends there and at b[j - 1].
  bool grows(std::size_t i, std::size_t j) const {
    return (rows_[i * words_ + (j - 1) / 64] >> ((j - 1) % 64) & 1U) == 0;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> rows_;
};

// Pairs of equal lines, in order.
std::vector<std::pair<std::size_t, std::size_t>> common_lines(const Lines& a, const Lines& b) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  if (a.empty() || b.empty()) return pairs;
  const CommonLines common(a, b);
  std::size_t i = a.size(), j = b.size();
  while (i > 0 && j > 0) {
    if (!common.grows(i, j)) {
      --j;  // nothing ends at this line of b
    } else if (common.grows(i - 1, j)) {
      --i;  // the lines before do as well without this one of a
    } else {
      pairs.emplace_back(--i, --j);
    }
  }
  std::ranges::reverse(pairs);
  return pairs;
}

Lines lines_of(const CodeFunction& f) {
  Lines lines;
  lines.reserve(f.instructions.size());
  for (const std::string& i : f.instructions) lines.push_back(without_noise(i));
  return lines;
}

class Differ {
 public:
  void add(const CodeFunction* first, const CodeFunction* second) {
    const bool one_name = first != nullptr && second != nullptr && first->name == second->name;
    if (one_name) {
      name(CodeSide::both, *first);
    } else {
      if (first != nullptr) name(CodeSide::first, *first);
      if (second != nullptr) name(CodeSide::second, *second);
    }
    const Lines a = first == nullptr ? Lines() : lines_of(*first), b = second == nullptr ? Lines() : lines_of(*second);
    std::size_t i = 0, j = 0;
    const auto alone_up_to = [&](std::size_t i_end, std::size_t j_end) {
      for (; i < i_end; ++i) alone(CodeSide::first, a[i], diff_.removed);
      for (; j < j_end; ++j) alone(CodeSide::second, b[j], diff_.added);
    };
    for (const auto& [at, beside] : common_lines(a, b)) {
      alone_up_to(at, beside);
      diff_.rows.push_back({CodeSide::both, false, a[i], 0});
      ++diff_.common, ++i, ++j;
    }
    alone_up_to(a.size(), b.size());
  }
  CodeDiff take() { return std::move(diff_); }

 private:
  void name(CodeSide side, const CodeFunction& f) { diff_.rows.push_back({side, true, f.name, 0}); }
  void alone(CodeSide side, const std::string& text, InstructionMix& mix) {
    diff_.rows.push_back({side, false, text, 0});
    mix.add(kind_of(text));
  }

  CodeDiff diff_;
};

}  // namespace

std::size_t MachineCode::instructions() const {
  std::size_t all = 0;
  for (const CodeFunction& f : functions) all += f.instructions.size();
  return all;
}

Result<MachineCode> machine_code_of(const Sass& sass, std::string_view arch) {
  MachineCode code{std::string(arch), {}};
  for (const SassFunction& f : sass.functions) {
    CodeFunction& kept = code.functions.emplace_back(CodeFunction{f.name, {}});
    kept.instructions.reserve(f.instructions.size());
    for (const Instruction& i : f.instructions) kept.instructions.push_back(i.text);
  }
  const std::size_t count = code.instructions();
  if (count == 0) return fail(ErrorKind::failed, tr("The listing has no instructions."));
  if (count > kMostInstructions || text_of(code).size() > kMostCodeBytes)
    return fail(ErrorKind::cannot_run,
                phrase("{} instructions exceed the limit of {} per kernel in a session.", count, kMostInstructions));
  return code;
}

std::string text_of(const MachineCode& code) {
  std::string text;
  for (const CodeFunction& f : code.functions) {
    text += f.name + ":\n";
    for (const std::string& i : f.instructions) text += "  " + i + "\n";
  }
  return text;
}

Result<MachineCode> machine_code_from(std::string_view text, std::string_view arch, const std::string& name) {
  if (text.size() > kMostCodeBytes)
    return bad_input(phrase("{} has {} bytes of machine code; the limit is {}.", name, text.size(), kMostCodeBytes));
  MachineCode code{std::string(arch), {}};
  std::size_t count = 0, line_number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++line_number;
    const bool printable =
        std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; });  // it is drawn and printed
    const bool is_name = !line.starts_with(' ');
    if (!printable || line.size() < 2 || (is_name ? !line.ends_with(':') : !line.starts_with("  ")) ||
        (!is_name && code.functions.empty()))
      return bad_input(phrase("{}, line {}: must be a function's name and a colon, or two spaces and an instruction.",
                              name, line_number));
    if (is_name) {
      code.functions.push_back({std::string(line.substr(0, line.size() - 1)), {}});
      continue;
    }
    if (++count > kMostInstructions)
      return bad_input(phrase("{} has more than {} instructions.", name, kMostInstructions));
    code.functions.back().instructions.emplace_back(line.substr(2));
  }
  if (count == 0) return bad_input(phrase("{} has no instructions.", name));
  return code;
}

std::string without_noise(std::string_view instruction) {
  std::string out;
  while (!instruction.empty()) {
    if (instruction.starts_with(kLabel)) {
      instruction.remove_prefix(std::min(instruction.size(), instruction.find(')') + 1));
      out += "label";
      continue;
    }
    const char c = instruction.front();
    instruction.remove_prefix(1);
    const bool blank = kBlanks.find(c) != std::string_view::npos;
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

CodeDiff diff_of(const MachineCode& first, const MachineCode& second) {
  std::vector<const CodeFunction*> beside(first.functions.size(), nullptr);
  std::vector<const CodeFunction*> left;
  for (const CodeFunction& f : second.functions) {
    const auto same = std::ranges::find(first.functions, f.name, &CodeFunction::name);
    if (same == first.functions.end() || beside[static_cast<std::size_t>(same - first.functions.begin())] != nullptr)
      left.push_back(&f);
    else
      beside[static_cast<std::size_t>(same - first.functions.begin())] = &f;
  }
  auto next = left.begin();
  for (const CodeFunction*& f : beside)
    if (f == nullptr && next != left.end()) f = *next++;
  Differ differ;
  for (std::size_t n = 0; n < beside.size(); ++n) differ.add(&first.functions[n], beside[n]);
  for (; next != left.end(); ++next) differ.add(nullptr, *next);
  return differ.take();
}

std::vector<CodeDiffRow> folded(const CodeDiff& diff) {
  constexpr std::size_t kNear = 3;
  std::vector<CodeDiffRow> rows;
  const auto stays = [](const CodeDiffRow& row) { return row.side != CodeSide::both || row.is_name; };
  for (std::size_t n = 0; n < diff.rows.size();) {
    if (stays(diff.rows[n])) {
      rows.push_back(diff.rows[n++]);
      continue;
    }
    std::size_t end = n;
    while (end < diff.rows.size() && !stays(diff.rows[end])) ++end;
    // Beside a name alone there is nothing that differs.
    const std::size_t before = n > 0 && diff.rows[n - 1].side != CodeSide::both ? kNear : 0;
    const std::size_t after = end < diff.rows.size() && diff.rows[end].side != CodeSide::both ? kNear : 0;
    const bool fold = end - n > before + after + 1;
    for (std::size_t at = n; at < end; ++at) {
      if (fold && at == n + before) {
        rows.push_back({CodeSide::both, false, "", static_cast<std::uint32_t>(end - n - before - after)});
        at = end - after;
        if (at == end) break;
      }
      rows.push_back(diff.rows[at]);
    }
    n = end;
  }
  return rows;
}

std::string words_of(const CodeDiff& diff) {
  std::string words;
  for (const InstructionKind kind : all_instruction_kinds()) {
    const std::uint32_t removed = diff.removed[kind], added = diff.added[kind];
    if (removed + added == 0) continue;
    words += fmt::format("{}{}", words.empty() ? "" : " · ", words_of(kind));
    if (removed > 0) words += fmt::format(" −{}", removed);
    if (added > 0) words += fmt::format(" +{}", added);
  }
  return words;
}

}  // namespace attn::gpu
