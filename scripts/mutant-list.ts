// Hand-written mutants: each is a plausible mistake, and names the test that must fail for it. `npm run mutants`
// applies them one after another. If a text is no longer found, its mutant must be rewritten.

export interface Mutant {
  readonly name: string
  readonly file: string
  /** Occurs in the file exactly once. */
  readonly from: string
  readonly to: string
  readonly test: MutantTest
}

/** A test file, or the tests in it whose names contain these words; or simulator seeds, with one process or two. */
export type MutantTest =
  { readonly file: string; readonly name?: string } | { readonly seeds: number; readonly processes?: 1 | 2 }

const LOCAL = 'packages/host/src/local'
const MACHINE = 'packages/core/src/machine'
const PROMPTED = 'packages/models/src/prompted'
const SOCKETS = 'packages/server/src/websocket'
const CONTRACT = 'packages/testing/src/host-contract/host-contract.test.ts'
const TIMER =
  '() => {\n      this.#timers.delete(key)\n      // A system timer lasts 24 days at most, so a longer wait sets it again.\n'

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a snapshot has a newer history than state',
    file: `${LOCAL}/session-log.ts`,
    from: 'this.#storing = this.#store(takeSnapshot(state, history), this.#storing)',
    to: 'const earlier = this.#storing\n    this.#storing = Promise.resolve(earlier).then(() => this.#store(takeSnapshot(state, history), undefined))',
    test: { seeds: 60 },
  },
  {
    name: 'progress loses a character',
    file: `${LOCAL}/performer.ts`,
    from: 'run.text.add(frame.text)',
    to: 'run.text.add(frame.text.slice(0, -1))',
    test: { seeds: 60 },
  },
  {
    name: 'logged progress loses a character',
    file: `${LOCAL}/performer.ts`,
    from: 'text: text.read(offset) })',
    to: 'text: text.read(offset + 1) })',
    test: { file: `${LOCAL}/closing.test.ts`, name: 'the streamed part' },
  },
  {
    name: 'a model call runs on after its session was closed',
    file: `${LOCAL}/performer.ts`,
    from: 'for (const run of running) this.#abort(run)',
    to: 'for (const run of running) run.stopTimer?.()',
    test: { seeds: 60 },
  },
  {
    name: 'a model call runs on after its session was removed',
    file: `${LOCAL}/performer.ts`,
    from: 'for (const run of running) this.#abort(run)',
    to: 'for (const run of running) run.stopTimer?.()',
    test: { file: `${LOCAL}/closing.test.ts`, name: 'a model that is asked' },
  },
  {
    name: 'a log that ends early is taken for the whole',
    file: `${LOCAL}/session-log.ts`,
    from: 'if (state.pos === lastPos) return',
    to: 'if (state.pos <= lastPos) return',
    test: { file: `${LOCAL}/closing.test.ts`, name: 'a log that ends' },
  },
  {
    name: 'a session is released before its last snapshot is stored',
    file: `${LOCAL}/local-session.ts`,
    from: 'await (rests && isOwn ? this.#snapshots.finish(actor.state, actor.history) : this.#snapshots.settled())',
    to: 'void (rests && isOwn ? this.#snapshots.finish(actor.state, actor.history) : this.#snapshots.settled())',
    test: { file: `${LOCAL}/closing.test.ts`, name: 'the store learns' },
  },
  {
    name: 'a timer fires a millisecond early',
    file: `${LOCAL}/performer.ts`,
    from: `timers.start(Math.max(0, atMs - clock.nowMs()), ${TIMER}      if (clock.nowMs() < atMs)`,
    to: `timers.start(Math.max(0, atMs - clock.nowMs() - 1), ${TIMER}      if (clock.nowMs() < atMs - 1)`,
    test: { file: CONTRACT, name: 'settles at its own time-out' },
  },
  {
    name: 'a timer fires a second early',
    file: `${LOCAL}/performer.ts`,
    from: `timers.start(Math.max(0, atMs - clock.nowMs()), ${TIMER}      if (clock.nowMs() < atMs)`,
    to: `timers.start(Math.max(0, atMs - clock.nowMs() - 1000), ${TIMER}      if (clock.nowMs() < atMs - 1000)`,
    test: { seeds: 60 },
  },
  {
    name: 'a session goes by the wall clock',
    file: 'packages/runtime/src/deadline.ts',
    from: 'return { nowMs: () => beganMs + Math.floor(readMs() - startMs) }',
    to: 'return { nowMs: () => Math.max(lastMs, clock.nowMs() + 0 * (beganMs + readMs() - startMs)) }',
    test: { file: CONTRACT, name: 'while the clock is' },
  },
  {
    name: 'a session goes by the wall clock, in simulated worlds',
    file: 'packages/runtime/src/deadline.ts',
    from: 'return { nowMs: () => beganMs + Math.floor(readMs() - startMs) }',
    to: 'return { nowMs: () => Math.max(lastMs, clock.nowMs() + 0 * (beganMs + readMs() - startMs)) }',
    test: { seeds: 60 },
  },
  {
    name: 'a session begins at the wall clock, although its last record is later',
    file: 'packages/runtime/src/deadline.ts',
    from: 'const beganMs = Math.max(lastMs, clock.nowMs())',
    to: 'const beganMs = clock.nowMs()',
    test: { file: `${LOCAL}/time.test.ts`, name: 'timers of a session' },
  },
  {
    name: 'a drain goes by the wall clock',
    file: 'packages/runtime/src/deadline.ts',
    from: 'while (isBusy() && readMonotonicMs(clock) < untilMs)',
    to: 'while (isBusy() && clock.nowMs() < untilMs)',
    test: { file: CONTRACT, name: 'lets its turns end' },
  },
  {
    name: 'retention believes any clock',
    file: `${LOCAL}/retention.ts`,
    from: 'const isBelieved = aheadMs <= patienceMs || heldMs >= patienceMs',
    to: 'const isBelieved = aheadMs <= Infinity || heldMs >= patienceMs',
    test: { file: `${LOCAL}/time.test.ts` },
  },
  {
    name: 'retention never believes a clock that stays ahead',
    file: `${LOCAL}/retention.ts`,
    from: 'const isBelieved = aheadMs <= patienceMs || heldMs >= patienceMs',
    to: 'const isBelieved = aheadMs <= patienceMs',
    test: { file: `${LOCAL}/time.test.ts` },
  },
  {
    name: 'a removal does not wait for what is still being written',
    file: `${LOCAL}/store-in-time.ts`,
    from: 'await ended(session)',
    to: 'void writes.ended(session)',
    test: { file: `${LOCAL}/late-writes.test.ts` },
  },
  {
    name: 'a snapshot of an earlier session of the name is used',
    file: `${LOCAL}/session-log.ts`,
    from: 'value?.pos === snapshot.state.pos && value.epoch === snapshot.state.epoch',
    to: 'value?.pos === snapshot.state.pos',
    test: { file: `${LOCAL}/late-writes.test.ts` },
  },
  {
    name: 'a result of an earlier session of the name is read by its handle',
    file: 'packages/runtime/src/work/tool-result.ts',
    from: 'const isOwn = readLogId(handle, 3) === readLogId(callId, 2)',
    to: 'const isOwn = readLogId(handle, 3) !== readLogId(callId, 9)',
    test: { file: `${LOCAL}/late-writes.test.ts` },
  },
  {
    name: 'a picture is kept for a session that is gone',
    file: `${LOCAL}/create-host.ts`,
    from: 'if (!openSessions.isOpen(session))',
    to: 'if (openSessions.isOpen(session) === undefined)',
    test: { file: `${LOCAL}/late-writes.test.ts` },
  },
  {
    name: 'a snapshot that never answers is waited for without an end',
    file: `${LOCAL}/store-in-time.ts`,
    from: 'within(timers, limit(name), writes.note(session, act(session, ...given)))',
    to: 'writes.note(session, act(session, ...given))',
    test: { file: `${LOCAL}/hanging-store.test.ts` },
  },
  {
    name: 'a page of a list begins anew',
    file: 'packages/runtime/src/session/session-list.ts',
    from: 'PLACE.test(after)) return { after }',
    to: 'PLACE.test(after)) return {}',
    test: { file: `${LOCAL}/session-directory.test.ts` },
  },
  {
    name: 'half of a surrogate pair stays in the history',
    file: `${MACHINE}/history.ts`,
    from: 'said.map((part) => makeWhole(part))',
    to: 'said.map((part) => part)',
    test: { file: `${MACHINE}/history.test.ts` },
  },
  {
    name: 'a store appends for an owner who is none any more',
    file: 'packages/host/src/stores/memory-store.ts',
    from: '!log || log.epoch !== epoch || pos !== afterPos',
    to: '!log || pos !== afterPos',
    test: { seeds: 60, processes: 2 },
  },
  {
    name: 'a host never gives up leases that it cannot renew',
    file: `${LOCAL}/session-leases.ts`,
    from: 'if (this.#isOver()) this.#fence()',
    to: 'if (this.#isOver() && this.#isStopped) this.#fence()',
    test: { seeds: 60, processes: 2 },
  },
  {
    name: 'what is acknowledged is not on the disk',
    file: 'packages/host/src/stores/sqlite/database.ts',
    from: 'PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0',
    to: 'PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0',
    test: { file: 'packages/testing/src/lost-writes/lost-writes.process.test.ts' },
  },
  {
    name: 'readers are not told of records that another host wrote',
    file: 'packages/runtime/src/session/stream.ts',
    from: '    for (const reader of this.#readers) reader.miss()\n',
    to: '',
    test: { file: 'packages/runtime/src/session/stream.test.ts' },
  },
  {
    name: 'effects of many calls are compared each with each',
    file: `${MACHINE}/effect.ts`,
    from: 'const COMPARED_MAX = 16',
    to: 'const COMPARED_MAX = Infinity',
    test: { file: `${MACHINE}/many-calls.process.test.ts` },
  },
  {
    name: 'a call is searched among all of its answer',
    file: `${MACHINE}/state.ts`,
    from: 'return calls[index]?.callId === callId ? index : calls.findIndex',
    to: 'return index < 0 ? index : calls.findIndex',
    test: { file: `${MACHINE}/many-calls.process.test.ts` },
  },
  {
    name: 'arguments of an answer that was cut off are repaired',
    file: 'packages/runtime/src/work/model-work.ts',
    from: 'check.invalid === undefined || !RUNS_AFTER.has(finish)',
    to: 'check.invalid === undefined',
    test: { file: `${LOCAL}/repaired-calls.test.ts` },
  },
  {
    name: 'a call that cannot be read runs all the same',
    file: `${MACHINE}/answer.ts`,
    from: 'if (check.unreadable)',
    to: 'if (check.unreadable && check.denied)',
    test: { file: `${LOCAL}/repaired-calls.test.ts` },
  },
  {
    name: 'a bracket is added to JSON that was cut off',
    file: 'packages/core/src/repair-json.ts',
    from: 'reader.open.length > (isEnclosed ? 1 : 0)',
    to: 'reader.open.length > 1',
    test: { file: 'packages/core/src/repair-json.test.ts' },
  },
  {
    name: 'a call in indented code is one',
    file: `${PROMPTED}/code-tracker.ts`,
    from: 'if (this.#fence === undefined && isFar && (this.#isAfterBlank || this.#wasIndented)) this.#isIndented = true',
    to: 'if (this.#fence === undefined && isFar && this.#isAfterBlank && this.#wasIndented) this.#isIndented = true',
    test: { file: `${PROMPTED}/hostile-frames.test.ts` },
  },
  {
    name: 'a backtick that stands open is forgotten at a mark',
    file: `${PROMPTED}/answer-parser.ts`,
    from: 'if (this.#tracker.isDoubtful && !',
    to: 'if (this.#tracker.isDoubtful && this.#isStart && !',
    test: { file: `${PROMPTED}/hostile-models.test.ts` },
  },
  {
    name: 'a thought of harmony holds calls',
    file: `${PROMPTED}/answer-parser.ts`,
    from: 'this.#isInThought = head.open.includes(tail)',
    to: 'this.#isInThought = false',
    test: { file: `${PROMPTED}/hostile-models.test.ts` },
  },
  {
    name: 'a call that ends early is told as whole',
    file: `${PROMPTED}/with-prompted-tools.ts`,
    from: "if (isCut) return { type: 'call', name, arguments: '{' }",
    to: "if (isCut) return { type: 'call', name, arguments: '{}' }",
    test: { file: `${PROMPTED}/quoted-calls.test.ts` },
  },
  {
    name: 'a voice says again what it was told before its connection broke',
    file: 'packages/runtime/src/speech/speech.ts',
    from: 'text.slice(known - offset)',
    to: 'text',
    test: { file: `${SOCKETS}/v2-speech.property.test.ts` },
  },
  {
    name: 'what was heard of an older answer cuts the newer one there',
    file: `${MACHINE}/interrupt.ts`,
    from: 'chars: isOlder ? 0 : heard.chars',
    to: 'chars: heard.chars',
    test: { file: `${MACHINE}/interrupt.test.ts` },
  },
  {
    name: 'a page settles a call that another page runs',
    file: 'packages/server/src/http/take-given.ts',
    from: 'if (given.isElsewhere) return true',
    to: 'if (given.isElsewhere && given.callId === "") return true',
    test: { file: 'packages/server/src/http/foreign-results.test.ts' },
  },
  {
    name: 'a page attaches for calls that are settled',
    file: 'packages/server/src/http/chat-answer.ts',
    from: "call.status === 'settled' || status === 'settled'",
    to: "call.status === 'settled'",
    test: { file: 'packages/server/src/http/chat-clients.test.ts' },
  },
  {
    name: 'a view that was closed asks the service on',
    file: 'packages/temporal/src/session-view.ts',
    from: 'if ((await this.#reachesIn(pos, LOOK_MS)) || this.#isClosed) break',
    to: 'if (await this.#reachesIn(pos, LOOK_MS)) break',
    test: { file: 'packages/temporal/src/session-view.test.ts' },
  },
  {
    name: 'a client that was not asked answers for one that is away',
    file: `${MACHINE}/calls.ts`,
    from: 'if (offer.claims || client.claims || ',
    to: 'if (',
    test: { file: 'packages/core/src/machine/foreign-results.test.ts' },
  },
  {
    name: 'the outcome of a tool that went on is told to nobody',
    file: `${MACHINE}/calls.ts`,
    from: "    noteOutcome(draft, detached, 'has ended', preview(input.outcome, RULES.noteChars))\n",
    to: '',
    test: { file: 'packages/testing/src/barge-in/barge-in.test.ts' },
  },
  {
    name: 'a sentence without words counts as heard before it was played',
    file: 'packages/runtime/src/session/interrupt-session.ts',
    from: 'if (count > 0 && count >= wordEnds.length)',
    to: 'if (count >= wordEnds.length)',
    test: { file: `${LOCAL}/heard.test.ts` },
  },
  {
    name: 'a voice reports a sentence before it has played it',
    file: 'packages/client/src/voice/voice.ts',
    from: 'this.#acknowledgements.report({ message, chars: 0 })',
    to: 'this.#acknowledgements.report({ message, chars: utterance.end })',
    test: { file: 'packages/client/src/voice/voice-session.test.ts' },
  },
  {
    name: 'results that are too large together stay in the request',
    file: `${MACHINE}/window.ts`,
    from: "  moveResults(draft, 'all')\n",
    to: '',
    test: { file: `${MACHINE}/moved-results.test.ts` },
  },
  {
    name: 'no mark of the prompt cache stands where the last request ended',
    file: 'packages/models/src/cache-marks.ts',
    from: 'return [last, before]',
    to: 'return [last]',
    test: { file: 'packages/testing/src/fake-providers/prompt-cache.test.ts' },
  },
]
