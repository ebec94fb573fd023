// A host that the test kills: each turn of its sessions is told to a webhook. Each line of its input is a command.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, openSqliteStore } from '@baton/host'
import { webhook } from '@baton/notices/webhook'
import type { Numbered } from './killed-process.test-kit.ts'
import { serveCommands } from './killed-process.test-kit.ts'

export interface TellCommand extends Numbered {
  readonly act: 'turn' | 'left' | 'stop'
  readonly session?: string
  readonly id?: string
}

const [path = '', origin = '', secret = ''] = process.argv.slice(2)
const model = createScriptedModel({ steps: () => ({ text: 'noted' }) })
const store = await openSqliteStore(path)
const retriesMs = Array.from({ length: 20 }, () => 60)
const notify = [webhook({ url: `${origin}/hook`, allow: [origin], secret, retriesMs, timeoutMs: 300 })]
// Sessions close at once, so that kills also find notices of closed ones.
const host = createHost({ agent: defineAgent({ name: 'telling', model }), store, notify, lingerMs: 0 })
await host.recover()

serveCommands<TellCommand>(0, async ({ act, session: name = '', id = '' }) => {
  switch (act) {
    case 'turn': {
      const session = await host.session(name)
      try {
        return (await session.send('Note this.', { inputId: id }).answer).text
      } finally {
        await session.close()
      }
    }
    case 'left':
      return (await store.outbox.find({ list: 'notices.due.webhook', limit: 1000 })).length
    case 'stop':
      await host.stop()
      await store.close()
      process.stdin.destroy()
      return true
    default:
      return act satisfies never
  }
})
