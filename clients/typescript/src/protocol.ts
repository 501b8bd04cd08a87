// Generated from `gatehouse serve --schema` by scripts/generate-protocol.mjs; do not edit.

/** Why a thread is active. */
export type ActiveFlag = "waitingOnApproval";

/** A person says yes to an action that the automatic reviewer has just refused. */
export interface AllowRefusedParams {
  threadId: string;
  /** of the action, from serverRequest/resolved */
  actionDigest: string;
}

/** A client's answer to a request for approval. */
export interface ApprovalAnswer {
  /** one of availableDecisions; anything else declines. To a question of the kind `permissions` it may be left out: `permissions` that are not empty then accept */
  decision?: unknown;
  reason?: string;
  /** to a question of the kind `permissions`: give this much and never more than was asked; left out: all of it */
  permissions?: unknown;
  /** likewise: how long; left out: the turn, or the session with `acceptForSession` */
  scope?: GrantScope;
  /** likewise: the automatic reviewer sees every later call of the turn */
  strictAutoReview?: boolean;
}

/** What is asked for: a command, a patch, a host that a running command wants to reach, permissions for later commands, or input to a terminal session outside of the sandbox. */
export type ApprovalKind = "command" | "patch" | "network" | "permissions" | "writeStdin";

/** Which questions to list; without `threadId` all. */
export interface ApprovalListParams {
  threadId?: string;
}

/** The questions that stand, oldest first. */
export interface ApprovalListResult {
  data: ApprovalRequest[];
}

/** A question to a reviewer about exactly one attempt of one call. */
export interface ApprovalRequest {
  /** id of the question; the same after a reconnect */
  requestId: string;
  /** number of the event with which it was first asked; agents are not sent it */
  seq: number;
  threadId: string;
  turnId: string;
  /** id of the call */
  itemId: string;
  kind: ApprovalKind;
  /** 1 or 2 */
  attempt: number;
  environmentId: string;
  /** as people read it */
  command: string;
  /** what runs; of `permissions` empty */
  argv: string[];
  cwd: string;
  /** since when it stands */
  startedAtMs: number;
  /** when it is declined without an answer; left out: it has no such end */
  expiresAtMs?: number;
  /** why it is asked, in words */
  reason: string;
  why: AskedBecause;
  /** the model's words */
  justification: string;
  /** what a yes allows, and what stays forbidden */
  willBeAllowed: string;
  /** a yes covers leaving the sandbox */
  withoutSandbox: boolean;
  /** binds the answer to argv, cwd, environment change, tty and permissions */
  actionDigest: string;
  /** files that redirections of the command write: absolute where known, else as written */
  writeTargets: string[];
  /** of `network`: protocol, host and port */
  networkTarget?: string;
  /** what the command asks for besides what the profile grants */
  additionalPermissions?: unknown;
  /** of `permissions`: what is asked for later commands */
  permissions?: unknown;
  /** the rule that `acceptWithExecpolicyAmendment` adds */
  proposedExecpolicyAmendment?: string[];
  availableDecisions: unknown[];
}

/** Answers a question by its id; the first valid answer counts. */
export interface ApprovalResolveParams {
  threadId: string;
  /** id of the question; the same after a reconnect */
  requestId: string;
  /** one of availableDecisions */
  decision: unknown;
  /** of the question that was shown */
  actionDigest: string;
  /** for the model */
  reason?: string;
  /** to a question of the kind `permissions`: give this much and never more than was asked; left out: all of it */
  permissions?: unknown;
  /** likewise: how long; left out: the turn, or the session with `acceptForSession` */
  scope?: GrantScope;
  /** likewise: the automatic reviewer sees every later call of the turn */
  strictAutoReview?: boolean;
}

/** What made a question necessary: policy: the approval policy asks before a call like this one; rule: a prompt rule; danger: the list of dangerous commands; unmatched: no rule and no list knows the command; escalation: it asks to leave the sandbox; permissions: it asks for more permissions; patch: a patch, or where it writes; denial: the sandbox refused something to the attempt before; network: a host that nothing allows; stdin: input to a process outside of the sandbox; strictReview: every call is reviewed. */
export type AskSource = "policy" | "rule" | "danger" | "unmatched" | "escalation" | "permissions" | "patch" | "denial" | "network" | "stdin" | "strictReview";

/** What made a question necessary. */
export interface AskedBecause {
  source: AskSource;
  /** `FILE:LINE` of the rule, or the rule about hosts */
  rule?: string;
  /** the part of the command that it is about; left out: all of it */
  segment?: string[];
}

/** An attempt began; a call has at most two. */
export interface AttemptEvent {
  threadId: string;
  turnId: string;
  /** id of the call */
  itemId: string;
  /** counts every event of the thread from 1 without a gap */
  seq: number;
  /** 1 or 2 */
  attempt: number;
  /** of the last attempt: none, linux, landlock */
  sandboxType: string;
  /** full, isolated or proxy_only */
  network: string;
}

