#include "kernels/gpu/compile/listing/queue_uses.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string_view>

namespace attn::gpu {
namespace {

constexpr std::size_t kRegisters = 256, kFarthest = 768;  // instructions back
using Registers = std::bitset<kRegisters>;

struct Use {
  std::string_view opcode;
  QueueUse use;
};
// What goes through the queue. Shuffles, votes and special registers do, and are neither of the two.
constexpr auto kUses = std::to_array<Use>({
    {"LDS", QueueUse::shared},
    {"LDSM", QueueUse::shared},
    {"STS", QueueUse::shared},
    {"STSM", QueueUse::shared},
    {"ATOMS", QueueUse::shared},
    {"MUFU", QueueUse::special},
    {"F2F", QueueUse::special},
    {"F2I", QueueUse::special},
    {"I2F", QueueUse::special},
    {"FRND", QueueUse::special},
    {"SHFL", QueueUse::unknown},
    {"S2R", QueueUse::unknown},
    {"S2UR", QueueUse::unknown},
});
std::optional<QueueUse> use_of(std::string_view opcode) {
  const auto* const at = std::ranges::find(kUses, opcode, &Use::opcode);
  return at == kUses.end() ? std::nullopt : std::optional(at->use);
}

// Those that write no register.
constexpr auto kWritesNone = std::to_array<std::string_view>(
    {"STS", "STSM", "STG", "STL", "ST", "RED", "LDGSTS", "BAR", "BRA", "EXIT", "NOP", "R2UR", "FCHK"});

struct Touched {
  Registers written, read;
  std::optional<QueueUse> use;  // nothing: it goes past the queue
};

void put(Registers& registers, std::size_t first, std::size_t count) {
  for (std::size_t n = first; n < std::min(first + count, kRegisters - 1); ++n) registers.set(n);
}

// How many registers an operand of it takes, from the one that is named on.
std::size_t width_of(std::string_view text, std::string_view opcode) {
  if (opcode == "HMMA" || opcode == "IMMA" || text.find(".128") != std::string_view::npos) return 4;
  if (opcode == "LDSM" || opcode == "STSM") {
    if (text.find(".M88.4") != std::string_view::npos) return 4;
    return text.find(".M88.2") != std::string_view::npos ? 2 : 1;
  }
  return text.find(".64") != std::string_view::npos || text.find(".WIDE") != std::string_view::npos ? 2 : 1;
}

// "R12" in a text, at a place where a name begins; R255 is RZ and no register.
std::optional<std::size_t> register_at(std::string_view text, std::size_t at) {
  const auto letter = [&](std::size_t n) { return std::isalnum(static_cast<unsigned char>(text[n])) != 0; };
  if (text[at] != 'R' || (at > 0 && (letter(at - 1) || text[at - 1] == '_'))) return std::nullopt;
  std::size_t number = 0, digits = 0;
  for (std::size_t n = at + 1; n < text.size() && text[n] >= '0' && text[n] <= '9' && digits < 3; ++n, ++digits)
    number = 10 * number + static_cast<std::size_t>(text[n] - '0');
  return digits == 0 || number >= kRegisters ? std::nullopt : std::optional(number);
}

Touched touched_by(const Instruction& i) {
  Touched t;
  std::string_view text = i.text;
  const bool never = text.starts_with("@!PT");
  const std::string_view opcode = opcode_of(text);
  if (!never) t.use = use_of(opcode);
  const std::size_t width = width_of(text, opcode);
  // What comes first is written; an address, in brackets, is read.
  bool writes = std::ranges::find(kWritesNone, opcode) == kWritesNone.end() && !opcode.ends_with("SETP");
  bool address = false;
  const std::size_t begin = static_cast<std::size_t>(opcode.data() - text.data()) + opcode.size();
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (text[at] == '[' || text[at] == ']') address = text[at] == '[';
    const auto number = register_at(text, at);
    if (!number) continue;
    const bool pair = text.substr(std::min(text.size(), text.find_first_of(".,] +", at))).starts_with(".64");
    put(writes && !address ? t.written : t.read, *number, !address ? width : pair ? 2 : 1);
    writes = writes && address;
  }
  return t;
}

// Of what the operands of `code[n]` come from; also what still reads a register that it writes.
QueueUse operands_of(const std::vector<Touched>& code, std::size_t n) {
  Registers wanted = code[n].read;
  const Registers over = code[n].written;
  for (std::size_t back = 1; back <= std::min(n, kFarthest); ++back) {
    const Touched& before = code[n - back];
    const bool makes = (before.written & wanted).any();
    if (before.use && (makes || (before.read & over).any() || (before.written & over).any())) return *before.use;
    if (makes) wanted &= ~before.written;
    if (wanted.none() && over.none()) break;
  }
  return QueueUse::unknown;
}

}  // namespace

std::vector<QueueUses> queue_uses(const SassFunction& function) {
  std::vector<Touched> code;
  code.reserve(function.instructions.size());
  for (const Instruction& i : function.instructions) code.push_back(touched_by(i));
  std::vector<QueueUses> uses(code.size());
  for (std::size_t n = 0; n < code.size(); ++n)
    uses[n] = {code[n].use.value_or(QueueUse::unknown), operands_of(code, n)};
  return uses;
}

}  // namespace attn::gpu
