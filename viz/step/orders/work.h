// The numbers that a step's formula joins: those of the followed row, as recorded. Each order's phases say which
// (PhaseLook::work); what they put in is what the step's texts name. Pure.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact.h"
#include "viz/draw/inks.h"
#include "viz/draw/number_text.h"
#include "viz/step/place/place.h"

namespace attn {

struct StepNumber {
  std::string text;
  Ink ink;
  bool value = false;    // a number of the computation, not a count or an index
  bool differs = false;  // not what the formula makes of its operands: the kernel broke its rule (a museum piece)
};

struct StepValues {
  std::map<std::string, StepNumber, std::less<>> numbers;  // by placeholder; only what this step holds
  std::set<std::string, std::less<>> conditions;
  std::int32_t key = -1;  // the key that the text follows: the pinned one, else the row's largest visible score
  std::int32_t col = 0;   // the column of O that the text follows
  bool agrees = true;     // printed inputs give the printed result
};

struct StepWork {
  const Recording& rec;
  const StepPlace& at;
  const ExactTile* exact;
  StepValues& out;
  // Of the followed row before and after this key tile. Before its first tile a row has m = -inf, l = 0, O = 0
  // (FlashAttention-2, algorithm 1), recorded or not.
  double m_old = 0, m_new = 0, l_old = 0, o_old = 0;

  static constexpr int kResultDigits = 5;

  // A number of the followed row after this step.
  std::optional<double> live(Slot slot, std::int32_t col = 0) const;
  double bound(Slot slot, std::int32_t col = 0) const;
  // l after the last tile: new is old then.
  std::optional<double> newest_sum() const;
  // What is rounded at every addition does not follow from the operands that stand in the formula.
  bool narrow() const { return rec.options.accumulate != DType::f32; }

  void put(const std::string& name, std::string text, Ink ink = Token::text) const;
  void put(const std::string& name, std::int64_t n) const { put(name, std::to_string(n)); }
  void put_value(const std::string& name, std::string text, Ink ink) const;
  void put_number(const std::string& name, double x, Ink ink, double within = 0) const;

  struct Operand {
    const char* name;
    double value;
    Ink ink;
  };
  // Operands with as many digits as the result's text takes, and no fewer than `least`.
  template <class Formula>
  void work(std::initializer_list<Operand> operands, const char* result_name, double result, Ink ink, double within,
            const Formula& formula, int least = 4) const {
    std::vector<double> values;
    for (const Operand& o : operands) values.push_back(o.value);
    const WorkedFormula w = worked_formula(formula, values, result, within, result_digits(result), least);
    std::size_t n = 0;
    for (const Operand& o : operands) put_value(o.name, w.operands[n++], o.ink);
    put_result(result_name, result, ink, within, w, formula(std::span<const double>(values)));
  }

  double dot() const;
  // The scaled score before the mask phase; a GPU that stores S masks it before, and keeps no other.
  double score_before() const;
  double bias() const;
  double row_sum(bool from_scores) const;
  double weighted_value() const;
  std::optional<double> row_max() const;

 private:
  static int result_digits(double x);
  void put_result(const char* name, double result, Ink ink, double within, const WorkedFormula& w,
                  double computed) const;
};

}  // namespace attn
