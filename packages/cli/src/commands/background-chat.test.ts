// `baton chat` with calls in the background: outcomes appear while the person types, and requests stay open.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Console } from '../console.ts'
import { run } from '../run.ts'

const HOST = new URL('../../../host/src/index.ts', import.meta.url).href
const TESTING = new URL('../../../host/src/testing.ts', import.meta.url).href

/** An agent that writes a report in the background, and then answers every message. */
function agentFile(options: string): string {
  return `
import { defineAgent, tool } from '${HOST}'
import { createScriptedModel } from '${TESTING}'
const report = tool({
  name: 'report.write',
  description: 'Writes a report',
  input: { type: 'object', properties: {} },
  effect: 'once',
  background: true,
  ${options}
  execute: () => new Promise((resolve) => { globalThis.finishReport = () => resolve('three pages') }),
})
export default defineAgent({
  name: 'clerk',
  model: createScriptedModel({
    steps: [
      { calls: [{ name: 'report.write', arguments: {} }] },
      { text: 'I am writing it.' },
      { text: 'The report is ready: three pages.' },
      { text: 'You are welcome.' },
    ],
  }),
  tools: [report],
})
`
}

declare global {
  var finishReport: (() => void) | undefined
}

let folder: string
let chats: Chat[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
  chats = []
  globalThis.finishReport = undefined
})
afterEach(async () => {
  for (const { leave } of chats) await leave()
  rmSync(folder, { recursive: true })
})

interface Chat {
  readonly type: (text: string) => void
  /** Everything shown, without the codes of a terminal. */
  readonly seen: () => string
  readonly leave: () => Promise<number>
}

function startChat(options: string, { isTerminal = true, words = ['--store', 'memory:'] } = {}): Chat {
  writeFileSync(join(folder, 'agent.ts'), agentFile(options))
  let seen = ''
  const input = Object.assign(new PassThrough(), { isTTY: isTerminal })
  const output = Object.assign(new PassThrough(), { isTTY: isTerminal, columns: 100 })
  output.on('data', (text: Buffer) => void (seen += text.toString()))
  const terminal: Console = {
    variables: {},
    folder,
    write: (text) => void output.write(text),
    note: (line) => void output.write(`${line}\n`),
    onStop: () => () => {},
    onStray: () => () => {},
    streams: { input, output, errors: output },
  }
  const ended = run(['chat', ...words, '--agent', 'agent.ts'], terminal)
  const chat: Chat = {
    type: (text) => void input.write(text),
    // eslint-disable-next-line no-control-regex
    seen: () => seen.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '').replaceAll('\r', ''),
    leave: async () => {
      input.end()
      return await ended
    },
  }
  chats.push(chat)
  return chat
}

test('the outcome of a call in the background is shown while nobody types', async () => {
  const chat = startChat('', { isTerminal: false })
  chat.type('write the report\n')
  await expect.poll(chat.seen).toContain('I am writing it.')
  await expect.poll(() => globalThis.finishReport).toBeDefined()
  globalThis.finishReport?.()
  await expect.poll(chat.seen).toContain('✓ report.write')
  await expect.poll(chat.seen).toContain('The report is ready: three pages.')
  chat.type('thanks\n')
  await expect.poll(chat.seen).toContain('You are welcome.')
  expect(chat.seen().match(/> report\.write/g)).toHaveLength(1)
  expect(await chat.leave()).toBe(0)
})

test('what a person has typed stays when an answer comes between', async () => {
  const chat = startChat('')
  await expect.poll(chat.seen).toMatch(/› $/)
  chat.type('write the report\r')
  await expect.poll(chat.seen).toMatch(/I am writing it\.[^]*› $/)
  await expect.poll(() => globalThis.finishReport).toBeDefined()
  chat.type('tha')
  await expect.poll(chat.seen).toMatch(/› tha$/)
  globalThis.finishReport?.()
  await expect.poll(chat.seen).toMatch(/The report is ready: three pages\.[^]*› tha$/)
  chat.type('nks\r')
  await expect.poll(chat.seen).toMatch(/› thanks[^]*You are welcome\./)
})

test('an approval for the background outlives its turn, and is asked until it is decided', async () => {
  const chat = startChat('approval: true,')
  await expect.poll(chat.seen).toMatch(/› $/)
  chat.type('write the report\r')
  await expect.poll(chat.seen).toContain('run it? y/n/always: ')
  chat.type('y\r')
  await expect.poll(() => globalThis.finishReport).toBeDefined()
  await expect.poll(chat.seen).toMatch(/I am writing it\.[^]*› $/)
  globalThis.finishReport?.()
  await expect.poll(chat.seen).toMatch(/✓ report\.write[^]*The report is ready: three pages\.[^]*› $/)
})

test('an approval for the background is asked again by the next chat of the session', async () => {
  const words = ['--store', 'sqlite:kept.db', '--session', 's']
  const first = startChat('approval: true,', { words })
  await expect.poll(first.seen).toMatch(/› $/)
  first.type('write the report\r')
  await expect.poll(first.seen).toContain('run it? y/n/always: ')
  await first.leave()
  const second = startChat('approval: true,', { words })
  await expect.poll(second.seen).toContain('run it? y/n/always: ')
  expect(second.seen()).toContain('report.write asks for your approval')
  second.type('n\r')
  await expect.poll(second.seen).toMatch(/✗ report\.write[^\n]*denied/)
})
