// Gatehouse in VS Code: start or attach, answer questions, see sessions and the boundary.
import { AgentClient, ReviewerClient } from '@gatehouse/client';
import * as vscode from 'vscode';
import { Approvals } from './approvals.js';
import { attach, start, type Daemon } from './daemon.js';
import { visible } from './questions.js';
import { Sessions } from './sessions.js';
import { readSettings } from './settings.js';

export { ScreenFilter } from './screen-filter.js';

const clientInfo = { name: 'gatehouse-vscode', version: '0.1.0' };

/** All that stands while a daemon is connected. */
interface Connection {
  daemon: Daemon;
  reviewer: ReviewerClient;
  sessions: Sessions;
  agent?: AgentClient;
  threadId?: string;
}

export class Gatehouse implements vscode.Disposable {
  #status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 50);
  #approvals = new Approvals(() => this.#tell());
  #connection: Connection | undefined;
  #boundary = '';
  #problem = '';

  constructor() {
    this.#tell();
    this.#status.show();
  }

  /** What the status bar says. */
  #tell(): void {
    const waiting = this.#approvals.count;
    const questions = waiting === 1 ? '1 question' : `${waiting} questions`;
    this.#status.command = waiting > 0 ? 'gatehouse.review' : this.#connection ? 'gatehouse.showSessions' : 'gatehouse.start';
    this.#status.text = this.#problem
      ? '$(warning) Gatehouse'
      : waiting > 0
        ? `$(question) Gatehouse: ${questions}`
        : `$(shield) ${this.#connection ? this.#boundary || 'Gatehouse' : 'Gatehouse: off'}`;
    this.#status.tooltip = this.#problem || (this.#connection ? `Gatehouse at ${this.#connection.daemon.address}\n${this.#boundary}` : 'Gatehouse is not running here');
  }

  async start(): Promise<void> {
    if (this.#connection) return;
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    if (!folder) throw new Error('open a folder first');
    if (!vscode.workspace.isTrusted) throw new Error('this workspace is not trusted');
    const settings = readSettings(vscode.workspace.getConfiguration('gatehouse'));
    const daemon =
      settings.mode === 'attach'
        ? attach(settings)
        : await start(settings, folder, (why) => this.#failed(`the daemon ended: ${why}`));
    try {
      const reviewer = await ReviewerClient.connect({ clientInfo, transport: daemon.transport('reviewer'), approvals: this.#approvals.handler });
      this.#connection = { daemon, reviewer, sessions: new Sessions(reviewer) };
      this.#problem = '';
      reviewer.on('disconnected', ({ reason }) => this.#failed(`the connection is lost (${reason}); trying again`));
      reviewer.on('connected', () => {
        this.#problem = '';
        void this.#readBoundary();
      });
      await this.#readBoundary();
    } catch (why) {
      daemon.end();
      throw why;
    }
  }

  /** The boundary of the thread that was opened last, else of the settings. */
  async #readBoundary(): Promise<void> {
    const threads = (await this.#connection?.reviewer.listThreads()) ?? [];
    const last = threads.at(-1);
    const settings = readSettings(vscode.workspace.getConfiguration('gatehouse'));
    const policy = last ? last.approvalPolicy : settings.approvalPolicy || 'policy as configured';
    this.#boundary = visible(`${last?.sandbox ?? (settings.profile || 'profile as configured')} · ${typeof policy === 'string' ? policy : 'granular'}`);
    this.#tell();
  }

  #failed(why: string): void {
    this.#problem = visible(why);
    this.#tell();
  }

  stop(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.agent?.close();
    connection?.reviewer.close();
    connection?.sessions.dispose();
    connection?.daemon.end();
    this.#problem = '';
    this.#tell();
  }

  review(): Promise<void> {
    return this.#approvals.review();
  }

  showSessions(): void {
    this.#connection?.sessions.show();
  }

  /** A command through the gate, as an agent's; its terminal shows what comes. */
  async run(command: string): Promise<{ status: string; output: string; message: string }> {
    await this.start();
    const connection = this.#connection!;
    connection.agent ??= await AgentClient.connect({ clientInfo, transport: connection.daemon.transport('agent') });
    if (!connection.threadId) {
      const cwd = vscode.workspace.workspaceFolders![0]!.uri.fsPath;
      connection.threadId = (await connection.agent.startThread({ cwd })).thread.id;
      await this.#readBoundary();
    }
    const result = await connection.agent.callTool({ threadId: connection.threadId, tool: 'shell_command', arguments: { command } });
    return { status: result.status, output: result.output, message: result.message };
  }

  async explain(command: string): Promise<void> {
    await this.start();
    const answer = await this.#connection!.reviewer.explain({ tool: 'shell_command', arguments: { command } });
    const document = await vscode.workspace.openTextDocument({ language: 'json', content: JSON.stringify(answer, null, 2) });
    await vscode.window.showTextDocument(document, { preview: true });
  }

  dispose(): void {
    this.stop();
    this.#status.dispose();
  }
}

async function told(work: () => Promise<unknown> | void): Promise<void> {
  try {
    await work();
  } catch (why) {
    void vscode.window.showErrorMessage(`Gatehouse: ${visible(why instanceof Error ? why.message : String(why))}`);
  }
}

/** Gives other extensions the gate: `run` proposes a command as an agent would. */
export async function activate(context: vscode.ExtensionContext): Promise<{ run: Gatehouse['run'] }> {
  const gate = new Gatehouse();
  const command = (name: string, work: () => Promise<unknown> | void) =>
    context.subscriptions.push(vscode.commands.registerCommand(`gatehouse.${name}`, () => told(work)));
  const withInput = (prompt: string, work: (text: string) => Promise<unknown>) => async () => {
    const text = await vscode.window.showInputBox({ prompt, placeHolder: 'make test' });
    if (text) await work(text);
  };
  context.subscriptions.push(gate);
  command('start', () => gate.start());
  command('stop', () => gate.stop());
  command('review', () => gate.review());
  command('showSessions', () => gate.showSessions());
  command('run', withInput('A command to run behind the gate', (text) => gate.run(text)));
  command('explain', withInput('A command to explain; nothing runs', (text) => gate.explain(text)));
  if (readSettings(vscode.workspace.getConfiguration('gatehouse')).mode !== 'off') await told(() => gate.start());
  return { run: (text) => gate.run(text) };
}

export function deactivate(): void {}
