#include "reactor/detail/process_impl.hpp"

#include <boost/asio/write.hpp>

#include <algorithm>
#include <utility>

namespace gatehouse::reactor {
namespace {

constexpr char end_of_file_character = '\x04';

} // namespace

result<void> process::impl::write_stdin(std::string bytes) {
  if (input_closing_ || !input_fd().is_open())
    return error{errc::invalid_request, "standard input of the process is closed",
                 "start it with a terminal, or with a pipe as its input"};
  if (bytes.size() > limits_.pending_input)
    return error{errc::too_large,
                 "one write holds at most " + std::to_string(limits_.pending_input) + " bytes",
                 "write it in parts"};
  if (bytes.size() > limits_.pending_input - std::min(limits_.pending_input, pending_))
    return error{errc::too_large,
                 "the process has not read its input: " + std::to_string(pending_) +
                     " bytes wait and the limit is " + std::to_string(limits_.pending_input),
                 "wait until it reads, then write again"};
  if (!bytes.empty()) queue(std::move(bytes));
  return {};
}

void process::impl::close_stdin() {
  if (input_closing_ || !input_fd().is_open()) return;
  input_closing_ = true;
  if (input_is_terminal_)
    queue(std::string{end_of_file_character});
  else if (queue_.empty())
    close_input();
}

void process::impl::queue(std::string bytes) {
  pending_ += bytes.size();
  queue_.push_back(std::move(bytes));
  if (queue_.size() == 1) write_front();
}

void process::impl::write_front() {
  boost::asio::async_write(
      input_fd(), boost::asio::buffer(queue_.front()),
      [self = shared_from_this()](error_code ec, std::size_t) { self->on_written(ec); });
}

void process::impl::on_written(error_code ec) {
  if (ec) {
    queue_.clear();
    pending_ = 0;
    return close_input();
  }
  pending_ -= queue_.front().size();
  queue_.pop_front();
  if (!queue_.empty()) return write_front();
  if (input_closing_) return close_input();
  tell(&process_listener::on_input_drained);
}

void process::impl::close_input() {
  input_closing_ = true;
  error_code ignored; // nobody is told of a failed close
  input_.close(ignored);
}

} // namespace gatehouse::reactor
