// A payment that waits in a SQLite file: its server is killed, and a manager decides over HTTP at the next one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { BOT_USER, startSlackFake } from '../fake-slack/fake-slack.ts'
import { playInbox } from './play-inbox.test-kit.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-inbox-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a manager finds the payment of a killed server, edits the sum and approves; it is paid once', async () => {
  await playInbox({ store: join(folder, 'shop.db'), paidFile: join(folder, 'paid') })
})

// The notices of the dead server are claimed for 20 seconds.
test('a manager decides the payment of a killed server in Slack: edits the sum, and both the page and the thread hear it', async () => {
  const slack = await startSlackFake()
  slack.channels.set('C0PAY', { members: new Set([BOT_USER, 'U0MIA', 'U0EVE']) })
  try {
    await playInbox({ store: join(folder, 'slack.db'), paidFile: join(folder, 'slack-paid'), slack })
  } finally {
    await slack.close()
  }
})
