// Mutants of session trees: what each log records about the other, who owns a child, and what ends one.
import type { Mutant } from './mutant-list.ts'

const LOCAL = 'packages/host/src/local'
const MACHINE = 'packages/core/src/machine'
const TREE = 'packages/runtime/src/tree'
const LOGS = `${LOCAL}/tree-logs.test.ts`
const ENDS = `${LOCAL}/tree-ends.test.ts`
const CRASHES = `${LOCAL}/tree-crashes.test.ts`
const TASKS = `${MACHINE}/tasks.test.ts`
const HOSTILE = `${LOCAL}/hostile-children.test.ts`
const TEMPORAL = 'packages/temporal/src'
const LANES = `${TEMPORAL}/workflow/lanes.property.test.ts`

export const TREE_MUTANTS: readonly Mutant[] = [
  {
    name: 'the name of a child has a random part',
    file: 'packages/runtime/src/catalog/child-agent.ts',
    from: 'digest(`${parent}\\n${callId}`)',
    to: 'digest(`${parent}\\n${callId}${Math.random()}`)',
    test: { file: CRASHES, name: 'before its task' },
  },
  {
    name: 'a child is told from now on, and not from where it has read',
    file: `${TREE}/lane-reading.ts`,
    from: 'await log.from(Math.max(from + 1, began))',
    to: 'await log.from(engine.state().pos)',
    test: { file: CRASHES, name: 'before the child hears it' },
  },
  {
    name: 'the child of a caller with another opener has that owner',
    file: `${LOCAL}/local-session.ts`,
    from: "principal: principal === '' ? this.#init.principal : { id: principal },\n      meta: {},",
    to: 'principal: this.#init.principal,\n      meta: {},',
    test: { file: HOSTILE, name: 'a stranger' },
  },
  {
    name: 'other records at a position that was read go unnoticed',
    file: `${TREE}/lane-reading.ts`,
    from: 'return record !== undefined && markOf(record) !== read.mark',
    to: 'return record === undefined && read.pos < -1',
    test: { file: LOGS, name: 'a backup of' },
  },
  {
    name: 'the log of another call is believed',
    file: `${TREE}/lane-reading.ts`,
    from: 'place.birth !== own.birth || place.callId !== entry.callId',
    to: 'place.birth !== own.birth',
    test: { file: LOGS, name: 'replaced by the log of another call' },
  },
  {
    name: 'a changed agent with another spec does not reach the open children',
    file: `${LOCAL}/local-session.ts`,
    from: 'void this.#links.adopt() // reports',
    to: '// reports',
    test: { file: ENDS, name: 'another agent of the caller' },
  },
  {
    name: 'a changed policy does not reach the open children',
    file: `${LOCAL}/local-session.ts`,
    from: 'this.world.spec.hash === before.spec.hash) await this.#links.adopt()',
    to: 'this.world.spec.hash === before.spec.hash) void before',
    test: { file: ENDS, name: 'a changed policy' },
  },
  {
    name: 'a function of an agent that throws is tried until the call is over',
    file: `${TREE}/child-links.ts`,
    from: "code: 'invalid_tool',\n      message: `its agent",
    to: "code: 'internal',\n      message: `its agent",
    test: { file: HOSTILE, name: 'when its session is opened' },
  },
  {
    name: 'a failed opening tells the model a key',
    file: `${TREE}/child-link.ts`,
    from: 'return hideSecrets(describeThrown(cause), this.#init.parent.world.secrets)',
    to: 'return hideSecrets(describeThrown(cause), [])',
    test: { file: HOSTILE, name: 'when its session is opened' },
  },
  {
    name: 'a failed check tells the model a key',
    file: 'packages/runtime/src/work/call-check.ts',
    from: 'const why = hideSecrets(describeThrown(cause), context.secrets)',
    to: 'const why = hideSecrets(describeThrown(cause), [])',
    test: { file: HOSTILE, name: 'a prompt that throws' },
  },
  {
    name: 'agents below an agent are looked at without end',
    file: 'packages/runtime/src/work/delegated-call.ts',
    from: 'if (agents.size > AGENTS_MAX) return true',
    to: 'if (agents.size > 20_000) return true',
    test: { file: HOSTILE, name: 'an endless line' },
  },
  {
    name: 'a last report over the limits ends no other child',
    file: `${MACHINE}/children.ts`,
    from: 'report.end)\n  endOverspent(draft)',
    to: 'report.end)\n  else endOverspent(draft)',
    test: { file: ENDS, name: 'one of three children' },
  },
  {
    name: 'a child that may have acted is told as cancelled',
    file: `${MACHINE}/child-end.ts`,
    from: 'if (!child || child.acts || child.acted) return',
    to: 'if (!child) return',
    test: { file: `${MACHINE}/children.test.ts` },
  },
  {
    name: 'a lost child that may have acted is told as an error',
    file: `${MACHINE}/children.ts`,
    from: 'const mayHaveActed = child.acts || child.acted',
    to: 'const mayHaveActed = false',
    test: { file: LOGS, name: 'is gone' },
  },
  {
    name: 'totals of a child are added as if they were new',
    file: `${MACHINE}/child-entries.ts`,
    from: 'const more = subtractSpent(spent, child.spent)',
    to: 'const more = subtractSpent(spent, NOTHING_SPENT)',
    test: { file: `${MACHINE}/children.test.ts` },
  },
  {
    name: 'a policy of the caller is not asked about calls below',
    file: 'packages/runtime/src/catalog/child-agent.ts',
    from: 'inherits.policies ? caller.approvalPolicy : undefined',
    to: 'inherits.policies ? undefined : undefined',
    test: { file: `${LOCAL}/delegate.test.ts`, name: 'a policy of the caller' },
  },
  {
    name: 'the clock of a call goes on while its child waits for people',
    file: `${MACHINE}/child-entries.ts`,
    from: "return !child || child.phase === 'ending' || waitsForOthers(state, child)",
    to: "return !child || child.phase === 'ending'",
    test: { file: `${LOCAL}/delegate.test.ts`, name: 'stands while its agent waits' },
  },
  {
    name: 'a request of a child that has to end is shown',
    file: `${MACHINE}/child-end.ts`,
    from: "emit(draft, { type: 'child-ending', callId, reason, untilMs })\n  endRelayed(draft, callId)",
    to: "emit(draft, { type: 'child-ending', callId, reason, untilMs })",
    test: { file: `${MACHINE}/children.test.ts` },
  },
  {
    name: 'the end of a task enters before a person who speaks has ended',
    file: `${MACHINE}/task-end.ts`,
    from: 'ready: state.batch === null && !isHeld,',
    to: 'ready: !isHeld,',
    test: { file: TASKS, name: 'while somebody speaks' },
  },
  {
    name: 'tasks wake their session for ever',
    file: `${MACHINE}/task-entries.ts`,
    from: 'return isBeginning && isTasks ? state.wakes + 1 : state.wakes',
    to: 'return isBeginning && isTasks ? state.wakes : 0',
    test: { file: TASKS, name: 'for ever' },
  },
  {
    name: 'a wait tells what the wake tells again',
    file: `${MACHINE}/task-tools.ts`,
    from: "if (told.some((callId) => inputId === TASK_INPUT + callId)) emit(draft, { type: 'input-withdrawn', inputId })",
    to: 'void inputId',
    test: { file: TASKS, name: 'withdraws it' },
  },
  {
    name: 'a task that a wait tells also wakes',
    file: `${MACHINE}/task-end.ts`,
    from: '  if (awaited) return\n',
    to: '',
    test: { file: TASKS, name: 'a wait ends with the first end' },
  },
  {
    name: 'a rewind leaves the wake of a removed task in the queue',
    file: `${MACHINE}/task-tools.ts`,
    from: 'if (isRemoved(ended, rewound) && queue.some',
    to: 'if (!isRemoved(ended, rewound) && queue.some',
    test: { file: TASKS, name: 'rewind behind a task' },
  },
  {
    name: 'an app may use up the id of a wake',
    file: `${MACHINE}/check.ts`,
    from: 'find((reserved) => inputId.startsWith(reserved))',
    to: 'find((reserved) => inputId === reserved)',
    test: { file: TASKS, name: 'nobody outside' },
  },
  {
    name: 'a copy runs the task of its original',
    file: 'packages/runtime/src/session/copy-session.ts',
    from: 'const facts = call.task.origin',
    to: "if (call.task.origin === 'call') continue\n    const facts = call.task.origin",
    test: { file: `${LOCAL}/tasks.test.ts`, name: 'a copy of the session' },
  },
  {
    name: 'an ending child leaves a child of its own running',
    file: `${MACHINE}/parent.ts`,
    from: '  for (const { callId } of draft.state.children) endChild(draft, callId, reason)\n',
    to: '',
    test: { file: `${MACHINE}/parent.test.ts`, name: 'an interrupt would leave running' },
  },
  {
    name: 'over Temporal a caller tells on from where it was, and not from where the child is',
    file: `${TEMPORAL}/workflow/child-lanes.ts`,
    from: 'this.#toldTo = read\n    this.#compares = true',
    to: 'this.#compares = true',
    test: { file: LANES, name: 'the root is terminated' },
  },
  {
    name: 'over Temporal a child reports on from where it was, and not from where its caller is',
    file: `${TEMPORAL}/workflow/parent-lane.ts`,
    from: 'this.#reportedTo = read\n    this.sayRead()',
    to: 'this.sayRead()',
    test: { file: LANES, name: 'the root is terminated' },
  },
  {
    name: 'over Temporal a child whose log is gone begins again',
    file: `${TEMPORAL}/worker/lanes.ts`,
    from: 'if (isNew && entry.pos >= 0)',
    to: 'if (isNew && entry.pos >= 1_000_000)',
    test: { file: `${TEMPORAL}/worker/lanes.test.ts`, name: 'is gone' },
  },
  {
    name: 'over Temporal a session is opened under the name of a child that nobody called',
    file: `${TEMPORAL}/worker/decide.ts`,
    from: '  checkName(identity)\n',
    to: '',
    test: { file: `${TEMPORAL}/worker/lanes.test.ts`, name: 'nobody called' },
  },
]
