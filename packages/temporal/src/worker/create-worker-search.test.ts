// The search attributes that a worker writes, depending on what its service knows.
import { expect, test } from 'vitest'
import { findSearchAttributes } from './create-worker.ts'

type Init = Parameters<typeof findSearchAttributes>[0]

function createInit(customAttributes: Readonly<Record<string, number>> | Error, wanted?: Init['wanted']) {
  const told: string[] = []
  const listSearchAttributes = (): Promise<unknown> =>
    customAttributes instanceof Error ? Promise.reject(customAttributes) : Promise.resolve({ customAttributes })
  const connection = { operatorService: { listSearchAttributes } } as unknown as Init['connection'] // the only part used
  const log = {
    info: (message: string, data?: object) => void told.push(`${message} ${JSON.stringify(data)}`),
    warn: () => {},
  }
  return { told, init: { connection, namespace: 'shop', wanted, log } }
}

test('attributes registered as keywords are written, and the others are logged with how to register them', async () => {
  const { told, init } = createInit({ BatonAgent: 2, BatonPrincipal: 2, BatonTitle: 1, Other: 2 })
  expect(await findSearchAttributes(init)).toEqual(['agent', 'principal'])
  expect(told).toHaveLength(1)
  expect(told[0]).toMatch(/create --namespace shop --name BatonActivity --type Keyword --name BatonTitle/)
})

test('with all of them registered nothing is logged', async () => {
  const { told, init } = createInit({ BatonAgent: 2, BatonPrincipal: 2, BatonTitle: 2, BatonActivity: 2 })
  expect(await findSearchAttributes(init)).toEqual(['agent', 'principal', 'activity', 'title'])
  expect(told).toEqual([])
})

test('a requested but unregistered attribute is refused with how to register it', async () => {
  const { init } = createInit({ BatonAgent: 2 }, ['agent', 'title'])
  await expect(findSearchAttributes(init)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('BatonTitle') as string,
    hint: expect.stringContaining('temporal operator search-attribute create') as string,
  })
})

test('none are written where none are wanted, also where the service knows them', async () => {
  expect(await findSearchAttributes(createInit({ BatonAgent: 2 }, []).init)).toEqual([])
})

test('if the service does not list attributes, only the requested ones are trusted', async () => {
  const { told, init } = createInit(new Error('not allowed'))
  expect(await findSearchAttributes(init)).toEqual([])
  expect(told).toHaveLength(1)
  expect(await findSearchAttributes(createInit(new Error('not allowed'), ['agent']).init)).toEqual(['agent'])
})
