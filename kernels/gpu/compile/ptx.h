// The PTX that a cubin with line information carries with it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace attn::gpu {

// Its lines, numbered from 1 as Instruction::ptx is: [0] is line 1. Empty where the cubin holds none or is damaged.
std::vector<std::string> ptx_of(std::span<const std::byte> cubin);

}  // namespace attn::gpu
