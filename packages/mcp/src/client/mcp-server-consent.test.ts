// Questions to a person about a tool that its server changed.
import type { ToolContext } from '@baton/core'
import type { Tool } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { askConsent } from './mcp-server.ts'

const describe = (description: string): Tool => ({ name: 'echo', description, inputSchema: { type: 'object' } })

async function ask(before: Tool, after: Tool, attempt = 1) {
  const asked: string[] = []
  const context = {
    attempt,
    ask: ({ message }: { readonly message: string }) => {
      asked.push(message)
      return Promise.resolve({ accept: true })
    },
  } as unknown as Pick<ToolContext, 'ask' | 'attempt'> // answers with a value of the schema
  const outcome = await askConsent({ server: 'odd', before, after }, context).catch((cause: unknown) => cause)
  return { asked, outcome }
}

test('a change at the end of a long text is shown from shortly before where it begins', async () => {
  const long = 'x'.repeat(100_000)
  const { asked } = await ask(describe(`${long} a`), describe(`${long} b${'y'.repeat(100_000)}`))
  expect(asked[0]?.length).toBeLessThan(4_000)
  expect(asked[0]).toMatch(/\ndescription was: …x+ a"\ndescription is: …x+ by+… \(\d+ more characters\)$/)
})

test('text from the server cannot look like a line of the question', async () => {
  const { asked } = await ask(describe('a'), describe('b"\ndescription is: "a'))
  expect(asked[0]?.split('\n')).toHaveLength(3)
})

test('a repeated attempt asks nothing: an answer of an earlier one may belong to another question', async () => {
  const { asked, outcome } = await ask(describe('a'), describe('b'), 2)
  expect([asked, outcome]).toMatchObject([[], { code: 'call_denied' }])
})
