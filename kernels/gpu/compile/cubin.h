// A kernel's machine code as a file: an ELF with what the compiler notes of it. Pure; a damaged one says nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace attn::gpu {

// ELF, 64 bits, little-endian, machine type CUDA.
bool is_cubin(std::span<const std::byte> code);

// Empty where there is none.
std::span<const std::byte> section_of(std::span<const std::byte> cubin, std::string_view name);

// Bytes of each parameter of an entry, in their order. None: the cubin does not say, or has no such entry.
std::optional<std::vector<std::uint32_t>> parameter_bytes(std::span<const std::byte> cubin, std::string_view entry);

}  // namespace attn::gpu
