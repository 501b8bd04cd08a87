// Binary messages of an exec server, as its client reads them: no bytes crash the reader, what is
// refused says why, and what was read is written again as the same.
#include "protocol/exec_client.hpp"
#include "protocol/exec_output.hpp"
#include "tests/fuzz/fuzz_support.hpp"

#include <string>
#include <variant>

using namespace gatehouse;
using namespace gatehouse::tests;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto message = text_of(data, size);
  const auto read = exec_server::decode_binary_output(message);
  const auto event = exec_client::decode_output(message);
  must(read.has_value() == event.has_value(), "both readers agree");
  if (!read) {
    must(!read.error().message.empty(), "what cannot be read says why");
    return 0;
  }
  must(read->seq > 0 && !read->bytes.empty(), "numbers begin with 1, and output is never empty");
  const auto head = exec_server::encode_output_head(read->process_id, read->seq, read->stream);
  must(head + std::string{read->bytes} == message, "what was read is written as the same");
  const auto* said = std::get_if<exec_client::process_event::output>(&event->what);
  must(said && said->bytes == read->bytes && said->stream == read->stream &&
           event->seq == read->seq && event->process_id == read->process_id,
       "… and told as the same");
  return 0;
}
