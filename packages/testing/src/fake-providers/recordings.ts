// Recorded traffic of real providers, for tests only. The recordings belong to third parties, so they are not part of
// Baton: the variable BATON_FIXTURES names a folder with them and its manifest.json. Without it, those tests are
// skipped with a warning.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { leaveOut } from '../components/left-out.ts'

export interface RecordedFile {
  /** Path in the folder: `anthropic/x.http.json`. */
  readonly file: string
  readonly format: 'jsonl-chunks' | 'sse' | 'http-json' | 'json'
  /** `recorded`, or what was done to it: edited, synthetic, hand-made. */
  readonly origin: string
}

export interface RecordedExchange {
  readonly file: string
  readonly origin: string
  /** Index of the exchange in its file. */
  readonly index: number
  /** Absent if only the answer was kept. */
  readonly request?: { readonly uri: string; readonly body: unknown }
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Whether `body` is an event stream. */
  readonly isStream: boolean
}

export interface Recordings {
  /** All exchanges of the files below a folder of the recordings: `anthropic`. */
  exchangesOf(folder: string): readonly RecordedExchange[]
}

/**
 * Returns `undefined` if BATON_FIXTURES is not set; `warn` then receives what will not be tested.
 * @throws Error instead if BATON_TEST_REQUIRE is `all`, where nothing may be skipped
 */
export function openRecordings(
  what: string,
  warn: (message: string) => void,
  root: string | undefined = process.env['BATON_FIXTURES'],
): Recordings | undefined {
  if (root === undefined || root === '') {
    const remedy = 'Set BATON_FIXTURES to the folder of recordings to run it.'
    return leaveOut(what, { why: 'BATON_FIXTURES is not set', remedy }, warn)
  }
  // The manifest is trusted: it is generated next to the files.
  const manifest = JSON.parse(readFileSync(join(root, 'manifest.json'), 'utf8')) as { files: readonly RecordedFile[] }
  return {
    exchangesOf: (folder) =>
      manifest.files
        .filter(({ file }) => file.startsWith(`${folder}/`))
        .flatMap((file) => readExchanges(file, readFileSync(join(root, file.file), 'utf8'))),
  }
}

/** One line of a report: `recordings anthropic: 29 files, 61,234 byte cuts`. */
export function countLine(what: string, counts: Readonly<Record<string, number>>): string {
  const each = Object.entries(counts).map(([name, count]) => `${count.toLocaleString('en-US')} ${name}`)
  return `${what}: ${each.join(', ')}`
}

function readExchanges(recorded: RecordedFile, text: string): readonly RecordedExchange[] {
  const common = { file: recorded.file, origin: recorded.origin, status: 200, headers: {} }
  switch (recorded.format) {
    case 'jsonl-chunks':
      return splitMessages(text).map((lines, index) => {
        return { ...common, index, body: toBytes(lines.map(asEvent).join('')), isStream: true }
      })
    case 'sse':
      return [{ ...common, index: 0, body: toBytes(text), isStream: true }]
    case 'json':
      return [{ ...common, index: 0, body: toBytes(text), isStream: false }]
    case 'http-json':
      return readHttp(recorded, text)
  }
}

/**
 * Splits files with the streams of a whole conversation; `message_stop` ends one of Anthropic's, `response.completed`
 * one of OpenAI's.
 */
function splitMessages(text: string): readonly (readonly string[])[] {
  const messages: string[][] = [[]]
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const last = messages.at(-1)
    if (END_OF_MESSAGE.test(last?.at(-1) ?? '')) messages.push([line])
    else last?.push(line)
  }
  return messages
}

const END_OF_MESSAGE = /"type":\s*"(message_stop|response\.completed)"/

/** Restores the framing removed from a line: Anthropic and Responses name their events, the others do not. */
function asEvent(line: string): string {
  // Not parsed: an edited recording has lines that are not JSON, for the decoder to find.
  const type = /^\{\s*"type":\s*"([^"]+)"/.exec(line)?.[1]
  return `${type === undefined ? '' : `event: ${type}\n`}data: ${line}\n\n`
}

interface HttpRecording {
  readonly interactions: readonly {
    readonly request: { readonly uri: string; readonly json?: unknown; readonly text?: string }
    readonly response: {
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly text?: string
      readonly json?: unknown
      readonly base64?: string
    }
  }[]
}

function readHttp(recorded: RecordedFile, text: string): readonly RecordedExchange[] {
  const { interactions } = JSON.parse(text) as HttpRecording
  return interactions.map(({ request, response }, index) => ({
    file: recorded.file,
    origin: recorded.origin,
    index,
    request: { uri: request.uri, body: request.json ?? request.text },
    status: response.status,
    headers: response.headers,
    body:
      response.base64 === undefined
        ? toBytes(response.text ?? JSON.stringify(response.json ?? null))
        : Buffer.from(response.base64, 'base64'),
    isStream: /event-?stream/.test(response.headers['content-type'] ?? ''),
  }))
}

function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
