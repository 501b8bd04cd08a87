#pragma once

#include "sandbox/seatbelt/seatbelt.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <regex.h>

namespace gatehouse::tests {

/// Answers questions from the text of a policy as macOS would: the last rule that matches decides.
/// Knows the part of the language that we write; anything else throws, so that no line of a policy
/// stands there unread.
class seatbelt_model {
public:
  explicit seatbelt_model(const sandbox::seatbelt_policy& policy) {
    for (const auto& [name, path] : policy.parameters)
      parameters_[name] = path;
    text_ = policy.text;
    skip_blank();
    while (at_ < text_.size()) {
      take(read());
      skip_blank();
    }
    if (!versioned_ || !denies_by_default_) throw std::runtime_error{"no version or no default"};
  }

  [[nodiscard]] bool may(std::string_view operation, const std::string& path) const {
    return decide({operation, path, {}, {}});
  }
  [[nodiscard]] bool may_read(const std::string& path) const { return may("file-read-data", path); }
  /// Both making and changing: a rule that allows only one of them would be a mistake.
  [[nodiscard]] bool may_write(const std::string& path) const {
    const bool change = may("file-write-data", path);
    if (change != may("file-write-create", path))
      throw std::runtime_error{"half writable: " + path};
    return change;
  }
  /// `end`: "localhost:3128", "example.org:443".
  [[nodiscard]] bool may_connect(const std::string& end) const {
    return decide({"network-outbound", {}, end, {}});
  }
  [[nodiscard]] bool may_listen(const std::string& end) const {
    return decide({"network-bind", {}, {}, end}) && decide({"network-inbound", {}, {}, end});
  }
  [[nodiscard]] bool may_connect_to_socket(const std::string& path) const {
    return decide({"network-outbound", path, {}, {}});
  }

private:
  struct node {
    std::string text; ///< of a word or string
    bool is_list = false;
    std::vector<node> list;
  };
  struct question {
    std::string_view operation;
    std::string path, remote, local;
  };
  struct rule {
    bool allow;
    std::vector<std::string> operations;
    std::vector<node> filters;
  };
  using compiled = std::unique_ptr<regex_t, void (*)(regex_t*)>;

  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error{why + " at " + std::to_string(at_)};
  }

  void skip_blank() {
    while (at_ < text_.size())
      if (text_[at_] == ';')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (std::string_view{" \n\t"}.find(text_[at_]) != std::string_view::npos)
        ++at_;
      else
        return;
  }

