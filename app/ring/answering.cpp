#include "app/ring/answering.h"

#include <exception>
#include <new>

#include "kernels/base/text.h"

namespace attn {

void answer_asker(Socket& asker, const nlohmann::json& text, std::span<const std::byte> bytes) {
  const std::span<const std::byte> parts[] = {bytes};
  (void)asker.send(text.dump(), parts, {});
}

int answer_requests(Socket& asker, const std::function<Result<void>(const Message&)>& answer,
                    const std::function<nlohmann::json(const Error&)>& error_of) {
  while (true) {
    auto message = asker.receive({});
    if (!message) return 0;
    Result<void> done = ok();
    try {
      done = answer(*message);
    } catch (const std::bad_alloc&) {
      done = fail(ErrorKind::cannot_run, tr("not enough memory; use a smaller L, B or H"));
    } catch (const std::exception& bug) {
      done = fail(ErrorKind::failed, phrase("it failed: {}. This is a bug in AttnScope", bug.what()));
    }
    if (done) continue;
    answer_asker(asker, error_of(done.error()), {});
    return 1;
  }
}

}  // namespace attn