/** completed: the command ran and ended by itself, whatever its exit code; failed: nothing could be run, or a signal ended it; declined: a reviewer said no; rejected: policy, hook or handler refused. */
export type CallStatus = "completed" | "failed" | "declined" | "rejected" | "timedOut" | "interrupted";

/** What the client can do. */
export interface ClientCapabilities {
  gatehouse?: GatehouseCapabilities;
}

/** Who the client is. */
export interface ClientInfo {
  name: string;
  title?: string;
  version?: string;
}

/** A command that a client runs for itself. It is a call of the thread. */
export interface CommandExecParams {
  /** must be given: a command is judged by the policy of a thread */
  threadId?: string;
  /** its words; run as they are */
  command?: string[];
  /** of the client's choice, 1 to 128 bytes, for write, resize, terminate and the output: must be given with `tty` and `streamStdoutStderr`. Free again when the command has ended. The id of the call is `command:PROCESSID:` and something new each time */
  processId?: string;
  /** left out: the folder of the thread */
  cwd?: string;
  /** a terminal session of the thread; what it says is all `stdout` */
  tty?: boolean;
  /** with `tty` only; set right after the start, before it the size is 24 × 80 */
  size?: TerminalSize;
  /** with `tty` only: what has no terminal has no input */
  streamStdin?: boolean;
  /** command/exec/outputDelta to this connection; what was sent so is not in the result */
  streamStdoutStderr?: boolean;
  /** of each stream, 0 to 1048576; left out: 1048576 */
  outputBytesCap?: number;
  /** true is refused */
  disableOutputCap?: boolean;
  /** 1 to 86400000; left out: as for shell_command. Not with `tty` */
  timeoutMs?: number;
  /** with `tty` only, where it changes nothing: a terminal session has no limit of its own */
  disableTimeout?: boolean;
  /** true: goes on when its connection is lost; else it ends then */
  detachable?: boolean;
  /** refused unless it is empty: the environment is the thread's */
  env?: unknown;
  /** refused: the profile of the thread decides */
  sandboxPolicy?: unknown;
  /** refused: the profile of the thread decides */
  permissionProfile?: unknown;
}

/** How a command ended. A refusal is a result, not an error. */
export interface CommandExecResult {
  /** as of `gatehouse run`: the command's own; 128+n after a signal, 124 time-out, 125 refused, 126 and 127 not executable and not found, 120 stopped by the user, 121 no boundary */
  exitCode: number;
  /** empty where it was streamed */
  stdout: string;
  /** empty where it was streamed */
  stderr: string;
  /** of its item in the thread */
  callId: string;
  status: CallStatus;
  /** what is here, or was streamed, is not all of it */
  outputTruncated: boolean;
  /** the boundary refused something */
  sandboxDenied: boolean;
  /** why it was refused or denied and the safer path; else empty */
  message: string;
}

/** A call as an item of its thread. */
export interface CommandItem {
  /** the same from start to end */
  type: ItemType;
  id: string;
  tool: string;
  /** as people read it */
  command: string;
  cwd: string;
  status: ItemStatus;
  /** of `fileChange`: what the patch says */
  changes?: FileUpdate[];
  aggregatedOutput?: string;
  /** true: the event comes again, and the output was left out since it is no longer kept */
  outputDropped?: boolean;
  exitCode?: number;
  durationMs?: number;
  message?: string;
  /** the document of `gatehouse run --json` */
  report?: unknown;
}

/** Output of a command of this client, as it comes. */
export interface CommandOutput {
  processId: string;
  /** counts from 1 without a gap, over both streams */
  seq: number;
  stream: StreamName;
  /** whole characters of UTF-8; bytes that are none are U+FFFD */
  deltaBase64: string;
  /** of this stream nothing more is sent, and there was more */
  capReached: boolean;
  /** left out before this one, since the client read too slowly */
  droppedBytes?: number;
}

/** Names a command that runs. */
export interface CommandParams {
  processId: string;
}

/** The new size of a command's terminal. */
export interface CommandResizeParams {
  processId: string;
  size: TerminalSize;
}

/** Input for a command with a terminal. */
export interface CommandWriteParams {
  processId: string;
  /** UTF-8 text without NUL */
  deltaBase64?: string;
  /** true is refused: a terminal stays open; Ctrl-D (BA==) tells its reader the end */
  closeStdin?: boolean;
}

/** Empty when it was written. A refusal is a result, not an error. */
export interface CommandWriteResult {
  /** set: it was not written */
  status?: CallStatus;
  /** then: why */
  message?: string;
}

/** The managed network refused a connection, at the moment when it did. Of one command the first 200 are told. */
export interface ConnectionEvent {
  threadId: string;
  turnId: string;
  /** id of the call */
  itemId: string;
  /** counts every event of the thread from 1 without a gap */
  seq: number;
  /** 1 or 2 */
  attempt: number;
  /** protocol, name and port; absent: none could be read */
  host?: string;
  /** of a plain HTTP request */
  method?: string;
  /** not_listed, denied_by_rule, ... */
  reason: string;
  /** the rule that decided, as it was written */
  rule?: string;
  /** what the command was told */
  message: string;
}

