// The order in which a run of several lanes was recorded, in words that a test reads.
#pragma once

#include <string>

#include "kernels/model/order_row.h"
#include "kernels/recording/recording.h"

namespace attn {

// "load_kv0 load_kv1 scores0 ...": the phase of each step, and its lane where it has one.
inline std::string walk_of(const Recording& rec) {
  std::string walk;
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    const auto lane = rec.lane_of(e);
    walk += std::string(name_of(rec.events[e].id.phase)) + (lane ? std::to_string(*lane) : "") + " ";
  }
  return walk;
}

}  // namespace attn
