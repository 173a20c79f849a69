// A catalogue of texts as a file: JSON, one entry a text. assets/texts/en.json lists the English texts and is made by
// app/setup/texts.py; a translation is such a file with "to" beside each "en":
//
//   {"version": 1, "language": "de", "plural": "one_other", "texts": [
//     {"en": "{0} of {1} points", "to": "{0} von {1} Punkten"},
//     {"en": ["{0} row", "{0} rows"], "to": ["{0} Zeile", "{0} Zeilen"]}]}
//
// An entry without "to" is said in English.
#pragma once

#include <string_view>

#include "kernels/base/result.h"
#include "kernels/base/text.h"

namespace attn {

constexpr std::string_view kPseudoLanguage = "pseudo";

// Refused with the text that is at fault: one whose "to" has other arguments than its English, or written otherwise, or
// not as many forms as the language. `name` is for messages: "de.json".
Result<Catalogue> parse_catalogue(std::string_view json, std::string_view name);

// A language that nobody speaks, of the texts of an English catalogue: each about 35 % longer, with accents, between
// brackets, its arguments kept. What is not marked shows at once, and what has no room for a longer language too.
Result<Catalogue> pseudo_catalogue(std::string_view english_json, std::string_view name);

// The same of one text.
std::string pseudo_text(std::string_view english);

}  // namespace attn
