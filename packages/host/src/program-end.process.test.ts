// A program that neither stops its host nor closes its store still exits.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const PROGRAM = `
import { createHost, createOfflineModel, defineAgent, openSqliteStore } from ${JSON.stringify(new URL('index.ts', import.meta.url).href)}
const [, path, how] = process.argv
const store = path ? await openSqliteStore(path) : undefined
const host = createHost({ agent: defineAgent({ name: 'a', model: createOfflineModel() }), ...(store && { store }) })
const session = await host.session('s')
await session.send('Hi').answer
const { messages } = await session.messages()
console.log(messages.length)
if (how === 'closes') await session.close()
`

test('a program that has answered ends, also with an open store, and nothing is lost', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'baton-ends-'))
  const run = async (...words: readonly string[]) => {
    const command = ['--conditions=@baton/source', '--no-warnings', '--input-type=module', '--eval', PROGRAM, ...words]
    return (await promisify(execFile)(process.execPath, command, { timeout: 180_000 })).stdout.trim()
  }
  const path = join(folder, 'kept.db')
  const said = [await run(), await run(path), await run(path)]
  // A closed session lingers for longer than the program may run.
  said.push(await run('', 'closes'), await run(path, 'closes'), await run(path))
  await rm(folder, { recursive: true })
  expect(said).toEqual(['2', '2', '4', '2', '6', '8'])
})
