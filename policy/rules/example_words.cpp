#include "policy/rules/example_words.hpp"

namespace gatehouse::policy {
namespace {

class splitter {
public:
  explicit splitter(std::string_view text) : text_{text} {}

  std::optional<std::vector<std::string>> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == ' ' || c == '\t' || c == '\n') {
        end_word();
      } else if (c == '#' && !in_word_) {
        while (at_ < text_.size() && text_[at_] != '\n')
          ++at_;
      } else if (c == '\'') {
        const auto close = text_.find('\'', at_);
        if (close == std::string_view::npos) return std::nullopt;
        begin_word().append(text_.substr(at_, close - at_));
        at_ = close + 1;
      } else if (c == '"') {
        if (!read_double_quoted()) return std::nullopt;
      } else if (c == '\\') {
        if (at_ == text_.size()) return std::nullopt;
        const char escaped = text_[at_++];
        if (escaped != '\n') begin_word() += escaped;
      } else {
        begin_word() += c;
      }
    }
    end_word();
    return std::move(words_);
  }

private:
  std::string& begin_word() {
    in_word_ = true;
    return word_;
  }
  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  bool read_double_quoted() {
    begin_word();
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (c != '\\') {
        word_ += c;
        continue;
      }
      if (at_ == text_.size()) return false;
      const char escaped = text_[at_++];
      if (std::string_view{"$`\"\\\n"}.find(escaped) == std::string_view::npos) word_ += '\\';
      if (escaped != '\n') word_ += escaped;
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

} // namespace

std::optional<std::vector<std::string>> split_example(std::string_view text) {
  return splitter{text}.run();
}

} // namespace gatehouse::policy