/** Names what is to be copied, and where to. */
export interface CopyParams {
  /** must be given: files are touched under the profile of a thread */
  threadId?: string;
  /** absolute */
  sourcePath: string;
  /** absolute */
  destinationPath: string;
  /** must be true for a folder; left out: false */
  recursive?: boolean;
}

/** Names a folder to be made. */
export interface CreateDirectoryParams {
  /** must be given: files are touched under the profile of a thread */
  threadId?: string;
  /** absolute */
  path: string;
  /** left out: true; the folders above it, too, and one that is there is fine */
  recursive?: boolean;
}

/** What policy said before anybody was asked: it may run, somebody must be asked, it may not. */
export type Decision = "allow" | "prompt" | "forbidden";

/** The boundary refused something that the attempt needed. */
export interface DenialEvent {
  threadId: string;
  turnId: string;
  /** id of the call */
  itemId: string;
  /** counts every event of the thread from 1 without a gap */
  seq: number;
  /** 1 or 2 */
  attempt: number;
  kind: string;
  path: string;
  host: string;
  /** the profile entry that refused it */
  entry: string;
  /** which request would allow it */
  remedy: string;
}

/** One name in a folder. */
export interface DirectoryEntry {
  fileName: string;
  /** links followed */
  isDirectory: boolean;
  /** links followed */
  isFile: boolean;
}

/** Asks what would be decided; nothing runs. */
export interface ExplainParams {
  threadId?: string;
  /** left out: shell_command */
  tool?: string;
  /** of the tool */
  arguments?: unknown;
  /** from a reviewer, with `threadId` and without `tool` and `arguments`: of a question that stands; told is how its call was judged when it was asked */
  requestId?: string;
}

/** Names a file or folder. */
export interface FileParams {
  /** must be given: files are touched under the profile of a thread */
  threadId?: string;
  /** absolute */
  path: string;
}

/** One file of a patch. */
export interface FileUpdate {
  /** absolute, links not followed */
  path: string;
  kind: UpdateKind;
  /** of `update` the chunks as the patch spells them, of `add` the new file */
  diff: string;
}

/** What the client can do with this server's own messages. What cannot be had is an error. */
export interface GatehouseCapabilities {
  /** true: a person answers behind this connection, and is asked about every thread (reviewers only); false: nobody does, and it is asked nothing; left out: about the threads that it follows */
  approvals?: boolean;
  /** only `lossy` can be had: no command waits for a client that reads slowly */
  outputMode?: OutputMode;
  /** calls of this session under way, 1 to `limits.maxInFlight` of the server; left out: as many as that */
  maxInFlight?: number;
}

/** What is taken back. */
export type GrantKind = "grant" | "approval" | "host";

/** How long permissions last. */
export type GrantScope = "turn" | "session";

/** A permission that a reviewer gave for a turn or the session. */
export interface Granted {
  id: number;
  /** `turn` or `session` */
  scope: string;
  turnId: string;
  permissions: unknown;
}

/** The first request of a connection. */
export interface InitializeParams {
  clientInfo: ClientInfo;
  capabilities?: ClientCapabilities;
  /** the session of a connection that was lost */
  resumeSessionId?: string;
  /** end the connection that the session still has */
  takeover?: boolean;
}

/** The session of this connection. */
export interface InitializeResult {
  userAgent: string;
  platformFamily: string;
  platformOs: string;
  /** for resume_session_id */
  sessionId: string;
  resumed: boolean;
  gatehouse: ServerFacts;
}

/** An item started or ended; every call has both, also a refused one. */
export interface ItemEvent {
  threadId: string;
  turnId: string;
  /** counts every event of the thread from 1 without a gap */
  seq: number;
  item: CommandItem;
  /** of item/started */
  startedAtMs?: number;
  /** of item/completed */
  completedAtMs?: number;
}

/** How an item stands; the call's result says more. */
export type ItemStatus = "inProgress" | "completed" | "failed" | "declined";

/** A command, input to one or a request for permissions; or a patch. */
export type ItemType = "commandExecution" | "fileChange";

/** Limits of this server. */
export interface Limits {
  /** largest message */
  frameBytes: number;
  /** calls of this session under way */
  maxInFlight: number;
  /** events kept for each thread */
  retainedEventBytes: number;
  /** how long a session outlives its connection */
  sessionGraceMs: number;
}

/** What stands at a path. */
export interface MetadataResult {
  /** links followed */
  isDirectory: boolean;
  /** links followed */
  isFile: boolean;
  isSymlink: boolean;
  /** in bytes, links followed */
  size: number;
  /** 0: not known */
  createdAtMs: number;
  /** links followed */
  modifiedAtMs: number;
}

