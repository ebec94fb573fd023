// The lines of the server's log, for people.
import { expect, test } from 'vitest'
import { createServerLog } from './server-log.ts'

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
