// A conversation in a SQLite file continues after a restart, even in the middle of a turn: `node resume.ts chat.db`.
import { createHost, defineAgent, openSqliteStore } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'

const path = process.argv[2] ?? 'chat.db'

async function start(text: string) {
  const model = createScriptedModel({ steps: () => ({ text }) })
  const store = await openSqliteStore(path)
  const host = createHost({ agent: defineAgent({ name: 'guide', model }), store })
  const stop = async () => {
    await host.stop()
    await store.close()
  }
  return { host, stop }
}

const first = await start('Oslo has about 718,000 people.')
const session = await first.host.session('trip')
const turn = session.send('How many people live in Oslo?')
console.log('first:', (await turn.answer).text)
const { head } = await session.info() // the reader's position: a page would keep it
await first.stop()

const second = await start('And Bergen about 290,000.')
await second.host.recover() // continues interrupted turns
const again = await second.host.session('trip')
console.log('again:', (await again.turn(turn.id).answer).text)
console.log('second:', (await again.send('And in Bergen?').answer).text)
for await (const event of again.events({ from: head })) {
  if (event.type === 'message-added') console.log('since then:', event.message.id)
  if (event.type === 'live') break // the end of the past events
}
await second.stop()
