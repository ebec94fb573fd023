// Kinds of odd answers to a call, one tool for each: what the server writes, and the call's outcome. The table in
// docs/mcp.md names each of them.
import { createHash } from 'node:crypto'

const PNG = 'iVBORw0KGgo='
const JPEG = '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAEBAQ=='
const ok = [{ type: 'text', text: 'ok' }]

export interface Kind {
  /** The kind's name in the page. */
  readonly kind: string
  /** The answer as JSON, or as raw text. */
  readonly wrote: (id: number) => object | string
  /** The outcome of the call, without the tool's name; `*` matches any text. */
  readonly came: string
}

const said = (...texts: readonly string[]): string =>
  `ok: ${JSON.stringify(texts.map((text) => ({ type: 'text', text })))}`
const media = (type: 'image' | 'file', mediaType: string, data: string): string => {
  const bytes = Buffer.from(data, 'base64')
  const source = { type: 'blob', handle: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }
  return `ok: ${JSON.stringify([{ type, mediaType, source }])}`
}
const picture = (mediaType = 'image/png', data = PNG): string => media('image', mediaType, data)
const failed = (words: string): string => `error tool_failed: ${words}`
const refused = (words: string): string => `error api_failed: MCP server "odd" answered with error ${words}`
const UNKNOWN = 'unknown tool_result_unknown: MCP server "odd"*: it may have run'

const returns = (kind: string, result: unknown, came: string): Kind => ({
  kind,
  wrote: (id) => ({ jsonrpc: '2.0', id, result }),
  came,
})
const part = (kind: string, one: unknown, came: string): Kind => returns(kind, { content: [one] }, came)
const writes = (kind: string, wrote: Kind['wrote'], came = said('ok')): Kind => ({ kind, wrote, came })
const errs = (kind: string, error: unknown, came: string): Kind =>
  writes(kind, (id) => ({ jsonrpc: '2.0', id, error }), came)

const RESULTS: readonly Kind[] = [
  returns('`content` is null', { content: null }, said('null')),
  returns('`content` is missing', { structuredContent: { ok: 1 } }, said('{"ok":1}')),
  returns('`content` is a text', { content: 'plain' }, said('plain')),
  returns('`content` is one part', { content: { type: 'text', text: 'one' } }, said('one')),
  returns('`content` holds texts', { content: ['a', 'b'] }, said('a', 'b')),
  returns('`_meta` is null', { content: ok, _meta: null, structuredContent: null, isError: null }, said('ok')),
  returns('unknown fields', { output: 'done' }, said('{"output":"done"}')),
  returns('the result is a list', ok, said('ok')),
  returns('the result is a text', 'plain', said('plain')),
  returns('the result is null', null, said('null')),
  returns('the form of 2024', { toolResult: { ok: 1 } }, said('{"ok":1}')),
  returns('a structured value that is a list', { structuredContent: [1, 2], content: [] }, said('[1,2]')),
  returns('a structured value that is a number', { structuredContent: 7, content: ok }, said('ok', '7')),
  returns('`is_error`', { is_error: true, content: [{ type: 'text', text: 'bad' }] }, failed('bad')),
  returns('`isError` is a text', { isError: 'true', content: [{ type: 'text', text: 'bad' }] }, failed('bad')),
  returns(
    'a failure explained by its structured value',
    { isError: true, structuredContent: { why: 'full' } },
    failed('{"why":"full"}'),
  ),
  returns(
    'a failure explained by another field',
    { isError: true, content: [], message: 'no disk' },
    failed('{"message":"no disk"}'),
  ),
  returns(
    'a failure explained by a resource',
    { isError: true, content: [{ type: 'resource', resource: { uri: 'a:b', text: 'log' } }] },
    failed('Resource a:b:\nlog'),
  ),
]

