// What a program in a session writes, without what would reach past the screen: titles, links, the clipboard, files,
// reports of mouse and focus, and questions, which the editor's terminal would answer as if a person had typed.

/** Control characters that move on the screen, ring, or choose a character set. */
const plain = new Set([...'\x07\b\t\n\v\f\r\x0e\x0f']);
/** What moves, writes, clears, scrolls or colours; nothing that is answered. */
const drawing = new Set([...'@ABCDEFGHIJKLMPSTXZ`adefgmr']);
/** Modes (ANSI: insert, line feed) and private ones: cursor keys, wrap, cursor, the other screen, pasting. */
const modes = new Set([4, 20]);
const privateModes = new Set([1, 3, 5, 6, 7, 12, 25, 45, 47, 66, 1047, 1048, 1049, 2004, 2026]);
type State = 'text' | 'escape' | 'sequence' | 'set' | 'words' | 'words-escape';
const longest = 256; // of a sequence; a longer one is none
const mostTimes = 1000; // no screen is larger, and a terminal counts to whatever it is told

/** Keeps between two pieces what a piece breaks off. Unknown sequences are left out whole. */
export class ScreenFilter {
  #state: State = 'text';
  #held = '';

  pass(text: string): string {
    let out = '';
    for (const c of text) out += this.#step(c);
    return out;
  }

  #step(c: string): string {
    switch (this.#state) {
      case 'text':
        if (c === '\x1b') return this.#to('escape', c);
        return plain.has(c) || !/\p{Cc}/u.test(c) ? c : '';
      case 'escape':
        if (c === '[') return this.#to('sequence', '\x1b[');
        if (c >= ' ' && c <= '/') return this.#to('set', `\x1b${c}`);
        if (']P^_X'.includes(c)) return this.#to('words');
        return this.#end('78DEMH=>c'.includes(c) ? `\x1b${c}` : '', c);
      case 'set':
        // A character set; of the others only the test picture.
        return this.#end(/^\x1b(?:[()*+][0AB]|#8)$/.test(this.#held + c) ? this.#held + c : '', c);
      case 'sequence':
        if (c >= ' ' && c <= '?' && this.#held.length < longest) return this.#to('sequence', this.#held + c);
        return this.#end(c >= '@' && c <= '~' ? drawn(this.#held.slice(2), c) : '', c);
      case 'words':
        if (c === '\x07' || c === '\x9c' || c === '\x18' || c === '\x1a') return this.#to('text');
        return c === '\x1b' ? this.#to('words-escape') : '';
      case 'words-escape':
        if (c === '\\') return this.#to('text');
        this.#state = 'escape';
        return this.#step(c);
    }
  }

  #to(state: State, held = ''): string {
    this.#state = state;
    this.#held = held;
    return '';
  }

  /** Back to text; an escape in the middle of a sequence begins another one. */
  #end(out: string, last: string): string {
    this.#to(last === '\x1b' ? 'escape' : 'text');
    return out;
  }
}

/** The sequence of these parameters, as far as it may pass. */
function drawn(parameters: string, final: string): string {
  if (final === 'h' || final === 'l') {
    const found = /^(\??)([0-9;]*)$/.exec(parameters);
    if (!found) return '';
    const known = found[1] ? privateModes : modes;
    const kept = found[2]!.split(';').filter((one) => one !== '' && known.has(Number(one)));
    return kept.length > 0 ? `\x1b[${found[1]}${kept.join(';')}${final}` : '';
  }
  if (final === 'p') return parameters === '!' ? '\x1b[!p' : '';
  if (final === 'q') return /^\d? $/.test(parameters) ? `\x1b[${parameters}q` : '';
  if (!drawing.has(final) || !/^[0-9;:]*$/.test(parameters)) return '';
  return `\x1b[${parameters.replace(/\d+/g, (one) => String(Math.min(Number(one), mostTimes)))}${final}`;
}
