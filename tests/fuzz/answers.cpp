// Whatever a peer's process says is an answer or none: a text, and bytes behind its first line feed.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "app/peers/answers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::string_view text = all.substr(0, all.find('\n'));
  const auto bytes = std::as_bytes(std::span(all)).subspan(text.size() < all.size() ? text.size() + 1 : text.size());
  attn::Problem p;
  p.Lq = p.Lk = 1;
  p.D = p.Dv = 4;
  for (const std::string_view wanted : {"hello", "ready", "answer", "times"}) {
    const auto reply = attn::read_reply(text, wanted);
    if (!reply) continue;
    if (reply->error) {
      if (reply->error->message.find('\n') != std::string::npos) std::abort();
      continue;
    }
    (void)attn::read_hello(reply->fields);
    const auto answer = attn::read_answer(reply->fields, bytes, p);
    if (answer && (attn::bytes_of(answer->outputs) != bytes.size() || !(answer->us >= 0))) std::abort();
    const auto times = attn::read_times(reply->fields, 3);
    if (times && (times->size() != 3 || !std::isfinite(times->front()))) std::abort();
  }
  return 0;
}
