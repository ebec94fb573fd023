// The smallest program: an agent, a host, a session. `offline` needs no key; a real model has a name such as
// `anthropic/claude-sonnet-5`.
import { createHost, defineAgent } from '@baton/host'

const host = createHost({ agent: defineAgent({ name: 'hello', model: 'offline' }) })
const { send } = await host.session()
console.log((await send('Hello!').answer).text)
