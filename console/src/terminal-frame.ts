import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { Terminal, type ITheme } from '@xterm/xterm';

/**
 * The page's policy lets no inline style in, and the terminal writes its own as such. From here on what
 * it makes with `document.createElement` says the same in constructed style sheets and properties, which
 * the policy allows, since no markup can make them.
 */
const plainCreate = document.createElement.bind(document) as (tag: string) => HTMLElement;
let sheets: CSSStyleSheet[] = [];

function quietStyle(): HTMLElement {
  const sheet = new CSSStyleSheet();
  sheets.push(sheet);
  document.adoptedStyleSheets.push(sheet);
  // Stands where the style element would; a template shows nothing and does nothing.
  return Object.defineProperty(plainCreate('template'), 'textContent', { set: (text: string) => sheet.replaceSync(text) });
}

function quietSpan(): HTMLElement {
  const span = plainCreate('span');
  span.setAttribute = (name: string, value: string) => {
    if (name === 'style') span.style.cssText = value;
    else Element.prototype.setAttribute.call(span, name, value);
  };
  return span;
}

document.createElement = ((tag: string) =>
  tag === 'style' ? quietStyle() : tag === 'span' ? quietSpan() : plainCreate(tag)) as typeof document.createElement;

function themeNow(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(name).trim();
  return {
    background: of('--terminal'),
    foreground: of('--terminal-ink'),
    cursor: of('--terminal-ink'),
    cursorAccent: of('--terminal'),
    selectionBackground: of('--terminal-mark'),
  };
}

/** What a program asks of its terminal that a page must not do for it: mouse and focus reports. */
const reportModes = new Set([9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016]);
/** Title, icon, colours, links, notifications, the clipboard, files: an agent's output reaches none of it. */
const closedCommands = [0, 1, 2, 4, 7, 8, 9, 10, 11, 12, 52, 104, 110, 111, 112, 133, 777, 1337];

interface Internals {
  _core?: { coreService?: { onUserInput?: (hear: () => void) => unknown } };
}

/** A terminal that shows what a session says and hands on only what a person types or pastes. */
export class TerminalFrame {
  readonly element = document.createElement('div');
  #terminal: Terminal;
  #fit = new FitAddon();
  #sheets: CSSStyleSheet[] = [];
  #scheme = matchMedia('(prefers-color-scheme: dark)');
  #follow = () => (this.#terminal.options.theme = themeNow());

  /** @param leave the person wants to get out of it by keyboard (F6) */
  constructor(
    tty: boolean,
    readAloud: boolean,
    typed: (text: string) => void,
    leave: () => void,
  ) {
    this.element.className = 'terminal-frame';
    this.#terminal = new Terminal({
      cols: 80,
      rows: 24,
      scrollback: 10_000,
      convertEol: !tty,
      disableStdin: !tty,
      cursorBlink: false,
      screenReaderMode: readAloud,
      minimumContrastRatio: 4.5,
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'),
      fontSize: 14,
      theme: themeNow(),
      linkHandler: { activate: () => {}, allowNonHttpProtocols: false },
      windowOptions: {},
    });
    this.#terminal.loadAddon(this.#fit);
    for (const command of closedCommands) this.#terminal.parser.registerOscHandler(command, () => true);
    this.#terminal.parser.registerCsiHandler({ prefix: '?', final: 'h' }, (all) => all.flat().some((one) => reportModes.has(one)));
    // What the terminal itself would answer to a program is nothing that a person typed.
    let human = false;
    const hear = (this.#terminal as unknown as Internals)._core?.coreService?.onUserInput;
    if (!hear) throw new Error('this terminal cannot tell what a person types from what it answers by itself');
    hear(() => (human = true));
    this.#terminal.onData((text) => {
      if (human) typed(text);
      human = false;
    });
    this.#terminal.attachCustomKeyEventHandler((event) => {
      if (event.key !== 'F6') return true;
      if (event.type === 'keydown') leave();
      return false;
    });
    this.#scheme.addEventListener('change', this.#follow);
  }

  /** When the element stands in the page. */
  open(): void {
    sheets = this.#sheets;
    this.#terminal.open(this.element);
  }

  /** For a screen reader: says what comes, and lets each line be read. Input of a picker of symbols is then not heard. */
  set readAloud(on: boolean) {
    this.#terminal.options.screenReaderMode = on;
  }

  write(text: string): void {
    this.#terminal.write(text);
  }

  reset(): void {
    this.#terminal.reset();
  }

  focus(): void {
    this.#terminal.focus();
  }

  /** The size that fills the page; undefined while there is none. */
  fit(): { rows: number; columns: number } | undefined {
    const size = this.#fit.proposeDimensions();
    if (!size || !Number.isFinite(size.cols)) return undefined;
    const columns = Math.min(500, Math.max(20, size.cols));
    const rows = Math.min(200, Math.max(10, size.rows));
    this.#terminal.resize(columns, rows);
    return { rows, columns };
  }

  close(): void {
    this.#scheme.removeEventListener('change', this.#follow);
    this.#terminal.dispose();
    this.element.remove();
    const ours = new Set(this.#sheets);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !ours.has(sheet));
  }
}
