#include "viz/learn/lesson/exercise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/model/inputs/generators.h"
#include "viz/learn/lesson/lesson_expression.h"

namespace attn {
namespace {

double drawn(const DrawnName& name, std::uint64_t bits) {
  if (!name.of.empty()) return name.of[bits % name.of.size()];
  // 0.1 * 3 is no 0.3: the last step may be a rounding short of `to`.
  const double steps = std::floor((name.to - name.from) / name.step + 1e-9);
  return name.from + name.step * static_cast<double>(bits % (static_cast<std::uint64_t>(steps) + 1));
}

}  // namespace

Result<void> draw_numbers(const ExercisePlan& plan, std::uint64_t key, ExpressionScope& scope) {
  auto numbers = std::make_shared<DrawnNumbers>();
  scope.drawn = numbers;
  std::uint64_t index = 0;
  for (const DrawnName& name : plan.draw) {
    std::vector<double> values;
    for (std::int32_t n = 0; n < std::max(name.count, 1); ++n) values.push_back(drawn(name, random_bits(key, index++)));
    (*numbers)[name.name] = std::move(values);
  }
  for (const LetName& let : plan.let) {
    auto value = evaluate(let.value, scope);
    if (!value) return bad_input(phrase("field 'let', {}: {}", let.name, value.error().message));
    (*numbers)[let.name] = *std::move(value);
  }
  return ok();
}

}  // namespace attn
