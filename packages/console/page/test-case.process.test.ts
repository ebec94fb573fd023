// "Copy as a test case" gives a test that runs, over the packages of this repository.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readLog } from './kept-log.test-kit.ts'
import { writeTestCase } from './test-case.ts'

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url))

test.each(['text-turns', 'parallel-calls', 'reasoning-and-usage', 'media'])('the test case of %s passes', (name) => {
  const code = writeTestCase(readLog(name), 'a "quoted"\nname')
  const ran = spawnSync(process.execPath, ['--conditions=@baton/source', '--no-warnings', '--input-type=module'], {
    cwd: REPOSITORY,
    input: code,
    encoding: 'utf8',
  })
  const said = `${ran.stdout}${ran.stderr}`
  expect({ code, said, status: ran.status }).toEqual({
    code,
    said: expect.stringMatching(/^(?:#|ℹ) pass 1$/m),
    status: 0,
  })
})
