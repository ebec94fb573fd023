// Types of an app's tools, derived from the type of the server's agent: `tsc` is the test.
import { defineAgent, tool } from '@baton/core'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { V1ClientOptions, SessionHandlers, WebSocketLike, World } from './index.ts'
import { createV1Client, createContent, openSession, platformWorld } from './index.ts'

const agent = defineAgent({
  name: 'phone',
  tools: [
    tool({ name: 'look', description: 'Looks', input: z.object({ at: z.string() }) }),
    tool({
      name: 'place',
      description: 'Where it is',
      input: z.object({}),
      output: z.object({ city: z.string(), streets: z.array(z.string()) }),
    }),
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
  const look = createV1Client<typeof agent>({
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
  createV1Client<typeof agent>({ ...place, tools: { lok: () => 1 } }).close()
  // @ts-expect-error the server runs it
  createV1Client<typeof agent>({ ...place, tools: { clock: () => 1 } }).close()
  // @ts-expect-error speek
  createV1Client<typeof agent>({ ...place, speek: () => 1 }).close()
  expect(look.connection).toBe('closed')
})

test('what a tool returns fits its output, or is parts', () => {
  const streets: readonly string[] = ['Corso']
  const open = (tools: SessionHandlers<typeof agent>): void => openSession<typeof agent>({ ...place, tools }).close()
  open({ place: () => ({ city: 'Rome', streets }), look: () => 1 })
  open({ place: async () => Promise.resolve({ city: 'Rome', streets }) })
  open({ place: () => createContent([{ type: 'text', text: '{"city":"Rome","streets":[]}' }]) })
  // @ts-expect-error it is called city
  open({ place: () => ({ town: 'Rome', streets }) })
  // @ts-expect-error the streets are missing
  open({ place: async () => Promise.resolve({ city: 'Rome' }) })
  // Version 1 also sends text as is.
  createV1Client<typeof agent>({ ...place, tools: { place: () => '{"city":"Rome","streets":[]}' } }).close()
  // @ts-expect-error it is called city
  createV1Client<typeof agent>({ ...place, tools: { place: () => ({ town: 'Rome', streets }) } }).close()
  expect(streets).toHaveLength(1)
})

test('an app of an agent without client tools has none', () => {
  const alone = defineAgent({ name: 'alone' })
  // @ts-expect-error there is no such tool
  createV1Client<typeof alone>({ ...place, tools: { look: () => 1 } }).close()
  const client = createV1Client<typeof alone>({ ...place, tools: {} })
  client.close()
  expect(client.connection).toBe('closed')
})

test('without it an app has any tools', () => {
  const init: V1ClientOptions = { ...place, tools: { look: ({ at }: { at: string }) => at } }
  const client = createV1Client(init)
  client.close()
  // @ts-expect-error speek
  createV1Client({ ...place, speek: () => 1 }).close()
  expect(client.connection).toBe('closed')
})
