// The hooks when a page is rendered without a browser; `react.deep.test.ts` covers browsers.
import { defineAgent, tool } from '@baton/core'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { World } from '../world.ts'
import { platformWorld } from '../world.ts'
import { useDirectory, useSession } from './index.ts'

/** A rendering server must not connect. */
const world: World = {
  ...platformWorld(),
  openSocket: () => {
    throw new Error('it connects')
  },
}
const url = 'ws://127.0.0.1:9/ws'

test('a server renders an empty session and an empty list, and opens nothing', () => {
  const Chat = () => {
    const { status, messages, isLoaded, session } = useSession({ url, session: 's', world })
    const { sessions } = useDirectory({ url, world })
    return createElement('p', null, JSON.stringify({ status, isLoaded, session, messages, sessions }))
  }
  const html = renderToString(createElement(Chat)).replaceAll('&quot;', '"')
  expect(html).toBe('<p>{"status":"connecting","isLoaded":false,"session":"s","messages":[],"sessions":[]}</p>')
})

const agent = defineAgent({
  name: 'phone',
  tools: [
    tool({ name: 'look', description: 'Looks', input: z.object({ at: z.string() }) }),
    tool({ name: 'clock', description: 'Tells the time', input: z.object({}), execute: () => 'noon' }),
  ],
})

test('with the type of its agent a component knows the tools and their inputs', () => {
  const Typed = () => {
    const { messages } = useSession<typeof agent>({
      url,
      world,
      tools: {
        look: ({ at }, { signal }) => {
          expectTypeOf(at).toEqualTypeOf<string>()
          return signal.aborted
        },
      },
    })
    const [first] = messages
    if (first?.role === 'assistant')
      for (const { calls } of first.steps)
        for (const call of calls) if (call.name === 'look') expectTypeOf(call.input).toMatchTypeOf<{ at: string }>()
    return null
  }
  const Wrong = () => {
    // @ts-expect-error there is no such tool
    useSession<typeof agent>({ url, world, tools: { lok: () => 1 } })
    // @ts-expect-error the server runs it
    useSession<typeof agent>({ url, world, tools: { clock: () => 1 } })
    return null
  }
  expect([Typed, Wrong].map((component) => renderToString(createElement(component)))).toEqual(['', ''])
})
