#include "kernels/model/options.h"

namespace attn {

std::string_view name_of(Option o) {
  switch (o) {
    case Option::br:
      return "br";
    case Option::bc:
      return "bc";
    case Option::threads:
      return "threads";
    case Option::stages:
      return "stages";
    case Option::subtract_max:
      return "subtract_max";
    case Option::key_order:
      return "key_order";
    case Option::accumulate:
      return "accumulate";
  }
  return "?";
}

}  // namespace attn
