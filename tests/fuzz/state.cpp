// No text makes the state string's parser crash, and what it accepts is written and read back the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "app/state/string/state_string.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = attn::parse_state_string(text);
  if (!parsed) return parsed.error().message.empty() ? (std::abort(), 0) : 0;
  // Files are not there to be hashed.
  attn::InputSpec& inputs = parsed->state.document.inputs;
  inputs.q_file.clear();
  inputs.k_file.clear();
  inputs.v_file.clear();
  inputs.bias_file.clear();
  const auto again = attn::state_string(parsed->state);
  if (!again) return 0;  // longer than the limit, once every default is spelt out
  const auto back = attn::parse_state_string(*again);
  if (!back || *attn::state_string(back->state) != *again) std::abort();
  return 0;
}
