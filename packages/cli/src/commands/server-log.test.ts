// The server's log lines, as shown to people.
import { Readable, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createServerLog } from './server-log.ts'

/** A colour code as written by the log. */
const SEQUENCE = new RegExp(`${String.fromCodePoint(0x1b)}\\[\\d+m`, 'g')

/** A stream that shows colours. */
const COLOURED = Object.assign(new Writable(), { isTTY: true, hasColors: () => true })
const STREAMS = { input: new Readable(), output: COLOURED, errors: COLOURED }

test.each([
  ['readable', 'pretty', false],
  ['readable and coloured', 'pretty', true],
  ['JSON', 'json', false],
] as const)(
  'what strangers put into a %s line neither steers a terminal nor begins another line',
  async (_, logFormat, isColoured) => {
    const hostile = 'a\u001b[2J\u009b31m\u202e\u2066\u200f\u061c\u0085\nINFO: forged\r\u0007b'
    const lines: string[] = []
    const terminal = {
      isTerminal: true,
      variables: {},
      note: (line: string) => void lines.push(line),
      ...(isColoured && { streams: STREAMS }),
    }
    const log = await createServerLog({ logFormat, logLevel: 'info' }, terminal, [])
    log.warn(`said ${hostile}`, {
      session: hostile,
      [hostile]: 1,
      error: { message: hostile, stack: hostile, deep: [hostile] },
    })
    const written = lines.join('\n')
    const sequences = written.match(SEQUENCE) ?? []
    expect(sequences.length > 0).toBe(isColoured)
    const plain = written.replaceAll(SEQUENCE, '')
    expect(plain.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
    expect(plain).not.toMatch(/^\s*INFO: forged/m)
    expect(plain).toContain('forged')
  },
)

test('a JSON line contains the logged values', async () => {
  const said = 'a\u001b[2J\u009b\u202eb'
  const lines: string[] = []
  const terminal = { isTerminal: false, variables: {}, note: (line: string) => void lines.push(line) }
  const log = await createServerLog({ logFormat: 'json', logLevel: 'info' }, terminal, [])
  log.warn(said, { session: said })
  expect(JSON.parse(lines.join(''))).toMatchObject({ session: said, msg: said })
})

async function write(logFormat: 'json' | 'pretty' | undefined, isTerminal: boolean): Promise<string> {
  const lines: string[] = []
  const terminal = { isTerminal, variables: {}, note: (line: string) => void lines.push(line) }
  const log = await createServerLog({ logFormat, logLevel: 'info' }, terminal, ['key-1'])
  log.info('turn 1: convo.setState -> tts.speak', { session: 'key-1' })
  return lines.join('').replace(/\d\d:\d\d:\d\d\.\d{3}/, '<time>')
}

test('on a terminal it is a readable line, its data below; else JSON', async () => {
  const readable = '[<time>] INFO: turn 1: convo.setState -> tts.speak\n    session: "[redacted]"'
  expect(await write('pretty', false)).toBe(readable)
  expect(await write(undefined, true)).toBe(readable)
  expect(JSON.parse(await write(undefined, false))).toMatchObject({ session: '[redacted]' })
})
