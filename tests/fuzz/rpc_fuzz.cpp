// What clients send: no text crashes a reader of either dialect; what is refused says why, with a
// code of JSON-RPC; what was read is written and read again as the same; an answer that names no
// decision on offer decides nothing.
#include "protocol/exec_server.hpp"
#include "protocol/rpc/app_events.hpp"
#include "protocol/rpc/app_methods.hpp"
#include "protocol/tool_request.hpp"
#include "tests/fuzz/fuzz_support.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

using namespace gatehouse;
using namespace gatehouse::tests;
namespace app = gatehouse::rpc::app;

namespace {

rpc::message readable(const std::string& text) {
  auto read = rpc::read_message(text);
  must(std::holds_alternative<rpc::message>(read), "a message that was written can be read");
  return std::get<rpc::message>(std::move(read));
}

/// Equal but for the last digits of numbers with a fraction or exponent: the library reads a long
/// one (of fields that no call knows) as the double beside it. Whole numbers are exact.
bool same_json(const boost::json::value& one, const boost::json::value& other) {
  if (one == other) return true;
  if (one.kind() != other.kind()) return false;
  if (one.is_double()) {
    const double a = one.get_double(), b = other.get_double();
    return std::abs(a - b) <= 4e-16 * std::max(std::abs(a), std::abs(b));
  }
  if (one.is_array()) return std::ranges::equal(one.get_array(), other.get_array(), same_json);
  if (one.is_object())
    return std::ranges::equal(one.get_object(), other.get_object(), [](auto& a, auto& b) {
      return a.key() == b.key() && same_json(a.value(), b.value());
    });
  return false;
}

bool same_text(const std::string& one, const std::string& other) {
  return one == other || same_json(boost::json::parse(one), boost::json::parse(other));
}

template <class Params>
void check_params(const rpc::message& request, const Params& params) {
  const auto text = rpc::to_json(params);
  const auto again = readable(rpc::write_request(request.id(), request.method(), text, true));
  must(again.method() == request.method() && again.id() == request.id(), "… under its id");
  const auto same = rpc::codec<Params>::decode(again.params());
  must(same.has_value(), "parameters that were written can be read");
  must(same_text(rpc::to_json(*same), text), "… and are the same");
}

void check_request(const rpc::message& request) {
  const auto refuse = [](const rpc::failure& why) {
    must(why.code == rpc::code::invalid_params && !why.message.empty(),
         "wrong parameters are named");
    (void)readable(rpc::write_failure(rpc::request_id{std::int64_t{1}}, why, true));
  };
  const auto handle = [&](auto, const auto& params) {
    check_params(request, params);
    if constexpr (requires {
                    params.arguments;
                    params.call_id;
                  }) {
      const auto call = decode_tool_arguments(params.tool, rpc::to_json(params.arguments));
      must(call.has_value() || !call.error().message.empty(),
           "a call that cannot be read says why");
    }
  };
  (void)app::dispatch(request, handle, refuse);
}

void check_answer(const rpc::message& response) {
  const auto said = response.result_value();
  if (!said) return;
  const auto answer = rpc::codec<app::approval_answer>::decode(*said);
  if (!answer) return;
  review_request question;
  question.proposed_amendment = {"make", "test"};
  const auto decided = app::decision_of(*answer, question);
  must(decided.what != review_decision::approved_for_session, "only what was on offer");
}

void check_app(std::string_view text) {
  const auto read = rpc::read_message(text, std::size_t{64} << 10U);
  if (const auto* bad = std::get_if<rpc::unreadable>(&read)) {
    must(bad->why.code == rpc::code::parse_error || bad->why.code == rpc::code::invalid_request,
         "what is no message has the code of that");
    must(!bad->why.message.empty(), "… and says why");
    const auto told = rpc::write_failure(bad->id, bad->why, true);
    must(!told.empty() && told.find('\n') == std::string::npos, "an answer is one line");
    return;
  }
  const auto& message = std::get<rpc::message>(read);
  if (message.what() == rpc::message::kind::request) check_request(message);
  if (message.what() == rpc::message::kind::response) check_answer(message);
}

template <class Read>
void check_exec_params(const Read& read) {
  must(read.has_value() || !read.error().message.empty(), "what cannot be read says why");
}

void check_exec(std::string_view text) {
  const auto in = exec_server::parse_incoming(text);
  const auto& params = in.params;
  check_exec_params(exec_server::decode_initialize(params));
  check_exec_params(exec_server::decode_process_start(params));
  check_exec_params(exec_server::decode_process_read(params));
  check_exec_params(exec_server::decode_process_write(params));
  check_exec_params(exec_server::decode_process_id(params));
  check_exec_params(exec_server::decode_process_signal(params));
  check_exec_params(exec_server::decode_handle_open(params));
  if (const auto method = exec_server::file_method_from(in.method)) {
    const auto call = exec_server::decode_file_call(*method, params);
    check_exec_params(call);
    if (!call) return;
    const auto again = exec_server::decode_own_file_call(exec_server::encode_file_call(*call));
    must(again.has_value(), "a file call that was written can be read");
    must(exec_server::encode_file_call(*again) == exec_server::encode_file_call(*call),
         "… and is the same");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  check_app(text);
  check_exec(text);
  return 0;
}
