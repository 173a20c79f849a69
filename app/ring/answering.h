// A rank's side of its asker's socket, on a CPU or a GPU: request after request, and the error that ends it.
#pragma once

#include <functional>
#include <span>

#include <nlohmann/json.hpp>

#include "app/system/child_process.h"
#include "kernels/base/result.h"

namespace attn {

// To whoever asks; nobody there: the next receive() ends the rank.
void answer_asker(Socket& asker, const nlohmann::json& text, std::span<const std::byte> bytes);

// Answers until whoever asks is gone, or a request fails: `error_of` makes the last answer. The process's exit code.
int answer_requests(Socket& asker, const std::function<Result<void>(const Message&)>& answer,
                    const std::function<nlohmann::json(const Error&)>& error_of);

}  // namespace attn
