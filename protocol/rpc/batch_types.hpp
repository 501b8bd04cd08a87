#pragma once

#include "protocol/rpc/app_fields.hpp"

/// Lines of `gatehouse batch` (§202): what comes in, what goes out, what its journal holds.
namespace gatehouse::rpc::batch {

/// One call: the arguments of `tool/call`.
struct item_line {
  std::optional<std::string> call_id;
  std::optional<std::string> tool;
  json_tree arguments;
};

struct result_line {
  std::int64_t index = 0;
  std::string call_id;
  raw_json result; ///< as of `tool/call`
};

/// A line of the journal: exactly one of its fields is set.
struct journal_place {
  std::string runner; ///< "local", or "daemon": of --url
  std::string environment;
  std::string folder; ///< where links lead, on this machine
  std::string profile;
  std::string approval_policy; ///< as JSON or as given; empty as is `profile`: as the daemon has it

  bool operator==(const journal_place&) const = default;
};
struct journal_head {
  std::int64_t items = 0;
  std::string input; ///< fingerprint of the whole input
  journal_place place;
};
struct journal_end {
  std::int64_t index = 0;
  std::string call_id;
  app::call_status status = app::call_status::failed;
  raw_json result;
};
struct journal_line {
  std::optional<journal_head> run;
  std::optional<std::int64_t> started;
  std::optional<journal_end> finished;
};

} // namespace gatehouse::rpc::batch

namespace gatehouse::rpc {

template <>
struct described<batch::item_line> {
  static constexpr std::string_view name = "BatchItem";
  static constexpr std::string_view about = "One call of a batch.";
  template <class V>
  static void fields(V& v) {
    v.field("callId", &batch::item_line::call_id, "left out: item-N, counted from 1");
    v.field("tool", &batch::item_line::tool, "left out: shell_command");
    v.field("arguments", &batch::item_line::arguments, "of the tool");
  }
};
template <>
struct described<batch::result_line> {
  static constexpr std::string_view name = "BatchResult";
  static constexpr std::string_view about = "How one call of a batch ended.";
  template <class V>
  static void fields(V& v) {
    v.field("index", &batch::result_line::index, "of the item, from 0");
    v.field("callId", &batch::result_line::call_id, "");
    v.field("result", &batch::result_line::result, "as of tool/call");
  }
};
template <>
struct described<batch::journal_place> {
  static constexpr std::string_view name = "BatchJournalPlace";
  static constexpr std::string_view about = "Where and how the calls of a journal ran.";
  template <class V>
  static void fields(V& v) {
    v.field("runner", &batch::journal_place::runner, "local or daemon");
    v.field("environment", &batch::journal_place::environment, "");
    v.field("folder", &batch::journal_place::folder, "");
    v.field("profile", &batch::journal_place::profile, "");
    v.field("approvalPolicy", &batch::journal_place::approval_policy, "");
  }
};
template <>
struct described<batch::journal_head> {
  static constexpr std::string_view name = "BatchJournalHead";
  static constexpr std::string_view about =
      "Which input a journal belongs to, and where its calls ran.";
  template <class V>
  static void fields(V& v) {
    v.field("items", &batch::journal_head::items, "");
    v.field("input", &batch::journal_head::input, "fingerprint");
    v.field("place", &batch::journal_head::place, "of the calls");
  }
};
template <>
struct described<batch::journal_end> {
  static constexpr std::string_view name = "BatchJournalEnd";
  static constexpr std::string_view about = "The end of an item.";
  template <class V>
  static void fields(V& v) {
    v.field("index", &batch::journal_end::index, "");
    v.field("callId", &batch::journal_end::call_id, "");
    v.field("status", &batch::journal_end::status, "");
    v.field("result", &batch::journal_end::result, "");
  }
};
template <>
struct described<batch::journal_line> {
  static constexpr std::string_view name = "BatchJournalLine";
  static constexpr std::string_view about = "A line of a journal.";
  template <class V>
  static void fields(V& v) {
    v.field("run", &batch::journal_line::run, "");
    v.field("started", &batch::journal_line::started, "");
    v.field("finished", &batch::journal_line::finished, "");
  }
};

} // namespace gatehouse::rpc
