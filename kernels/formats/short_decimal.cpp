#include "kernels/formats/short_decimal.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace attn {
namespace {

constexpr std::uint64_t kExact = 1ULL << 53;  // whole numbers up to here are doubles, and so are the powers below
constexpr int kMostPower = 22;
constexpr std::array<double, kMostPower + 1> kPowers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Reads the power behind an "e"; where no digit follows the number ends before it.
int power_at(const char*& at) {
  if (*at != 'e' && *at != 'E') return 0;
  const bool minus = at[1] == '-';
  const char* digit = at + (minus || at[1] == '+' ? 2 : 1);
  if (!is_digit(*digit)) return 0;
  int power = 0;
  for (; is_digit(*digit); ++digit) power = std::min(power * 10 + (*digit - '0'), 10 * kMostPower);
  at = digit;
  return minus ? -power : power;
}

}  // namespace

std::optional<double> short_decimal(const char* text, const char*& end) {
  const bool minus = *text == '-';
  const char* at = text + (minus ? 1 : 0);
  if (!is_digit(*at) || (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))) return std::nullopt;
  std::uint64_t whole = 0;
  int power = 0;
  for (bool point = false; is_digit(*at) || (*at == '.' && !point); ++at) {
    if (*at == '.') {
      point = true;
      continue;
    }
    whole = whole * 10 + static_cast<std::uint64_t>(*at - '0');
    if (whole > kExact) return std::nullopt;
    if (point && --power < -kMostPower) return std::nullopt;
  }
  power += power_at(at);
  if (power < -kMostPower || power > kMostPower) return std::nullopt;
  const double scale = kPowers.at(static_cast<std::size_t>(power < 0 ? -power : power));
  const double value = power < 0 ? static_cast<double>(whole) / scale : static_cast<double>(whole) * scale;
  end = at;
  return minus ? -value : value;
}

}  // namespace attn
