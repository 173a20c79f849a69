#include "kernels/base/hash.h"

#include <fmt/format.h>

namespace attn {
namespace {

constexpr std::uint64_t kPrime = 0x100000001b3;
constexpr std::uint64_t kStart = 0xcbf29ce484222325, kOtherStart = 0x9ae16a3b2f90404f;

std::uint64_t fnv1a(std::span<const std::byte> bytes, std::uint64_t h) {
  for (const std::byte b : bytes) h = (h ^ std::to_integer<std::uint64_t>(b)) * kPrime;
  return h;
}

}  // namespace

std::string hash_of(std::span<const std::byte> bytes) {
  return fmt::format("{:016x}{:016x}", fnv1a(bytes, kStart), fnv1a(bytes, kOtherStart));
}

std::string hash_of(std::string_view text) {
  return hash_of(std::as_bytes(std::span(text.data(), text.size())));
}

std::string short_hash_of(std::span<const std::byte> bytes) {
  return fmt::format("{:016x}", fnv1a(bytes, kStart));
}

std::string short_hash_of(std::string_view text) {
  return short_hash_of(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace attn
