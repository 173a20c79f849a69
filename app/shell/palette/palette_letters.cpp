// The letters of the papers in the command palette: what each means, and the beat that shows it.
#include <string>
#include <utility>
#include <vector>

#include "app/shell/palette/palette.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

using enum TensorColour;

PaletteEntry meaning(std::string words, std::string more, std::string also, TextRuns formula, StartLesson shown_by) {
  PaletteEntry e = explained(tr("Letter"), std::move(words), std::move(more), std::move(also), std::move(shown_by));
  e.formula = std::move(formula);
  return e;
}

TextRun plain(const char* text) {
  return word(text, Token::text);
}

void add_of_a_row(std::vector<PaletteEntry>& all) {
  all.push_back(meaning(
      "S", tr("Scores: scale · Q Kᵀ, capped, plus bias, minus ALiBi, masked"), tr("logits similarity definition"),
      {letter("S", s), plain(" = scale · "), letter("Q", q), plain(" "), letter("K", k), letter("T", k, 1)},
      {"by-hand", "score"}));
  all.push_back(meaning("m", tr("Running maximum: the largest score of a row so far"), tr("max definition"),
                        {letter("m", m), plain(" ← max("), letter("m", m), plain(", "), letter("S", s), plain(")")},
                        {"by-hand", "largest"}));
  all.push_back(meaning("α", tr("exp(m_old − m_new): rescales everything summed so far"),
                        tr("alpha correction definition"),
                        {letter("α", alpha), plain(" = exp("), letter("m", m), subscript("old", m), plain(" − "),
                         letter("m", m), subscript("new", m), plain(")")},
                        {"by-hand", "alpha"}));
  all.push_back(meaning("P", tr("Weights: exp(S − m), not divided by ℓ in flash orders"),
                        tr("probabilities attention weights definition"),
                        {letter("P", p), plain(" = exp("), letter("S", s), plain(" − "), letter("m", m), plain(")")},
                        {"by-hand", "weight"}));
  all.push_back(
      meaning("ℓ", tr("Running sum: the sum of a row of P so far"), tr("l denominator normalizer definition"),
              {letter("ℓ", l), plain(" ← "), letter("α", alpha), letter("ℓ", l), plain(" + Σ "), letter("P", p)},
              {"by-hand", "sum"}));
  all.push_back(meaning(
      "O", tr("Output: in flash orders, an accumulator until it is divided by ℓ"), tr("accumulator result definition"),
      {letter("O", o), plain(" ← "), letter("α", alpha), letter("O", o), plain(" + "), letter("P", p), letter("V", v)},
      {"by-hand", "output"}));
  all.push_back(meaning("LSE", tr("Log-sum-exp: m + ln ℓ, the natural logarithm of the sum of exp(S) over a row"),
                        tr("logsumexp softmax_lse definition"),
                        {plain("LSE = "), letter("m", m), plain(" + ln "), letter("ℓ", l)}, {"one-pass", "end"}));
}

void add_of_a_backward_pass(std::vector<PaletteEntry>& all) {
  all.push_back(meaning(
      "dP", tr("Gradient of the weights: dO Vᵀ"), tr("backward gradient definition"),
      {plain("d"), letter("P", p), plain(" = d"), letter("O", o), plain(" "), letter("V", v), letter("T", v, 1)},
      {"backward", "dp"}));
  all.push_back(meaning(
      "δ", tr("Σ dO · O over a row: the P-weighted mean of its dP"), tr("delta D backward definition"),
      {letter("δ", alpha), plain(" = Σ d"), letter("O", o), plain(" · "), letter("O", o)}, {"backward", "mean"}));
  all.push_back(meaning("dS", tr("Gradient of the scores: P · (dP − δ)"), tr("backward gradient definition"),
                        {plain("d"), letter("S", s), plain(" = "), letter("P", p), plain(" · (d"), letter("P", p),
                         plain(" − "), letter("δ", alpha), plain(")")},
                        {"backward", "ds"}));
}

}  // namespace

PaletteEntry explained(std::string group, std::string words, std::string more, std::string also, StartLesson shown_by) {
  PaletteEntry e;
  e.group = std::move(group);
  e.words = std::move(words);
  e.more = std::move(more);
  e.also = std::move(also);
  e.answer = e.more;
  e.door = tr("See it in Learn");
  e.commands = {std::move(shown_by)};
  return e;
}

std::vector<PaletteEntry> palette_letters() {
  std::vector<PaletteEntry> all;
  add_of_a_row(all);
  add_of_a_backward_pass(all);
  return all;
}

}  // namespace attn
