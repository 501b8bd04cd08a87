#include "cli/stdio_lines.hpp"

#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace gatehouse::cli {
namespace {

reactor::unique_fd own(int fd) {
  return reactor::unique_fd{::fcntl(fd, F_DUPFD_CLOEXEC, 3)};
}

/// A client hears of the end of its input only when nobody holds the other side.
void give_up_standard_output() {
  const reactor::unique_fd nowhere{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
  if (nowhere) ::dup2(nowhere.get(), STDOUT_FILENO);
}

error not_read() {
  return {errc::io, "the client took none of what was left for it", "Read standard output."};
}

} // namespace

stdio_lines::stdio_lines(reactor::event_loop& loop, stdio_events events)
    : stdio_lines{loop, own(STDIN_FILENO), own(STDOUT_FILENO), std::move(events)} {
  standard_ = true;
}

stdio_lines::stdio_lines(reactor::event_loop& loop, reactor::unique_fd in, reactor::unique_fd out,
                         stdio_events events)
    : events_{std::move(events)}, patience_{loop} {
  writer_ = reactor::line_writer::open(
      loop, std::move(out),
      {[this] {
         if (!input_over_) patience_.cancel();
         reader_->resume();
         if (!silent_ && events_.on_drained) events_.on_drained();
       },
       [this] {
         if (!why_)
           why_ = error{errc::io, "standard output was closed before everything was written", ""};
         end();
       }});
  reader_ = reactor::line_reader::open(loop, std::move(in),
                                       {[this](std::string_view line) {
                                          if (!silent_ && line.find_first_not_of(" \t\r") !=
                                                              std::string_view::npos)
                                            events_.on_line(line);
                                        },
                                        [this](const result<void>& how) { input_ended(how); }},
                                       most_line, reactor::long_line::is_cut);
}

void stdio_lines::send(std::string line) {
  if (!writer_ || silent_) return;
  writer_->write(std::move(line));
  // What is under way already is the bound of what can still be queued.
  if (writer_->queued_bytes() <= long_queue || patience_.pending()) return;
  reader_->pause();
  watch_the_rest();
}

std::size_t stdio_lines::queued_bytes() const {
  return writer_ ? writer_->queued_bytes() : 0;
}

void stdio_lines::close(std::string reason) {
  if (std::exchange(silent_, true)) return;
  if (!why_) why_ = error{errc::invalid_request, std::move(reason), ""};
  // Its standard output ends: that is how it hears of it.
  reader_->resume();
  if (writer_ && !input_over_)
    writer_->when_written([this] {
      writer_.reset();
      if (standard_) give_up_standard_output();
    });
}

void stdio_lines::input_ended(const result<void>& how) {
  input_over_ = true;
  if (!how && !why_) why_ = how.error();
  const auto finish = [this] {
    if (events_.on_input_end) events_.on_input_end();
    silent_ = true;
    if (!writer_) return end();
    writer_->when_written([this] { end(); });
    watch_the_rest();
  };
  if (events_.when_done) return events_.when_done(finish);
  finish();
}

void stdio_lines::watch_the_rest() {
  left_ = queued_bytes();
  patience_.start(stuck_limit, [this] {
    // Who may still speak is slow; who may not, and takes nothing, will not.
    if (left_ != queued_bytes() || !(input_over_ || reader_->hung_up())) return watch_the_rest();
    if (!why_) why_ = not_read();
    end();
  });
}

void stdio_lines::end() {
  patience_.cancel();
  silent_ = true;
  if (const auto told = std::exchange(events_, {}).on_end)
    told(why_ ? result<void>{*why_} : result<void>{});
}

} // namespace gatehouse::cli
