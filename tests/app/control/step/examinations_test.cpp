// Whether the shown run is right: asked of exhibits and of recordings out of files, and of no other.
#include <gtest/gtest.h>

#include <limits>

#include "app/control/controller.h"
#include "app/state/apply/apply.h"
#include "kernels/museum/museum.h"
#include "kernels/recording/file/recording_file.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

class Examined : public ::testing::Test {
 protected:
  ControllerOptions options() const {
    ControllerOptions o;
    o.state = initial_state();
    o.save_folder = temporary_.path();
    return o;
  }
  static const ExaminationView& seen(const Controller& c) { return c.model().examination; }
  TempFolder temporary_;
};

TEST_F(Examined, AnExhibitIsCheckedAndItsFirstWrongStepSoughtWhenAsked) {
  Controller c(options());
  EXPECT_EQ(seen(c).of, nullptr) << "a kernel of the ladder is no question";
  c.update({ShowPiece{"alpha_on_l_only"}});
  c.wait();
  ASSERT_EQ(seen(c).of, c.model().recording);
  ASSERT_TRUE(seen(c).verdict);
  EXPECT_EQ(outcome_of(*seen(c).verdict), Outcome::wrong);
  EXPECT_FALSE(seen(c).sought);
  c.update({SeekFirstWrong{true}});
  c.wait();
  ASSERT_TRUE(seen(c).first);
  EXPECT_EQ(seen(c).first->id.phase, Phase::output);
  c.update({ChooseKernel{"cpu_flash"}});
  c.wait();
  EXPECT_EQ(seen(c).of, nullptr);
  c.update({Undo{}});
  c.wait();
  EXPECT_EQ(seen(c).of, c.model().recording) << "undo comes back to the exhibit";
}

TEST_F(Examined, ARecordingOfOnesOwnGetsTheSameHelp) {
  Controller c(options());
  c.update({ChoosePreset{"causal"}});
  Recording own = *c.model().recording;
  const EventId at{0, 0, 2, 1, Phase::sum};
  own.arena[own.version(own.after(*own.find(at), Slot::l_new)).offset + 1] = std::numeric_limits<float>::quiet_NaN();
  own.outputs.out.set(9 * 8, std::numeric_limits<float>::quiet_NaN());
  const std::string file = (temporary_.path() / "own.attn").string();
  ASSERT_TRUE(write_recording(file, own));
  c.update({OpenFile{file}, SeekFirstWrong{true}});
  c.wait();
  ASSERT_TRUE(seen(c).verdict);
  EXPECT_EQ(outcome_of(*seen(c).verdict), Outcome::wrong);
  ASSERT_TRUE(seen(c).first);
  EXPECT_EQ(seen(c).first->id, at);
  EXPECT_EQ(seen(c).first->row, 9);
}

}  // namespace
}  // namespace attn
