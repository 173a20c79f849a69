// What Bench shows of its rows, in the state string but not undoable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace attn {

struct BenchView {
  std::string metric = "time_us_median";
  std::string kernel;                 // chosen in Bench where Step cannot show it; empty = the document's
  std::string baseline;               // what speed-ups are over; empty = the default of each device
  std::optional<std::int64_t> value;  // axis value that table and verdict look at
};

}  // namespace attn