/** Events that a slow or absent client missed and that are no longer kept: pieces of output first, which item/completed says again as a whole. thread/read tells what is so now. */
export interface MissedEvents {
  threadId: string;
  /** the newest that was sent before */
  afterSeq: number;
  /** the next that is sent */
  beforeSeq: number;
}

/** No members. */
export type Nothing = Record<string, never>;

/** Output as it came. At most 10,000 for one call; the item at its end is the truth. */
export interface OutputDelta {
  threadId: string;
  turnId: string;
  /** id of the call */
  itemId: string;
  /** counts every event of the thread from 1 without a gap */
  seq: number;
  /** 1 or 2 */
  attempt: number;
  stream: StreamName;
  /** as text; bytes that are no UTF-8 appear as U+FFFD */
  delta: string;
  /** the bytes, where they are no UTF-8 */
  deltaBase64?: string;
}

/** What becomes of output while the client reads too slowly: lossy: the oldest is left out and thread/events/missed says so; lossless: the command waits. */
export type OutputMode = "lossy" | "lossless";

/** The permission profiles. */
export interface ProfileListResult {
  data: ProfileSummary[];
}

/** A permission profile that can be named. */
export interface ProfileSummary {
  id: string;
  about: string;
  profile: unknown;
}

/** What is in a folder, in no order. */
export interface ReadDirectoryResult {
  entries: DirectoryEntry[];
}

/** The contents of a file. */
export interface ReadFileResult {
  dataBase64: string;
}

/** An action that was approved for the session. */
export interface Remembered {
  id: number;
  /** as people read it */
  action: string;
}

/** An answer about a host, for the session. */
export interface RememberedHost {
  id: number;
  /** protocol, name and port */
  host: string;
  allowed: boolean;
}

/** Names what is to be removed. */
export interface RemoveParams {
  /** must be given: files are touched under the profile of a thread */
  threadId?: string;
  /** absolute */
  path: string;
  /** left out: false. true is judged as `rm -rf` is */
  recursive?: boolean;
  /** true: what is not there is fine. Left out: false */
  force?: boolean;
}

/** A question is answered or withdrawn; late answers are ignored. */
export interface RequestResolved {
  threadId: string;
  /** counts every event of the thread from 1 without a gap */
  seq: number;
  /** id of the question; the same after a reconnect */
  requestId: string;
  /** id of the call */
  itemId: string;
  decision: string;
  /** who answered: hook, guardian, user, none */
  reviewer: string;
  reason: string;
  /** of the question */
  actionDigest: string;
}

/** Takes back a grant, an approval for the session, or an answer about a host. */
export interface RevokeParams {
  threadId: string;
  kind: GrantKind;
  id: number;
}

/** Whether there was such a grant. */
export interface RevokeResult {
  found: boolean;
}

/** What this server is and what the connection may do. */
export interface ServerFacts {
  /** of the program */
  version: string;
  /** of this surface */
  protocol: number;
  /** `agent`: may propose; `reviewer`: may answer and change policy */
  authority: string;
  /** that tool/call takes */
  tools: string[];
  /** what commands are confined by here, as in `sandboxType`; empty: nothing on this platform. `gatehouse doctor` tries whether it works */
  sandboxes: string[];
  limits: Limits;
}

/** From here on the calls of the thread are judged and run under these settings. What was granted or approved for the turn or the session has ended. */
export interface SettingsEvent {
  threadId: string;
  /** counts every event of the thread from 1 without a gap */
  seq: number;
  cwd: string;
  runtimeWorkspaceRoots: string[];
  approvalPolicy: unknown;
  /** name of the profile, `custom` for an object */
  sandbox: string;
}

/** Other settings for the calls of a thread that are still to come. What is left out stays. */
export interface SettingsUpdateParams {
  threadId: string;
  cwd?: string;
  /** left out: as they are; a workspace that is the folder alone goes with it */
  runtimeWorkspaceRoots?: string[];
  /** name or {"granular":{…}} */
  approvalPolicy?: unknown;
  /** name of a profile */
  sandbox?: string;
  /** name of a profile or a profile object */
  permissions?: unknown;
}

/** A thread became idle or active, or waits for an approval. */
export interface StatusChanged {
  threadId: string;
  status: ThreadStatus;
}

/** Which stream. */
export type StreamName = "stdout" | "stderr";

/** How many sessions are being ended. */
export interface TerminalCleanResult {
  ended: number;
}

/** The process of a session that had outlived its call has ended. */
export interface TerminalEnded {
  threadId: string;
  turnId: string;
  /** id of the call that started it */
  itemId: string;
  /** counts every event of the thread from 1 without a gap */
  seq: number;
  sessionId: number;
  /** 124 after a time-out, 128+n after a signal */
  exitCode?: number;
  timedOut: boolean;
  /** the boundary refused something */
  sandboxDenied: boolean;
}

