// What `attnscope bench` says of a row as it is measured.
#pragma once

#include <span>
#include <string>

#include "kernels/model/axis.h"
#include "profiling/figures/measurement.h"

namespace attn::cli {

// "cpu_flash, br = 32, B=1 H=16 L=512 D=64 f32: 12.1 µs (quartiles ...)". `rows`: those so far.
std::string row_words(const Measurement& m, const Axis& axis, std::span<const Measurement> rows);

}  // namespace attn::cli
