// The console of a server: people with the role "support" read everything, and managers decide.
import { createConsole } from '@baton/console'
import { createHost, createOfflineModel, defineAgent } from '@baton/host'

const host = createHost({ agent: defineAgent({ name: 'desk', model: createOfflineModel() }) })
const session = await host.session('trip', { principal: { id: 'ann' } })
await session.send('hello').answer
await session.close()

// Your own login: here, the token says who it is.
const people = new Map([
  ['Bearer token-of-sue', { id: 'sue', roles: ['support'] }],
  ['Bearer token-of-bob', { id: 'bob', roles: [] }],
])
const handler = createConsole(host, {
  authenticate: ({ headers }) => people.get(headers.get('authorization') ?? ''),
  roles: { support: ['see'], manager: ['see', 'decide'] },
})

async function ask(path: string, token: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}` }
  return await handler(new Request(`http://localhost/console/api/${path}`, { headers }))
}

console.log(await (await ask('me', 'token-of-sue')).json())
console.log((await ask('sessions/trip/log', 'token-of-sue')).status)
console.log((await ask('me', 'token-of-bob')).status)
await host.stop()
