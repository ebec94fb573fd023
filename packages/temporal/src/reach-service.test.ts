// Errors if the Temporal service, or the namespace in it, does not exist.
import { expect, test } from 'vitest'
import { reachService } from './reach-service.ts'

const PLACE = { address: 'temporal.example:7233', namespace: 'shop' }

function createConnection(describeNamespace: () => Promise<unknown>) {
  const connection = {
    isClosed: false,
    workflowService: { describeNamespace },
    close: () => {
      connection.isClosed = true
      return Promise.resolve()
    },
  }
  return connection
}

test('a service that cannot be reached is named, with the option that names it', async () => {
  const reached = reachService(PLACE, () => Promise.reject(new Error('Failed to connect before the deadline')))
  await expect(reached).rejects.toMatchObject({
    code: 'connection_failed',
    message:
      'the Temporal service at temporal.example:7233 cannot be reached (--temporal, or BATON_TEMPORAL): Failed to connect before the deadline',
  })
})

test('a namespace that the service does not have is refused, and the connection is closed', async () => {
  const connection = createConnection(() => Promise.reject(Object.assign(new Error('not found'), { code: 5 })))
  await expect(reachService(PLACE, () => Promise.resolve(connection))).rejects.toMatchObject({
    code: 'invalid_option',
    message: 'the Temporal service at temporal.example:7233 has no namespace "shop" (--namespace)',
  })
  expect(connection.isClosed).toBe(true)
})

test('a user without access to the namespace API can still work in it', async () => {
  const connection = createConnection(() => Promise.reject(Object.assign(new Error('denied'), { code: 7 })))
  expect(await reachService(PLACE, () => Promise.resolve(connection))).toBe(connection)
  expect(connection.isClosed).toBe(false)
})
