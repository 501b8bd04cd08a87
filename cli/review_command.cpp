#include "cli/review_command.hpp"

#include "cli/key_reader.hpp"
#include "cli/output.hpp"
#include "cli/reading_time.hpp"
#include "cli/review_link.hpp"
#include "config/credentials.hpp"
#include "config/daemon_record.hpp"
#include "config/locations.hpp"
#include "protocol/rpc/app_fields.hpp"
#include "reactor/line_reader.hpp"
#include "reactor/signals.hpp"
#include "reactor/timer.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <set>

#include <fcntl.h>
#include <unistd.h>

namespace gatehouse::cli {
namespace {

namespace app = rpc::app;

/// How long the end waits for the daemon to say that it took the last answers.
constexpr std::chrono::seconds answer_limit{5};

struct where_to {
  reactor::websocket_address address;
  std::string url;
  std::string token_file;
};

/// The daemon that `--connect` names, or the one that runs.
result<where_to> find_daemon(const options& given) {
  const auto state = config::locations_from_environment().state;
  where_to found{{}, {}, state + "/tokens/reviewer.token"};
  if (const auto url = given.value("--connect")) {
    found.url = *url;
  } else {
    const auto running = config::running_daemons(state);
    if (running.empty())
      return error{errc::not_found, "no `gatehouse serve` of yours is running",
                   "Start one (gatehouse serve --root DIR), or name its address with --connect."};
    if (running.size() > 1) {
      std::string all;
      for (const auto& one : running)
        all += "\n--connect " + one.urls.front() + "   (" + one.root + ")";
      return error{errc::invalid_request, "more than one `gatehouse serve` is running",
                   "Choose one:" + all};
    }
    found.url = running.front().urls.front();
    for (const auto& one : running.front().urls)
      if (one.starts_with("unix://")) found.url = one;
    found.token_file = running.front().reviewer_token_file;
  }
  if (const auto file = given.value("--reviewer-token-file")) found.token_file = *file;
  auto address = reactor::read_websocket_address(found.url);
  if (!address) return address.error();
  found.address = *std::move(address);
  if (!found.address.local())
    return error{errc::invalid_request, found.url + " is not on this machine",
                 "The token would cross the network in the clear: forward a Unix socket (ssh -L)."};
  if (::access(found.token_file.c_str(), R_OK) != 0)
    return error{errc::io,
                 "the reviewer's token cannot be read from " + found.token_file + ": " +
                     std::strerror(errno),
                 "Name the file that `gatehouse serve` printed with --reviewer-token-file."};
  return found;
}

/// What all ways of reviewing share: one link, and how it ended.
struct review_end {
  bool over = false;
  int status = exit_ok;
  void with(int s) {
    over = true;
    status = s;
  }
};

review_link_events base_events(review_end& end, const std::shared_ptr<bool>& was_connected) {
  review_link_events events;
  events.on_standing = [](const auto&) {};
  events.on_asked = [](const auto&) {};
  events.on_resolved = [](const auto&) {};
  events.on_answered = [](const auto&, const auto&) {};
  events.on_lost = [&end, was_connected](const std::string& why) {
    if (*was_connected) return;
    end.with(fail(
        {errc::io, "cannot connect to the daemon: " + why, "is `gatehouse serve` running there?"},
        exit_failed));
  };
  events.on_hopeless = [&end](const error& why) { end.with(fail(why, exit_failed)); };
  return events;
}

std::function<std::string()> reviewer_token(const where_to& daemon) {
  return [file = daemon.token_file] {
    const auto token = config::read_or_make_token(file);
    return token ? *token : std::string{};
  };
}

std::string typed_json(std::string_view type, const std::string& object) {
  return "{\"type\":\"" + std::string{type} + "\"" + (object == "{}" ? "" : ",") +
         object.substr(1) + "\n";
}

/// `--list`: the questions that stand, and the end.
int list_questions(const where_to& daemon, bool json) {
  reactor::event_loop loop;
  review_end end;
  const auto connected = std::make_shared<bool>(false);
  auto events = base_events(end, connected);
  events.on_standing = [&](const std::vector<app::approval_request>& standing) {
    std::string out;
    for (const auto& question : standing) {
      if (json) {
        out += typed_json("question", rpc::to_json(question));
        continue;
      }
      auto view = view_of(question);
      view.choices.clear();
      out +=
          question_text(view, "question " + question.request_id, look_of_terminal(STDOUT_FILENO));
    }
    if (!json && standing.empty()) out = "No question waits.\n";
    end.with(print(out) ? exit_ok : exit_failed);
  };
  const review_link link{loop, daemon.address, reviewer_token(daemon), std::move(events)};
  loop.run_until([&] { return end.over; });
  return end.status;
}

/// `--json`: questions and outcomes as lines out, answers as lines in.
class json_reviewer {
public:
  explicit json_reviewer(const where_to& daemon) {
    auto events = base_events(end_, connected_);
    events.on_standing = [this, url = daemon.url](const auto& standing) {
      *connected_ = true;
      open_.clear();
      say(typed_json("connected", "{\"url\":" + rpc::to_json(json_tree{url}) + "}"));
      for (const auto& question : standing)
        asked(question);
      if (!input_) read_answers();
    };
    events.on_asked = [this](const auto& question) { asked(question); };
    events.on_resolved = [this](const app::request_resolved& outcome) {
      answering_.erase(outcome.request_id);
      if (open_.erase(outcome.request_id) > 0) say(typed_json("resolved", rpc::to_json(outcome)));
    };
    events.on_answered = [this](const std::string& id, const std::string& why_not) {
      answering_.erase(id);
      if (!why_not.empty()) refuse(id, why_not);
    };
    events.on_lost = [this, first = events.on_lost](const std::string& why) {
      answering_.clear();
      if (*connected_)
        say(typed_json("lost", "{\"message\":" + rpc::to_json(json_tree{why}) + "}"));
      else
        first(why);
    };
    link_ = std::make_unique<review_link>(loop_, daemon.address, reviewer_token(daemon),
                                          std::move(events));
  }

