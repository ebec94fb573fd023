// What the compiler knows of the tools of an app, by the type of the server's agent: `tsc` is the test.
import { defineAgent, tool } from '@baton/core'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { ClientInit, WebSocketLike, World } from './index.ts'
import { createClient, platformWorld } from './index.ts'

const agent = defineAgent({
  name: 'phone',
  tools: [
    tool({ name: 'look', description: 'Looks', input: z.object({ at: z.string() }) }),
    tool({ name: 'clock', description: 'Tells the time', input: { type: 'object' }, execute: () => 'noon' }),
  ],
})
const silent: WebSocketLike = {
  send: () => {},
  close: () => {},
  onopen: null,
  onmessage: null,
  onclose: null,
  onerror: null,
}
const world: World = { ...platformWorld(), openSocket: () => silent }
const place = { url: 'ws://127.0.0.1:9/ws', session: 's', world }

test('with the type of its agent an app knows the names and inputs of its tools', () => {
  const look = createClient<typeof agent>({
    ...place,
    tools: {
      look: ({ at }, { callId }) => {
        expectTypeOf(at).toEqualTypeOf<string>()
        return `${callId} ${at}`
      },
    },
  })
  look.close()
  // @ts-expect-error there is no such tool
  createClient<typeof agent>({ ...place, tools: { lok: () => 1 } }).close()
  // @ts-expect-error the server runs it
  createClient<typeof agent>({ ...place, tools: { clock: () => 1 } }).close()
  // @ts-expect-error speek
  createClient<typeof agent>({ ...place, speek: () => 1 }).close()
  expect(look.connection).toBe('closed')
})

test('an app of an agent without client tools has none', () => {
  const alone = defineAgent({ name: 'alone' })
  // @ts-expect-error there is no such tool
  createClient<typeof alone>({ ...place, tools: { look: () => 1 } }).close()
  const client = createClient<typeof alone>({ ...place, tools: {} })
  client.close()
  expect(client.connection).toBe('closed')
})

test('without it an app has any tools', () => {
  const init: ClientInit = { ...place, tools: { look: ({ at }: { at: string }) => at } }
  const client = createClient(init)
  client.close()
  // @ts-expect-error speek
  createClient({ ...place, speek: () => 1 }).close()
  expect(client.connection).toBe('closed')
})
