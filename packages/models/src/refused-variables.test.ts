// Errors about invalid variables never show the parts that may hold a key or password.
import { expect, test } from 'vitest'
import { chooseModel, createModelOf } from './choose-model.ts'
import { listOwnServers } from './own-servers.ts'
import { redact } from './transport/redact.ts'
import { secretsIn } from './provider-settings.ts'
import { answerWith } from './memory-transport.test-kit.ts'
import { findOwnFormat } from './prompted/formats.ts'

const REFUSED: readonly (readonly [Variables: Readonly<Record<string, string>>, id: string])[] = [
  [{ BATON_SERVERS: 'ok=http://a gpu=http://user:hunter2,hidden@host/v1' }, 'offline'],
  [{ BATON_SERVERS: 'gpu=http://user:hunter2 hidden@host/v1' }, 'offline'],
  [{ BATON_SERVERS: 'gpu=http://user:hunter2#hidden@host/v1' }, 'offline'],
  [{ BATON_SERVERS: 'gpu=http://user:hunter2?hidden@host/v1' }, 'offline'],
  [{ BATON_SERVERS: 'hunter2-hidden-key' }, 'offline'],
  [{ BATON_SERVERS: 'OPENAI_API_KEY=hunter2-hidden' }, 'offline'],
  [{ BATON_SERVERS: 'gpu=hunter2-hidden' }, 'offline'],
  [{ OPENAI_BASE_URL: 'http://user:hunter2#hidden@host/v1' }, 'openai-compatible/m'],
  [{ ANTHROPIC_BASE_URL: 'http://user:hunter2?hidden@host/v1', ANTHROPIC_API_KEY: 'x' }, 'anthropic/m'],
]

test.each(REFUSED)('what is refused of %j is not shown, and is a secret', (variables, id) => {
  const { transport, clock } = answerWith({})
  let message = ''
  try {
    createModelOf({ variables, transport, clock })(id)
  } catch (thrown) {
    message = thrown instanceof Error ? thrown.message : ''
  }
  expect(message).toMatch(/^(?:BATON_SERVERS has an invalid entry, number \d|\w+_BASE_URL must be)/)
  expect(message).not.toMatch(/hunter2|hidden/)
})

test.each(['hunter2,hidden', 'hunter2 hidden', 'hunter2#hidden', 'hunter2?hidden', 'hunter2/hidden', 'hunter2@hidden'])(
  'the password %s of an address is a secret, however the address is read',
  (password) => {
    const address = `http://user:${password}@host/v1`
    const secrets = (variables: Readonly<Record<string, string>>) => redact(`said ${password}`, secretsIn(variables))
    expect(secrets({ OPENAI_BASE_URL: address })).toBe('said [redacted]')
    expect(secrets({ BATON_SERVERS: `a=http://a gpu=${address}` })).toBe('said [redacted]')
  },
)

test.each(['google', 'azure-openai'])('a server named %s would be sent the key of another provider', (name) => {
  expect(() => listOwnServers({ BATON_SERVERS: `${name}=http://a/v1` })).toThrow(/the key of another provider/)
})

test('the keys of servers are secrets also where an entry is wrong', () => {
  const variables = { BATON_SERVERS: 'gpu-1=http://a gpu-1=http://b', GPU_1_API_KEY: 'gpukey' }
  expect(secretsIn(variables)).toContain('gpukey')
})

test('a name of a model is bounded, shown in part, and looked at in time with its length', () => {
  const long = `nope${'x'.repeat(1_000_000)}`
  expect(() => chooseModel({ flag: long, variables: {} })).toThrow(/^.{0,400}$/)
  expect(() => chooseModel({ flag: `nope${'x'.repeat(3000)}`, variables: {} })).toThrow(/^.{0,400}$/)
  expect(findOwnFormat({ id: `ollama/${'distill'.repeat(1_000_000)}` })).toBeUndefined()
})
