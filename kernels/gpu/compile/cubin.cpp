#include "kernels/gpu/compile/cubin.h"

#include <array>
#include <cstring>
#include <map>

#include <fmt/format.h>

namespace attn::gpu {
namespace {

// Where things lie in a 64-bit ELF file, in bytes.
constexpr std::size_t kSectionsAt = 40, kSectionSizeAt = 58, kSectionCountAt = 60, kNamesAt = 62;
constexpr std::size_t kNameAt = 0, kOffsetAt = 24, kSizeAt = 32, kSectionBytes = 64;
constexpr std::size_t kElfHeader = 64;
constexpr unsigned kMachineCuda = 190;  // EM_CUDA

// What the compiler notes of a function, record by record: form and attribute, a byte each; then two bytes of value,
// or their number and so many of them.
constexpr std::string_view kNotes = ".nv.info.";
constexpr unsigned kFormSized = 4, kOfParameter = 0x17;
constexpr std::size_t kRecordHead = 4, kOrdinalAt = 4, kBytesAt = 8, kParameterRecord = 12;
constexpr unsigned kBytesShift = 18;

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

std::span<const std::byte> section_of(std::span<const std::byte> cubin, std::string_view name) {
  return is_cubin(cubin) ? Elf(cubin).section(name) : std::span<const std::byte>();
}

std::optional<std::vector<std::uint32_t>> parameter_bytes(std::span<const std::byte> cubin, std::string_view entry) {
  std::span<const std::byte> notes = section_of(cubin, fmt::format("{}{}", kNotes, entry));
  std::map<std::uint16_t, std::uint32_t> sizes;  // by ordinal: the records stand in any order
  while (notes.size() >= kRecordHead) {
    const bool sized = std::to_integer<unsigned>(notes[0]) == kFormSized;
    const std::size_t size = kRecordHead + (sized ? *number_at<std::uint16_t>(notes, 2) : 0U);
    if (size > notes.size()) break;
    if (sized && std::to_integer<unsigned>(notes[1]) == kOfParameter && size - kRecordHead >= kParameterRecord) {
      const std::span<const std::byte> record = notes.subspan(kRecordHead);
      sizes[number_at<std::uint16_t>(record, kOrdinalAt).value_or(0)] =
          number_at<std::uint32_t>(record, kBytesAt).value_or(0) >> kBytesShift;
    }
    notes = notes.subspan(size);
  }
  if (sizes.empty()) return std::nullopt;
  std::vector<std::uint32_t> bytes;
  bytes.reserve(sizes.size());
  for (const auto& [ordinal, size] : sizes) bytes.push_back(size);
  return bytes;
}

}  // namespace attn::gpu
