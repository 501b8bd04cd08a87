// The editor at its edge: what the extension calls, noted, and answered as a person would. Nothing of Gatehouse is here.
import { createRequire } from 'node:module';
import Module from 'node:module';

export class FakeEditor {
  prompts = []; // { message, detail, choices, answer }
  messages = [];
  terminals = [];
  documents = [];
  status = {};
  commands = new Map();
  settings = {};
  inputs = [];

  constructor(folder, settings) {
    this.folder = folder;
    this.settings = settings;
    const editor = this;
    class EventEmitter {
      #hear = new Set();
      event = (hear) => (this.#hear.add(hear), { dispose: () => this.#hear.delete(hear) });
      fire = (value) => this.#hear.forEach((hear) => hear(value));
    }
    this.module = {
      EventEmitter,
      ThemeIcon: class {
        constructor(id) {
          this.id = id;
        }
      },
      StatusBarAlignment: { Left: 1, Right: 2 },
      commands: { registerCommand: (name, run) => (editor.commands.set(name, run), { dispose() {} }) },
      workspace: {
        isTrusted: true,
        workspaceFolders: folder ? [{ uri: { fsPath: folder } }] : undefined,
        getConfiguration: () => ({ get: (key, other) => editor.settings[key] ?? other }),
        openTextDocument: async (document) => (editor.documents.push(document), document),
      },
      window: {
        createStatusBarItem: () => Object.assign(editor.status, { show() {}, dispose() {} }),
        showErrorMessage: async (text) => void editor.messages.push(text),
        showInformationMessage: async (text) => void editor.messages.push(text),
        showTextDocument: async () => {},
        showInputBox: async () => editor.inputs.shift(),
        showWarningMessage: (message, { detail }, ...choices) =>
          new Promise((answer) => editor.prompts.push({ message, detail, choices, answer })),
        createTerminal: ({ name, pty }) => {
          const terminal = { name, pty, text: '', shown: false, show: () => (terminal.shown = true), dispose: () => pty.close() };
          pty.onDidWrite((text) => (terminal.text += text));
          queueMicrotask(() => pty.open({ rows: 31, columns: 97 }));
          editor.terminals.push(terminal);
          return terminal;
        },
      },
    };
  }

  /** Loads the built extension with this editor as its `vscode`. */
  load(file) {
    const before = Module._load;
    Module._load = (request, ...rest) => (request === 'vscode' ? this.module : before.call(Module, request, ...rest));
    try {
      const require = createRequire(import.meta.url);
      delete require.cache[file];
      return require(file);
    } finally {
      Module._load = before;
    }
  }
}
