// A report for the office, without a page: the sessions of a user by last use, page by page, and the cost of all as CSV.
import { createScriptedModel } from '@baton/host/testing'
import type { SessionQuery } from '@baton/host'
import { createHost, defineAgent } from '@baton/host'
import { createHandler } from '@baton/server/http'

const model = createScriptedModel({ steps: () => ({ text: 'At nine.', usage: { inputTokens: 100, outputTokens: 5 } }) })
const host = createHost({ agent: defineAgent({ name: 'desk', model }) })
for (const id of ['trip', 'invoice', 'order']) {
  const session = await host.session(id, { principal: { id: 'ann' } })
  await session.send('When do you open?').answer
}

async function* eachSession(query: SessionQuery) {
  let cursor: string | undefined
  do {
    const page = await host.sessions({ ...query, cursor })
    yield* page.sessions
    cursor = page.cursor
  } while (cursor !== undefined)
}
for await (const { id, agent } of eachSession({ principal: { id: 'ann' }, activity: 'idle', limit: 2 }))
  console.log(`${agent}: ${id}`)

// The handler needs no login, because it listens on no port.
const office = createHandler(host, { operators: () => ['see'] })
const report = await office(new Request('http://localhost/api/cost?format=csv&from=2026-11-01'))
console.log(await report.text())
await host.stop()
