#include "kernels/gpu/compile/listing/sass.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "kernels/base/letters.h"
#include "kernels/base/text.h"

namespace attn::gpu {
namespace {

constexpr std::string_view kPtx = ".nv_debug_ptx_txt";  // the section that holds it

template <class T>
std::optional<T> number(std::string_view text, int base) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// `File "NAME", line N`, at the beginning of a text.
struct Place {
  std::string_view file;
  std::uint32_t line = 0;
};
std::optional<Place> place_of(std::string_view text) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ";
  if (!text.starts_with(kFile)) return std::nullopt;
  text.remove_prefix(kFile.size());
  const std::size_t end = text.find(kLine);
  if (end == std::string_view::npos) return std::nullopt;
  const auto line = number<std::uint32_t>(text.substr(end + kLine.size()), 10);
  if (!line) return std::nullopt;
  return Place{text.substr(0, end), *line};
}

struct KindRow {
  InstructionKind kind;
  std::string_view name, words;
};
constexpr std::array<KindRow, kInstructionKinds> kKinds{{
    {InstructionKind::fma, "fma", "FMA"},
    {InstructionKind::tensor, "tensor", "tensor"},
    {InstructionKind::mufu, "mufu", "MUFU"},
    {InstructionKind::shared, "shared", "shared"},
    {InstructionKind::global, "global", "global"},
    {InstructionKind::barrier, "barrier", "barrier"},
    {InstructionKind::other, "other", "integer, other"},
}};

// Opcodes that are not `other`. A uniform one (UBLKCP) asks for the same part as its sister.
struct OpcodeRow {
  std::string_view opcode;
  InstructionKind kind;
};
constexpr OpcodeRow kOpcodes[] = {
    {"FFMA", InstructionKind::fma},          {"FFMA2", InstructionKind::fma},
    {"FADD", InstructionKind::fma},          {"FADD2", InstructionKind::fma},
    {"FMUL", InstructionKind::fma},          {"FMUL2", InstructionKind::fma},
    {"HMMA", InstructionKind::tensor},       {"HGMMA", InstructionKind::tensor},
    {"IMMA", InstructionKind::tensor},       {"QGMMA", InstructionKind::tensor},
    {"UTCHMMA", InstructionKind::tensor},    {"MUFU", InstructionKind::mufu},
    {"LDS", InstructionKind::shared},        {"LDSM", InstructionKind::shared},
    {"STS", InstructionKind::shared},        {"STSM", InstructionKind::shared},
    {"ATOMS", InstructionKind::shared},      {"LDG", InstructionKind::global},
    {"STG", InstructionKind::global},        {"LDGSTS", InstructionKind::global},
    {"LD", InstructionKind::global},         {"ST", InstructionKind::global},
    {"RED", InstructionKind::global},        {"ATOMG", InstructionKind::global},
    {"LDL", InstructionKind::global},        {"STL", InstructionKind::global},
    {"UTMALDG", InstructionKind::global},    {"UTMASTG", InstructionKind::global},
    {"UBLKCP", InstructionKind::global},     {"BAR", InstructionKind::barrier},
    {"DEPBAR", InstructionKind::barrier},    {"LDGDEPBAR", InstructionKind::barrier},
    {"WARPSYNC", InstructionKind::barrier},  {"SYNCS", InstructionKind::barrier},
    {"WARPGROUP", InstructionKind::barrier},
};

class Reader {
 public:
  Reader() { chain_number({}); }

  void read(std::string_view line) {
    line = trimmed(line);
    if (line.starts_with("/*")) return read_instruction(line);
    const bool frame = line.starts_with("//## ");
    if (frame) {
      read_frame(line.substr(5));
    } else if (line.starts_with(".section\t") || line.starts_with(".section ")) {
      read_section(line);
    } else if (line.starts_with(".type") && line.ends_with(",@function")) {
      read_function(trimmed(line.substr(5)));
    }
    in_frames_ = frame;
  }
  Sass take() { return std::move(sass_); }
  std::size_t instructions() const { return count_; }

