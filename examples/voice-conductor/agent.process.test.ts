// End to end: the command in its own process, an app that implements only the protocol, and a server that speaks
// Anthropic's protocol and refuses what Anthropic would refuse.
import { startFakeAnthropic } from '@baton/testing/fake-anthropic'
import type { FakeRequest, FakeServer } from '@baton/testing/fake-server'
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import type { V1App } from '@baton/testing/v1-app'
import { connectV1App } from '@baton/testing/v1-app'
import { fileURLToPath } from 'node:url'
import { startCursorServer } from '../../packages/kits/src/cursor-agents/cursor-server.test-kit.ts'
import { afterEach, expect, test } from 'vitest'

const BATON = fileURLToPath(new URL('../../packages/cli/bin/baton.mjs', import.meta.url))
const AGENT = fileURLToPath(new URL('agent.ts', import.meta.url))

const open: { anthropic?: FakeServer; command?: StartedCommand; app?: V1App } = {}
afterEach(async () => {
  open.app?.close()
  open.command?.kill('SIGKILL')
  await open.command?.ended
  await open.anthropic?.close()
})

function script({ index, toolLike, results }: FakeRequest) {
  if (index === 0)
    return {
      text: 'One moment.',
      calls: [
        { name: toolLike(/spawn/), input: { prompt: 'Fix the tests', repository: 'me/app' } },
        { name: toolLike(/list/), input: { limit: 5 } },
      ],
    }
  return { text: `The tools said ${results.join(' and ')}.` }
}

test('a turn with two parallel calls of the app, from speech to speech', async () => {
  const anthropic = await startFakeAnthropic(script)
  open.anthropic = anthropic
  const command = startCommand(process.execPath, {
    words: [BATON, 'serve', '--agent', AGENT, '--port', '0', '--json', '--store', 'memory:'],
    variables: { ANTHROPIC_BASE_URL: anthropic.url, ANTHROPIC_API_KEY: 'key-of-a-test' },
  })
  open.command = command
  const ready = JSON.parse(await command.untilLine((line) => line.includes('"listening"'))) as { readonly url: string }
  const calls: unknown[] = []
  const app = await connectV1App({
    url: ready.url,
    session: 'kitchen',
    runCall: (name, given) => {
      calls.push([name, given])
      return name === 'agent.spawn' ? 'agent 7 was started' : 'no other agent runs'
    },
  })
  open.app = app
  await app.say('Fix the tests of me/app')

  expect(anthropic.refusals).toEqual([])
  expect(calls).toEqual([
    ['agent.spawn', { prompt: 'Fix the tests', repository: 'me/app' }],
    ['agent.list', { limit: 5 }],
  ])
  const told = app.frames.filter(({ type }) => type !== 'assistant.speech.partial').map(inShort)
  const answer = 'The tools said agent 7 was started and no other agent runs.'
  expect(told).toEqual([
    'session.started',
    'convo.setState {"state":"thinking"}',
    'convo.appendMessage {"role":"user","text":"Fix the tests of me/app","isPartial":false}',
    'agent.spawn {"prompt":"Fix the tests","repository":"me/app"}',
    'agent.list {"limit":5}',
    `assistant.speech.final One moment.\n\n${answer}`,
    `convo.appendMessage {"role":"assistant","text":"One moment.\\n\\n${answer}","isPartial":false}`,
    'convo.setState {"state":"speaking"}',
    `tts.speak {"text":"One moment.\\n${answer}"}`,
    'convo.setState {"state":"idle"}',
  ])
  expect(anthropic.requests[1]?.results).toEqual(['agent 7 was started', 'no other agent runs'])

  command.kill('SIGTERM')
  expect(await command.ended).toEqual({ code: 0, signal: null })
})

test('a spawn that names neither repository nor pull request never reaches the app', async () => {
  const anthropic = await startFakeAnthropic(({ index, toolLike, results }) =>
    index === 0
      ? { calls: [{ name: toolLike(/spawn/), input: { prompt: 'Fix it' } }] }
      : { text: results.some((text) => text.includes('exactly one')) ? 'Which repository?' : 'Done.' },
  )
  open.anthropic = anthropic
  const command = startCommand(process.execPath, {
    words: [BATON, 'serve', '--agent', AGENT, '--port', '0', '--json', '--store', 'memory:'],
    variables: { ANTHROPIC_BASE_URL: anthropic.url, ANTHROPIC_API_KEY: 'key-of-a-test' },
  })
  open.command = command
  const ready = JSON.parse(await command.untilLine((line) => line.includes('"listening"'))) as { readonly url: string }
  const app = await connectV1App({ url: ready.url, session: 'kitchen', runCall: (name) => `ran ${name}` })
  open.app = app
  await app.say('Fix it')
  expect(anthropic.refusals).toEqual([])
  expect(app.frames.map(inShort)).toContain('assistant.speech.final Which repository?')
  expect(app.frames.map(inShort).join()).not.toContain('agent.spawn')
})

test('with a key of Cursor the server runs the tools itself, and the app only speaks', async () => {
  const key = 'key_of_a_test_0123456789'
  const cursor = await startCursorServer([key])
  try {
    const anthropic = await startFakeAnthropic(({ index, toolLike, results }) =>
      index === 0
        ? { calls: [{ name: toolLike(/spawn/), input: { prompt: 'Fix the tests', repository: 'me/app' } }] }
        : { text: results.some((text) => text.includes('CREATING')) ? 'The agent has begun.' : 'It failed.' },
    )
    open.anthropic = anthropic
    const command = startCommand(process.execPath, {
      words: [BATON, 'serve', '--agent', AGENT, '--port', '0', '--json', '--store', 'memory:'],
      variables: {
        ANTHROPIC_BASE_URL: anthropic.url,
        ANTHROPIC_API_KEY: 'key-of-a-test',
        CURSOR_API_KEY: key,
        CURSOR_API_URL: cursor.origin,
      },
    })
    open.command = command
    const ready = JSON.parse(await command.untilLine((line) => line.includes('"listening"'))) as {
      readonly url: string
    }
    const app = await connectV1App({ url: ready.url, session: 'kitchen', runCall: (name) => `ran ${name}` })
    open.app = app
    await app.say('Fix the tests of me/app')
    expect(app.frames.map(inShort)).toContain('assistant.speech.final The agent has begun.')
    expect(app.frames.map(inShort).join()).not.toContain('agent.spawn')
    expect(cursor.agents.map(({ prompts, created }) => [prompts, created])).toMatchObject([
      [
        ['Fix the tests'],
        { repos: [{ url: 'https://github.com/me/app' }], autoCreatePR: false, workOnCurrentBranch: false },
      ],
    ])
    expect(command.errors()).not.toContain(key)
  } finally {
    await cursor.close()
  }
})

function inShort({ type, payload }: V1App['frames'][number]): string {
  if (type === 'tool.call') return `${payload['name']} ${payload['arguments']}`
  return payload['text'] === undefined ? type : `${type} ${payload['text']}`
}
