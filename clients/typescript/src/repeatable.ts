import type { Requests } from './protocol.js';

/**
 * Requests that may be sent again when the connection broke before their answer: they read, or mean
 * the same twice. `tool/call` is one because of its call id, within the same session.
 */
const repeatable: ReadonlySet<keyof Requests> = new Set<keyof Requests>([
  'thread/resume',
  'thread/unsubscribe',
  'thread/read',
  'thread/loaded/list',
  'tool/call',
  'tool/cancel',
  'thread/backgroundTerminals/list',
  'thread/backgroundTerminals/read',
  'thread/backgroundTerminals/resize',
  'fs/readFile',
  'fs/getMetadata',
  'fs/readDirectory',
  'policy/explain',
  'approval/list',
  'permissionProfile/list',
]);

export function isRepeatable(method: keyof Requests): boolean {
  return repeatable.has(method);
}
