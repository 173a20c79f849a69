// What a backward reads of its forward: O and LSE.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "kernels/base/pieces.h"
#include "kernels/base/result.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"

namespace attn {

// The forward of the same problem.
Problem forward_of(const Problem& p);

// Fills O and LSE of a backward's inputs where they are missing, by cpu_flash on the stream's threads; of a forward
// nothing. `memory_limit` 0 = what the machine has free.
Result<void> add_forward(const Problem& p, Inputs& in, std::uint64_t memory_limit, const Stream& stream);

// make_inputs(), and of a backward what its forward gives.
Result<Inputs> make_all_inputs(const Problem& p, const InputSpec& spec, const TakePieces& take,
                               std::uint64_t memory_limit, const Stream& stream);

// The same where nobody may wait for all of it.
class AllInputsRun {
 public:
  AllInputsRun(Problem p, InputSpec spec);
  ~AllInputsRun();
  AllInputsRun(const AllInputsRun&) = delete;
  AllInputsRun& operator=(const AllInputsRun&) = delete;

  // Until `pause` answers true, or to the end where there is none; whether they are there.
  Result<bool> go_on(const Pause& pause);
  // Once, when they are there.
  Inputs take() { return std::move(in_); }

 private:
  class Forward;
  Result<bool> generate(const Pause& pause);

  Problem p_;
  InputSpec spec_;
  WalkMark mark_;
  std::optional<Generated> generated_ = Generated{};  // until the inputs are made of it
  Inputs in_;
  std::unique_ptr<Forward> forward_;
};

}  // namespace attn
