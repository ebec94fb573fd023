// An option of other hosts.
import { expect, test } from 'vitest'
import { createTemporalHost } from './create-temporal-host.ts'

test('a Temporal host refuses notices, which it cannot send', async () => {
  const options = { notify: [] } as never
  await expect(createTemporalHost(options)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('notify') as string,
  })
})
