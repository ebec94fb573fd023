// A Python client written from the pages alone, and the guarantees it checks against a real server: docs/protocol-2.md
// and docs/protocol-2-reference.md suffice for a client in any language.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { findPython } from '../components/python.ts'

const PLAYS = join(import.meta.dirname, 'fresh_plays.py')
const SERVER = join(import.meta.dirname, 'fresh-server.test-kit.ts')
const python = findPython('a client that was written from the pages', console.warn)

test.skipIf(python === undefined)('what the pages promise holds for a client that knows nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-fresh-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const plays = [...readFileSync(PLAYS, 'utf8').matchAll(/^async def (a\w+|what\w+|offers\w+)\(server\):/gm)]
  expect(plays).toHaveLength(9)
  const { stdout } = await promisify(execFile)(python ?? '', ['-B', PLAYS, process.execPath, SERVER, folder])
  expect(stdout.trim().split('\n')).toEqual(plays.map(([, name = '']) => `holds: ${name}`))
})
