// Functions with their instructions, which samples and counts list alike, read some instructions at a time.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "kernels/base/result.h"
#include "kernels/base/text.h"
#include "kernels/formats/json_fields.h"

namespace attn {

constexpr std::size_t kMaxInstructions = 1 << 18;  // of a function; ours have 16 thousand at most
constexpr std::size_t kInstructionsAStep = 500;    // in a browser some milliseconds

// Goes on behind the functions and instructions that `k` has. `read` says what is wrong with one, or reads it. Whether
// all are read.
template <class Kernel, class Read>
Result<bool> read_some_instructions(const nlohmann::json& list, const std::string& where, Kernel& k, Read read) {
  auto& functions = k.functions;
  for (std::size_t left = kInstructionsAStep; left > 0; --left) {
    const std::size_t last = functions.size() - 1;  // that may have more
    if (functions.empty() || functions.back().instructions.size() == list[last].at("instructions").size()) {
      if (functions.size() == list.size()) return true;
      JsonFields fields(list[functions.size()], phrase("{}, function {}", where, functions.size()));
      auto& f = functions.emplace_back();
      f.name = fields.text("name");
      if (fields.array("instructions").size() > kMaxInstructions)
        fields.refuse("instructions", phrase("has more than {}", kMaxInstructions));
      if (auto good = fields.result(); !good) return tl::unexpected(good.error());
      continue;
    }
    auto& instructions = functions.back().instructions;
    const std::size_t n = instructions.size();
    auto& i = instructions.emplace_back();
    if (const std::string wrong = read(list[last]["instructions"][n], k, i); !wrong.empty())
      return bad_input(phrase("{}, function {}: instruction {} {}.", where, last, n, wrong));
    if (n > 0 && i.address <= instructions[n - 1].address)
      return bad_input(phrase("{}, function {}: instruction {} does not come after the previous one.", where, last, n));
  }
  return false;
}

}  // namespace attn
