// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "serve/session.h"

// A part of server.cpp, as session.h is.

namespace ebb::serve {

/// How a reply finds its way back, as long as there is one.
struct WayBack {
  base::Mutex mutex;
  asio::io_context* connections EBB_GUARDED_BY(mutex) = nullptr;
};

/// Somebody who waits for an answer: the first that comes, or that none will.
class Waiting {
 public:
  Waiting(std::shared_ptr<WayBack> way, std::weak_ptr<Session> session)
      : way_(std::move(way)), session_(std::move(session)) {}
  ~Waiting() { answer(refusal(503, "no answer could be made")); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// The client has not left.
  bool is_there() const { return !session_.expired(); }

  void answer(Answer made) noexcept {
    if (is_answered_.exchange(true)) return;
    const base::Lock lock(way_->mutex);
    if (way_->connections == nullptr) return;
    try {
      // There, and nowhere else, the session lives and ends.
      asio::post(*way_->connections, [session = session_, made = std::move(made)]() mutable {
        if (const auto there = session.lock()) there->answer(std::move(made), false);
      });
    } catch (const std::exception&) {
      // Out of memory: the client waits until it leaves.
    }
  }

 private:
  std::shared_ptr<WayBack> way_;
  std::weak_ptr<Session> session_;
  std::atomic<bool> is_answered_ = false;
};

}  // namespace ebb::serve
