#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <stdlib.h>

namespace gatehouse::tests {

/// A fresh folder below /var/tmp, removed with everything in it at the end.
class temp_folder {
public:
  temp_folder() {
    std::string name = "/var/tmp/gatehouse-test-XXXXXX";
    if (!::mkdtemp(name.data())) throw std::runtime_error{"mkdtemp failed"};
    path_ = name;
  }
  temp_folder(const temp_folder&) = delete;
  temp_folder& operator=(const temp_folder&) = delete;
  ~temp_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string{name}; }

  /// Writes a file and makes the folders above it; returns its path.
  std::string write(std::string_view name, std::string_view text) const {
    auto file = *this / name;
    std::filesystem::create_directories(std::filesystem::path{file}.parent_path());
    std::ofstream{file, std::ios::binary} << text;
    return file;
  }
  /// Makes a folder and the folders above it; returns its path.
  std::string folder(std::string_view name) const {
    auto path = *this / name;
    std::filesystem::create_directories(path);
    return path;
  }
  /// Makes a symbolic link `name` with the text `target`, and the folders above it.
  void link(std::string_view target, std::string_view name) const {
    const auto path = *this / name;
    std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
    std::filesystem::create_symlink(target, path);
  }
  [[nodiscard]] std::string read(std::string_view name) const {
    std::ostringstream text;
    text << std::ifstream{*this / name, std::ios::binary}.rdbuf();
    return text.str();
  }

private:
  std::string path_;
};

} // namespace gatehouse::tests
