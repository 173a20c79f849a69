// A budget of the program, measured: a line of the table that the benchmark program ends with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attn::bench {

enum class Outcome : std::uint8_t { holds, missed, not_here };

struct Budget {
  std::string what;      // "cpu_flash over cpu_sequential, L = 2048"
  std::string limit;     // ">= 20 x"
  std::string measured;  // "31.2 x"; of what cannot be measured here, why
  Outcome outcome = Outcome::missed;
};

inline Outcome held(bool holds) {
  return holds ? Outcome::holds : Outcome::missed;
}

// One benchmark for each CPU kernel of the table.
void register_kernels();

// One function for each part of the program; main.cpp lists them.
std::vector<Budget> cpu_budgets();
std::vector<Budget> recording_budgets();
std::vector<Budget> gui_budgets();
std::vector<Budget> gpu_budgets();
std::vector<Budget> scrub_budgets();

}  // namespace attn::bench
