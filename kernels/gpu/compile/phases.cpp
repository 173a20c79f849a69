#include "kernels/gpu/compile/phases.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/letters.h"
#include "kernels/base/text.h"

namespace attn::gpu {
namespace {

struct PhaseRow {
  std::string_view name, words;
};
constexpr std::array<PhaseRow, kCodePhases> kRows{{
    {"setup", marked("finds the tile and its addresses")},
    {"loop", marked("counters, conditions and addresses of the loops")},
    {"barrier", marked("waits for copies and other threads")},
    {"Q", marked("loads Q")},
    {"K", marked("loads K")},
    {"V", marked("loads V")},
    {"S", "scores, Q times K transposed"},
    {"mask", marked("masks scores")},
    {"m", marked("running maximum of each row")},
    {"alpha", marked("factor that rescales the sums so far")},
    {"P", marked("weights: exponentials of S minus m")},
    {"l", marked("running sum of each row")},
    {"O", marked("output, alpha O + P V")},
    {"normalise", marked("O divided by the row's sum")},
    {"dO", marked("loads dO")},
    {"delta", marked("delta: the sum of dO times O over a row")},
    {"dP", marked("gradient of P, dO times V transposed")},
    {"dS", marked("gradient of S, P times (dP minus delta)")},
    {"dV", marked("gradient of V, P transposed times dO")},
    {"dK", marked("gradient of K, dS transposed times Q")},
    {"dQ", marked("gradient of Q, dS times K")},
    {"store", marked("writes the results to memory")},
    {"untagged", marked("no line in its inline chain has a phase")},
}};
constexpr std::string_view kCaller = "caller";

// Takes the next line off the text.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether `word` stands in the text as a word.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

// "template <class T> ..." without what is between its brackets.
std::string_view without_template(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with("template")) return text;
  int open = 0;
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (text[n] == '<') ++open;
    if (text[n] == '>' && --open == 0) return text.substr(n + 1);
  }
  return text;
}

// Knows of each place of a C++ text whether it is within a function: by its braces, and what stands before them.
class Functions {
 public:
  // A line without its newline. Afterwards inside() speaks of the line's end.
  void read(std::string_view line) {
    if (trimmed(line).starts_with('#')) return;
    for (std::size_t n = 0; n < line.size(); ++n) n = read_one(line, n);
    if (function_ == 0) head_ += ' ';
  }
  bool inside() const { return function_ > 0; }
  bool has_ended() const { return ended_; }  // a function, in the line read last
  void begin_line() { ended_ = false; }

 private:
  // Returns the place of the last character that it read.
  std::size_t read_one(std::string_view line, std::size_t n) {
    const char c = line[n];
    if (in_comment_) {
      if (c == '*' && n + 1 < line.size() && line[n + 1] == '/') {
        in_comment_ = false;
        return n + 1;
      }
      return n;
    }
    if (c == '/' && n + 1 < line.size() && line[n + 1] == '/') return line.size();
    if (c == '/' && n + 1 < line.size() && line[n + 1] == '*') {
      in_comment_ = true;
      return n + 1;
    }
    if (c == '"' || (c == '\'' && (n == 0 || !is_letter(line[n - 1])))) return past_quotes(line, n);
    if (c == '{') open();
    if (c == '}') close();
    if (function_ == 0) {
      if (c == ';' || c == '{' || c == '}')
        head_.clear();
      else
        head_ += c;
    }
    return n;
  }
  static std::size_t past_quotes(std::string_view line, std::size_t n) {
    const char quote = line[n];
    for (++n; n < line.size() && line[n] != quote; ++n)
      if (line[n] == '\\') ++n;
    return n;
  }
  void open() {
    ++depth_;
    if (function_ > 0) return;
    const std::string_view head = without_template(head_);
    const bool is_type = has_word(head, "struct") || has_word(head, "class") || has_word(head, "union") ||
                         has_word(head, "enum") || has_word(head, "namespace");
    if (!is_type && head.find('(') != std::string_view::npos) function_ = depth_;
  }
  void close() {
    if (function_ == depth_ && function_ > 0) {
      function_ = 0;
      ended_ = true;
    }
    if (depth_ > 0) --depth_;
  }

  std::string head_;  // what stands before a brace, since the last end of something
  int depth_ = 0;
  int function_ = 0;  // the depth within the function's braces; 0 = in none
  bool in_comment_ = false, ended_ = false;
};

tl::unexpected<Error> unknown(std::string_view name, std::size_t line) {
  std::vector<std::string_view> names{kCaller};
  for (const PhaseRow& row : kRows) names.push_back(row.name);
  names.pop_back();  // "untagged"
  return bad_input(phrase("line {}: unknown @phase {}; use {}.", line, name, fmt::join(names, ", ")));
}

}  // namespace

std::string_view name_of(CodePhase phase) {
  return kRows[static_cast<std::size_t>(phase)].name;
}

std::string_view words_of(CodePhase phase) {
  return tr_of(kRows[static_cast<std::size_t>(phase)].words);
}

std::optional<CodePhase> code_phase_from_name(std::string_view name) {
  for (const CodePhase phase : all_code_phases())
    if (name == name_of(phase)) return phase;
  return std::nullopt;
}

std::optional<std::string_view> phase_named_by(std::string_view line) {
  constexpr std::string_view kTag = "// @phase ";
  line = trimmed(line);
  if (!line.starts_with(kTag)) return std::nullopt;
  const std::string_view name = trimmed(line.substr(kTag.size()));
  if (name.empty() || name.find_first_of(kBlanks) != std::string_view::npos) return std::nullopt;
  return name;
}

std::string without_phase_lines(std::string_view text) {
  std::string rest;
  rest.reserve(text.size());
  while (!text.empty()) {
    const bool ends = text.find('\n') != std::string_view::npos;
    const std::string_view line = take_line(text);
    if (phase_named_by(line)) continue;
    rest += line;
    if (ends) rest += '\n';
  }
  return rest;
}

Result<std::vector<CodePhase>> phases_of_lines(std::string_view text) {
  std::vector<CodePhase> phases;
  Functions functions;
  CodePhase now = CodePhase::none;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (const auto name = phase_named_by(line)) {
      const auto phase = *name == kCaller ? CodePhase::none : code_phase_from_name(*name);
      if (!phase || (*phase == CodePhase::none && *name != kCaller)) return unknown(*name, phases.size() + 1);
      if (!functions.inside()) {
        return bad_input(phrase("line {}: @phase {} is outside any function.", phases.size() + 1, *name));
      }
      now = *phase;
    }
    functions.begin_line();
    functions.read(line);
    phases.push_back(now);  // the line that ends a function still belongs to it
    if (functions.has_ended()) now = CodePhase::none;
  }
  return phases;
}

}  // namespace attn::gpu