  node read() {
    skip_blank();
    if (at_ >= text_.size()) fail("end of text");
    node n;
    if (text_[at_] == '(') {
      n.is_list = true;
      ++at_;
      for (skip_blank(); at_ < text_.size() && text_[at_] != ')'; skip_blank())
        n.list.push_back(read());
      if (at_++ >= text_.size()) fail("a list is not closed");
    } else if (text_[at_] == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\\' && ++at_ < text_.size())
          n.text += text_[at_] == 'n' ? '\n' : text_[at_];
        else
          n.text += text_[at_];
      }
      if (at_++ >= text_.size()) fail("a string is not closed");
    } else {
      while (at_ < text_.size() &&
             std::string_view{" \n\t()\";"}.find(text_[at_]) == std::string_view::npos)
        n.text += text_[at_++];
      if (n.text.empty()) fail("not a word");
    }
    return n;
  }

  void take(const node& n) {
    if (!n.is_list || n.list.empty() || n.list[0].is_list) fail("not a rule");
    const std::string& head = n.list[0].text;
    if (head == "version") {
      versioned_ = n.list.size() == 2 && n.list[1].text == "1";
      return;
    }
    if (head != "allow" && head != "deny") fail("unknown `" + head + "`");
    rule r{head == "allow", {}, {}};
    for (std::size_t i = 1; i < n.list.size(); ++i)
      if (n.list[i].is_list)
        r.filters.push_back(n.list[i]);
      else if (r.filters.empty())
        r.operations.push_back(n.list[i].text);
      else
        fail("an operation after a filter");
    if (r.operations.empty()) fail("no operation");
    if (r.operations[0] == "default") {
      denies_by_default_ = !r.allow && rules_.empty() && r.filters.empty();
      return;
    }
    for (const auto& filter : r.filters)
      (void)matches(filter, {"file-read-data", "/", {}, {}}); // reads every part of it
    rules_.push_back(std::move(r));
  }

  static bool covers(std::string_view operation, std::string_view asked) {
    return operation == asked || (operation.ends_with('*') &&
                                  asked.starts_with(operation.substr(0, operation.size() - 1)));
  }

  [[nodiscard]] bool decide(const question& q) const {
    bool allowed = false;
    for (const auto& r : rules_) {
      bool about = false;
      for (const auto& operation : r.operations)
        about |= covers(operation, q.operation);
      if (!about) continue;
      bool hit = r.filters.empty();
      for (const auto& filter : r.filters)
        hit |= matches(filter, q);
      if (hit) allowed = r.allow;
    }
    return allowed;
  }

  [[nodiscard]] std::string value(const node& n) const {
    if (!n.is_list) return n.text;
    if (n.list.size() != 2 || n.list[0].text != "param") fail("not a value");
    const auto found = parameters_.find(n.list[1].text);
    if (found == parameters_.end()) fail("unknown parameter " + n.list[1].text);
    return found->second;
  }

  [[nodiscard]] bool fits(const std::string& expression, const std::string& text) const {
    auto at = expressions_.find(expression);
    if (at == expressions_.end()) {
      compiled made{new regex_t, [](regex_t* r) {
                      ::regfree(r);
                      delete r;
                    }};
      if (::regcomp(made.get(), expression.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
        fail("bad regex " + expression);
      at = expressions_.emplace(expression, std::move(made)).first;
    }
    return ::regexec(at->second.get(), text.c_str(), 0, nullptr, 0) == 0;
  }

  [[nodiscard]] bool matches(const node& filter, const question& q) const {
    const std::string& kind = filter.list.at(0).text;
    const auto part = [&](std::size_t i) -> const node& { return filter.list.at(i); };
    if (kind == "require-all" || kind == "require-any") {
      bool all = true, any = false;
      for (std::size_t i = 1; i < filter.list.size(); ++i) {
        const bool one = matches(part(i), q);
        all &= one;
        any |= one;
      }
      return kind == "require-all" ? all : any;
    }
    if (kind == "require-not") return !matches(part(1), q);
    if (kind == "literal") return !q.path.empty() && q.path == value(part(1));
    if (kind == "subpath") {
      const auto base = value(part(1));
      if (q.path.empty()) return false;
      return base == "/" || q.path == base || q.path.starts_with(base + "/");
    }
    if (kind == "regex") return fits(value(part(1)), q.path) && !q.path.empty();
    if (kind == "remote" || kind == "local") {
      if (part(1).text != "ip") fail("unknown end");
      const auto& end = kind == "remote" ? q.remote : q.local;
      const auto pattern = value(part(2));
      return !end.empty() && (pattern == "*:*" || pattern == end);
    }
    // What only special files, other services and questions about the machine have.
    for (const auto* known :
         {"vnode-type", "extension", "target", "sysctl-name", "sysctl-name-prefix", "global-name",
          "socket-domain", "socket-protocol", "iokit-registry-entry-class"})
      if (kind == known) return false;
    fail("unknown filter `" + kind + "`");
  }

  std::map<std::string, std::string> parameters_;
  mutable std::unordered_map<std::string, compiled> expressions_;
  std::string text_;
  std::size_t at_ = 0;
  bool versioned_ = false, denies_by_default_ = false;
  std::vector<rule> rules_;
};

} // namespace gatehouse::tests