/** Whether there was such a session. */
export interface TerminalFoundResult {
  found: boolean;
}

/** A terminal session. */
export interface TerminalInfo {
  sessionId: number;
  /** id of the call that started it */
  itemId: string;
  /** as people read it */
  command: string;
  cwd: string;
  /** has a terminal, else pipes */
  tty: boolean;
  /** has outlived its call */
  background: boolean;
  /** false: ended, and no poll has seen it */
  running: boolean;
  sandboxed: boolean;
  ageMs: number;
}

/** write_stdin wrote to a session, or polled it while it lived. */
export interface TerminalInteraction {
  threadId: string;
  turnId: string;
  /** id of the call that started it */
  itemId: string;
  /** counts every event of the thread from 1 without a gap */
  seq: number;
  sessionId: number;
  /** what was written; empty: a poll */
  stdin: string;
}

/** The terminal sessions of a thread. */
export interface TerminalListResult {
  data: TerminalInfo[];
}

/** Names a terminal session of a thread. */
export interface TerminalParams {
  threadId: string;
  sessionId: number;
}

/** Which output of a terminal session to read. */
export interface TerminalReadParams {
  threadId: string;
  sessionId: number;
  /** only what came after so many bytes, without a gap; left out: beginning and end */
  afterByte?: number;
}

/** What is kept of all the output of a session; reading it is no poll. */
export interface TerminalReadResult {
  /** beginning and end, with a line about what is missing between them; with `afterByte` what stands from `fromByte` to `nextByte` */
  output: string;
  /** as they came */
  totalBytes: number;
  /** with `afterByte`: that number, or a later one where the bytes between are no longer kept */
  fromByte?: number;
  /** with `afterByte`: the next `afterByte`; a character that is not complete waits for it */
  nextByte?: number;
}

/** The new size of a terminal. */
export interface TerminalResizeParams {
  threadId: string;
  sessionId: number;
  /** 1 to 1000 */
  rows: number;
  /** 1 to 1000 */
  columns: number;
}

/** A signal for the process group of a session. */
export interface TerminalSignalParams {
  threadId: string;
  sessionId: number;
  /** its number: 1 (HUP), 2 (INT), 3 (QUIT), 9 (KILL), 10 (USR1), 12 (USR2), 15 (TERM), 18 (CONT) or 28 (WINCH) */
  signal: number;
}

/** The size of a terminal. */
export interface TerminalSize {
  /** 1 to 1000 */
  rows: number;
  /** 1 to 1000 */
  cols: number;
}

/** What a person types into a terminal session. */
export interface TerminalWriteParams {
  threadId: string;
  sessionId: number;
  /** 1 to 65536 bytes of UTF-8 without NUL */
  text: string;
}

/** The machine that the calls of a thread run on. */
export interface ThreadEnvironment {
  /** `local`, or a name of the user's configuration */
  environmentId: string;
  /** the folder of the thread there; left out: the configured one */
  cwd?: string;
}

/** A thread: the long-lived session of an agent. */
export interface ThreadInfo {
  id: string;
  status: ThreadStatus;
  /** always one */
  environments: ThreadEnvironment[];
  /** of that machine */
  cwd: string;
  /** folders that count as the workspace; left out: the folder */
  runtimeWorkspaceRoots: string[];
  /** name or {"granular":{…}} */
  approvalPolicy: unknown;
  /** name of the profile, `custom` for an object */
  sandbox: string;
  /** empty: none */
  openTurnId: string;
  /** of the thread's events */
  lastSeq: number;
}

/** The threads that the connection may see. */
export interface ThreadListResult {
  data: ThreadInfo[];
}

/** Names a thread. */
export interface ThreadParams {
  threadId: string;
}

/** A thread, what runs in it and what was granted. */
export interface ThreadReadResult {
  thread: ThreadInfo;
  /** ids of calls */
  running: string[];
  grants: Granted[];
  approvals: Remembered[];
  hosts: RememberedHost[];
  /** calls are refused until a reviewer's turn/start, since a turn was stopped */
  stoppedBecause?: string;
}

/** A thread. */
export interface ThreadResult {
  thread: ThreadInfo;
}

/** Subscribes to the events of a thread. */
export interface ThreadResumeParams {
  threadId: string;
  /** events after this one are sent again, as far as they are kept; a number that this thread has not reached is an error */
  afterSeq?: number;
}

/** Terms of a new thread. What is left out is as configured. */
export interface ThreadStartParams {
  /** at most one; left out: the daemon's own (`serve --environment`) */
  environments?: ThreadEnvironment[];
  /** the folder, where `environments` is left out or names `local` without one */
  cwd?: string;
  /** folders that count as the workspace; left out: the folder */
  runtimeWorkspaceRoots?: string[];
  /** name or {"granular":{…}}; an agent may only name one that asks no less */
  approvalPolicy?: unknown;
  /** name of a profile; an agent may only name a narrower one */
  sandbox?: string;
  /** name of a profile or a profile object (reviewers only) */
  permissions?: unknown;
}

