// What is known of one output while its elements pass by: its worst error, and the first of another kind. What a
// forward and a backward are judged by.
#pragma once

#include <cmath>
#include <string>

#include "kernels/judge/verdict.h"

namespace attn {

struct SeenOutput {
  OutputVerdict judgement;
  std::string worst, wrong_kind;
  double beyond = 0;  // the error of what is of another kind than its reference: infinite, or NaN

  // Both are finite, or alike. `what()`: the element in words, made where it is needed.
  template <class What>
  void note_error(const What& what, double got, double ref) {
    const double error = got == ref ? 0 : std::fabs(got - ref);
    if (error > judgement.error || worst.empty()) note_worst(error, what(), got, ref);
  }
  // One of them is finite and the other not, or they are not finite in two ways.
  template <class What>
  void note_wrong_kind(const What& what, double got, double ref) {
    note_beyond(got, ref);
    if (wrong_kind.empty()) wrong_kind = words_of_wrong_kind(what(), got, ref);
  }
  // `judgement.allowed` is set.
  OutputVerdict judged() const;

 private:
  void note_worst(double error, const std::string& what, double got, double ref);
  void note_beyond(double got, double ref);
  static std::string words_of_wrong_kind(const std::string& what, double got, double ref);
};

// "(b 0, h 1, row 2)"
std::string place_words(const RowId& id);

}  // namespace attn