const PARTS: readonly Kind[] = [
  part('a text that is null', { type: 'text', text: null }, said('')),
  part('a text that is a number', { type: 'text', text: 5 }, said('5')),
  part('a part without a type', { text: 'bare' }, said('bare')),
  part('a type in capital letters', { type: 'TEXT', text: 'loud' }, said('loud')),
  part('a part of an unknown type', { type: 'chart', data: [1] }, said('{"type":"chart","data":[1]}')),
  part(
    'a part with wrong hints',
    { type: 'text', text: 'ok', annotations: { audience: 'all', priority: 'x' }, _meta: null },
    said('ok'),
  ),
  part('base64 with line breaks', { type: 'image', mimeType: 'image/png', data: 'iVBORw0K\r\nGgo=' }, picture()),
  part('base64 without padding', { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo' }, picture()),
  part('base64 for URLs', { type: 'image', mimeType: 'image/x-y', data: 'ab-_' }, picture('image/x-y', 'ab+/')),
  part('a `data:` address', { type: 'image', mimeType: 'image/png', data: `data:image/png;base64,${PNG}` }, picture()),
  part('a wrong media type', { type: 'image', mimeType: 'image/png', data: JPEG }, picture('image/jpeg', JPEG)),
  part('a null media type', { type: 'image', mimeType: null, data: PNG }, picture()),
  part('an invalid media type', { type: 'image', mimeType: 'png', data: PNG }, picture()),
  part(
    'data that is not base64',
    { type: 'image', mimeType: 'image/png', data: '***' },
    said('[The server sent image data that cannot be read: ***]'),
  ),
  part('a sound without a media type', { type: 'audio', data: 'T2dnUwAC' }, media('file', 'audio/ogg', 'T2dnUwAC')),
  part(
    'a resource without `uri`',
    { type: 'resource', resource: { text: 'inside' } },
    said('Resource resource:\ninside'),
  ),
  part(
    'a resource with a null `blob`',
    { type: 'resource', resource: { uri: 'a:b', text: 'x', blob: null, mimeType: null } },
    said('Resource a:b:\nx'),
  ),
  part(
    'an image at an address',
    { type: 'image', url: 'https://x.example/y' },
    said('{"type":"image","url":"https://x.example/y"}'),
  ),
  part(
    'an image in the form of Claude’s API',
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
    picture(),
  ),
  part(
    'bytes as a list of numbers',
    { type: 'image', mimeType: 'image/png', data: { type: 'Buffer', data: [...Buffer.from(PNG, 'base64')] } },
    picture(),
  ),
  part('an image in `blob`', { type: 'image', mimeType: 'image/png', blob: PNG }, picture()),
  part(
    'a media type under another name',
    { type: 'image', mime_type: 'image/x-y', data: 'ab+/' },
    picture('image/x-y', 'ab+/'),
  ),
  part(
    'an empty text beside another field',
    { type: 'text', text: '', value: 'hi' },
    said('{"type":"text","text":"","value":"hi"}'),
  ),
  part(
    'a resource whose content is in another field',
    { type: 'resource', resource: { uri: 'a:b', content: 'inside' } },
    said('Resource a:b:\n{"content":"inside"}'),
  ),
  part(
    'a link with a title',
    { type: 'resource_link', uri: 'a:b', name: 'n', title: 'Report', size: 5 },
    said('{"resource":"a:b","name":"n","title":"Report","size":5}'),
  ),
  part(
    'a link without a name',
    { type: 'resource_link', uri: 'a:b', name: null },
    said('{"resource":"a:b","name":"a:b"}'),
  ),
]

const ENVELOPES: readonly Kind[] = [
  writes('a result and a null `error`', (id) => ({ jsonrpc: '2.0', id, result: { content: ok }, error: null })),
  writes(
    'an error and a null `result`',
    (id) => ({ jsonrpc: '2.0', id, result: null, error: { code: -32_000, message: 'boom' } }),
    refused('-32000: boom'),
  ),
  writes('a result and an empty error', (id) => ({
    jsonrpc: '2.0',
    id,
    result: { content: ok },
    error: { code: 0, message: '' },
  })),
  writes(
    'a result and an error',
    (id) => ({ jsonrpc: '2.0', id, result: { content: ok }, error: { code: 1, message: 'late' } }),
    said('ok', '[The server also sent an error: late]'),
  ),
  writes('no `jsonrpc`', (id) => ({ id, result: { content: ok } })),
  writes('`jsonrpc` is a number', (id) => ({ jsonrpc: 2, id, result: { content: ok } })),
  writes('an id returned as text', (id) => ({ jsonrpc: '2.0', id: String(id), result: { content: ok } })),
  writes(
    'a null id',
    () => ({ jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'bad' } }),
    refused('-32600: bad'),
  ),
  writes('a result with a `method`', (id) => ({ jsonrpc: '2.0', id, method: 'tools/call', result: { content: ok } })),
  writes('an unwrapped result', (id) => ({ jsonrpc: '2.0', id, content: ok })),
  writes('an answer without a result', (id) => ({ jsonrpc: '2.0', id }), said('null')),
  errs('an error that is a text', 'boom', refused('-32000: boom')),
  errs('an error with a word as its code', { code: 'E_DISK', message: 'boom' }, refused('-32000: E_DISK: boom')),
  errs('an error with a number as text', { code: '-32603', message: 'boom' }, refused('-32603: boom')),
  errs(
    'an error without a message',
    { code: -32_603, message: null, data: { why: 'full' } },
    refused('-32603: {"why":"full"}'),
  ),
  errs(
    'an error with data',
    { code: -32_602, message: 'bad params', data: { field: 'x', hint: 'use y' } },
    'error api_refused: MCP server "odd" answered with error -32602: bad params ({"field":"x","hint":"use y"})',
  ),
  errs('an empty error', {}, refused('-32000: no reason given')),
  writes('a batch', (id) => [
    { jsonrpc: '2.0', method: 'notifications/unknown' },
    { jsonrpc: '2.0', id, result: { content: ok } },
  ]),
]

const TEXTS: readonly Kind[] = [
  writes('JSON over several lines', (id) => JSON.stringify({ jsonrpc: '2.0', id, result: { content: ok } }, null, 2)),
  writes(
    'two messages on one line',
    (id) =>
      `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"silly","data":null}}${JSON.stringify({ jsonrpc: '2.0', id, result: { content: ok } })}`,
  ),
  writes(
    '`NaN` as a number',
    (id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"n":NaN}}}`,
    said('{"n":null}'),
  ),
  writes(
    'a line break in a string',
    (id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"a\nb"}]}}`,
    said('a\nb'),
  ),
  writes('an extra comma', (id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"ok"},],}}`),
  writes('an answer that is not JSON', (id) => `{'jsonrpc': '2.0', 'id': ${id}, 'result': {'content': None}}`, UNKNOWN),
  writes('a cut-off answer', (id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"te]}}`, UNKNOWN),
  writes('unknown progress and notices', (id) =>
    [
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: id, progress: '1', total: null, message: null },
      },
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'nobody', progress: 1 } },
      { jsonrpc: '2.0', method: 'notifications/odd', params: null },
      { jsonrpc: '2.0', id, result: { content: ok } },
    ]
      .map((message) => JSON.stringify(message))
      .join('\n'),
  ),
  writes('two answers to one call', (id) =>
    [1, 2]
      .map((n) =>
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          result: { content: [{ type: 'text', text: n === 1 ? 'ok' : 'second' }] },
        }),
      )
      .join('\n'),
  ),
]

/** Kinds by tool name. */
export const KINDS: ReadonlyMap<string, Kind> = new Map(
  [...RESULTS, ...PARTS, ...ENVELOPES, ...TEXTS].map((kind, n) => [`kind-${n}`, kind]),
)
