#pragma once

#include <cmath>

#include "kernels/base/text.h"
#include "kernels/formats/json_fields.h"

namespace attn {

// A number within [least, most]; NaN only where `nan_too`.
inline double number_in(JsonFields& fields, const char* key, double min, double max, bool nan_too = false) {
  const double value = fields.number(key);
  if (std::isnan(value) ? nan_too : value >= min && value <= max) return value;
  fields.refuse(key, phrase("is {}; use {} to {}", value, min, max));
  return min;
}

}  // namespace attn
