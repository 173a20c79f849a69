// What a user's own .cu says of itself in its first lines, as JSON behind "// attn:". docs/own_kernel.md has the keys.
// What is not declared is refused, and so is a key that is not known. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/dtype.h"
#include "kernels/base/result.h"
#include "kernels/gpu/own_kernel/own_parameter.h"
#include "kernels/gpu/own_kernel/size_expression.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"

namespace attn::gpu {

// The newest version of the header that this program speaks; it speaks those before it, too. 1: functions take Args,
// whose fields are only ever appended. 2: a header lists what each of its functions takes.
constexpr std::int64_t kOwnApi = 2;

constexpr std::uint32_t kMaxParameterBytes = 4096;  // of a launch
constexpr std::uint32_t kMaxArgsBytes = 256;        // Args, whatever the problem

// One launch.
struct OwnEntry {
  std::string name;  // of an extern "C" __global__ function
  std::array<SizeExpression, 3> grid{SizeExpression::constant(1), SizeExpression::constant(1),
                                     SizeExpression::constant(1)};
  std::array<SizeExpression, 3> block = grid;
  SizeExpression shared = SizeExpression::constant(0);  // bytes of dynamic shared memory
  // Of api 2.
  bool clustered = false;  // it said so
  std::array<SizeExpression, 3> cluster = grid;
  std::vector<OwnParameter> parameters;
};

// Memory of the kernel's own, of any content when a run begins.
struct OwnScratch {
  std::string name;
  SizeExpression bytes;
  bool zero = false;  // 0 before the first launch; the kernel leaves it so
};

// The head dimensions that are taken: these, or where there are none min, min + step, ... max.
struct OwnDims {
  std::vector<std::int64_t> values;
  std::int64_t min = 1, max = kMaxHeadDim, step = 1;
  bool take(std::int64_t d) const;
  std::int64_t nearest(std::int64_t d) const;  // that is taken
  std::string words() const;                   // "64 or 128", "1 to 256", "16 to 128 in steps of 16"
};

// What it records of itself where it is asked to (docs/own_kernel.md).
struct OwnTimeline {
  std::string entry;                // of the launch
  std::int32_t lanes = 0;           // of a block; 0: it records nothing
  std::vector<std::string> states;  // what the second argument of ATTN_STATE may be
};
constexpr std::size_t kMostOwnStates = 24;
constexpr std::int64_t kMostOwnLanes = 32;

struct OwnHeader {
  std::int64_t api = 1;
  std::vector<OwnEntry> entries;  // launched in this order
  std::vector<DType> dtypes;
  OwnDims d, dv;
  bool dv_is_d = true;  // dv was not declared: Dv = D alone
  bool causal = false, window = false, key_lengths = false, bias = false, softcap = false, alibi = false;
  bool grouped = false;        // takes fewer key heads than query heads
  bool stores_scores = false;  // Args::s and Args::p point to room for S and P
  OwnTimeline timeline;
  std::vector<OptionSpec> options;
  // Of api 2; what is left out is as in api 1.
  Pass pass = Pass::forward;
  std::vector<AxisOrder> layouts{AxisOrder::bhld};
  std::vector<OwnScratch> scratch;

  // Clusters or tensor maps: what GPUs have since compute capability 9.0.
  bool wants_hopper() const;
};

// From a whole source text. `name` is the file's, for messages: "my.cu, line 3: ...".
Result<OwnHeader> parse_own_header(std::string_view text, std::string_view name);
// A problem like `p` that head dimensions and grouped heads do not stand against: a list of problems made for kernels
// that take all of them would else leave few.
Problem fitted(const OwnHeader& header, Problem p);
// The header takes the problem, or why not. The dtype is the row's own affair (check_takes).
Result<void> check_declared(const OwnHeader& header, const Problem& p, std::string_view id);

}  // namespace attn::gpu
