// `npm run example bounty` without an API key, started like a user would.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

async function start(...words: readonly string[]) {
  const args = ['--conditions=@baton/source', 'scripts/example.ts', 'bounty', ...words]
  const env = { PATH: process.env['PATH'] ?? '' }
  return await promisify(execFile)(process.execPath, args, { cwd: ROOT, env, timeout: 180_000 })
}

test('it judges all local submissions, and says where every call is kept', async () => {
  const { stdout } = await start()
  expect(stdout.match(/^ {2}(?:valid|invalid|unclear) \(/gm)).toHaveLength(7)
  expect(stdout.match(/every call is in .+\.jsonl$/gm)).toHaveLength(7)
  expect(stdout).toContain('there is no person to approve it')
})

test('an address is for a real model', async () => {
  await expect(start('https://a.example/')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('set the key of a provider'),
  })
})
