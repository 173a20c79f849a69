// What a sweep varies, by name: an extent of the problem, or an option that a kernel declares.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"

namespace attn {

// How an axis of the problem changes it. L, B, H and D are every kernel's; a row may declare further ones
// (KernelRow::axes), which change the problem for all kernels of a sweep. Names as those of options. Texts live as long
// as the program.
struct ProblemAxis {
  std::string_view name{};   // "L": the spelling of --axis, state strings and sentences
  std::string_view title{};  // "length L": in the window
  std::string_view unit{};   // "tokens"
  std::int64_t (*of)(const Problem&) = nullptr;
  // Extents that hang on it follow: those of the bias, KV heads.
  void (*put)(Problem&, std::int64_t value) = nullptr;
  // Takes it out: problems that are equal without it stand on one line of a chart.
  void (*drop)(Problem&) = nullptr;
  std::vector<std::int64_t> (*usual)(const Problem& base) = nullptr;  // values that a sweep begins with
  // What validate() does not say of base with this value; null: nothing.
  Result<void> (*check)(const Problem& base, std::int64_t value) = nullptr;
  bool keeps_tokens = false;  // the batch may follow it, so that B times it stays (SweepSpec::tokens)
};
// L, B, H, D.
std::span<const ProblemAxis> common_axes();

// The extents of a bias that span an axis of the problem follow it; those of 1 are broadcast and stay.
void let_bias_follow(Problem& p, std::size_t axis, std::int64_t from, std::int64_t to);

// The name of an axis. What the name means kernels/ladder.h tells.
class Axis {
 public:
  constexpr Axis() : Axis("L") {}
  // At most Option::kLongestName characters: what is longer is cut, and no axis is called so.
  constexpr explicit Axis(std::string_view name) : size_(std::min(name.size(), name_.size())) {
    std::copy_n(name.begin(), size_, name_.begin());
  }
  constexpr std::string_view name() const& { return {name_.data(), size_}; }
  std::string_view name() const&& = delete;  // it lies within

  bool operator==(const Axis&) const = default;

  static const Axis L, B, H, D, br, bc, threads, stages;

 private:
  std::array<char, Option::kLongestName + 1> name_{};
  std::size_t size_ = 0;
};
inline constexpr Axis Axis::L{"L"};
inline constexpr Axis Axis::B{"B"};
inline constexpr Axis Axis::H{"H"};
inline constexpr Axis Axis::D{"D"};
inline constexpr Axis Axis::br{Option::br.name};
inline constexpr Axis Axis::bc{Option::bc.name};
inline constexpr Axis Axis::threads{Option::threads.name};
inline constexpr Axis Axis::stages{Option::stages.name};

inline std::string_view name_of(const Axis& a) {
  return a.name();
}
std::string_view name_of(Axis&&) = delete;

}  // namespace attn
