// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::run {

/// Watches whether somebody who was asked answers. Nobody waits: time is told to it.
class AnswerWatch {
 public:
  static constexpr double kSilentSeconds = 15;
  static constexpr double kLostSeconds = 60;

  enum class Change {
    none,
    silent,  ///< has owed an answer for kSilentSeconds
    lost,    ///< for kLostSeconds: will not be asked again
    back,    ///< was silent, and has answered
  };

  void asked() { owes_ = true; }
  /// Whether anything is still owed after this answer.
  Change answered(bool owes);

  /// `elapsed` seconds have passed. They do not count while the other side cannot run.
  Change passed(double elapsed, bool can_run);

  bool is_silent() const { return is_silent_; }

 private:
  bool owes_ = false;
  bool is_silent_ = false;
  double owed_seconds_ = 0;
};

}  // namespace ebb::run
