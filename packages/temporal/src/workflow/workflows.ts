// Baton's workflows by type. A worker can add its own next to them: `export * from '@baton/temporal/workflows'`.
import type { GoalResult, GoalStart, SessionStart, TaskStart } from '../contract.ts'
import { judgeGoal } from './goal.ts'
import { runSession } from './session-run.ts'
import { runTask } from './task.ts'

async function session(start: SessionStart): Promise<void> {
  await runSession(start)
}

async function goal(start: GoalStart): Promise<GoalResult> {
  return await judgeGoal(start)
}

async function task(start: TaskStart): Promise<void> {
  await runTask(start)
}

export { session as 'baton.session', goal as 'baton.goal', task as 'baton.task' }
