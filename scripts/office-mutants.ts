// Mistakes in notices, reminders, deciders, lists, the operators' routes and the console that no test saw when they were planted.
import type { Mutant } from './mutant-list.ts'

const LOCAL = 'packages/host/src/local'
const MACHINE = 'packages/core/src/machine'
const NOTICES = 'packages/runtime/src/notices'
const BREAKS = `${LOCAL}/notice-breaks.test.ts`

type Row = readonly [name: string, file: string, from: string, to: string, test: string]

const ROWS: readonly Row[] = [
  [
    'an attempt that the stop of its host ended counts as failed',
    `${NOTICES}/notice-lane.ts`,
    'await wait(attempts - 1, nowMs)',
    'await wait(attempts, nowMs)',
    BREAKS,
  ],
  [
    'a short Retry-After shortens the growing delay of a notice',
    `${NOTICES}/notice-lane.ts`,
    'Math.ceil(Math.max(varied, askedMs))',
    'Math.ceil(failure.retryAfterMs === undefined ? varied : askedMs)',
    BREAKS,
  ],
  [
    'a notice is passed before it is listed as dead',
    `${NOTICES}/notice-lane.ts`,
    'await store.outbox.swap(session, name, await store.outbox.get(session, name), writeDead(dead))\n      return await this.#pass(session, held, found)',
    'const passed = await this.#pass(session, held, found)\n      await store.outbox.swap(session, name, await store.outbox.get(session, name), writeDead(dead))\n      return passed',
    BREAKS,
  ],
  [
    'only the newest write to the outbox counts as settled',
    `${NOTICES}/notices.ts`,
    'Promise.all([this.#writing.get(session), written])',
    'Promise.all([written])',
    BREAKS,
  ],
  [
    'a write to the outbox that failed is forgotten',
    `${NOTICES}/notices.ts`,
    '      this.#unnoted.add(session)\n',
    '',
    BREAKS,
  ],
  [
    'a write to the outbox that failed waits for the next opening',
    `${NOTICES}/notices.ts`,
    '      this.#looks.note(clock.nowMs() + WRITE_AGAIN_MS)\n',
    '',
    BREAKS,
  ],
  [
    'what another host marks at the end of the log is left',
    `${NOTICES}/notice-lane.ts`,
    'return isTold ? undefined : await this.#claim(session)',
    'return undefined',
    BREAKS,
  ],
  [
    'a notice says in session time when its request expires',
    `${NOTICES}/read-notices.ts`,
    'Math.floor(ms - nowMs + wallMs)',
    'Math.floor(ms)',
    BREAKS,
  ],
  [
    'a session lingers although the outbox does not know its notices',
    `${LOCAL}/local-session.ts`,
    'if (noting && !(await noting)) return false',
    'if (noting) await noting',
    BREAKS,
  ],
  [
    'a time that is noted right after a look is lost',
    `${NOTICES}/due-looks.ts`,
    '    this.#isLooking = false\n',
    '    await Promise.resolve()\n    this.#isLooking = false\n',
    BREAKS,
  ],
  [
    'a session that could not be told of a reminder is left at its next time too',
    `${LOCAL}/alarm.ts`,
    'const isLasting = known?.dueMs === dueMs && LASTING',
    'const isLasting = known !== undefined && LASTING',
    `${LOCAL}/alarm.test.ts`,
  ],
  [
    'a reminder is told by a host that knows the first agent of its session',
    `${LOCAL}/alarm.ts`,
    'const identity = await readIdentity(store, session)',
    'const [identity] = await Array.fromAsync(store.read(session, 0), ({ facts: [fact] }) => fact as never)',
    `${LOCAL}/alarm.test.ts`,
  ],
  [
    'a session is recovered by a host that knows its first agent',
    `${LOCAL}/recover.ts`,
    'const identity = await readIdentity(store, name)',
    'const [identity] = await Array.fromAsync(store.read(name, 0), ({ facts: [fact] }) => fact as never)',
    `${LOCAL}/recovery.test.ts`,
  ],
  [
    'a late time of an interval moves all later ones',
    'packages/runtime/src/reminders/times.ts',
    'findNext(rule, dueMs, dueMs + lateMs)',
    'findNext(rule, dueMs + lateMs, dueMs + lateMs)',
    `${LOCAL}/alarm.test.ts`,
  ],
  [
    'a reminder is skipped because one with a longer name waits',
    `${MACHINE}/reminders.ts`,
    "inputId.slice(0, inputId.lastIndexOf('.') + 1) === start",
    'inputId.startsWith(start)',
    `${MACHINE}/reminders.test.ts`,
  ],
  [
    'a reminder that is set again with nobody to ask stays as it was',
    `${MACHINE}/reminders.ts`,
    'return JSON.stringify([reminder, when, zone, name, label, detail, message, untrusted, asks])',
    'return JSON.stringify([reminder, when, zone, name, label, detail, message, untrusted])',
    `${MACHINE}/reminders.test.ts`,
  ],
  [
    'a repeated run that sets a reminder counts its own',
    'packages/kits/src/reminders/reminder-tools.ts',
    'const others = (await listOwn(context)).filter((one) => one.id !== id)',
    'const others = await listOwn(context)',
    'packages/kits/src/reminders/reminders.test.ts',
  ],
  [
    'the asker may decide if people name the asker, whatever `notAsker` says',
    `${MACHINE}/deciders.ts`,
    'if (deciders.notAsker && isOwner)',
    'if (deciders.notAsker && isOwner && !deciders.people?.includes(principal))',
    `${LOCAL}/inbox.test.ts`,
  ],
  [
    'a request of an agent below that names its deciders is withdrawn if the asker cannot be asked',
    `${MACHINE}/relayed.ts`,
    'else if (!isNamed && !canAskFor(state, callId))',
    'else if (!canAskFor(state, callId))',
    `${LOCAL}/inbox.test.ts`,
  ],
  [
    'who has approved a request cannot deny it any more',
    'packages/runtime/src/session/session-directory.ts',
    'isMeant({ ...asked, given: [] }, { decider: by })',
    'isMeant(asked, { decider: by })',
    `${LOCAL}/inbox.test.ts`,
  ],
  [
    'the inbox does not learn of the first of two approvals for an agent below',
    'packages/runtime/src/session/session-entry.ts',
    '[id, isDecided, one?.given?.length ?? 0]',
    '[id, isDecided, one !== undefined]',
    `${LOCAL}/inbox.test.ts`,
  ],
  [
    'a page of a reader ends where the sessions that it derives were left out',
    `${LOCAL}/derived-entries.ts`,
    'if (page.length < query.limit || found.length >= query.limit || after === undefined) return found',
    'return found',
    `${LOCAL}/derived-entries.test.ts`,
  ],
  [
    'a search drops what it found beyond its limit',
    'packages/server/src/http/operator-routes.ts',
    'return { sessions: found, ...(cursor !== undefined && { cursor }) }',
    'return { sessions: found.slice(0, limit), ...(cursor !== undefined && { cursor }) }',
    'packages/server/src/http/operators.test.ts',
  ],
  [
    'a piece of an answer counts as posted in Slack before it is',
    'packages/notices/src/slack/slack-notices.ts',
    "await post(telling, place, { markdown_text: pieces[said] ?? '' })\n    await context.notes.put(noteName, String(said + 1))",
    "await context.notes.put(noteName, String(said + 1))\n    await post(telling, place, { markdown_text: pieces[said] ?? '' })",
    'packages/notices/src/slack/conversation.test.ts',
  ],
  [
    'a cost report leaves out calls that began before its period',
    'packages/server/src/http/cost-report.ts',
    'this.#note(fact, record, counting)',
    'if (isMeant) this.#note(fact, record, counting)',
    'packages/server/src/http/cost-report.test.ts',
  ],
  [
    'Retry-After of a 503 does not count',
    'packages/notices/src/webhook/webhook.ts',
    'status === 429 || status === 503 ?',
    'status === 429 ?',
    'packages/notices/src/webhook/webhook.test.ts',
  ],
  [
    'a row of an agent below offers acts on its root',
    'packages/console/page/session-acts.ts',
    "if (!store.may('act') || row.path !== undefined) return []",
    "if (!store.may('act')) return []",
    'packages/console/page/session-acts.test.ts',
  ],
  [
    'a request that the inbox has again is shown as gone too',
    'packages/console/page/inbox-requests.ts',
    'before.filter(({ id }) => !open.has(id))',
    'before.filter(({ id, isGone }) => isGone || !open.has(id))',
    'packages/console/page/session-log.test.ts',
  ],
  [
    'the log of an agent below is not read to its end',
    'packages/console/page/session-log.ts',
    'known && ended.has(key) ? known.timeline',
    'known && call.child.stop !== undefined ? known.timeline',
    'packages/console/page/session-log.test.ts',
  ],
]

export const OFFICE_MUTANTS: readonly Mutant[] = ROWS.map(([name, file, from, to, test]) => ({
  name,
  file,
  from,
  to,
  test: { file: test },
}))
