// The programs of docs/comparison.md that use Baton run and print what they should. How they fail is a deep test.
import { expect, test } from 'vitest'
import { runProgram } from '../bench/programs/run-program.ts'
import { TASKS } from '../bench/programs/tasks.ts'
import { chooseSample } from '@baton/testing/depth'

test.each(chooseSample(TASKS, 2))('$name', async (task) => {
  const runs = await runProgram(task, 'baton')
  expect(runs).toEqual(task.runs.map(({ prints }) => ({ printed: prints, complaints: '', exitCode: 0 })))
})
