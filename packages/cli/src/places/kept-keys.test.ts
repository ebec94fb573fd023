// Keys saved by `baton login`: who can read them, when they are used, and that no command prints them.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { addKeptKeys, keepKey, readKeys } from './kept-keys.ts'

const KEY = 'sk-secret-of-a-test'
let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-keys-'))
  file = join(folder, 'config', 'keys.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a key is kept for its owner alone, and taken away again', () => {
  keepKey('ANTHROPIC_API_KEY', KEY, file)
  keepKey('OPENAI_API_KEY', 'other', file)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readKeys(file)).toEqual({ ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: 'other' })
  keepKey('OPENAI_API_KEY', undefined, file)
  keepKey('ANTHROPIC_API_KEY', undefined, file)
  expect(existsSync(file)).toBe(false)
  expect(readKeys(file)).toEqual({})
})

test('the environment wins over a kept key', () => {
  keepKey('ANTHROPIC_API_KEY', KEY, file)
  const add = (variables: Record<string, string>) => addKeptKeys(variables, () => {}, file)
  expect(add({})).toEqual({ ANTHROPIC_API_KEY: KEY })
  expect(add({ ANTHROPIC_API_KEY: ' ' })).toEqual({ ANTHROPIC_API_KEY: KEY })
  expect(add({ ANTHROPIC_API_KEY: 'mine' })).toEqual({ ANTHROPIC_API_KEY: 'mine' })
})

test('a file that others can read, a link and nonsense are not used, and the reason has no key', () => {
  keepKey('ANTHROPIC_API_KEY', KEY, file)
  const told: string[] = []
  const add = (path: string) => addKeptKeys({ PATH: '/bin' }, (line) => void told.push(line), path)
  chmodSync(file, 0o644)
  expect(add(file)).toEqual({ PATH: '/bin' })
  chmodSync(file, 0o600)
  const link = join(folder, 'link.json')
  symlinkSync(file, link)
  expect(add(link)).toEqual({ PATH: '/bin' })
  writeFileSync(file, `{"ANTHROPIC_API_KEY": "${KEY}"`)
  expect(add(file)).toEqual({ PATH: '/bin' })
  expect(told).toHaveLength(3)
  expect(told[0]).toContain('chmod 600')
  expect(told.join('\n')).not.toContain(KEY)
  expect(readFileSync(file, 'utf8')).toContain(KEY)
})
