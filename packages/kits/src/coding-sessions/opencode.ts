// Parses records of OpenCode sessions, from files and from the database: the session, then each message with its parts.
// Source: packages/opencode/src/session/message-v2.ts and session.sql.ts of https://github.com/anomalyco/opencode, seen
// 2026-11-28.
import type { HistoryEvent, ReadLine, ReadSessionLine, TokenCount } from './session-events.ts'
import { countOf, filesOf, isRecord, textOf, timeOf } from './session-events.ts'

type Line = Readonly<Record<string, unknown>>

/** The kind of a record, as wrapped around its text. */
export type OpenCodeKind = 'session' | 'message' | 'part'

export function wrapOpenCodeRecord(kind: OpenCodeKind, id: string, data: string): string {
  return `{"kind":"${kind}","id":${JSON.stringify(id)},"data":${data}}`
}

/** Parts that are not part of the conversation or duplicate other parts. */
const SILENT: ReadonlySet<string> = new Set(['step-start', 'snapshot', 'patch', 'agent', 'compaction'])
const NO_TOKENS: TokenCount = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

interface Message {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly isSummary: boolean
  readonly atMs: number | undefined
  /** Token counts of its steps so far. */
  readonly tokens: TokenCount
}

/** @returns a reader for one session; a part has the role of the message before it */
export function createOpenCodeReader(): ReadSessionLine {
  let message: Message = { id: '', role: 'user', isSummary: false, atMs: undefined, tokens: NO_TOKENS }
  let isSidechain = false
  const read = ({ kind, id, data }: Line): ReadLine => {
    const told = isRecord(data) ? data : {}
    if (kind === 'session') {
      isSidechain = textOf(told['parentID']) !== undefined
      return readSession(told, id)
    }
    if (kind === 'message') {
      message = {
        id: String(id),
        role: told['role'] === 'assistant' ? 'assistant' : 'user',
        isSummary: told['role'] === 'assistant' && told['summary'] === true,
        atMs: timeOf(member(told['time'], 'created')),
        tokens: NO_TOKENS,
      }
      return readMessage(told, message)
    }
    if (told['type'] === 'step-finish') {
      message = { ...message, tokens: add(message.tokens, readTokens(told['tokens']) ?? NO_TOKENS) }
      return { events: [], tokens: message.tokens, tokensKey: message.id }
    }
    return readPart(told, message)
  }
  return (line) => {
    const { events, ...rest } = read(line)
    return { ...rest, events: isSidechain ? events.map((event) => ({ ...event, isSidechain: true as const })) : events }
  }
}

function readSession(told: Line, id: unknown): ReadLine {
  const atMs = timeOf(member(told['time'], 'created'))
  const [cwd, version, title] = ['directory', 'version', 'title'].map((name) => textOf(told[name]))
  return {
    ...(atMs !== undefined && { atMs }),
    events: [],
    facts: {
      id: String(id),
      ...(cwd !== undefined && { cwd }),
      ...(version !== undefined && { version }),
      // Default title of a session before a model has named it.
      ...(title !== undefined && !/^(New|Child) session - \d/.test(title) && { title: { text: title, rank: 1 } }),
    },
  }
}

function readMessage(told: Line, { id, role, atMs }: Message): ReadLine {
  const model = textOf(told['modelID']) ?? textOf(member(told['model'], 'modelID'))
  const cwd = textOf(member(told['path'], 'cwd'))
  const { error } = told
  const name = textOf(member(error, 'name'))
  const text = textOf(member(member(error, 'data'), 'message')) ?? name
  const isError = name === 'MessageAbortedError' ? {} : { isError: true as const }
  // Tokens of the last step, replaced by the sum over all steps if steps have tokens.
  const tokens = role === 'assistant' ? readTokens(told['tokens']) : undefined
  return {
    ...(atMs !== undefined && { atMs }),
    events: text === undefined ? [] : [{ role: 'note', type: 'text', text, ...isError }],
    ...(role === 'assistant' && {
      // Sessions of the first releases do not record where they ran; their answers do.
      facts: { ...(model !== undefined && { model }), ...(cwd !== undefined && { cwd }) },
    }),
    ...(tokens && { tokens, tokensKey: id }),
  }
}

function readPart(part: Line, message: Message): ReadLine {
  const type = textOf(part['type']) ?? 'no type'
  const atMs =
    timeOf(member(member(part['state'], 'time'), 'start')) ?? timeOf(member(part['time'], 'start')) ?? message.atMs
  const time = atMs === undefined ? {} : { atMs }
  const text = textOf(part['text'])
  switch (type) {
    case 'text': {
      const isNote = part['synthetic'] === true || part['ignored'] === true || message.isSummary
      return { ...time, events: text === undefined ? [] : [{ role: isNote ? 'note' : message.role, type, text }] }
    }
    case 'reasoning':
      return { ...time, events: text === undefined ? [] : [{ role: message.role, type, text }] }
    case 'file': {
      const isImage = textOf(part['mime'])?.startsWith('image/') === true
      const name = textOf(part['filename']) ?? 'without a name'
      const event: HistoryEvent = isImage
        ? { role: message.role, type: 'image', text: '[image]' }
        : { role: 'note', type: 'text', text: `[file ${name}]` }
      return { ...time, events: [event] }
    }
    case 'tool':
      return { ...time, events: readCall(part) }
    case 'subtask': {
      const prompt = textOf(part['prompt'])
      return { ...time, events: prompt === undefined ? [] : [{ role: 'note', type: 'text', text: prompt }] }
    }
    case 'retry': {
      const told = textOf(member(member(part['error'], 'data'), 'message')) ?? 'the request was sent again'
      return { ...time, events: [{ role: 'note', type: 'text', text: told, isError: true }] }
    }
    default:
      return SILENT.has(type) ? { ...time, events: [] } : { ...time, events: [], unknown: `part ${type}` }
  }
}

function readCall({ tool, callID: callId, state }: Line): readonly HistoryEvent[] {
  const { status, input, output, error } = isRecord(state) ? state : {}
  const id = textOf(callId) === undefined ? {} : { callId: String(callId) }
  const files = filesOf(input, ['filePath', 'path'])
  const call: HistoryEvent = {
    role: 'assistant',
    type: 'call',
    text: JSON.stringify(input ?? {}),
    tool: textOf(tool) ?? 'unknown',
    ...id,
    ...(files.length > 0 && { files }),
  }
  if (status === 'completed') return [call, { role: 'tool', type: 'result', text: textOf(output) ?? '', ...id }]
  if (status === 'error')
    return [call, { role: 'tool', type: 'result', text: textOf(error) ?? '', ...id, isError: true }]
  return [call]
}

/** `input` excludes cache reads, and `output` excludes reasoning. */
function readTokens(tokens: unknown): TokenCount | undefined {
  if (!isRecord(tokens)) return undefined
  return {
    input: countOf(tokens['input']),
    output: countOf(tokens['output']) + countOf(tokens['reasoning']),
    cacheRead: countOf(member(tokens['cache'], 'read')),
    cacheWrite: countOf(member(tokens['cache'], 'write')),
  }
}

function add(one: TokenCount, other: TokenCount): TokenCount {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
  }
}

function member(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined
}
