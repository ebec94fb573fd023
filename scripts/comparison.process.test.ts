// The programs in docs/comparison.md that use Baton run and print the expected output. Their failures are covered by a
// deep test.
import { expect, test } from 'vitest'
import { runProgram } from '../bench/programs/run-program.ts'
import { TASKS } from '../bench/programs/tasks.ts'
import { chooseSample } from '@baton/testing/depth'

test.each(chooseSample(TASKS, 2))('$name', async (task) => {
  const runs = await runProgram(task, 'baton')
  expect(runs).toEqual(task.runs.map(({ prints }) => ({ printed: prints, complaints: '', exitCode: 0 })))
})
