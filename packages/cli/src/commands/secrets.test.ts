// Errors about an address or a key never contain the key, a token or a password.
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { run } from '../run.ts'

/** Returns everything that a command prints. */
async function say(words: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const said: string[] = []
  const code = await run(words, {
    variables,
    folder: tmpdir(),
    write: (text) => void said.push(text),
    note: (line) => void said.push(line),
    onStray: () => () => {},
    onStop: () => () => {},
  })
  return { code, said: said.join('\n') }
}

const SECRET = 'hunter2x'
/** No server listens there. */
const NOBODY = '127.0.0.1:1'

test.each([
  `ws://ann:${SECRET}@${NOBODY}/ws`,
  `ws://${SECRET}@${NOBODY}/ws`,
  `ws://ann:${SECRET}/x@${NOBODY}/ws`,
  `ws://ann:p@${SECRET}@${NOBODY}/ws`,
  `http://ann:${SECRET}@${NOBODY}/ws`,
  `ann:${SECRET}@${NOBODY}`,
  `ws://${NOBODY}/ws?token=${SECRET}`,
  `ws://${NOBODY}/ws#${SECRET}`,
  `${NOBODY}/ws?token=${SECRET}`,
])('chat --url %s shows no secret', async (url) => {
  const { code, said } = await say(['chat', '--once', 'Hi', '--url', url])
  expect(code).toBe(2)
  expect(said).toContain('--url must')
  expect(said).not.toContain(SECRET)
})

test('the address without a secret is shown as it is used', async () => {
  const { said } = await say(['chat', '--once', 'Hi', '--url', `ws://${NOBODY}`, '--token', SECRET])
  expect(said).toContain(`ws://${NOBODY}/ws`)
  expect(said).not.toContain(SECRET)
})

test.each([
  ['ANTHROPIC_BASE_URL', `http://ann:${SECRET}@${NOBODY}`],
  ['ANTHROPIC_BASE_URL', `http://ann:${SECRET}/x@${NOBODY}`],
  ['ANTHROPIC_BASE_URL', `http://${NOBODY}/?api_key=${SECRET}`],
  ['ANTHROPIC_BASE_URL', `ann:${SECRET}@${NOBODY}`],
  ['ANTHROPIC_API_KEY', `${SECRET}\nx`],
  ['OPENAI_BASE_URL', `http://ann:${SECRET}@${NOBODY}/v1`],
  ['OPENAI_BASE_URL', `http://${SECRET}@${NOBODY}/v1`],
  ['OLLAMA_BASE_URL', `http://ann:p@${SECRET}@${NOBODY}`],
  ['GOOGLE_GEMINI_BASE_URL', `http://ann:${SECRET}@${NOBODY}`],
  ['BATON_STORE', `postgres://ann:${SECRET}@${NOBODY}/db?password=${SECRET}`],
])('doctor shows no secret of %s=%s', async (name, value) => {
  const at = `http://${NOBODY}`
  const { said } = await say(['doctor', '--timeout-ms', '500'], {
    BATON_STORE: 'memory:',
    // No server listens at the address of any provider.
    ANTHROPIC_API_KEY: SECRET,
    ANTHROPIC_BASE_URL: at,
    OPENAI_API_KEY: SECRET,
    OPENAI_BASE_URL: at,
    GEMINI_API_KEY: SECRET,
    GOOGLE_GEMINI_BASE_URL: at,
    [name]: value,
  })
  expect(said).not.toContain(SECRET)
})

test.each([
  ['models', '--base-url', `http://ann:${SECRET}@${NOBODY}/v1`],
  ['models', '--base-url', `ann:${SECRET}@${NOBODY}/v1`],
  ['models', 'openai', '--base-url', `http://${NOBODY}/v1?key=${SECRET}`],
  ['sessions', 'list', '--store', `postgres://ann:${SECRET}@${NOBODY}/db`],
  ['chat', '--once', 'Hi', '--base-url', `ann:${SECRET}@${NOBODY}/v1`],
  ['serve', '--store', `postgres://ann:${SECRET}@${NOBODY}/db`],
])('%s %s %s %s shows no secret', async (...words) => {
  const { code, said } = await say(words.filter((word) => word !== undefined))
  expect(code).not.toBe(0)
  expect(said).not.toContain(SECRET)
})
