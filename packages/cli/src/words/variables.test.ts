// Every environment variable of the server, checked by its effect on an app or a provider. The command runs in this
// process.
import { startFakeAnthropic } from '@baton/testing/fake-anthropic'
import { connectV1App } from '@baton/testing/v1-app'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { afterEach, expect, test } from 'vitest'
import type { Console } from '../console.ts'
import { run } from '../run.ts'

let ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
})

type Variables = Readonly<Record<string, string>>

/** Runs a server until it listens or ends, and stops it at the end of the test. */
async function serve(variables: Variables, words: readonly string[] = ['--port', '0']) {
  const said = { output: '', notes: '' }
  let stop = (): void => {}
  let listening = (): void => {}
  const ready = new Promise<void>((resolve) => {
    listening = resolve
  })
  const terminal: Console = {
    variables,
    folder: tmpdir(),
    write: (text) => {
      said.output += text
      listening()
    },
    note: (line) => {
      said.notes += `${line}\n`
    },
    onStray: () => () => {},
    onStop: (callback) => {
      stop = callback
      return () => {}
    },
  }
  const ended = run(['serve', ...words, '--store', 'memory:', '--json'], terminal)
  ends.push(() => {
    stop()
    return ended
  })
  const code = await Promise.race([ended, ready])
  const url = code === undefined ? (JSON.parse(said.output) as { readonly url: string }).url : ''
  return { code, url, said }
}

async function fakeProvider(): Promise<{ readonly variables: Variables; requests(): readonly Sent[] }> {
  const fake = await startFakeAnthropic(() => ({ text: 'Fine.' }))
  ends.push(() => fake.close())
  return {
    variables: { ANTHROPIC_API_KEY: 'key-of-a-test', ANTHROPIC_BASE_URL: fake.url },
    requests: () => fake.requests.map(({ body }) => body as unknown as Sent),
  }
}

/** Fields of an Anthropic request that the variables change. */
interface Sent {
  readonly model: string
  readonly max_tokens: number
  readonly messages: readonly unknown[]
}

async function say(url: string, ...texts: readonly string[]) {
  const app = await connectV1App({ url, session: 's', runCall: () => 'unused' })
  for (const text of texts) await app.say(text)
  app.close()
  return app.frames
}

test('PORT is the port to listen on', async () => {
  const { url } = await serve({})
  const { port } = new URL(url)
  const second = await serve({ PORT: port }, [])
  expect([second.code, second.said.notes]).toEqual([
    1,
    `baton: port ${port} of 127.0.0.1 is in use; choose another one with --port, or --port 0 for a free one\n`,
  ])
})

test.each([
  ['anthropic', {}, 'the model anthropic/claude-haiku-4-5 needs a key; set ANTHROPIC_API_KEY'],
  [
    'bedrock',
    { BEDROCK_MODEL_ID: 'amazon.nova-pro-v1:0', AWS_REGION: 'eu-west-1' },
    'the model bedrock/amazon.nova-pro-v1:0 needs credentials; set AWS_BEARER_TOKEN_BEDROCK',
  ],
])('MODEL_PROVIDER %s chooses the provider', async (provider, variables, message) => {
  const { code, said } = await serve({ MODEL_PROVIDER: provider, ...variables })
  expect(code).toBe(1)
  expect(said.notes).toContain(message)
})

test('ANTHROPIC_API_KEY is sent to the provider and never logged', async () => {
  const keys: unknown[] = []
  const provider = createServer((request, response) => {
    keys.push(request.headers['x-api-key'])
    response.writeHead(401, { 'content-type': 'application/json' })
    const message = `invalid x-api-key ${String(request.headers['x-api-key'])}`
    response.end(JSON.stringify({ type: 'error', error: { type: 'authentication_error', message } }))
  })
  await new Promise<void>((resolve) => void provider.listen(0, '127.0.0.1', resolve))
  ends.push(() => new Promise((resolve) => void provider.close(resolve)))
  // The server listens on an address, not on a pipe.
  const { port } = provider.address() as AddressInfo
  const { url, said } = await serve({
    ANTHROPIC_API_KEY: 'key-of-a-test',
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
  })
  const frames = await say(url, 'Hello')
  expect(keys).toContain('key-of-a-test')
  expect(frames.filter(({ type }) => type === 'error').map(({ payload }) => payload['code'])).toEqual([
    'model_provider_failed',
  ])
  expect(said.notes + JSON.stringify(frames)).not.toContain('key-of-a-test')
})

