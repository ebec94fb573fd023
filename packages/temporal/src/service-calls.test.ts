// How a host's calls to the service end before its connection does.
import { expect, test } from 'vitest'
import { ServiceCalls } from './service-calls.ts'

/** A service that answers when the test says so, and at once if a call is abandoned. */
function createService() {
  const calls: { readonly signal: AbortSignal; readonly answer: (value: string) => void }[] = []
  const client = {
    withAbortSignal: <Value>(signal: AbortSignal, act: () => Promise<Value>): Promise<Value> => {
      const { promise, resolve, reject } = Promise.withResolvers<Value>()
      signal.addEventListener('abort', () => reject(new Error('given up')))
      calls.push({ signal, answer: () => void act().then(resolve, reject) })
      return promise
    },
  }
  return { calls, client }
}

const ask = () => Promise.resolve('answered')
const AN_HOUR = 3_600_000

test('the end waits for a call that is under way, and lets none begin', async () => {
  const { calls, client } = createService()
  const own = new ServiceCalls(client, AN_HOUR)
  const asked = own.run(ask)
  let hasEnded = false
  const ended = own.end().then(() => (hasEnded = true))
  await expect(own.run(ask)).rejects.toMatchObject({ code: 'session_closed' })
  expect(hasEnded).toBe(false)
  calls[0]?.answer('yes')
  await ended
  expect([await asked, calls.length, calls[0]?.signal.aborted]).toEqual(['answered', 1, false])
})

test('a call that takes too long is given up, and its caller gets an error', async () => {
  const { calls, client } = createService()
  const own = new ServiceCalls(client, 1)
  const asked = own.run(ask).catch(String)
  await own.end()
  expect(await asked).toContain('given up')
  expect(calls[0]?.signal.aborted).toBe(true)
})

test('the end also waits for an abandoned call that is still running, as between two tries', async () => {
  const waiting = Promise.withResolvers<string>()
  const own = new ServiceCalls({ withAbortSignal: (_, act) => act() }, 1)
  const asked = own.run(() => waiting.promise).catch((cause: unknown) => cause)
  let hasEnded = false
  const ended = own.end().then(() => (hasEnded = true))
  expect(await asked).toMatchObject({ code: 'store_failed' })
  expect(hasEnded).toBe(false)
  waiting.resolve('too late')
  await ended
})

test('without calls it ends at once', async () => {
  const own = new ServiceCalls(createService().client, AN_HOUR)
  await own.end()
  expect(own.isEnding).toBe(true)
})
