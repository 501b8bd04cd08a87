#pragma once

#include "protocol/rpc/app_words.hpp"

// Files (`fs/*`) in the app dialect. Included by app_fields.hpp.
namespace gatehouse::rpc {

namespace app {

struct file_params {
  std::optional<std::string> thread_id;
  std::string path;
};
struct write_file_params {
  std::optional<std::string> thread_id;
  std::string path;
  std::string data_base64;
};
struct create_directory_params {
  std::optional<std::string> thread_id;
  std::string path;
  std::optional<bool> recursive;
};
struct remove_params {
  std::optional<std::string> thread_id;
  std::string path;
  std::optional<bool> recursive;
  std::optional<bool> force;
};
struct copy_params {
  std::optional<std::string> thread_id;
  std::string source_path;
  std::string destination_path;
  std::optional<bool> recursive;
};

struct read_file_result {
  std::string data_base64;
};
struct metadata_result {
  bool is_directory = false;
  bool is_file = false;
  bool is_symlink = false;
  std::int64_t size = 0;
  std::int64_t created_at_ms = 0;
  std::int64_t modified_at_ms = 0;
};
struct directory_entry {
  std::string file_name;
  bool is_directory = false;
  bool is_file = false;
};
struct read_directory_result {
  std::vector<directory_entry> entries;
};

} // namespace app

inline constexpr std::string_view of_which_thread =
    "must be given: files are touched under the profile of a thread";

template <>
struct described<app::file_params> {
  static constexpr std::string_view name = "FileParams";
  static constexpr std::string_view about = "Names a file or folder.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::file_params::thread_id, of_which_thread);
    v.field("path", &app::file_params::path, "absolute");
  }
};

template <>
struct described<app::write_file_params> {
  static constexpr std::string_view name = "WriteFileParams";
  static constexpr std::string_view about = "The new contents of a file, which is made if needed.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::write_file_params::thread_id, of_which_thread);
    v.field("path", &app::write_file_params::path, "absolute");
    v.field("dataBase64", &app::write_file_params::data_base64, "at most 11 MiB of bytes");
  }
};

template <>
struct described<app::create_directory_params> {
  static constexpr std::string_view name = "CreateDirectoryParams";
  static constexpr std::string_view about = "Names a folder to be made.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::create_directory_params::thread_id, of_which_thread);
    v.field("path", &app::create_directory_params::path, "absolute");
    v.field("recursive", &app::create_directory_params::recursive,
            "left out: true; the folders above it, too, and one that is there is fine");
  }
};

template <>
struct described<app::remove_params> {
  static constexpr std::string_view name = "RemoveParams";
  static constexpr std::string_view about = "Names what is to be removed.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::remove_params::thread_id, of_which_thread);
    v.field("path", &app::remove_params::path, "absolute");
    v.field("recursive", &app::remove_params::recursive,
            "left out: false. true is judged as `rm -rf` is");
    v.field("force", &app::remove_params::force,
            "true: what is not there is fine. Left out: false");
  }
};

template <>
struct described<app::copy_params> {
  static constexpr std::string_view name = "CopyParams";
  static constexpr std::string_view about = "Names what is to be copied, and where to.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::copy_params::thread_id, of_which_thread);
    v.field("sourcePath", &app::copy_params::source_path, "absolute");
    v.field("destinationPath", &app::copy_params::destination_path, "absolute");
    v.field("recursive", &app::copy_params::recursive,
            "must be true for a folder; left out: false");
  }
};

template <>
struct described<app::read_file_result> {
  static constexpr std::string_view name = "ReadFileResult";
  static constexpr std::string_view about = "The contents of a file.";
  template <class V>
  static void fields(V& v) {
    v.field("dataBase64", &app::read_file_result::data_base64, "");
  }
};

template <>
struct described<app::metadata_result> {
  static constexpr std::string_view name = "MetadataResult";
  static constexpr std::string_view about = "What stands at a path.";
  template <class V>
  static void fields(V& v) {
    v.field("isDirectory", &app::metadata_result::is_directory, "links followed");
    v.field("isFile", &app::metadata_result::is_file, "links followed");
    v.field("isSymlink", &app::metadata_result::is_symlink, "");
    v.field("size", &app::metadata_result::size, "in bytes, links followed");
    v.field("createdAtMs", &app::metadata_result::created_at_ms, "0: not known");
    v.field("modifiedAtMs", &app::metadata_result::modified_at_ms, "links followed");
  }
};

template <>
struct described<app::directory_entry> {
  static constexpr std::string_view name = "DirectoryEntry";
  static constexpr std::string_view about = "One name in a folder.";
  template <class V>
  static void fields(V& v) {
    v.field("fileName", &app::directory_entry::file_name, "");
    v.field("isDirectory", &app::directory_entry::is_directory, "links followed");
    v.field("isFile", &app::directory_entry::is_file, "links followed");
  }
};

template <>
struct described<app::read_directory_result> {
  static constexpr std::string_view name = "ReadDirectoryResult";
  static constexpr std::string_view about = "What is in a folder, in no order.";
  template <class V>
  static void fields(V& v) {
    v.field("entries", &app::read_directory_result::entries, "");
  }
};

} // namespace gatehouse::rpc
