#pragma once

#include "protocol/result.hpp"

#include <string>
#include <string_view>

namespace gatehouse {

/// A question to a model behind an OpenAI-compatible `/chat/completions`: one user message, no
/// streaming, the answer bound to the schema of guardian_answer.
std::string encode_chat_question(std::string_view model, std::string_view prompt);

/// The text of the first choice. A refusal by the model, an answer that was cut off, and anything
/// that is not such a reply are errc::invalid_request.
result<std::string> decode_chat_reply(std::string_view json);

} // namespace gatehouse
