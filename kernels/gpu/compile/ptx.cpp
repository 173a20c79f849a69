#include "kernels/gpu/compile/ptx.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace attn::gpu {
namespace {

// Where things lie in a 64-bit ELF file, in bytes.
constexpr std::size_t kSectionsAt = 40, kSectionSizeAt = 58, kSectionCountAt = 60, kNamesAt = 62;
constexpr std::size_t kNameAt = 0, kOffsetAt = 24, kSizeAt = 32, kSectionBytes = 64;
constexpr std::size_t kElfHeader = 64;
constexpr unsigned kMachineCuda = 190;  // EM_CUDA
constexpr std::string_view kSection = ".nv_debug_ptx_txt";

template <class T>
std::optional<T> number_at(std::span<const std::byte> bytes, std::uint64_t at) {
  T value{};
  if (at > bytes.size() || bytes.size() - at < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::span<const std::byte> part_of(std::span<const std::byte> bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || size > bytes.size() - at) return {};
  return bytes.subspan(at, size);
}

class Elf {
 public:
  explicit Elf(std::span<const std::byte> bytes) : bytes_(bytes) {
    sections_ = number_at<std::uint64_t>(bytes, kSectionsAt).value_or(0);
    count_ = number_at<std::uint16_t>(bytes, kSectionCountAt).value_or(0);
    if (number_at<std::uint16_t>(bytes, kSectionSizeAt).value_or(0) != kSectionBytes) count_ = 0;
    names_ = contents(number_at<std::uint16_t>(bytes, kNamesAt).value_or(0));
  }
  std::span<const std::byte> section(std::string_view name) const {
    for (std::uint64_t n = 0; n < count_; ++n)
      if (name_of(n) == name) return contents(n);
    return {};
  }

 private:
  std::span<const std::byte> header(std::uint64_t n) const {
    return n < count_ && sections_ <= bytes_.size() ? part_of(bytes_, sections_ + n * kSectionBytes, kSectionBytes)
                                                    : std::span<const std::byte>();
  }
  std::span<const std::byte> contents(std::uint64_t n) const {
    const auto at = number_at<std::uint64_t>(header(n), kOffsetAt), size = number_at<std::uint64_t>(header(n), kSizeAt);
    return at && size ? part_of(bytes_, *at, *size) : std::span<const std::byte>();
  }
  std::string_view name_of(std::uint64_t n) const {
    const auto at = number_at<std::uint32_t>(header(n), kNameAt);
    if (!at || *at >= names_.size()) return {};
    const std::string_view rest(reinterpret_cast<const char*>(names_.data()) + *at, names_.size() - *at);
    return rest.substr(0, rest.find('\0'));
  }

  std::span<const std::byte> bytes_, names_;
  std::uint64_t sections_ = 0, count_ = 0;
};

}  // namespace

bool is_cubin(std::span<const std::byte> code) {
  static constexpr std::array<unsigned char, 6> kElf64{0x7f, 'E', 'L', 'F', 2, 1};
  if (code.size() < kElfHeader || std::memcmp(code.data(), kElf64.data(), kElf64.size()) != 0) return false;
  return std::to_integer<unsigned>(code[18]) + 256 * std::to_integer<unsigned>(code[19]) == kMachineCuda;
}

std::vector<std::string> ptx_of(std::span<const std::byte> cubin) {
  std::vector<std::string> lines;
  if (!is_cubin(cubin)) return lines;
  const std::span<const std::byte> section = Elf(cubin).section(kSection);
  std::string_view text(reinterpret_cast<const char*>(section.data()), section.size());
  while (!text.empty()) {  // a line ends with a zero
    const std::string_view line = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace attn::gpu
