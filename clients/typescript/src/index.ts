import 'vscode-jsonrpc/node'; // installs what the common part needs of Node

export * from './common.js';
export { unixSocketTransport, webSocketTransport, type WebSocketOptions } from './websocket-transport.js';
export { stdioTransport, type StdioOptions } from './stdio-transport.js';
