// The time that everything measures with.
#pragma once

#include <functional>

namespace attn {

// Seconds from some fixed moment; tests put their own in its place.
using Clock = std::function<double()>;
// Of this machine: never set back, unlike the time of day.
double steady_seconds();

}  // namespace attn
