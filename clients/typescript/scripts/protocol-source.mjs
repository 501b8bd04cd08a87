// TypeScript from the schema: one interface for each type, and maps from methods to types.

const refPrefix = '#/$defs/';

/** The TypeScript type of a JSON schema, as far as the endpoint's schema uses the language. */
function typeOf(schema) {
  if (schema.$ref) return schema.$ref.slice(refPrefix.length);
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(' | ');
  if (schema.anyOf) {
    const others = schema.anyOf.filter((one) => one.type !== 'null').map(typeOf);
    return others.join(' | ');
  }
  switch (schema.type) {
    case 'string':
    case 'boolean':
      return schema.type;
    case 'integer':
      return 'number';
    case 'array': {
      const item = typeOf(schema.items);
      return item.includes('|') ? `(${item})[]` : `${item}[]`;
    }
    case undefined:
      return 'unknown';
    default:
      throw new Error(`the schema has a type that this generator does not know: ${schema.type}`);
  }
}

/** Adds to `found` the names of all types that `schema` mentions. */
function collect(schema, defs, found) {
  if (schema === null || typeof schema !== 'object') return;
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.slice(refPrefix.length);
    if (!found.has(name)) {
      found.add(name);
      collect(defs[name], defs, found);
    }
  }
  for (const value of Object.values(schema)) collect(value, defs, found);
}

function comment(text, indent = '') {
  return text ? `${indent}/** ${text.replaceAll('*/', '*\\/')} */\n` : '';
}

function declaration(name, schema, fromClient) {
  const about = comment(schema.description);
  if (schema.type !== 'object') return `${about}export type ${name} = ${typeOf(schema)};\n`;
  const fields = Object.entries(schema.properties).map(([field, type]) => {
    // The server always writes lists; a client may leave them out.
    const written = schema.required.includes(field) || (type.type === 'array' && !fromClient);
    return `${comment(type.description, '  ')}  ${field}${written ? '' : '?'}: ${typeOf(type)};\n`;
  });
  if (fields.length === 0) return `${about}export type ${name} = Record<string, never>;\n`;
  return `${about}export interface ${name} {\n${fields.join('')}}\n`;
}

function methodMap(name, about, methods) {
  const rows = Object.entries(methods).map(
    ([method, m]) =>
      `${comment(m.description, '  ')}  '${method}': { params: ${typeOf(m.params)}; result: ${typeOf(m.result)} };\n`,
  );
  return `${comment(about)}export interface ${name} {\n${rows.join('')}}\n`;
}

function union(name, about, words) {
  return `${comment(about)}export type ${name} =\n${words.map((word) => `  | '${word}'`).join('\n')};\n`;
}

export function protocolSource(schema) {
  const defs = schema.$defs;
  const fromClient = new Set();
  for (const method of Object.values(schema.methods)) collect(method.params, defs, fromClient);
  for (const request of Object.values(schema.serverRequests)) collect(request.result, defs, fromClient);
  const callers = (word) =>
    Object.entries(schema.methods)
      .filter(([, m]) => m.caller === word || m.caller === 'agent or reviewer')
      .map(([method]) => method);
  const notifications = Object.entries(schema.notifications);
  return [
    '// Generated from `gatehouse serve --schema` by scripts/generate-protocol.mjs; do not edit.\n',
    ...Object.keys(defs)
      .sort()
      .map((name) => declaration(name, defs[name], fromClient.has(name))),
    methodMap('Requests', 'Requests of a client, by method.', schema.methods),
    union('AgentMethod', 'What an agent may call.', callers('agent')),
    union('ReviewerMethod', 'What a reviewer may call.', callers('reviewer')),
    methodMap('ServerRequests', 'Requests of the server, by method.', schema.serverRequests),
    `${comment('Notifications of the server, by method.')}export interface Notifications {\n${notifications
      .map(([method, n]) => `  '${method}': ${typeOf(n.params)};\n`)
      .join('')}}\n`,
    `export const serverRequestMethods = [\n${Object.keys(schema.serverRequests)
      .map((method) => `  '${method}',\n`)
      .join('')}] as const satisfies readonly (keyof ServerRequests)[];\n`,
    `export const notificationMethods = [\n${notifications
      .map(([method]) => `  '${method}',\n`)
      .join('')}] as const satisfies readonly (keyof Notifications)[];\n`,
  ].join('\n');
}