 private:
  // Lines of places that follow each other are one chain; that of the PTX stands by itself.
  void read_frame(std::string_view text) {
    const auto place = place_of(text);
    if (!place) return;
    if (place->file.starts_with(kPtx)) {
      ptx_ = place->line;
      return;
    }
    if (!in_frames_) frames_.clear();
    const auto [at, is_new] =
        files_.try_emplace(std::string(place->file), static_cast<std::uint32_t>(sass_.files.size()));
    if (is_new) sass_.files.emplace_back(place->file);
    frames_.push_back({at->second, place->line});
  }
  void read_section(std::string_view line) {
    constexpr std::string_view kText = ".text.";
    const std::size_t at = line.find(kText);
    in_code_ = at != std::string_view::npos;
    forget_lines();
    if (!in_code_) return;
    const std::string_view rest = line.substr(at + kText.size());
    sass_.functions.push_back({std::string(rest.substr(0, rest.find_first_of(", \t"))), {}, {}});
  }
  // ".type  NAME,@function": the section's own, or a routine within it.
  void read_function(std::string_view text) {
    if (!in_code_) return;
    SassFunction& function = sass_.functions.back();
    const std::string_view name = text.substr(0, text.rfind(','));
    if (name == function.name) return;
    forget_lines();
    function.routines.push_back({std::string(name), static_cast<std::uint32_t>(function.instructions.size())});
  }
  void forget_lines() {
    frames_.clear();
    ptx_ = 0;
  }
  // "/*0010*/   IMAD R1, R2, R3, R4 ;"; the second half of an encoding has no text.
  void read_instruction(std::string_view line) {
    in_frames_ = false;
    const std::size_t end = line.find("*/");
    if (!in_code_ || end == std::string_view::npos) return;
    const auto address = number<std::uint32_t>(line.substr(2, end - 2), 16);
    std::string_view text = trimmed(line.substr(end + 2));
    const std::size_t semicolon = text.rfind(';');
    if (!address || semicolon == std::string_view::npos) return;
    text = trimmed(text.substr(0, semicolon));
    Instruction instruction{*address, chain_number(frames_), ptx_, kind_of(text), std::string(text)};
    sass_.functions.back().instructions.push_back(std::move(instruction));
    ++count_;
  }
  std::uint32_t chain_number(const std::vector<SourceFrame>& frames) {
    std::vector<std::uint64_t> key;
    key.reserve(frames.size());
    for (const SourceFrame& f : frames) key.push_back(std::uint64_t{f.file} << 32 | f.line);
    const auto [at, is_new] = chains_.try_emplace(std::move(key), static_cast<std::uint32_t>(sass_.chains.size()));
    if (is_new) sass_.chains.push_back(frames);
    return at->second;
  }

  Sass sass_;
  std::map<std::string, std::uint32_t, std::less<>> files_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> chains_;
  std::vector<SourceFrame> frames_;
  std::uint32_t ptx_ = 0;
  std::size_t count_ = 0;
  bool in_code_ = false, in_frames_ = false;
};

}  // namespace

std::string_view name_of(InstructionKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].name;
}

std::string_view words_of(InstructionKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].words;
}

std::string_view opcode_of(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('@')) text = trimmed(text.substr(std::min(text.size(), text.find(' '))));
  return text.substr(0, text.find_first_of(". \t"));
}

InstructionKind kind_of(std::string_view text) {
  const std::string_view opcode = opcode_of(text);
  const auto* at = std::ranges::find(kOpcodes, opcode, &OpcodeRow::opcode);
  return at == std::end(kOpcodes) ? InstructionKind::other : at->kind;
}

Result<Sass> parse_sass(std::string_view text) {
  Reader reader;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    reader.read(line);
  }
  if (reader.instructions() == 0) {
    return fail(ErrorKind::failed, tr("nvdisasm printed no instructions for this machine code."));
  }
  return reader.take();
}

}  // namespace attn::gpu
