// The numbers that a backward's steps join, and what stands behind its cells.
#pragma once

#include <cstdint>

#include "viz/draw/text_runs.h"
#include "viz/step/orders/work.h"

namespace attn::looks {

void work_delta(const StepWork& c);
void work_weights(const StepWork& c);
void work_weight_gradient(const StepWork& c);
void work_score_gradient(const StepWork& c);
void work_value_gradient(const StepWork& c);
void work_key_gradient(const StepWork& c);
void work_query_gradient(const StepWork& c);
void work_add_sums(const StepWork& c);

TextRuns say_weight(const StepWork& c, std::int32_t row, std::int32_t col);
TextRuns say_score_gradient(const StepWork& c, std::int32_t row, std::int32_t col);
TextRuns say_lse(const StepWork& c, std::int32_t row, std::int32_t col);
TextRuns say_output(const StepWork& c, std::int32_t row, std::int32_t col);

}  // namespace attn::looks
