// Whether work under way should end early, as whoever started it says.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <utility>

namespace attn {

// A value, cheap to copy. By default nobody ever asks. It may be asked from several threads at once, if what it was
// made of may be.
class Stop {
 public:
  Stop() = default;
  // Of whatever says stop_requested(), which it keeps a copy of: a std::stop_token where there are threads. This header
  // names none, so that what runs without threads needs none.
  template <class Token>
  requires(!std::same_as<Token, Stop>) && requires(const Token& t) {
    { t.stop_requested() } -> std::convertible_to<bool>;
  }
  Stop(Token token)
      : asked_(std::make_shared<const std::function<bool()>>(
            [token = std::move(token)] { return token.stop_requested(); })) {}

  bool stop_requested() const { return asked_ != nullptr && (*asked_)(); }

 private:
  std::shared_ptr<const std::function<bool()>> asked_;  // null: never
};

}  // namespace attn
