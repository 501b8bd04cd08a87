#include "policy/shell/characters.hpp"
#include "policy/shell/script_reader.hpp"

#include <utility>

namespace gatehouse::policy::shell {

bool script_reader::at_redirection() const noexcept {
  auto i = at_;
  const auto skip = [&](auto matches) {
    while (i < text_.size() && (matches(text_[i]) || text_.substr(i, 2) == "\\\n"))
      i += text_[i] == '\\' ? 2 : 1;
  };
  if (peek() == '{') {
    ++i;
    skip(is_name_part);
    if (i >= text_.size() || text_[i] != '}' || i == at_ + 1) return false;
    ++i;
  } else {
    skip(is_digit);
  }
  const auto rest = text_.substr(i, 2);
  if (i == at_ && rest == "&>") return !is_posix();
  return (rest.starts_with('<') || rest.starts_with('>')) && !rest.ends_with('(');
}

/// Reads one redirection of the commands [first, last).
void script_reader::redirection(found_command& into, std::size_t first, std::size_t last) {
  into.has_redirection = true;
  std::string descriptor;
  for (; !done() && peek() != '<' && peek() != '>' && peek() != '&'; ++at_)
    if (peek() != '\\' && peek() != '\n') descriptor += peek();
  const auto take = [&](std::string_view text) {
    if (!looking_at(text)) return false;
    at_ += text.size();
    return true;
  };
  const bool is_input = descriptor.empty() || descriptor == "0";
  if (take("<<<")) {
    skip_blanks();
    const auto text = join_pieces(read_word(false).pieces);
    auto& input = is_input ? into.input : into.other_input;
    input = {input_source::kind::text, text.text + "\n", {}, 0, text.is_cut || text.is_long};
    return;
  }
  if (take("<<")) {
    pending_document document;
    document.strip_tabs = take("-");
    skip_blanks();
    if (done() || is_word_end(peek())) return fail("a here-document's delimiter is missing");
    document.delimiter = document_delimiter(document.quoted);
    document.first = first;
    document.last = last;
    document.id = ++next_document_;
    (is_input ? into.input
              : into.other_input) = {input_source::kind::elsewhere, {}, {}, document.id};
    documents_.push_back(std::move(document));
    return;
  }
  const bool duplicates_output = take(">&");
  const bool duplicates = duplicates_output || take("<&");
  const bool writes = duplicates_output || take("&>>") || take("&>") || take(">>") || take(">|") ||
                      take("<>") || take(">");
  if (!writes && !duplicates) take("<");
  skip_blanks();
  if (!at_word()) return fail("a redirection's target is missing");
  const auto begin = at_;
  const auto raw = read_word(false);
  const auto target = join_pieces(raw.pieces);
  if (duplicates &&
      (target.text == "-" || (!target.text.empty() &&
                              target.text.find_first_not_of("0123456789-") == std::string::npos))) {
    if (is_input && !writes) into.input = {input_source::kind::elsewhere, {}, {}, 0};
    return;
  }
  if (writes) {
    const bool is_static = target.text.find(unknown_part) == std::string::npos;
    // A quoted tilde is no home folder.
    const bool is_plain_name = target.text.starts_with('~') && text_[begin] != '~';
    into.write_targets.push_back(is_static ? (is_plain_name ? "./" : "") + target.text
                                           : std::string(text_.substr(begin, at_ - begin)));
  } else if (is_input) {
    into.input = {input_source::kind::elsewhere, {}, {}, 0, false, target.text};
    if (raw.is_process) into.input = {input_source::kind::pipe, {}, raw.process, 0};
  }
}

/// Quotes are removed, nothing is expanded.
std::string script_reader::document_delimiter(bool& quoted) {
  std::string delimiter;
  while (!done() && !is_word_end(peek())) {
    const char c = text_[at_++];
    if (c == '\\') {
      if (peek() == '\n') {
        ++at_;
        continue;
      }
      quoted = true;
      if (!done()) delimiter += text_[at_++];
    } else if (c == '\'' || c == '"') {
      quoted = true;
      const auto end = text_.find(c, at_);
      if (end == std::string_view::npos) {
        fail("a here-document's delimiter is not closed");
        return delimiter;
      }
      const auto inside = text_.substr(at_, end - at_);
      if (c == '"' && inside.find('\\') != std::string_view::npos)
        unreadable("a here-document's delimiter holds a backslash");
      delimiter += inside;
      at_ = end + 1;
    } else {
      if (c == '$' && (peek() == '\'' || peek() == '"' || peek() == '(' || peek() == '{'))
        unreadable("a here-document's delimiter looks like an expansion");
      delimiter += c;
    }
  }
  return delimiter;
}

void script_reader::document_bodies() {
  for (const auto& document : std::exchange(documents_, {})) {
    std::string body;
    bool continued = false; // an unquoted body joins lines before the delimiter is looked for
    while (!done()) {
      const auto end = std::min(text_.find('\n', at_), text_.size());
      auto line = text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
      if (document.strip_tabs && !continued)
        line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
      if (!continued && line == document.delimiter) break;
      const auto slashes = line.size() - (line.find_last_not_of('\\') + 1);
      continued = !document.quoted && slashes % 2 == 1;
      body += line;
      body += '\n';
    }
    auto input = input_source{input_source::kind::text, {}, {}, 0};
    if (document.quoted) {
      input.text = std::move(body);
    } else if (enter()) {
      script_reader inner(body, out_, variables_, depth_);
      const auto text = join_pieces(inner.read_document().pieces);
      input.text = text.text;
      input.is_cut = text.is_cut || text.is_long;
      if (!inner.error_.empty()) unreadable("inside a here-document: " + inner.error_);
      --depth_;
    }
    for (auto i = document.first; i < document.last && i < out_.commands.size(); ++i)
      for (auto* from : {&out_.commands[i].input, &out_.commands[i].other_input})
        if (from->document == document.id) *from = input;
  }
}

} // namespace gatehouse::policy::shell
