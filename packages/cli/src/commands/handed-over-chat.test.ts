// Two chats in one folder take turns using a session: each continues with its next message and reports what it missed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Console } from '../console.ts'
import { run } from '../run.ts'

let folder: string
let chats: Chat[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
  writeFileSync(join(folder, 'notes.md'), 'Nothing of interest.\n')
  chats = []
})
afterEach(async () => {
  for (const { leave } of chats) await leave()
  rmSync(folder, { recursive: true })
})

interface Chat {
  readonly say: (text: string) => void
  /** Everything shown to the user: answers and notes. */
  readonly seen: () => string
  /** Resolves with the exit code. */
  readonly leave: () => Promise<number>
}

function startChat(...options: readonly string[]): Chat {
  const input = new PassThrough()
  let seen = ''
  const terminal: Console = {
    variables: { BATON_STORE: 'sqlite:kept.db' },
    folder,
    write: (text) => void (seen += text),
    note: (line) => void (seen += `${line}\n`),
    onStop: () => () => {},
    onStray: () => () => {},
    streams: { input, output: new PassThrough(), errors: new PassThrough() },
  }
  const ended = run(['chat', '--session', 's', ...options], terminal)
  const chat: Chat = {
    say: (text) => void input.write(`${text}\n`),
    seen: () => seen,
    leave: async () => {
      input.end()
      return await ended
    },
  }
  chats.push(chat)
  return chat
}

const NOTE = 'session s is back from another process'

test('a chat whose session moved to another one continues with its next message, and reports the messages it missed', async () => {
  const first = startChat()
  first.say('list the files')
  await expect.poll(first.seen).toContain('✓ fs.list_dir')
  const second = startChat()
  second.say('which files mention "interest"?')
  await expect.poll(second.seen).toContain('✓ code.grep')
  expect(second.seen()).toContain('continuing session s: 1 turn so far')
  first.say('read the file notes.md')
  await expect.poll(first.seen).toContain(`${NOTE}; said there: "which files mention "interest"?"`)
  await expect.poll(first.seen).toContain('Nothing of interest')
  // Back again, this time after several messages and with a command instead of a message.
  first.say('list the files again')
  await expect.poll(() => first.seen().split('✓ fs.list_dir').length).toBe(3)
  second.say('/usage')
  await expect.poll(second.seen).toContain(`${NOTE}; said there: 2 messages, the newest "list the files again"`)
  expect([await first.leave(), await second.leave()]).toEqual([0, 0])
  expect(first.seen() + second.seen()).not.toContain('session_closed')
})

test.each(['that is still there', 'that has been left'])(
  'a chat without messages leaves the session to the chat that used it, and %s',
  async (where) => {
    const first = startChat()
    first.say('/tools')
    await expect.poll(first.seen).toContain('fs.list_dir (pure')
    const second = startChat()
    second.say('list the files')
    await expect.poll(second.seen).toContain('✓ fs.list_dir')
    const leaving = where === 'that is still there' ? [first, second] : [second, first]
    for (const { leave } of leaving) expect(await leave()).toBe(0)
    const third = startChat()
    third.say('/tools')
    await expect.poll(third.seen).toContain('continuing session s: 1 turn so far')
    expect(await third.leave()).toBe(0)
  },
)
