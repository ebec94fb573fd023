// `baton log` of a session whose calls other agents do.
import type { Agent } from '@baton/core'
import { defineAgent, delegate, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, openSqliteStore } from '@baton/host'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Console } from '../console.ts'
import { run } from '../run.ts'

let folder: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-log-'))
  const look = tool({ name: 'look', description: 'l', input: {}, effect: 'pure', execute: () => 'a cat' })
  const ask = (name: string) => ({ calls: [{ name, arguments: { task: 'Look.' } }] })
  const lowest = defineAgent({
    name: 'watcher',
    model: createScriptedModel({ steps: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'A cat.' }] }),
    tools: [look],
  }) as Agent
  const middle = defineAgent({
    name: 'helper',
    model: createScriptedModel({ steps: [ask('watcher'), { text: 'It is a cat.' }] }),
    tools: [delegate({ agent: lowest, description: 'Watches' })],
  }) as Agent
  const agent = defineAgent({
    name: 'boss',
    model: createScriptedModel({ steps: [ask('helper'), { text: 'Your cat is back.' }] }),
    tools: [delegate({ agent: middle, description: 'Helps' })],
  })
  const store = await openSqliteStore(join(folder, 'store.db'))
  const host = createHost({ store, agent })
  await (await host.session('home')).send('What is it?').answer
  await host.stop()
  await store.close()
})
afterEach(() => rmSync(folder, { recursive: true }))

async function log(...words: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const written: string[] = []
  const terminal: Console = {
    variables: {},
    folder,
    write: (text) => void written.push(text),
    note: () => {},
    onStop: () => () => {},
    onStray: () => () => {},
  }
  const code = await run(['log', 'home', '--store', 'sqlite:store.db', ...words], terminal)
  return { code, text: written.join('') }
}

test('the log of a session names the agents below, and --children shows what they did', async () => {
  const own = await log()
  expect(own.code).toBe(0)
  expect(own.text).toContain('the agent helper begins')
  expect(own.text).not.toContain('A cat.')
  const { text } = await log('--children')
  expect(text.startsWith(own.text)).toBe(true)
  const places = ['\nhelper (call_', 'It is a cat.', '\nhelper › watcher (call_', 'A cat.'].map((one) =>
    text.indexOf(one),
  )
  expect(places).toEqual(places.toSorted((one, other) => one - other))
  expect(Math.min(...places)).toBeGreaterThan(own.text.length - 1)
  const json = await log('--children', '--json')
  const facts = json.text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly type: string }).type)
  expect(facts.filter((type) => type === 'child-opened')).toHaveLength(2)
})
