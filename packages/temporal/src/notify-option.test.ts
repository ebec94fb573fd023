// The place of the option `notify`: workers have it, hosts refuse it.
import { expect, test } from 'vitest'
import { createTemporalHost, createTemporalWorker } from './index.ts'

test('a Temporal host refuses notify, and says that workers take it', async () => {
  const notify = [{ name: 'shop', send: async () => {} }]
  await expect(createTemporalHost({ notify } as never)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('notify') as string,
    hint: expect.stringContaining('createTemporalWorker') as string,
  })
})

test.each<[string, unknown, RegExp]>([
  ['no list', { name: 'a' }, /an array of destinations/],
  ['one name twice', [1, 2].map(() => ({ name: 'a', send: () => {} })), /two destinations named "a"/],
])('%s as notify of a worker is refused, before it connects', async (_, notify, message) => {
  await expect(createTemporalWorker({ notify } as never)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(message) as string,
  })
})
