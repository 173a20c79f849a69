// What a ring's ranks are asked and what they answer, and what they send to each other.
//
//   request   {"do": "deal", "rank", "kernel", "problem", "options"}
//             + the rank's rows of Q (of a backward also of O, LSE and dO), its share of K and V, then the whole bias
//   answer    {"is": "ready"}
//   request   {"do": "link"}: every rank sends its share to the right, several times, and computes nothing
//   answer    {"is": "done", "us": of each sending, "bytes"}
//   request   {"do": "go"}: a whole ring
//   answers   {"is": "news", "turn", "waits": whether it is done but for its neighbours}, any number of times
//             {"is": "done", "spans": [[what, turn, begin_us, end_us], ...], "sent"}
//             + its rows of O and LSE, or of dQ, delta, dK and dV
//   or        {"is": "error", "kind", "message", "neighbour": whether it is one that is gone}
//   to the right   {"share": whose it has in this turn} + the share's rows of K and V, in the problem's dtype; of a
//             backward then the sums of dK and dV of the share that it had in the turn before, in f32: key by key
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/base/result.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"
#include "profiling/figures/ranks.h"

namespace attn {

struct DealRequest {
  std::int64_t rank = 0;
  std::string kernel;
  Problem problem;
  Options options;  // resolved
};
nlohmann::json to_json(const DealRequest& r);
Result<DealRequest> deal_request_from(const nlohmann::json& j);

// Their times are since the machine's clock began, which all its processes share.
nlohmann::json to_json(const std::vector<RankSpan>& spans);
Result<std::vector<RankSpan>> spans_from(const nlohmann::json& j);

}  // namespace attn
