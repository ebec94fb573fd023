// Login pages of several MCP servers that need one at the same time.
import { expect, test } from 'vitest'
import { oneByOne } from './mcp-option.ts'

test('a second page is shown when the first is done, also if that login failed', async () => {
  const shown: string[] = []
  const answers: PromiseWithResolvers<string>[] = []
  const authorize = oneByOne((page) => {
    shown.push(page.hostname)
    const answer = Promise.withResolvers<string>()
    answers.push(answer)
    return answer.promise
  })
  const [first, second] = ['one', 'two'].map((name) => authorize(new URL(`https://${name}.example/login`)))
  await new Promise((resolve) => setImmediate(resolve))
  expect(shown).toEqual(['one.example'])
  answers[0]?.reject(new Error('refused'))
  await expect(first).rejects.toThrow('refused')
  expect(shown).toEqual(['one.example', 'two.example'])
  answers[1]?.resolve('code')
  expect(await second).toBe('code')
})
