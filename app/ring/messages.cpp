#include "app/ring/messages.h"

#include <algorithm>
#include <utility>

#include "app/worker/messages.h"
#include "kernels/model/problem_json.h"

namespace attn {

using nlohmann::json;

json to_json(const DealRequest& r) {
  return {{"do", "deal"},
          {"rank", r.rank},
          {"kernel", r.kernel},
          {"problem", problem_to_json(r.problem)},
          {"options", options_to_json(r.options)}};
}

Result<DealRequest> deal_request_from(const json& j) {
  return guarded<DealRequest>([&]() -> Result<DealRequest> {
    auto problem = problem_from_json(j.at("problem"), "problem");
    if (!problem) return tl::unexpected(problem.error());
    auto options = options_from_json(j.at("options"), "options");
    if (!options) return tl::unexpected(options.error());
    return DealRequest{j.at("rank"), j.at("kernel"), *std::move(problem), *std::move(options)};
  });
}

json to_json(const std::vector<RankSpan>& spans) {
  json all = json::array();
  for (const RankSpan& s : spans) all.push_back({name_of(s.work), s.turn, s.begin_us, s.end_us});
  return all;
}

Result<std::vector<RankSpan>> spans_from(const json& j) {
  return guarded<std::vector<RankSpan>>([&]() -> Result<std::vector<RankSpan>> {
    std::vector<RankSpan> spans;
    for (const json& one : j) {
      const auto* work = std::ranges::find(kRankWorks, one.at(0).get<std::string>());
      if (work == kRankWorks.end()) return bad_input("a rank reports unknown work");
      spans.push_back({static_cast<RankWork>(work - kRankWorks.begin()), one.at(1), one.at(2), one.at(3)});
    }
    return spans;
  });
}

}  // namespace attn