  int run() {
    const auto signals = reactor::signal_watch::open(loop_, {SIGINT, SIGTERM, SIGHUP},
                                                     [this](int) { end_.with(exit_ok); });
    loop_.run_until([this] { return end_.over; });
    loop_.run_until([this] { return answering_.empty(); }, answer_limit);
    return end_.status;
  }

private:
  /// Not before the questions are known: an answer that is there already would be to none of them,
  /// and the end of input would hide that there is no daemon.
  void read_answers() {
    input_ = reactor::line_reader::open(
        loop_, reactor::unique_fd{::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)},
        {[this](std::string_view line) { take(line); },
         [this](const result<void>&) { end_.with(exit_ok); }});
  }
  void say(const std::string& line) {
    if (!print(line)) end_.with(exit_failed);
  }
  void refuse(const std::string& id, const std::string& why) {
    say(typed_json("notTaken", "{\"requestId\":" + rpc::to_json(json_tree{id}) +
                                   ",\"message\":" + rpc::to_json(json_tree{why}) + "}"));
  }
  void asked(const app::approval_request& question) {
    if (open_.insert_or_assign(question.request_id, question).second)
      say(typed_json("question", rpc::to_json(question)));
  }
  void take(std::string_view line) {
    const json_source source{.what = "the answer", .code = errc::invalid_request, .remedy = {}};
    const auto tree = parse_json(line, source);
    if (!tree) return refuse("", to_string(tree.error()));
    const auto fields = json_node{*tree, source}.object({"requestId", "decision"});
    if (!fields) return refuse("", to_string(fields.error()));
    const auto id = fields->find("requestId");
    const auto decision = fields->find("decision");
    const auto name = id ? id->text() : result<std::string>{error{}};
    if (!name || !decision) return refuse("", "an answer needs requestId and decision");
    const auto known = open_.find(*name);
    if (known == open_.end()) return refuse(*name, "this question does not stand");
    answering_.insert(*name);
    link_->answer(
        {known->second.thread_id, *name, decision->encode(), known->second.action_digest});
  }

