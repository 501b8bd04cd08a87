import type { ApprovalRequest } from './protocol.js';

/** The patch that a question is about, and its operations as it spells them; undefined: it is a command. */
export function patchOf(question: Pick<ApprovalRequest, 'argv'>): { files: string; text: string } | undefined {
  const [program, text] = question.argv;
  if (question.argv.length !== 2 || program !== 'apply_patch' || text === undefined) return undefined;
  const files = [...text.matchAll(/^\*\*\* (\w[^\n]*: [^\n]*)$/gm)].map((match) => match[1]);
  return { files: files.join(', ') || '(names no file)', text };
}
