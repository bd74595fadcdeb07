// Structs of the API <-> protobuf bytes. Everything that arrives is checked; nothing here trusts
// its sender.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "covey/api/types.h"
#include "covey/base/result.h"

namespace covey::api {

// kUnknown: a newer client asks for something that this version does not have.
enum class RequestKind : std::uint8_t {
  kUnknown,
  kStatus,
  kSubscribe,
  kPause,
  kResume,
  kSettle,
  kLeave,
  kPredict,
  kPing,
  kRecord,
  kPush,
  kInput
};

struct Request {
  std::uint64_t id = 0;
  RequestKind kind = RequestKind::kStatus;
  Question question = {};   // kPredict
  Samples samples = {};     // kPush
  std::string peer = {};    // kPing
  std::string record = {};  // kRecord
};

struct Reply {
  std::uint64_t id = 0;
  Result<NodeStatus> result;
  std::optional<Predictions> predictions = {};  // to kPredict; the status is left out then
  std::optional<Pushed> pushed = {};            // to kPush; the same
  std::optional<InputForm> input = {};          // to kInput; the same
};

std::string EncodeRequest(const Request& request);
std::string EncodeReply(const Reply& reply);
std::string EncodeEvent(const Event& event);

// Errors: kProtocol: longer than its limit, or not this protobuf.
Result<Request> DecodeRequest(std::string_view bytes);
// Errors: the same, and a state or event that this version does not know.
Result<std::variant<Reply, Event>> DecodeAnswer(std::string_view bytes);

}  // namespace covey::api
