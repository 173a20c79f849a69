// Text in pieces, each in one face and colour: what scenes hold where words, letters and numbers mix. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viz/draw/inks.h"

namespace attn {

enum class Face : std::uint8_t { text, bold, mono, maths };

// A piece of text in one face and colour. `raise`: 0 on the line, 1 superscript, -1 subscript,
// 2 subscript of a superscript.
struct TextRun {
  std::string text;
  Face face = Face::text;
  Ink ink;
  int raise = 0;
  bool underlined = false;
};
using TextRuns = std::vector<TextRun>;
std::string plain_text(const TextRuns& runs);
// What follows the last break of a line; all, where there is none.
TextRuns last_line(const TextRuns& runs);

// The kinds of piece that sentences are made of: words, a tensor's letter, its index, a number in the numbers' face.
TextRun word(std::string text, Ink ink = Token::dim);
TextRun letter(std::string text, Ink ink, int raise = 0);
TextRun subscript(std::string text, Ink ink);
TextRun number(std::string text, Ink ink = Token::text);
TextRun number(double x, Ink ink, int digits = 4);

// A whole sentence with pieces in it, each where the language has it: the sentence is a phrase() of place(0), place(1)
// and so on, in the order of `pieces`.
//   woven(phrase("{} replaces {}", place(0), place(1)), {letter("P", p), letter("S", s)})
std::string place(std::size_t piece);
TextRuns woven(std::string_view sentence, const TextRuns& pieces, Ink words = Token::dim);

}  // namespace attn
