// Imports that TypeScript finds and Node does not: what to write instead.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { adviseImport } from './advise-import.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-advise-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
mkdirSync(join(folder, 'lib'))
mkdirSync(join(folder, 'sub'))
for (const name of ['other.ts', 'plain.js', 'lib/index.ts', 'agent.ts', 'sub/agent.ts'])
  writeFileSync(join(folder, name), '')

const from = join(folder, 'agent.ts')
const missing = (name: string): string => `Cannot find module '${join(folder, name)}' imported from ${from}`

test.each([
  ['without its extension', missing('other'), "; write './other.ts'"],
  ['of JavaScript without its extension', missing('plain'), "; write './plain.js'"],
  ['with the extension that the compiler would give it', missing('other.js'), "; write './other.ts'"],
  [
    'from a folder beside',
    `Cannot find module '${join(folder, 'other')}' imported from ${join(folder, 'sub/agent.ts')}`,
    "; write '../other.ts'",
  ],
  [
    'that is a folder',
    `Directory import '${join(folder, 'lib')}' is not supported resolving ES modules imported from ${from}`,
    "; write './lib/index.ts'",
  ],
  ['that does not exist', missing('none'), ''],
  [
    'of a package',
    "Cannot find package '@nowhere/tools' imported from /a.ts",
    '; in the folder of that file, run "npm install @nowhere/tools"',
  ],
  ['that throws', 'no such key', ''],
])('an import %s', (_situation, message, advice) => {
  expect(adviseImport(message)).toBe(advice)
})
