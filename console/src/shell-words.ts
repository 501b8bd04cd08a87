const plain = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** argv as a person would type it. */
export function shellJoin(argv: string[]): string {
  return argv.map((word) => (plain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}
