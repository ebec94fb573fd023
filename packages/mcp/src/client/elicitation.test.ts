// Servers' questions as shown to people, and addresses that are never shown.
import type { ToolContext } from '@baton/core'
import { BatonError } from '@baton/core'
import { expect, test } from 'vitest'
import { answerElicitation } from './elicitation.ts'

async function ask(url: string, message = 'Log in'): Promise<readonly string[]> {
  const shown: string[] = []
  const person = {
    ask: (question: { readonly message: string }) => {
      shown.push(question.message)
      return Promise.resolve({})
    },
  } as unknown as Pick<ToolContext, 'ask'> // the only method used
  await answerElicitation('shop', { mode: 'url', elicitationId: 'e', url, message }, person)
  return shown
}

test('a page is shown with its host and its whole address', async () => {
  const [shown] = await ask(`https://login.example/${'a'.repeat(600)}?end=1`, 'x'.repeat(9_000))
  expect(shown).toMatch(
    /^The MCP server "shop" asks: x+ \[…\d+ characters omitted\]\nThe page is on login\.example: https:\/\/login\.example\/a+\?end=1$/,
  )
  expect(shown?.length).toBeLessThan(4_000)
})

test.each([
  'javascript:alert(1)',
  'file:///etc/passwd',
  'https://bank.example:x@evil.example/',
  `https://evil.example/${'a'.repeat(2_000)}`,
  'no address',
])('nobody is asked to open %s', async (url) => {
  await expect(ask(url)).rejects.toMatchObject({ code: 'api_malformed' })
})

test.each([
  ['person', 'decline'],
  ['nobody', 'cancel'],
])('a question that %s declined is answered with "%s"', async (declined, action) => {
  const thrown = new BatonError({ code: 'question_declined', message: 'no', data: { declined } })
  const person = { ask: () => Promise.reject(thrown) }
  const params = { message: 'Which size?', requestedSchema: { type: 'object' as const, properties: {} } }
  expect(await answerElicitation('shop', params, person)).toEqual({ action })
})
