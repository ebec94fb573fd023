// Two processes of the example over one PostgreSQL store: each serves the other's sessions.
import { startFakeAnthropic } from '@baton/testing/fake-anthropic'
import { findFreePort } from '@baton/testing/free-port'
import { findPostgres, startPostgres } from '@baton/testing/postgres'
import { startCommand } from '@baton/testing/start-command'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const programs = findPostgres('two servers of the page on embedding', console.warn)

async function start(variables: Readonly<Record<string, string>>): Promise<string> {
  const words = ['--conditions=@baton/source', `${FOLDER}peers.ts`]
  const server = startCommand(process.execPath, { words, folder: FOLDER, variables })
  onTestFinished(async () => {
    server.kill('SIGTERM')
    await server.ended
  })
  await server.untilLine((line) => line.startsWith('http://'))
  return `http://127.0.0.1:${variables['PORT']}/api`
}

test.skipIf(programs === undefined)('an answer that one server writes is read and stopped at the other', async () => {
  const postgres = await startPostgres(programs ?? '')
  onTestFinished(() => postgres.close())
  const fake = await startFakeAnthropic(() => ({ text: 'Once upon a time there was a shop.', stallAfter: 6 }))
  onTestFinished(() => fake.close())
  const variables = {
    ANTHROPIC_API_KEY: 'key-of-a-test',
    ANTHROPIC_BASE_URL: fake.url,
    BATON_STORE: postgres.createDatabase(),
    BATON_PEER_SECRET: 'of-the-peers-only',
  }
  const holder = await start({ ...variables, PORT: String(await findFreePort()) })
  const other = await start({ ...variables, PORT: String(await findFreePort()) })
  const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Tell me a story.' }] }
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ id: 'c1', messages: [message] })
  const sent = await fetch(`${holder}/chat`, { method: 'POST', headers, body })
  expect(sent.status).toBe(200)
  const resumed = await fetch(`${other}/chat/c1/stream`)
  const stopped: number[] = []
  let told = ''
  for await (const piece of resumed.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    told += piece
    if (stopped.length === 0 && told.includes('upon'))
      stopped.push((await fetch(`${other}/chat/c1/stop`, { method: 'POST' })).status)
  }
  expect([stopped, told]).toEqual([[200], expect.stringContaining('[DONE]')])
  expect(await sent.text()).toContain('[DONE]')
})
