// The list of the processes that share a store, next to its file, as the next process reads it.
import { chmodSync, closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readProcesses, writeProcesses } from './store-processes.ts'

let folder = ''
let path = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-processes-'))
  path = join(folder, 'store.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

const holder = { id: 'holder', pid: process.pid }
const guest = { id: 'guest', pid: process.pid }

test('who reads the list while it is written again reads the whole former one', () => {
  writeProcesses(path, { holder, guests: [guest] })
  const reading = openSync(`${path}.processes`, 'r')
  writeProcesses(path, { holder, guests: [] })
  expect(JSON.parse(readFileSync(reading, 'utf8'))).toEqual({ holder, guests: [guest] })
  closeSync(reading)
  expect(readProcesses(path)).toEqual({ holder, guests: [] })
  expect(readdirSync(folder)).toEqual(['store.db.processes'])
})

test('without processes there is no list', () => {
  writeProcesses(path, { holder, guests: [] })
  writeProcesses(path, { holder: undefined, guests: [] })
  expect([readdirSync(folder), readProcesses(path)]).toEqual([[], { holder: undefined, guests: [] }])
})

test.skipIf(process.platform === 'win32')('a list that others may write, or that is none, names nobody', () => {
  const nobody = { holder: undefined, guests: [] }
  for (const text of ['{', '[]', 'null', '{"holder":{"id":1,"pid":1},"guests":[{"id":"x","pid":-1},7]}']) {
    writeFileSync(`${path}.processes`, text, { mode: 0o600 })
    expect(readProcesses(path)).toEqual(nobody)
  }
  writeProcesses(path, { holder, guests: [] })
  chmodSync(`${path}.processes`, 0o666)
  expect(readProcesses(path)).toEqual(nobody)
})