/** Idle, or a call runs or waits. */
export type ThreadState = "idle" | "active";

/** Whether work goes on in a thread. */
export interface ThreadStatus {
  type: ThreadState;
  activeFlags: ActiveFlag[];
}

/** A tool call that an agent proposes. It carries no authority. */
export interface ToolCallParams {
  threadId: string;
  turnId?: string;
  /** of the agent's choice, never used twice in a thread; the same id again answers with the same call */
  callId: string;
  tool: string;
  /** of the tool */
  arguments: unknown;
  /** a limit of the client's: it shortens the time of a command or patch, or the wait of exec_command and write_stdin, and never lengthens it; not for request_permissions */
  timeoutMs?: number;
}

/** How a call ended. A refusal is a result, not an error. */
export interface ToolCallResult {
  callId: string;
  status: CallStatus;
  exitCode?: number;
  /** both streams in the order of arrival, as text */
  output: string;
  /** `output` is not all of it */
  outputTruncated: boolean;
  /** not kept in `output` */
  outputOmittedBytes: number;
  /** true: the call ended before, this is how, and its output is no longer kept. Asking under another id would run it a second time */
  outputDropped?: boolean;
  /** of the last attempt: none, linux, landlock */
  sandboxType: string;
  /** the boundary refused something */
  sandboxDenied: boolean;
  /** of policy, before anybody was asked; left out where it was not asked */
  decision?: Decision;
  /** to the model: why it was refused or denied and the safer path */
  message: string;
  /** exec_command and write_stdin: the terminal session that goes on, for write_stdin */
  sessionId?: number;
  /** the document of `gatehouse run --json` */
  report: unknown;
}

/** Ends a call; its result still comes. */
export interface ToolCancelParams {
  threadId: string;
  callId: string;
}

/** A turn started or ended. */
export interface TurnEvent {
  threadId: string;
  /** counts every event of the thread from 1 without a gap */
  seq: number;
  turn: TurnInfo;
  /** why it was interrupted */
  reason?: string;
}

/** A turn of a thread. */
export interface TurnInfo {
  id: string;
  status: TurnState;
}

/** Names a turn; without `turnId` the open one. */
export interface TurnInterruptParams {
  threadId: string;
  turnId?: string;
  /** false: terminal sessions that have outlived their calls are ended, too; left out or true: they go on (§127) */
  keepRunning?: boolean;
}

/** Names a turn; without `turnId` the open one. */
export interface TurnParams {
  threadId: string;
  turnId?: string;
}

/** A turn. */
export interface TurnResult {
  turn: TurnInfo;
}

/** Opens a turn. */
export interface TurnStartParams {
  threadId: string;
  /** left out: one is made */
  turnId?: string;
  /** for the automatic reviewer: from a reviewer the user's words, from an agent its own */
  input?: string;
}

/** How a turn stands. */
export type TurnState = "inProgress" | "completed" | "interrupted";

/** What happens to a file. */
export interface UpdateKind {
  type: UpdateType;
  /** of `update`: the file's new place */
  move_path?: string;
}

/** What happens to a file. */
export type UpdateType = "add" | "delete" | "update";

/** For the user; it changes nothing. */
export interface WarningEvent {
  threadId: string;
  /** counts every event of the thread from 1 without a gap */
  seq: number;
  message: string;
}

/** The new contents of a file, which is made if needed. */
export interface WriteFileParams {
  /** must be given: files are touched under the profile of a thread */
  threadId?: string;
  /** absolute */
  path: string;
  /** at most 11 MiB of bytes */
  dataBase64: string;
}

