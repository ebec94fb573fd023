// Sources of an agent file that fail: a chat says so, since it keeps no log.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { openEmbeddedHost } from './embedded-host.ts'

const CORE = pathToFileURL(join(import.meta.dirname, '../../../core/src/index.ts')).href

test('a source of tools that fails is told to the person, with its reason on one line', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-agent-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'agent.mjs'),
    `import { defineAgent } from '${CORE}'
     const list = () => Promise.reject(new Error('missing TOKEN\\nat line 1'))
     export default defineAgent({ name: 'a', model: 'offline', sources: [{ name: 'crm', list }] })`,
  )
  const news: string[] = []
  const { host, stop } = await openEmbeddedHost({
    agent: join(folder, 'agent.mjs'),
    model: undefined,
    baseUrl: undefined,
    exchanges: undefined,
    terminal: {
      variables: {},
      folder,
      write: () => {},
      note: () => {},
      onStop: () => () => {},
      onStray: () => () => {},
    },
    onNews: (line) => void news.push(line),
  })
  onTestFinished(() => stop(0))
  const session = await host.session('s')
  await session.close()
  expect(news).toEqual([expect.stringMatching(/^crm lists no tools: missing TOKEN\\nat line 1$/)])
})
