#include "cli/command_table.hpp"

#include <algorithm>

namespace gatehouse::cli {
namespace {

using enum value_kind;

constexpr std::string_view profile_names = "read-only workspace-write danger-full-access";
constexpr std::string_view policy_names = "untrusted on-request never";
constexpr std::string_view permission_words =
    "use_default require_escalated with_additional_permissions";

constexpr option_spec profile{"--profile", "NAME|JSON", "what the command may touch", text,
                              profile_names};
constexpr option_spec ask{"--ask", "POLICY", "untrusted, on-request, never, granular (JSON)", text,
                          policy_names};
constexpr option_spec cwd{"--cwd", "DIR", "working folder and project root; default: here", folder};
constexpr option_spec backend{"--backend", "NAME", "platform or landlock (docs/platforms.md)", text,
                              "platform landlock"};
constexpr option_spec timeout{"--timeout-ms", "N", "time limit; default: default_timeout_ms", text};
constexpr option_spec rules{"--rules", "FILE", "a further rule file", file, {}, true};
constexpr option_spec json{"--json", {}, "one JSON document on standard output"};
constexpr option_spec json_anyway{"--json", {}, "its output is JSON anyway; errors are, too"};
constexpr option_spec json_places{"--json", {}, "addresses and token files as one JSON document"};
constexpr option_spec shell{"--shell", "STRING", "a command string for your shell instead of CMD…",
                            text};
constexpr option_spec login{"--login", {}, "with --shell: as a login shell"};
constexpr option_spec sandbox_permissions{"--sandbox-permissions", "MODE",
                                          "require_escalated, with_additional_permissions", text,
                                          permission_words};
constexpr option_spec additional_permissions{"--additional-permissions", "JSON",
                                             "an overlay for this command", text};
constexpr option_spec justification{"--justification", "TEXT",
                                    "why it is needed; shown to whoever is asked", text};
constexpr option_spec prefix_rule{"--prefix-rule", "JSON", "tokens of a rule that may be added",
                                  text};
constexpr option_spec agent_token{"--agent-token-file", "FILE",
                                  "made when missing; default: in the state folder", file};
constexpr option_spec ws_token_file{"--ws-token-file", "FILE",
                                    "instead: agents send this token, which is there", file};
constexpr option_spec ws_token_sha256{"--ws-token-sha256", "HEX",
                                      "instead: agents send the token with this digest", text};
constexpr option_spec reviewer_token{"--reviewer-token-file", "FILE",
                                     "whoever has it may answer; default: as above", file};

constexpr option_spec environment{"--environment", "NAME",
                                  "machine of the configuration; default: local", text};

constexpr option_spec run_options[] = {
    shell,
    login,
    profile,
    ask,
    environment,
    cwd,
    backend,
    timeout,
    rules,
    sandbox_permissions,
    additional_permissions,
    justification,
    prefix_rule,
    {"--exec-server", "URL", "run it on the machine of this exec server", text},
    {"--exec-cwd", "DIR", "with --exec-server: working folder there", text},
    {"--exec-token-file", "FILE", "with --exec-server: its token", file},
    json};
constexpr option_spec patch_options[] = {profile, ask, cwd, backend, timeout, rules, json};
constexpr option_spec batch_options[] = {
    {"--jobs", "N", "calls at the same time; default: 1", text, {}, false, "-j"},
    {"--order", "ORDER", "of the results: input or completion (default)", text, "input completion"},
    {"--fail-fast", {}, "after the first call that is not fine nothing more starts"},
    {"--journal", "FILE", "notes what started and ended; a run that was cut goes on", file},
    {"--resume", {}, "goes on with a run that was cut; its journal must exist"},
    {"--retry-started", {}, "calls cut in the middle run again, too"},
    {"--retries", "N", "a call that failed runs again, N times at most", text},
    timeout,
    {"--url", "URL", "a running `gatehouse serve` runs them", text},
    {"--token-file", "FILE", "for --url; default: the agent's token of yours", file},
    {"--engine", "NAME", "local (default), or slurm: --tasks N, in --work DIR", text,
     "local slurm"},
    {"--work",
     "DIR",
     "for slurm: a folder that every node sees, and no call",
     folder,
     {},
     false,
     {},
     true},
    {"--tasks", "N", "for slurm: of the job array; default: 2", text, {}, false, {}, true},
    profile,
    ask,
    environment,
    cwd,
    rules,
    {"--json", {}, "the summary, too, is JSON: the last line"}};
constexpr option_spec load_options[] = {
    {"--dialect", "NAME", "app (gatehouse serve, default) or exec (exec server)", text, "app exec"},
    {"--callers", "N", "closed loop: calls under way at any time; default: 1", text},
    {"--rate", "R", "open loop: calls that begin each second, whatever ends", text},
    {"--connections", "N", "default: 1", text},
    {"--duration", "S", "seconds that count; default: 10", text},
    {"--warm-up", "S", "seconds before them; default: 1", text},
    {"--mix", "FILE", "calls, one JSON object a line; default: /bin/true", file},
    cwd,
    {"--token-file", "FILE", "default: the token in your state folder", file},
    {"--pid", "N", "the server's process: its memory, descriptors, time", text},
    json,
    {"--html", "FILE", "also a page with plots, one self-contained file", file}};
constexpr option_spec mcp_options[] = {profile, ask, environment, cwd, rules};
constexpr option_spec serve_options[] = {
    {"--listen", "ADDRESS", "ws://127.0.0.1:PORT, unix:///PATH or stdio://", text,
     "ws://127.0.0.1:0 stdio://", true},
    {"--root", "DIR", "where agents may open threads; default: here", folder, {}, true},
    profile,
    ask,
    environment,
    cwd,
    rules,
    agent_token,
    ws_token_file,
    ws_token_sha256,
    reviewer_token,
    {"--no-auth", {}, "without a token: an agent's authority"},
    {"--allow-origin", "ORIGIN", "a web page of this origin may connect", text, {}, true},
    {"--console", {}, "serves the console; its link works once"},
    {"--stdio-as", "WHO", "authority of the stdio client: agent, reviewer", text, "agent reviewer"},
    {"--retain-kib",
     "KIB",
     "events that a thread keeps for its clients; 4096",
     text,
     {},
     false,
     {},
     true},
    json_places,
    {"--schema", {}, "prints the JSON schema of the messages, and ends"},
    {"--schema-markdown",
     {},
     "prints its tables, and ends",
     value_kind::none,
     {},
     false,
     {},
     true}};
constexpr option_spec review_options[] = {
    {"--connect", "URL", "unix:///PATH or ws://127.0.0.1:PORT; default: the one that runs", text},
    reviewer_token,
    {"--list", {}, "prints the questions that stand, and ends"},
    {"--json", {}, "JSON lines: questions out, answers in"}};
constexpr option_spec sandbox_options[] = {
    profile,
    cwd,
    {"--allow-read", "PATH", "also readable", file, {}, true},
    {"--allow-write", "PATH", "also writable", file, {}, true},
    {"--deny-read", "PATH|GLOB", "not even readable", file, {}, true},
    {"--preset", "git", "commits, branches and worktrees work, never hooks", text, "git", true},
    {"--net", {}, "with network"},
    backend,
    {"--explain", {}, "prints the boundary and runs nothing"},
    {"--json", {}, "with --explain: as one JSON document"}};
constexpr option_spec exec_server_options[] = {
    {"--listen", "ADDRESS", "ws://127.0.0.1:PORT (0: a free one), unix://PATH or stdio", text,
     "ws://127.0.0.1:0 stdio"},
    {"--token-file", "FILE", "clients send this token; made when missing", file},
    ws_token_file,
    ws_token_sha256,
    {"--no-auth", {}, "no token: any program of this machine may run commands"},
    {"--allow-unsandboxed", {}, "also runs what comes without a sandbox, as you"},
    {"--session-ttl-ms", "N", "how long a session outlives its connection; 80000", text},
    json_places};
constexpr option_spec explain_options[] = {
    shell,
    login,
    profile,
    ask,
    cwd,
    backend,
    rules,
    {"--ignore-rules", {}, "leaves out the rules of user and project"},
    sandbox_permissions,
    additional_permissions,
    justification,
    prefix_rule,
    timeout,
    json,
    {"--jsonl", {}, "one request a line in, one answer a line out"}};
constexpr option_spec check_options[] = {
    {"--rules", "FILE", "a rule file; at least one, read in this order", file, {}, true, "-r"},
    {"--pretty", {}, "indented JSON"},
    {"--resolve-host-executables", {}, "a program path may match rules for its name"},
    json_anyway};
constexpr option_spec audit_since{"--since", "TIME", "2026-01-31 or 2026-01-31T12:00:00 (UTC)",
                                  text};
constexpr option_spec audit_until{"--until", "TIME", "the same, for the newest", text};
constexpr option_spec audit_session{"--session", "ID", "of this session", text};
constexpr option_spec audit_call{"--call", "ID", "of this call", text};
constexpr option_spec audit_kind{"--kind", "KIND", "of this kind", text,
                                 "session request decision question review attempt denial "
                                 "attempt_end end grant amendment pruned "
                                 "lost"};
constexpr option_spec audit_limit{"--limit", "N", "the newest so many; list: 50, 0 for all", text};
constexpr option_spec audit_file{"--file", "PATH", "another audit than your own", file};
constexpr option_spec audit_list_options[] = {audit_since, audit_until, audit_session, audit_call,
                                              audit_kind,  audit_limit, audit_file,    json};
constexpr option_spec audit_show_options[] = {audit_file, json};
constexpr option_spec audit_why_options[] = {audit_session, audit_file, json};
constexpr option_spec audit_export_options[] = {
    {"--decisions", {}, "what `gatehouse policy replay` takes, instead"},
    audit_since,
    audit_until,
    audit_session,
    audit_call,
    audit_kind,
    audit_limit,
    audit_file,
    json_anyway};
constexpr option_spec audit_verify_options[] = {
    {"--known", "SEQ:HASH", "a head that was seen before and must still stand", text},
    audit_file,
    json};
constexpr option_spec replay_options[] = {
    {"--audit", {}, "the decisions of your audit, instead of standard input"},
    audit_file,
    audit_since,
    audit_until,
    audit_session,
    audit_call,
    audit_limit,
    {"--rules", "FILE", "the rules to judge by, instead of the configured ones", file, {}, true},
    {"--add", {}, "on top of the configured rules"},
    {"--cwd", "DIR", "working folder where a request names none", folder},
    json_anyway};
constexpr option_spec json_only[] = {json};
constexpr option_spec config_options[] = {json, cwd, ask, profile};
constexpr option_spec man_options[] = {
    {"--all", "DIR", "writes gatehouse.1 and a page for each command into DIR", folder}};

constexpr std::string_view own_statuses = "own 1 2 120 121 124 125 126 127 128+n";

constexpr command_spec table[] = {
    {.name = "run",
     .synopsis = "[options] (-- CMD… | --shell STRING)",
     .summary = "one command through decision, approval and sandbox",
     .about = "",
     .notes =
         "At a terminal a needed approval is asked for there; elsewhere it is a refusal. The "
         "command reads nothing from standard input. With --json nothing else than the "
         "document is written to standard output: decision, reviews, attempts, output; also when "
         "usage or configuration is wrong. A reader that is slow slows the command, not its time "
         "limit; what is left when it ended waits for the reader, or for a second signal.",
     .options = run_options,
     .rest = command,
     .statuses = own_statuses,
     .examples = {"gatehouse run --profile workspace-write -- make test",
                  "gatehouse run --json --shell 'cd src && rg TODO | head'"},
     .has_reports = true,
     .host = true},
    {.name = "apply-patch",
     .synopsis = "[options] [PATCH]",
     .summary = "one patch through decision, approval and sandbox",
     .about = "PATCH (*** Begin Patch … *** End Patch), or standard input when there is none.\n"
              "A patch that does not fit changes nothing.",
     .notes = "When the system fails or refuses midway, each file is old or new as a whole, and "
              "the message names those that are new.",
     .options = patch_options,
     .rest = text,
     .statuses = "0 1 2 120 121 124 125",
     .examples = {"gatehouse apply-patch < change.patch",
                  "gatehouse apply-patch --json --cwd repo < change.patch"},
     .has_reports = true,
     .host = true},
    {.name = "batch",
     .synopsis = "[options] (FILE | -)",
     .summary = "many calls, one JSON line each in and out",
     .about = "",
     .notes =
         "In: {\"callId\": …, \"tool\": \"shell_command\", \"arguments\": {\"command\": …}}; "
         "callId and tool may be left out. Out: {\"index\": …, \"callId\": …, \"result\": as of "
         "tool/call in docs/protocol.md}. All lines are read before the first call runs. What "
         "needs "
         "an approval is answered by hooks or the automatic reviewer, with --url also by whoever "
         "reviews at that daemon; else it is refused. With --journal a finished call never runs "
         "twice: after a crash the same command goes on. With --resume it only goes on: a name "
         "that "
         "leads to no journal is an error, and not a new start. "
         "No call in the sandbox can see or move the journal; when it is replaced or changed all "
         "the same, nothing more starts. With --url it must lie outside of the folder of the "
         "calls and of temporary folders. "
         "Calls that had started when a run was cut are reported as interrupted, or run again "
         "with --retry-started. With --engine slurm the calls are split into a job array of an "
         "existing Slurm cluster; the work folder has the journals and is kept from the calls, "
         "--fail-fast holds for each "
         "task by itself, and the results come in the order of the input. With --json the last "
         "line is "
         "{\"summary\": {\"calls\", \"fine\", \"failed\", \"refused\", \"interrupted\", "
         "\"not_run\", "
         "\"remembered\", \"not_fine\"}, \"exit_status\"}.",
     .options = batch_options,
     .rest = file,
     .statuses = "0 1 2 3 120",
     .examples = {"gatehouse batch -j 4 --journal ~/run.journal calls.jsonl",
                  "gatehouse batch -j 4 --journal ~/run.journal --resume calls.jsonl"},
     .host = true},
    {.name = "load",
     .synopsis = "[options] URL",
     .summary = "calls against a running server, measured",
     .about = "URL is ws://HOST:PORT or unix:///PATH. Latencies count from the moment when a\n"
              "call should have begun: a server that stalls cannot hide it.",
     .notes = "A line of --mix is {\"arguments\": …, \"tool\"?, \"weight\"?}; for an exec server "
              "{\"params\": of process/start without processId, \"weight\"?}. --rate and --callers "
              "exclude each other. Status 1: some calls failed, or the server went away.",
     .options = load_options,
     .rest = text,
     .statuses = "0 1 2",
     .examples = {"gatehouse load --callers 8 --duration 30 ws://127.0.0.1:4500",
                  "gatehouse load --rate 20 --html report.html ws://127.0.0.1:4500"},
     .host = true},
    {.name = "mcp",
     .synopsis = "[options]",
     .summary = "a tool server for agents (Model Context Protocol)",
     .about = "Speaks on standard input and output (docs/agents.md). What needs an approval\n"
              "is put before the user by the client, where it can ask, else it is refused.",
     .notes = "Versions 2025-06-18, 2025-11-25 and 2026-07-28 of the protocol are spoken.",
     .options = mcp_options,
     .statuses = "0 1 2",
     .examples = {"gatehouse mcp --profile workspace-write",
                  "gatehouse mcp --ask untrusted --cwd ~/work/repo"},
     .host = true},
    {.name = "serve",
     .synopsis = "[options]",
     .summary = "the endpoint for IDE extensions and the console",
     .about = "",
     .notes = "Prints one address a line, then where the tokens are on standard error. JSON-RPC "
              "2.0 over WebSocket (docs/protocol.md). An agent may ask for a narrower "
              "profile or policy than the daemon's, never for a wider one. Ends with status 0 "
              "after a signal or the end of the stdio client.",
     .options = serve_options,
     .statuses = "0 1 2",
     .examples = {"gatehouse serve --console --root ~/work/repo",
                  "gatehouse serve --listen unix:///run/user/1000/gatehouse.sock"},
     .host = true},
    {.name = "review",
     .synopsis = "[options]",
     .summary = "answers the questions of a running daemon",
     .about = "The same text and keys as in `gatehouse run`; one key is one answer. Ctrl-D or\n"
              "Ctrl-C leaves; what is not answered stays with the daemon.",
     .notes =
         "Several reviewers may look at once: the first answer counts, and the others are told. "
         "A lost connection is made again. With --json a line out has a type (connected, "
         "question, resolved, notTaken, lost) and the fields of docs/protocol.md; a line in is "
         "{\"requestId\": …, \"decision\": one of availableDecisions}.",
     .options = review_options,
     .statuses = "0 1 2",
     .examples = {"gatehouse review", "gatehouse review --list --json"},
     .host = true},
    {.name = "sandbox",
     .synopsis = "[options] -- CMD…",
     .summary = "one command inside the boundary, nobody asked",
     .about = "",
     .notes = "A relative glob after --deny-read counts in every project root. --preset git makes "
              "writable what commits, branches and worktrees need, never hooks or configuration.",
     .options = sandbox_options,
     .rest = command,
     .statuses = "own 2 121 126 127 128+n",
     .examples = {"gatehouse sandbox --profile read-only -- make -n",
                  "gatehouse sandbox --explain --allow-write /srv/data --net"}},
    {.name = "exec-server",
     .synopsis = "[options]",
     .summary = "runs what clients of the exec-server protocol send",
     .about = "Each command and file call runs inside the sandbox that its request asks for.\n"
              "Prints its URL on standard output when it listens.",
     .notes = "A session outlives its connection for --session-ttl-ms. Without --token-file the "
              "token is tokens/exec.token in the state folder.",
     .options = exec_server_options,
     .statuses = "0 1 2",
     .examples = {"gatehouse exec-server --listen ws://127.0.0.1:0",
                  "gatehouse exec-server --listen stdio"},
     .host = true},
    {.name = "policy explain",
     .synopsis = "[options] (-- CMD… | --shell STRING | --jsonl)",
     .summary = "the whole decision about a command; runs nothing",
     .about = "",
     .notes = "Prints the segments found and who judged each, what must happen before it may run, "
              "and the boundary it would get. With --jsonl a line is an object: `argv` (a list) or "
              "`command` (a script for the user's shell), and as wanted `login`, `cwd` or "
              "`workdir`, `approval_policy`, `profile`, `sandbox_permissions`, "
              "`additional_permissions`, `prefix_rule`, `rules` and `requirements` (texts of "
              "files); `id`, `tool`, `timeout_ms` and `justification` change nothing. The run goes "
              "on after a line that cannot be read and ends with status 2.",
     .options = explain_options,
     .rest = command,
     .statuses = "0 1 2",
     .examples = {"gatehouse policy explain -- git push",
                  "gatehouse policy explain --json --shell 'curl x | sh'"}},
    {.name = "policy check",
     .synopsis = "--rules FILE… [options] [--] CMD…",
     .summary = "which rules match a command, text only",
     .about = "No shell is read, no heuristic asked; `policy explain` gives the whole decision.",
     .notes = "The command starts at the first word that is no option of this command. The exit "
              "status is 0 whatever the decision is.",
     .options = check_options,
     .rest = command,
     .statuses = "0 1 2",
     .examples = {"gatehouse policy check --rules my.rules --pretty git push",
                  "gatehouse policy check -r a.rules -r b.rules -- rm -rf build"},
     .unknown_begins_rest = true},
    {.name = "policy test",
     .synopsis = "[--json] FILE…",
     .summary = "checks the examples of rule files",
     .about = "Reads rule files in this order, as one layer, and checks their examples.",
     .notes = "Everything that is not well is named with file:line:col.",
     .options = json_only,
     .rest = file,
     .statuses = "0 1 2",
     .examples = {"gatehouse policy test ~/.gatehouse/rules/default.rules",
                  "gatehouse policy test --json a.rules b.rules"}},
    {.name = "policy replay",
     .synopsis = "--rules FILE… [options] (--audit | < JSONL)",
     .summary = "what other rules would change",
     .about =
         "A line in: {\"request\": as for `policy explain --jsonl`, \"decision\": its answer}.\n"
         "One line out for each change, and the sum at the end.",
     .notes = "{\"line\":N,\"before\":…,\"after\":…,\"bypass_before\":…,\"bypass_after\":…}, and "
              "{\"records\":N,\"changed\":N,\"unreadable\":N} at the end; with --audit `entry` "
              "instead of `line`, and `skipped`: decisions that rules alone did not make (patches, "
              "refusals by a hook). Runs nothing.",
     .options = replay_options,
     .statuses = "0 1 2",
     .examples = {"gatehouse policy replay --rules new.rules < decisions.jsonl",
                  "gatehouse policy replay --rules more.rules --add --audit"}},
    {.name = "audit list",
     .synopsis = "[options]",
     .summary = "what was asked, decided and run, one line an entry",
     .about = "The newest last.",
     .options = audit_list_options,
     .statuses = "0 1 2",
     .examples = {"gatehouse audit list --kind denial --since 2026-01-31",
                  "gatehouse audit list --limit 0 --json"}},
    {.name = "audit show",
     .synopsis = "[options] (NUMBER | CALL)",
     .summary = "one entry, or everything about one call",
     .about = "",
     .options = audit_show_options,
     .rest = text,
     .statuses = "0 1 2",
     .examples = {"gatehouse audit show 17", "gatehouse audit show call-4711 --json"}},
    {.name = "audit why",
     .synopsis = "[options] CALL",
     .summary = "why a call was decided as it was, and who answered",
     .about = "Segments and their judges, what policy made of them, the boundary, the answers:\n"
              "the words that the console says to \"Why?\", too.",
     .notes = "With --json {\"call\", \"why\": these words, \"entries\": the decisions and answers "
              "that they tell of, as `audit export` has them}.",
     .options = audit_why_options,
     .rest = text,
     .statuses = "0 1 2",
     .examples = {"gatehouse audit why call-4711",
                  "gatehouse audit why --session thread-7f3a mcp-3"}},
    {.name = "audit export",
     .synopsis = "[options]",
     .summary = "entries as JSON, one a line",
     .about = "",
     .notes =
         "{\"seq\", \"time\", \"kind\", \"session\", \"turn\", \"call\", \"attempt\", \"hash\", "
         "\"body\"}; docs/audit.md.",
     .options = audit_export_options,
     .statuses = "0 1 2",
     .examples = {"gatehouse audit export > audit.jsonl",
                  "gatehouse audit export --decisions > decisions.jsonl"}},
    {.name = "audit verify",
     .synopsis = "[options]",
     .summary = "whether the audit is as it was written",
     .about = "Computes the chain of hashes anew and prints its head, SEQ:HASH. Keep a head\n"
              "elsewhere: with --known a rewritten or shortened audit is found too.",
     .options = audit_verify_options,
     .statuses = "0 1 2",
     .examples = {"gatehouse audit verify", "gatehouse audit verify --json --known 17:ab12…"}},
    {.name = "doctor",
     .synopsis = "[--json]",
     .summary = "what this host can enforce, and the fix for each gap",
     .about = "Ends with 1 when commands cannot be sandboxed here.",
     .options = json_only,
     .statuses = "0 1 2",
     .examples = {"gatehouse doctor", "gatehouse doctor --json"}},
    {.name = "config show",
     .synopsis = "[options]",
     .summary = "every setting in force and where it comes from",
     .about = "Layers, later ones win: built-in, system (/etc/gatehouse), user\n"
              "($GATEHOUSE_HOME, ~/.gatehouse), project (DIR/.gatehouse, only when trusted,\n"
              "only tighter), command line; then requirements (/etc/gatehouse).",
     .options = config_options,
     .statuses = "0 1 2",
     .examples = {"gatehouse config show", "gatehouse config show --json --cwd ~/work/repo"}},
    {.name = "completions",
     .synopsis = "bash | zsh | fish",
     .summary = "completes commands and options in a shell",
     .about = "",
     .notes = "For zsh the script may also stand as a file `_gatehouse` in a folder of fpath.",
     .rest = text,
     .rest_choices = "bash zsh fish",
     .statuses = "0 1 2",
     .examples = {"source <(gatehouse completions bash)",
                  "gatehouse completions fish > ~/.config/fish/completions/gatehouse.fish"}},
    {.name = "man",
     .synopsis = "([COMMAND] | --all DIR)",
     .summary = "the manual page of a command, for man",
     .about = "",
     .options = man_options,
     .rest = text,
     .statuses = "0 1 2",
     .examples = {"gatehouse man run | man -l -", "gatehouse man --all /usr/local/share/man/man1"}},
};

constexpr command_group groups[] = {
    {"policy", "explain, check, test, replay: decisions; run nothing"},
    {"audit", "list, show, why, export, verify: what was decided and run"}};

constexpr exit_meaning statuses[] = {
    {"0", "done; of `run` and `sandbox`: the command ended well"},
    {"own", "the command's own status, when it ran to its end"},
    {"1", "it could not be done, what was checked is not well, or output could not be written"},
    {"2", "wrong usage, input or configuration; nothing ran"},
    {"3", "batch: some calls were refused, the others are fine"},
    {"120", "stopped by the user or a signal"},
    {"121", "the boundary cannot be built here; nothing ran"},
    {"124", "the time limit ended the command"},
    {"125", "refused by policy or reviewer"},
    {"126", "the command is not executable"},
    {"127", "the command is not found"},
    {"128+n", "the command was ended by signal n"},
};

} // namespace

std::span<const command_spec> commands() {
  return table;
}

std::span<const command_group> command_groups() {
  return groups;
}

const command_spec* find_command(std::string_view name) {
  const auto found = std::ranges::find(table, name, &command_spec::name);
  return found == std::end(table) ? nullptr : &*found;
}

std::span<const exit_meaning> exit_statuses() {
  return statuses;
}

} // namespace gatehouse::cli
