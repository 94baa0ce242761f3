// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"

// serve: what Ebb tells over HTTP. Nothing that comes in is trusted, and nothing on disk can be
// changed from outside.

namespace ebb::serve {

/// What a client asks.
struct Request {
  bool is_post = false;  ///< else GET or HEAD
  std::string path;      ///< as it was sent, without what follows '?'
  std::string query;     ///< what follows it
  std::string host;
  std::string origin;
  std::string accept;
  std::string cookie;
  std::string authorization;
};

struct Answer;

/// Sends the answer to one request, once, from any thread; does nothing where the client is gone.
using Reply = std::function<void(Answer answer)>;

/// Takes the body of a request, in a file without a name whose offset is at its beginning. Called
/// as a Handler is.
using Taker = std::function<void(base::FileDescriptor body, Reply reply)>;

/// Whether whoever has asked still waits. To be called from any thread.
using Waits = std::function<bool()>;

/// Has an answer made elsewhere, for as long as it takes. Called once, as a Handler is.
using Later = std::function<void(Reply reply, Waits waits)>;

struct Answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// Where it is not empty: the connection stays open after `body`, and hears from then on what is
  /// told under this topic.
  std::string topic = {};
  /// To a POST, where it is not empty: there is no answer yet. The body is let in and handed to it;
  /// where none comes whole, it is dropped without a call.
  Taker taker = {};
  /// Where it is not empty: there is no answer yet, and this is called for one.
  Later later = {};
};

/// Called on one thread of the server's, for one request at a time.
using Handler = std::function<Answer(const Request& request)>;

/// What is told to those who listen to a topic; of several that wait to be sent only the newest is.
struct Event {
  std::string topic;
  std::string data;  ///< one line
};

/// Called on the same thread, again and again while anybody listens, with each topic that somebody
/// listens to. Gives what is new.
using Ticker = std::function<std::vector<Event>(const std::vector<std::string>& topics)>;

/// The form in which it is sent (server-sent events).
inline std::string text_of(const Event& event) {
  return "data: " + event.data + "\n\n";
}

/// Opens a stream about a topic, and begins with what is known now.
inline Answer stream_of(const Event& event) {
  Answer made{200, "text/event-stream", text_of(event)};
  made.topic = event.topic;
  return made;
}

inline Answer json_answer(std::string json) {
  return {200, "application/json", std::move(json)};
}

/// A line of text, with the status that it goes with.
inline Answer refusal(int status, const std::string& line) {
  return {status, "text/plain; charset=utf-8", line + "\n"};
}

}  // namespace ebb::serve
