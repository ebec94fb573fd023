// The programs in docs/comparison.md that use other libraries behave like Baton's: the same text, the same failures.
import { leaveOut } from '@baton/testing/left-out'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BAD_KEY, runProgram } from '../bench/programs/run-program.ts'
import type { Task } from '../bench/programs/tasks.ts'
import { LIBRARIES, TASKS } from '../bench/programs/tasks.ts'
import { REPOSITORY } from './source-files.ts'

const lack = { why: 'their packages are not installed', remedy: 'Run npm ci --prefix bench --ignore-scripts.' }
const areInstalled =
  existsSync(join(REPOSITORY, 'bench/node_modules/ai')) ||
  leaveOut('the programs of other libraries', lack, console.warn) !== undefined
const others = LIBRARIES.filter((library) => library !== 'baton')
const failing = TASKS.map((task) => ({ task, name: task.name }))
const programs = others.flatMap((library) => TASKS.map((task) => ({ library, task, name: task.name })))

test.runIf(areInstalled).each(programs)('$name with $library', async ({ library, task }) => {
  const runs = await runProgram(task, library)
  expect(runs).toEqual(task.runs.map(({ prints }) => ({ printed: prints, complaints: '', exitCode: 0 })))
})

test.runIf(areInstalled).each(programs)('$name with $library fails where the key is refused', async (program) => {
  const [run] = await runProgram(program.task, program.library, () => BAD_KEY)
  expect(run).toMatchObject({ printed: '', exitCode: 1 })
  expect(run?.complaints).toContain(BAD_KEY.message)
})

test.each(failing)('$name with Baton fails where the key is refused', async ({ task }) => {
  const [run] = await runProgram(task, 'baton', () => BAD_KEY)
  expect(run).toMatchObject({ printed: '', exitCode: 1 })
  // A front does not pass a provider's words to apps.
  expect(run?.complaints).toMatch(/invalid x-api-key|refused the key/)
})

test.runIf(areInstalled).each(LIBRARIES)('a stream that breaks fails with %s', async (library) => {
  const streaming = TASKS.find(({ name }) => name === 'streaming') as Task // present in the list
  const broken = { status: 400, message: 'the stream broke' }
  const [run] = await runProgram(streaming, library, () => ({ text: 'Once upon a time', fails: broken }))
  expect(run).toMatchObject({ printed: 'Once upon a time', exitCode: 1 })
  expect(run?.complaints).toContain(broken.message)
})