/** Requests of a client, by method. */
export interface Requests {
  /** The first request. With `resumeSessionId` the session of a lost connection goes on: its subscriptions stand, and the questions that stand are asked again under their ids. */
  'initialize': { params: InitializeParams; result: InitializeResult };
  /** Opens a thread and subscribes to it. It lives until thread/close or the end of the daemon. */
  'thread/start': { params: ThreadStartParams; result: ThreadResult };
  /** Subscribes to a thread: missed events come first, then the questions that stand. */
  'thread/resume': { params: ThreadResumeParams; result: ThreadResult };
  /** Changes folder, workspace, approval policy or profile for the calls that are still to come; what runs, and what is being asked, is not touched. Grants, approvals and hosts for the turn or the session end. It is recorded, and everyone who follows the thread hears it. */
  'thread/settings/update': { params: SettingsUpdateParams; result: ThreadResult };
  /** Ends the subscription; the thread goes on. */
  'thread/unsubscribe': { params: ThreadParams; result: Nothing };
  /** What runs in a thread, and what was granted or approved for its session. */
  'thread/read': { params: ThreadParams; result: ThreadReadResult };
  /** The threads: for an agent those of its session, for a reviewer all. */
  'thread/loaded/list': { params: Nothing; result: ThreadListResult };
  /** Ends a thread with all its calls, questions, grants and approvals. Everyone who follows it hears thread/closed after its last event. */
  'thread/close': { params: ThreadParams; result: Nothing };
  /** Opens a turn. A tool call without a turn opens one, too. After a turn was stopped by a reviewer (a decision `cancel`, turn/interrupt) only a reviewer's turn/start opens the next. */
  'turn/start': { params: TurnStartParams; result: TurnResult };
  /** Ends the turn; grants of turn scope end with it. */
  'turn/complete': { params: TurnParams; result: Nothing };
  /** Stops the turn: its calls are ended, its questions withdrawn. From a reviewer it is the user's stop, also between turns: calls are refused until a reviewer's turn/start. Terminal sessions that have outlived their calls go on (§127), unless `keepRunning` says otherwise. */
  'turn/interrupt': { params: TurnInterruptParams; result: Nothing };
  /** Proposes a call; the answer comes at its end. Many may be under way at once. */
  'tool/call': { params: ToolCallParams; result: ToolCallResult };
  /** Ends a call; its result still comes. */
  'tool/cancel': { params: ToolCancelParams; result: Nothing };
  /** Runs a command of a client's own as a call of a thread: the same judges, approvals, sandbox, audit and events as `tool/call`. The answer comes at its end. It ends with its connection, unless it is `detachable`. */
  'command/exec': { params: CommandExecParams; result: CommandExecResult };
  /** Types into the terminal of a command of this client. It is a call of the thread, like write_stdin. */
  'command/exec/write': { params: CommandWriteParams; result: CommandWriteResult };
  /** Sets the size of the terminal of a command. */
  'command/exec/resize': { params: CommandResizeParams; result: Nothing };
  /** Ends a command of this client; its result still comes. */
  'command/exec/terminate': { params: CommandParams; result: Nothing };
  /** Reads a file inside the boundary of a thread. All of fs/* happens there, as commands do: what the profile denies cannot be read, and what it protects cannot be written. A thread without a boundary is refused. A missing file is -32004, one above 11 MiB `tooLarge`. */
  'fs/readFile': { params: FileParams; result: ReadFileResult };
  /** Writes a file. Whatever changes files is judged before as a patch of that path is, and refused (`refused`) where a reviewer would have to be asked: nobody is asked here. It is recorded before it happens. */
  'fs/writeFile': { params: WriteFileParams; result: Nothing };
  /** Makes a folder; judged as fs/writeFile is. */
  'fs/createDirectory': { params: CreateDirectoryParams; result: Nothing };
  /** What stands at a path. Nothing is -32004. */
  'fs/getMetadata': { params: FileParams; result: MetadataResult };
  /** The names in a folder. */
  'fs/readDirectory': { params: FileParams; result: ReadDirectoryResult };
  /** Removes a file or an empty folder, or with `recursive` all of a folder; judged as fs/writeFile is. */
  'fs/remove': { params: RemoveParams; result: Nothing };
  /** Copies a file or folder; what is there is written over, links are copied as links. The destination is judged as by fs/writeFile. */
  'fs/copy': { params: CopyParams; result: Nothing };
  /** The terminal sessions of a thread (§127). */
  'thread/backgroundTerminals/list': { params: ThreadParams; result: TerminalListResult };
  /** What is kept of all the output of a session; it takes nothing from the polls. */
  'thread/backgroundTerminals/read': { params: TerminalReadParams; result: TerminalReadResult };
  /** Types into the terminal of a session: a person's own input, so that nobody is asked. It is recorded before it happens, by its length; agents use write_stdin. */
  'thread/backgroundTerminals/write': { params: TerminalWriteParams; result: Nothing };
  /** Sends a signal to the process group of a session. */
  'thread/backgroundTerminals/signal': { params: TerminalSignalParams; result: TerminalFoundResult };
  /** Sets the size of a terminal. */
  'thread/backgroundTerminals/resize': { params: TerminalResizeParams; result: TerminalFoundResult };
  /** Ends a session; the answer comes when nothing is left of it. */
  'thread/backgroundTerminals/terminate': { params: TerminalParams; result: TerminalFoundResult };
  /** Ends every session that has outlived its call. */
  'thread/backgroundTerminals/clean': { params: ThreadParams; result: TerminalCleanResult };
  /** The whole decision about a call: segments, judges, requirement, sandbox (§133a). Nothing runs. */
  'policy/explain': { params: ExplainParams; result: unknown };
  /** The questions that stand. */
  'approval/list': { params: ApprovalListParams; result: ApprovalListResult };
  /** Answers a question. The first valid answer counts; one with another digest, for a question that no longer stands, or with a decision that was not on offer is an error. */
  'approval/resolve': { params: ApprovalResolveParams; result: Nothing };
  /** Lets an action pass that the automatic reviewer has just refused: exactly this one, once, when the agent asks for it again. An action that it did not refuse is an error. */
  'approval/allowRefused': { params: AllowRefusedParams; result: Nothing };
  /** Takes back a grant or an approval for the session. What runs already is not touched. */
  'grant/revoke': { params: RevokeParams; result: RevokeResult };
  /** The permission profiles that can be named. */
  'permissionProfile/list': { params: Nothing; result: ProfileListResult };
}

