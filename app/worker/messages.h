// The worker's requests and answers as JSON: written and read by the two sides, here alone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/worker/requests.h"
#include "kernels/base/result.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/stamps/stamps.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/measurement.h"
#include "profiling/figures/samples.h"
#include "profiling/measure/turn.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

nlohmann::json to_json(const GpuRunRequest& r);
// `inputs` is left null; "generate" says whether tensors follow.
struct ReadRequest {
  GpuRunRequest request;
  bool generate = false;
};
Result<ReadRequest> run_request_from(const nlohmann::json& j);

nlohmann::json to_json(const Point& p);
Result<Point> point_from(const nlohmann::json& j);
nlohmann::json to_json(const Point& p, const Turn& turn);
Result<std::vector<double>> turn_samples_from(const nlohmann::json& j);
Result<Turn> turn_from(const nlohmann::json& j);
nlohmann::json to_json(const Measurement& m, bool lost);
Result<Measurement> measurement_from(const nlohmann::json& j);
nlohmann::json to_json(const KernelSamples& s, bool lost);
Result<KernelSamples> samples_from(const nlohmann::json& j);
nlohmann::json to_json(const Heartbeat& h, bool lost);
Result<Heartbeat> heartbeat_from(const nlohmann::json& j);
gpu::StampRequest stamp_request_from(const nlohmann::json& j);
nlohmann::json to_json(const KernelCounts& c, bool lost);
Result<KernelCounts> counts_from(const nlohmann::json& j);

nlohmann::json to_json(const GpuRunAnswer& a);
Result<GpuRunAnswer> run_answer_from(const nlohmann::json& j);
// Without outputs and trace, which travel as bytes.
nlohmann::json to_json(const GpuRecordAnswer& a);
Result<GpuRecordAnswer> record_answer_from(const nlohmann::json& j);
nlohmann::json to_json(const GpuHello& h);
Result<GpuHello> hello_from(const nlohmann::json& j);

nlohmann::json error_json(const Error& e, bool lost);
Error error_from(const nlohmann::json& j);

// A kernel of the user's own, in the key "own" of every request that names it: a worker may be a new one.
nlohmann::json to_json(const gpu::OwnKernel& own);
Result<std::shared_ptr<const gpu::OwnKernel>> own_kernel_from(const nlohmann::json& j);

// Both sides are this program: a message that does not fit is a fault of it, told with the reader's own words.
template <class T>
Result<T> guarded(const std::function<Result<T>()>& read) {
  try {
    return read();
  } catch (const nlohmann::json::exception& wrong) {
    return fail(ErrorKind::failed, fmt::format("a message between program and worker is broken: {}", wrong.what()));
  }
}

// Text to an object with the key `is` or `do`; an error in place of an exception.
Result<nlohmann::json> parse_message(const std::string& text);

}  // namespace attn
