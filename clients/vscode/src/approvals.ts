// Questions as prompts, one at a time. A prompt that is closed answers nothing; the question waits.
import { patchOf, type ApprovalHandler } from '@gatehouse/client';
import * as vscode from 'vscode';
import { promptOf, type Question } from './questions.js';

type Answer = Awaited<ReturnType<ApprovalHandler>>;

const showPatch = 'Show the patch';

interface Waiting {
  question: Question;
  over: AbortSignal;
  answer: (answer: Answer) => void;
}

export class Approvals {
  #waiting: Waiting[] = [];
  #asking = false;

  constructor(private readonly changed: () => void) {}

  get count(): number {
    return this.#waiting.length;
  }

  readonly handler: ApprovalHandler = (question, over) =>
    new Promise((resolve) => {
      const waiting: Waiting = { question: question as Question, over, answer: resolve };
      this.#waiting.push(waiting);
      over.addEventListener('abort', () => this.#remove(waiting), { once: true });
      this.changed();
      void this.#ask(waiting);
    });

  #remove(waiting: Waiting): void {
    const before = this.#waiting.length;
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
    if (this.#waiting.length !== before) this.changed();
  }

  /** Everything that waits, one prompt after the other, until one is closed. */
  async review(): Promise<void> {
    if (this.#waiting.length === 0) {
      void vscode.window.showInformationMessage('Gatehouse: no question waits.');
      return;
    }
    for (const waiting of [...this.#waiting]) if (!(await this.#ask(waiting))) return;
  }

  /** True when the question is settled. */
  async #ask(waiting: Waiting): Promise<boolean> {
    if (this.#asking) return false; // one prompt at a time; the status bar says that more wait
    this.#asking = true;
    try {
      const { question, over } = waiting;
      const prompt = promptOf(question);
      const patch = patchOf(question);
      const titles = [...prompt.choices.map((choice) => choice.title), ...(patch ? [showPatch] : [])];
      const said = await vscode.window.showWarningMessage(prompt.message, { modal: true, detail: prompt.detail }, ...titles);
      if (over.aborted) {
        void vscode.window.showInformationMessage('Gatehouse: that question was answered elsewhere or withdrawn; your answer changed nothing.');
        return true;
      }
      if (said === showPatch && patch) {
        const document = await vscode.workspace.openTextDocument({ language: 'diff', content: patch.text });
        await vscode.window.showTextDocument(document, { preview: true });
        return false; // read first; the question waits
      }
      const choice = prompt.choices.find((one) => one.title === said);
      if (!choice) return false;
      this.#remove(waiting);
      waiting.answer({ decision: choice.decision });
      return true;
    } finally {
      this.#asking = false;
    }
  }
}