  reactor::event_loop loop_;
  review_end end_;
  std::shared_ptr<bool> connected_ = std::make_shared<bool>(false);
  std::map<std::string, app::approval_request> open_;
  std::set<std::string> answering_; ///< the daemon has not said yet that it took these
  std::unique_ptr<review_link> link_;
  std::unique_ptr<reactor::line_reader> input_;
};

/// At a terminal: one question after the other, one key each.
class terminal_session {
public:
  terminal_session(const where_to& daemon, int terminal) : terminal_{terminal} {
    auto events = base_events(end_, connected_);
    events.on_standing = [this, url = daemon.url](const auto& standing) {
      *connected_ = true;
      carry_out(board_.connected(url, standing, look()));
    };
    events.on_asked = [this](const auto& question) { carry_out(board_.asked(question, look())); };
    events.on_resolved = [this](const auto& outcome) { carry_out(board_.resolved(outcome)); };
    events.on_answered = [this](const std::string& id, const std::string& why_not) {
      if (!why_not.empty()) carry_out(board_.refused(id, why_not, look()));
    };
    events.on_explained = [this](const std::string& why) { carry_out(board_.explained(why)); };
    events.on_lost = [this, first = events.on_lost](const std::string& why) {
      if (*connected_)
        carry_out(board_.lost(why));
      else
        first(why);
    };
    keys_ = std::make_unique<key_reader>(loop_, terminal,
                                         [this](const std::string& keys) { typed(keys); });
    link_ = std::make_unique<review_link>(loop_, daemon.address, reviewer_token(daemon),
                                          std::move(events));
  }

  int run() {
    const auto signals =
        reactor::signal_watch::open(loop_, {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH},
                                    [this](int signal) { got(signal); });
    loop_.run_until([this] { return end_.over; });
    keys_.reset();
    // An answer that was given shall not be lost, nor counted as a question that stands.
    loop_.run_until([this] { return !board_.waits_for_daemon(); }, answer_limit);
    if (*connected_)
      print_error("Answered: " + std::to_string(board_.answered()) +
                  ". Still standing: " + std::to_string(board_.standing()) + ".\n");
    return end_.status;
  }

private:
  [[nodiscard]] terminal_look look() const { return look_of_terminal(terminal_); }

  void got(int signal) {
    if (signal == SIGTSTP) {
      keys_->give_back();
      ::raise(SIGSTOP);
    } else if (signal == SIGCONT) {
      keys_->take();
      carry_out(board_.again(look()));
    } else if (signal != SIGWINCH) {
      print_error("\n");
      end_.with(exit_ok);
    }
  }

  void typed(const std::string& keys) {
    if (keys.empty()) return end_.with(exit_ok); // the terminal is gone
    if (keys.front() == '\x1b') return;          // an arrow, a pasted text: no answer
    for (const char key : keys) {
      const auto step = board_.typed(key, look());
      carry_out(step);
      // What came with this key was typed before the next question stood.
      if (step.forget_input || end_.over) return;
    }
  }

  void carry_out(const board_step& step) {
    if (!end_.over && step.forget_input) ::tcflush(terminal_, TCIFLUSH);
    if (!end_.over) print_error(step.text);
    if (step.answer) link_->answer(*step.answer);
    if (step.why) link_->explain(*step.why);
    if (step.leave) end_.with(exit_ok);
    if (step.drawn) reading_.start(reading_time::span, [this] { carry_out(board_.readable()); });
  }

  int terminal_;
  reactor::event_loop loop_;
  reactor::timer reading_{loop_};
  review_end end_;
  std::shared_ptr<bool> connected_ = std::make_shared<bool>(false);
  review_board board_{[this] { return loop_.now(); }};
  std::unique_ptr<key_reader> keys_;
  std::unique_ptr<review_link> link_;
};

} // namespace

int review_command(arguments given) {
  const auto words = open_command_line("review", given);
  if (!words.given) return words.status;
  const auto& read = *words.given;
  const auto daemon = find_daemon(read);
  if (!daemon)
    return fail(daemon.error(),
                daemon.error().code == errc::not_found ? exit_failed : exit_wrong_usage);
  if (read.has("--list")) return list_questions(*daemon, read.has("--json"));
  if (read.has("--json")) return json_reviewer{*daemon}.run();
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0)
    return wrong_usage_of("review", "no terminal is here to ask at; use --list or --json");
  return terminal_session{*daemon, STDIN_FILENO}.run();
}

} // namespace gatehouse::cli
