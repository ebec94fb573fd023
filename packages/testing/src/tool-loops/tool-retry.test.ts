// A failing tool that is retried: how often, with which key, upon which errors, and for how long.
import { BatonError } from '@baton/core'
import { createHost, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { expect, test } from 'vitest'

interface Tried {
  readonly keys: readonly string[]
  readonly result: string
}

async function tryTool(
  execute: (attempt: number) => unknown,
  retry: { attempts: number; baseMs?: number; maxMs?: number },
): Promise<Tried> {
  const keys: string[] = []
  const flaky = tool({
    name: 'flaky',
    description: 'Fails at times',
    input: { type: 'object' },
    effect: 'idempotent',
    retry: { baseMs: 1, ...retry },
    execute: (_, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      return execute(keys.length)
    },
  })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'flaky', arguments: {} }] }, { text: 'Done.' }] })
  const host = createHost({ agent: defineAgent({ name: 'tester', model, tools: [flaky] }) })
  const session = await host.session('one')
  let said = ''
  for await (const event of session.send('Go.'))
    if (event.type === 'call' && event.call.result)
      said =
        'message' in event.call.result
          ? `${event.call.result.type}: ${event.call.result.message}`
          : event.call.result.type
  await host.stop()
  return { keys, result: said }
}

const fail = (message: string): never => {
  throw new Error(message)
}

test('a tool that works the third time has one result, and all tries have one key', async () => {
  const { keys, result } = await tryTool((attempt) => (attempt < 3 ? fail('busy') : 'ok'), { attempts: 3 })
  expect(result).toBe('ok')
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
})

test('the last failure is the result', async () => {
  const { keys, result } = await tryTool((attempt) => fail(`busy ${attempt}`), { attempts: 3 })
  expect(keys).toHaveLength(3)
  expect(result).toBe('error: busy 3')
})

test.each([
  [404, 1],
  [503, 2],
])('after an error with the status %i of a service there are %i tries', async (status, tries) => {
  const answered = (): never => {
    throw Object.assign(new Error(`answered ${status}`), { status })
  }
  const { keys, result } = await tryTool(answered, { attempts: 2 })
  expect(keys).toHaveLength(tries)
  expect(result).toBe(`error: answered ${status}`)
})

test('an error that says it will come again is not tried again', async () => {
  const refused = (): never => {
    throw new BatonError({ code: 'api_refused', message: 'there is no such file' })
  }
  expect(await tryTool(refused, { attempts: 5 })).toMatchObject({
    keys: { length: 1 },
    result: 'error: there is no such file',
  })
  const away = (attempt: number): unknown => {
    if (attempt === 1) throw new BatonError({ code: 'api_unavailable', message: 'away' })
    return 'ok'
  }
  expect(await tryTool(away, { attempts: 2 })).toMatchObject({ keys: { length: 2 }, result: 'ok' })
})

test.each([
  [{ effect: 'once', retry: { attempts: 2 } }, 'retry is for a tool that may run twice'],
  [{ effect: 'pure', retry: { attempts: 1 } }, 'retry.attempts must be a whole number from 2 to 10, not 1'],
  [{ effect: 'pure', retry: { attempts: 3, baseMs: -1 } }, 'retry.baseMs must be whole milliseconds'],
  [{ effect: 'pure', retry: { tries: 3 } }, 'retry has no field "tries"'],
  [{ effect: 'pure', retry: { attempts: 3 }, execute: undefined }, 'retry is for a tool with execute'],
])('%j is refused', (options, message) => {
  const init = { name: 'a', description: 'b', input: { type: 'object' }, execute: () => 1, ...options }
  expect(() => tool(init as Parameters<typeof tool>[0])).toThrow(message)
})
