// Actions of a simulated office: reminders are set and cancelled, and people decide calls of a session that is not theirs,
// which they find in the inbox.
import type { PendingApproval } from '@baton/core/internal'
import { openTasks } from '@baton/core/machine'
import type { OfficeWatch } from './check-office.ts'
import { SIGNED_TOOL, SIGNERS } from './simulated-agent.ts'
import type { SimulatedWorld } from './simulated-world.ts'
import { fail, SESSION, tell } from './simulated-world.ts'

/** Reminders that wait at once. */
const REMINDERS_MAX = 4
const MINUTE_MS = 60_000

export function actInOffice(world: SimulatedWorld, office: OfficeWatch): void {
  const what = world.random.pick(['at', 'every', 'cancel', 'decide', 'decide', 'decide', 'decide'] as const)
  if (what === 'decide') decide(world, office)
  else if (what === 'cancel') cancel(world, office)
  else remind(world, office, what)
}

function remind(world: SimulatedWorld, office: OfficeWatch, what: 'at' | 'every'): void {
  const { session, observed, random, time } = world
  const known = observed.state.reminders.map(({ reminder }) => reminder)
  if (!session || known.length >= REMINDERS_MAX) return
  // Setting a reminder again moves it.
  const id = known.length > 0 && random.chance(0.4) ? random.pick(known) : `reminder-${world.count()}`
  tell(world, `${id} is set (${what})`)
  const event = { name: 'look', message: `look at ${id}` }
  // A time that has just passed comes at once.
  const wallMs = time.clock.nowMs() + random.pick([-1000, 500, 5000, 60_000, 600_000])
  const setting = what === 'at' ? session.at(wallMs, event, { id }) : session.every(MINUTE_MS, event, { id })
  setting.then(
    () => void office.set.add(id),
    () => {},
  )
}

function cancel(world: SimulatedWorld, office: OfficeWatch): void {
  const { observed, random } = world
  const { reminders } = observed.state
  if (reminders.length > 0) cancelReminder(world, office, random.pick(reminders).reminder)
}

function cancelReminder({ session }: SimulatedWorld, office: OfficeWatch, id: string): void {
  office.cancelled.add(id)
  session?.cancelReminder(id).catch(() => {})
}

/** A healed world comes to rest only without rules, and stays so once the office is closed. */
export function cancelRules(world: SimulatedWorld, office: OfficeWatch): void {
  for (const { reminder, rule } of world.observed.state.reminders)
    if (rule || office.isClosed) cancelReminder(world, office, reminder)
}

/** People who may sign decide in the session of another, and so do some who may not. */
function decide(world: SimulatedWorld, office: OfficeWatch): void {
  const { host, random } = world
  if (!host?.decide) return
  const open = listOpen(world)
  if (open.length === 0) return
  const approvalId = random.pick(open)
  for (let people = 1 + random.below(3); people > 0; people--) {
    const principal = random.pick([...SIGNERS, 'eve', 'ann'])
    const decision = random.pick(['approve', 'approve', 'approve', 'approve', 'deny'] as const)
    tell(world, `${principal} decides ${approvalId}: ${decision}`)
    const attempt = { approvalId, principal, decision }
    office.attempts.push(attempt)
    host.decide(SESSION, { approvalId, decision }, { by: { id: principal } }).then(
      () => void office.acknowledged.push(attempt),
      () => {},
    )
  }
}

/** Open approvals of the session's own signed calls. */
function listOpen({ observed: { state } }: SimulatedWorld): readonly string[] {
  const calls = [...(state.step?.calls ?? []), ...openTasks(state)]
  return calls.flatMap(({ name, state: at, approval }) =>
    name === SIGNED_TOOL && at === 'awaiting-approval' && approval ? [approval.id] : [],
  )
}

/** The inbox on the disk has what the session's newest record asks, at any moment. */
export async function checkInbox(world: SimulatedWorld): Promise<void> {
  const { disk, observed, time } = world
  if (!world.office || observed.records.length === 0) return
  await time.settle()
  const body = await disk.entries.get(SESSION)
  const listed =
    body === undefined ? [] : (JSON.parse(body) as { readonly approvals: readonly PendingApproval[] }).approvals
  const { step, relayed } = observed.state
  const calls = [...(step?.calls ?? []), ...openTasks(observed.state)]
  const asked = [
    ...calls.flatMap(({ state, approval }) => (state === 'awaiting-approval' && approval ? [approval.id] : [])),
    ...relayed.flatMap(({ id, type, isDecided }) => (type === 'approval' && !isDecided ? [id] : [])),
  ]
  const [has, wants] = [listed.map(({ approvalId }) => approvalId), asked].map((ids) => ids.toSorted().join(' '))
  if (has !== wants) fail(world, new Error(`the inbox has "${has}", and the log asks "${wants}"`))
}
