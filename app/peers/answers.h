// What a peer's process says, read. Strangers wrote it: what is no answer is told to be none. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/base/array.h"
#include "kernels/base/result.h"
#include "kernels/model/problem/problem.h"

namespace attn {

struct PeerHello {
  std::string software;  // "Python 3.12.3, torch 2.11.0+cu130, CUDA 13.0, cuDNN 9.19.0"
  std::string device;    // the GPU's name; empty: the CPU, or it does not say
};

struct PeerAnswer {
  Outputs outputs;           // as outputs_of_peer() has them
  std::string how;           // what was done to mask and heads
  double us = 0;             // one run
  std::string package = {};  // what beside torch computed it: "flash_attn 2.8.3"; empty: nothing
};

// One message of it: what was wanted, or an error of its own. `lost`: its GPU is lost to it.
struct PeerReply {
  nlohmann::json fields;
  std::optional<Error> error = {};
  bool lost = false;
};

// What a peer hands out of a problem: O, or the gradients of a backward; not filled.
Outputs outputs_of_peer(const Problem& p);
std::uint64_t bytes_of(const Outputs& out);

// None of each: it is no answer.
std::optional<PeerReply> read_reply(std::string_view text, std::string_view wanted);
std::optional<PeerHello> read_hello(const nlohmann::json& fields);
std::optional<PeerAnswer> read_answer(const nlohmann::json& fields, std::span<const std::byte> out, const Problem& p);
std::optional<std::vector<double>> read_times(const nlohmann::json& fields, std::int32_t repeats);

// The longest text that an answer with so many times may have.
std::uint64_t longest_reply(std::int32_t times);

}  // namespace attn
