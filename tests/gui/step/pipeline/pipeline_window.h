// Step in a window at a block's pipeline.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"

namespace attn {

class PipelineWindow : public testing::Test {
 protected:
  void open(int width = 1440, int height = 900, float scale = 1, std::int64_t pipeline = 1) {
    window.reset();
    window = std::make_unique<TestWindow>(width, height);
    Options options;
    options.br = 8;
    options.bc = 4;
    choose(options, kPipeline, pipeline);
    window->controller().update({SetScale{scale}, ChoosePreset{"random"}, SetOptions{options, 0}});
    window->draw_frames(2);
    window->controller().wait();
    window->draw_frames(2);
  }
  EventIndex at() const { return window->state().view.step.cursor; }
  const Recording& rec() { return recording(*window); }
  EventIndex step(std::int32_t i, std::int32_t j, Phase phase) { return *rec().find({0, 0, i, j, phase}); }
  std::vector<std::string> drawn_at(EventIndex e) {
    window->controller().update({GoToEvent{e}});
    window->draw_frames(30);
    const DrawnText drawn;
    window->draw_frames(1);
    return {drawn.texts().begin(), drawn.texts().end()};
  }
  static bool has(const std::vector<std::string>& texts, const std::string& text) {
    return std::ranges::find(texts, text) != texts.end();
  }

  std::unique_ptr<TestWindow> window;
};

}  // namespace attn
