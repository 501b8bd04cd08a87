import 'vscode-jsonrpc/browser'; // installs what the common part needs of a browser

export * from './common.js';
export { browserTransport } from './browser-transport.js';
