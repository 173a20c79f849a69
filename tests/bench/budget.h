// A budget of the program, measured: a line of the table that the benchmark program ends with.
#pragma once

#include <string>
#include <vector>

namespace attn::bench {

struct Budget {
  std::string what;      // "cpu_flash over cpu_sequential, L = 2048"
  std::string limit;     // ">= 20 x"
  std::string measured;  // "31.2 x"
  bool holds = false;
};

// One benchmark for each CPU kernel of the table.
void register_kernels();

// One function for each part of the program; main.cpp lists them.
std::vector<Budget> cpu_budgets();
std::vector<Budget> recording_budgets();

}  // namespace attn::bench