test.each<[string, Variables, Partial<Sent>]>([
  ['nothing', {}, { model: 'claude-haiku-4-5', max_tokens: 2048 }],
  ['ANTHROPIC_MODEL', { ANTHROPIC_MODEL: 'claude-x' }, { model: 'claude-x' }],
  ['ANTHROPIC_MAX_TOKENS: with tools four times as many', { ANTHROPIC_MAX_TOKENS: '100' }, { max_tokens: 400 }],
  ['ANTHROPIC_MAX_TOKENS: with tools at most 4096', { ANTHROPIC_MAX_TOKENS: '2000' }, { max_tokens: 4096 }],
  ['ANTHROPIC_MAX_TOKENS: a larger one is never lowered', { ANTHROPIC_MAX_TOKENS: '5000' }, { max_tokens: 5000 }],
])('the provider is asked with what %s says', async (_situation, variables, expected) => {
  const provider = await fakeProvider()
  const { url } = await serve({ ...provider.variables, ...variables })
  await say(url, 'Hello')
  expect(provider.requests()).toMatchObject([expected])
})

test.each([
  ['20 by default', {}, [1, 3, 5]],
  ['by MAX_TURNS', { MAX_TURNS: '1' }, [1, 1, 1]],
])('the model sees the last exchanges, %s', async (_situation, variables, messages) => {
  const provider = await fakeProvider()
  const { url } = await serve({ ...provider.variables, ...variables })
  await say(url, 'One', 'Two', 'Three')
  expect(provider.requests().map((sent) => sent.messages.length)).toEqual(messages)
})

/** Sends these frames to a session and returns the first error. */
async function errorFor(url: string, texts: readonly string[]): Promise<string> {
  const socket = new WebSocket(url)
  await new Promise((resolve) => {
    socket.addEventListener('open', resolve)
  })
  const error = new Promise<string>((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      const { type, payload } = JSON.parse(String(data)) as { type: string; payload: { code: string; message: string } }
      if (type === 'error') resolve(`${payload.code}: ${payload.message}`)
    })
  })
  const send = (id: string, type: string, payload: object): void =>
    socket.send(JSON.stringify({ id, type, sessionId: 's', timestamp: '2026-01-01T00:00:00Z', payload }))
  send('start', 'session.start', { sessionId: 's' })
  for (const [index, text] of texts.entries()) send(`say-${index}`, 'user.audio.transcript.final', { text })
  const told = await error
  socket.close()
  return told
}

test('MAX_EVENT_BYTES is the size of a frame', async () => {
  const { url } = await serve({ MAX_EVENT_BYTES: '300' })
  expect(await errorFor(url, ['x'.repeat(300)])).toMatch(
    /^invalid_transcript: the frame has \d+ bytes; at most 300 are/,
  )
})

test('SESSION_RATE_LIMIT_PER_MIN is how many frames a session may send', async () => {
  const { url } = await serve({ SESSION_RATE_LIMIT_PER_MIN: '2' })
  expect(await errorFor(url, ['One', 'Two', 'Three'])).toMatch(/^rate_limited: at most 2 frames a minute are accepted/)
})

test('BATON_TOKEN is required from every connection', async () => {
  const { url, said } = await serve({ BATON_TOKEN: 'token-of-a-test' })
  await expect(connectV1App({ url, session: 's', runCall: () => '' })).rejects.toThrow('no connection')
  await say(`${url}?token=token-of-a-test`)
  expect(said.notes + said.output).not.toContain('token-of-a-test')
})
