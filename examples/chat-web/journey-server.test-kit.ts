// A process that serves the chat page over SQLite and stops at a point of the journey, where a test kills it:
// `node journey-server.test-kit.ts FOLDER PORT [POINT]`. Without a point it goes on to the end.
import { openSqliteStore } from '@baton/host'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createJourney } from './journey.test-kit.ts'
import { startChat } from './server.ts'

const [, , folder = '', port = '', stopAt] = process.argv
const agent = createJourney({
  pass: async (point) => {
    if (point !== stopAt) return
    process.stdout.write('it is there\n')
    await new Promise(() => {})
  },
  note: (tool) => appendFileSync(join(folder, 'effects.txt'), `${tool}\n`),
})
const store = await openSqliteStore(join(folder, 'sessions.db'))
await startChat(agent, { port: Number(port), store })
process.stdout.write('listening\n')