/** What an agent may call. */
export type AgentMethod =
  | 'initialize'
  | 'thread/start'
  | 'thread/resume'
  | 'thread/unsubscribe'
  | 'thread/read'
  | 'thread/loaded/list'
  | 'thread/close'
  | 'turn/start'
  | 'turn/complete'
  | 'turn/interrupt'
  | 'tool/call'
  | 'tool/cancel'
  | 'command/exec'
  | 'command/exec/write'
  | 'command/exec/resize'
  | 'command/exec/terminate'
  | 'fs/readFile'
  | 'fs/writeFile'
  | 'fs/createDirectory'
  | 'fs/getMetadata'
  | 'fs/readDirectory'
  | 'fs/remove'
  | 'fs/copy'
  | 'thread/backgroundTerminals/list'
  | 'thread/backgroundTerminals/read'
  | 'thread/backgroundTerminals/signal'
  | 'thread/backgroundTerminals/resize'
  | 'thread/backgroundTerminals/terminate'
  | 'thread/backgroundTerminals/clean'
  | 'policy/explain'
  | 'permissionProfile/list';

/** What a reviewer may call. */
export type ReviewerMethod =
  | 'initialize'
  | 'thread/start'
  | 'thread/resume'
  | 'thread/settings/update'
  | 'thread/unsubscribe'
  | 'thread/read'
  | 'thread/loaded/list'
  | 'thread/close'
  | 'turn/start'
  | 'turn/complete'
  | 'turn/interrupt'
  | 'tool/cancel'
  | 'fs/readFile'
  | 'fs/writeFile'
  | 'fs/createDirectory'
  | 'fs/getMetadata'
  | 'fs/readDirectory'
  | 'fs/remove'
  | 'fs/copy'
  | 'thread/backgroundTerminals/list'
  | 'thread/backgroundTerminals/read'
  | 'thread/backgroundTerminals/write'
  | 'thread/backgroundTerminals/signal'
  | 'thread/backgroundTerminals/resize'
  | 'thread/backgroundTerminals/terminate'
  | 'thread/backgroundTerminals/clean'
  | 'policy/explain'
  | 'approval/list'
  | 'approval/resolve'
  | 'approval/allowRefused'
  | 'grant/revoke'
  | 'permissionProfile/list';

/** Requests of the server, by method. */
export interface ServerRequests {
  /** A question about a command, a host that it wants to reach, or input to a terminal session. Sent to every connected reviewer under the same id; the first valid answer counts. */
  'item/commandExecution/requestApproval': { params: ApprovalRequest; result: ApprovalAnswer };
  /** The same about a patch (`kind` patch). */
  'item/fileChange/requestApproval': { params: ApprovalRequest; result: ApprovalAnswer };
  /** The same about permissions for later commands (`kind` permissions). */
  'item/permissions/requestApproval': { params: ApprovalRequest; result: ApprovalAnswer };
}

/** Notifications of the server, by method. */
export interface Notifications {
  'thread/status/changed': StatusChanged;
  'thread/closed': ThreadParams;
  'turn/started': TurnEvent;
  'turn/completed': TurnEvent;
  'item/started': ItemEvent;
  'item/completed': ItemEvent;
  'item/attempt/started': AttemptEvent;
  'item/attempt/denied': DenialEvent;
  'item/network/blocked': ConnectionEvent;
  'item/commandExecution/outputDelta': OutputDelta;
  'command/exec/outputDelta': CommandOutput;
  'item/commandExecution/terminalInteraction': TerminalInteraction;
  'item/commandExecution/terminalEnded': TerminalEnded;
  'serverRequest/resolved': RequestResolved;
  'thread/events/missed': MissedEvents;
  'thread/settings/updated': SettingsEvent;
  'warning': WarningEvent;
}

export const serverRequestMethods = [
  'item/commandExecution/requestApproval',
  'item/fileChange/requestApproval',
  'item/permissions/requestApproval',
] as const satisfies readonly (keyof ServerRequests)[];

export const notificationMethods = [
  'thread/status/changed',
  'thread/closed',
  'turn/started',
  'turn/completed',
  'item/started',
  'item/completed',
  'item/attempt/started',
  'item/attempt/denied',
  'item/network/blocked',
  'item/commandExecution/outputDelta',
  'command/exec/outputDelta',
  'item/commandExecution/terminalInteraction',
  'item/commandExecution/terminalEnded',
  'serverRequest/resolved',
  'thread/events/missed',
  'thread/settings/updated',
  'warning',
] as const satisfies readonly (keyof Notifications)[];
