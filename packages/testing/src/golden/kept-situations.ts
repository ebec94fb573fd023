// Situations whose logs are kept, by the name of the log's file. Most are situations that every kind of host plays.
import type { ContentPart } from '@baton/core'
import { BatonError, defineAgent, delegate } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { CHILD_PREFIX } from '@baton/core/internal'
import { createHash } from 'node:crypto'
import { SITUATIONS } from '../host-contract/all-situations.ts'
import type { ContractWorld } from '../host-contract/host-kind.ts'
import { RESTART_SITUATIONS } from '../host-contract/restart-situations.ts'
import { act, createClientTool, listCalls, never } from '../host-contract/situation-parts.ts'
import type { Stage } from '../host-contract/situation.ts'

/** Plays the situation. Returns the session whose log is kept, if it is not that of the stage's newest world. */
export type KeptAct = (stage: Stage) => Promise<string | void>

const NAMED: Readonly<Record<string, string>> = {
  'text-turns': 'an input that is sent during a turn is answered by the next one',
  'steered-input': 'an input that steers reaches the model with the results of the running step',
  overheard: 'what is overheard is kept together and shown with the next silence, in one turn',
  'urgent-event': 'an urgent event steers the running turn, and one without a turn begins one',
  reminders: 'a reminder of a rule comes at each of its times, until it is cancelled',
  'cited-sources': 'an answer has what its steps cite, each once, and has it after a restart, too',
  'parallel-calls': 'calls run at once, eight at most, and their results go back in the order of the calls',
  'call-deadline': 'a tool that hangs settles at its deadline, and the turn ends',
  'late-result': 'a tool that ignores its signal and finishes late is logged, and changes nothing',
  'restart-of-pure-call':
    'a pure tool that asked runs again after a restart, and its question has the answer that was given',
  'restart-of-once-call': 'a once tool that asked is unknown after a restart, and its question is withdrawn',
  'round-limit': 'when the rounds are used up the model answers without tools',
  'turn-ends-at-tool': 'a turn ends at a tool, and its answer has the calls of that step',
  plan: 'a plan replaces the one before it, the newest counts, and what is no plan is logged',
  'model-asked-by-tool': 'a tool asks the model of the turn, which is told nothing of the conversation',
  'client-claims': 'a client that comes now and then claims its call, brings the result, and is known by its name',
  'client-lease-ends': 'a client that does not renew its lease is gone, and its call goes to another one',
  'client-late-result': 'a client whose lease is over brings the result of the call that it claimed',
  'client-fallback': 'a call that no client takes runs by its fallback, with the arguments of the model',
  'client-brings-tool': 'a tool that a client brings is offered to the model, and runs on that client alone',
  'client-leaves-once-call':
    'a client that detaches while it runs a once call leaves it unknown, and nobody runs it again',
  'approval-denied': 'a call that a person denies does not run, and the model is told why',
  'approval-edited': 'an edit is validated, approves what was edited, and the tool gets that',
  'approval-expires': 'a call that nobody approves expires, and the turn ends',
  'approval-of-two': 'a call that two of three people have to approve runs after the second, and each is named',
  'approval-remembered': 'a decision that is remembered for the tool, or for its arguments, asks no more',
  'approval-over-restart': 'a request waits over a restart, and its decision counts after it',
  'answer-approved': 'a person approves an answer as a call is approved, and the turn has it',
  'answer-refused': 'an answer that does not fit is asked for once more, with what is wrong in front of the model',
  'output-of-turn': 'one turn answers with a value, and the next one in words',
  questions: 'a call asks twice, and each question has its own answer',
  'question-withdrawn': 'a question whose call is interrupted is withdrawn, and an answer to it is refused',
  taint:
    'once the model has read untrusted data, a taint policy asks once for each destination, and marks what was copied',
  'interrupted-model': 'an interrupt while the model speaks keeps what it had said',
  'interrupted-tool': 'an input that interrupts a running tool is answered at once, and the tool’s result is told late',
  'detached-tool':
    'a tool that goes on after an interrupt: the next input is answered at once, and a note tells the outcome',
  'heard-part': 'an answer that was displayed before the interrupt was heard',
  'cut-words': 'an interrupt by an input counts words while the model writes, over two steps',
  retry: 'text of a failed attempt is superseded, and only the new one is the answer',
  'failed-turn': 'a model that fails is asked again after a pause that grows, then the turn fails with its code',
  'fallback-model': 'the second model answers where the first cannot',
  summary: 'a summary is asked for with what was said and called, and stands in its place',
  window: 'a message behind the window comes back with all that it said',
  rewind: 'a message is said otherwise, and an answer is asked for once more',
  'rewind-of-running-turn': 'a running turn is ended by a rewind that interrupts, and by no other',
  'withdrawn-input': 'an input that waits is withdrawn, alone or with an interrupt',
  pause: 'what is said during a pause is answered after it, and the answer that was cut off is asked for again',
  stop: 'a stop settles every call, calls nothing more, and refuses what is said with a code',
  'settings-of-input': 'settings of an input hold for its turn only',
  'model-set': 'another model answers from the next step on, and a turn can name its own',
  description: 'a session is named, and what a program notes of it is kept; a title that is too long is refused',
  'agent-changes':
    'a handle that names another agent changes it while the session is open; calls of tools that are gone settle',
  'sources-change': 'tools of a source come and go in a living session',
  media: 'pictures of inputs and results are handles in records, and reach the model as they were handed in',
}

const OWN: Readonly<Record<string, KeptAct>> = {
  fork: async ({ createWorld }) => {
    const { open, time } = await createWorld({
      tools: [act(() => 'done')],
      steps: [listCalls('act'), { text: 'one' }, { text: 'two' }],
    })
    const session = await open()
    for (const inputId of ['first', 'second']) await time.until(session.send(inputId, { inputId }).answer)
    return await time.until(session.fork({ before: 'second' }))
  },
  'cut-off-call': async ({ createWorld }) => {
    const cut = { calls: [{ name: 'act', arguments: '{"a": [1, 2' }], finish: 'max-tokens' } as const
    const { open, time } = await createWorld({ tools: [act(() => 'done')], steps: [cut, { text: 'shorter' }] })
    await time.until((await open()).send('go').answer)
  },
  'reasoning-and-usage': async ({ createWorld }) => {
    const usage = { inputTokens: 12, outputTokens: 5, cachedInputTokens: 2 }
    const { open, time } = await createWorld({ steps: [{ reasoning: 'Let me see.', text: 'Forty-two.', usage }] })
    await time.until((await open()).send('What is it?').answer)
  },
  'refused-media': async ({ createWorld }) => {
    const picture: ContentPart = {
      type: 'image',
      mediaType: 'image/png',
      source: { type: 'base64', data: 'cGljdHVyZQ==' },
    }
    const error = new BatonError({ code: 'model_invalid_request', message: 'the image is too large', retryable: false })
    const { open, time } = await createWorld({ steps: [{ error }, { text: 'fine' }] })
    const session = await open()
    await time.until(session.send([{ type: 'text', text: 'Look' }, picture]).answer.catch(() => {}))
    await time.until(session.send('Never mind').answer)
  },
  'mcp-tool': async ({ createWorld }) => {
    const issues = { content: [{ type: 'text', text: 'two issues' }] }
    const list = act(() => issues, { name: 'github.list_issues', trust: 'untrusted' })
    const source = { name: 'github', list: async () => [list], onChange: () => () => {} }
    const { open, time } = await createWorld({
      sources: [source],
      steps: [listCalls('github.list_issues'), { text: 'Two.' }],
    })
    await time.until((await open()).send('How many issues?').answer)
  },
  'answer-cut': async ({ createWorld }) => {
    const { open, time } = await createWorld({ steps: [{ text: 'One. Two. Three.' }, { text: 'fine' }] })
    const session = await open()
    await time.until(session.send('count').answer)
    await session.interrupt({ heard: { type: 'chars', chars: 9 } })
    await time.until(session.send('go on').answer)
  },
  'restart-in-mid-answer': async ({ createWorld }) => {
    const pieces = Array.from({ length: 40 }, (_, index) => `word ${index} `)
    const before = await createWorld({ steps: [{ pieces, pieceMs: 100 }] })
    const session = await before.open()
    session.send('go', { inputId: 'asked' }).answer.catch(() => {})
    await before.time.pass(2000)
    const after = await before.restart?.({ steps: [{ text: 'again' }] })
    await after?.time.until((await after.open()).turn('asked').answer)
  },
  'interrupted-client-call': async ({ createWorld }) => {
    const look = createClientTool('look', 'once')
    const { open, time } = await createWorld({ tools: [look], steps: [listCalls('look'), { text: 'fine' }] })
    const session = await open()
    await session.attach({ look: never })
    session.send('go').answer.catch(() => {})
    await time.settle()
    await session.interrupt()
    await time.until(session.send('more').answer)
  },
  'settings-of-session': async ({ createWorld }) => {
    const { open, time } = await createWorld({ steps: [{ text: 'one' }, { text: 'two' }] })
    const session = await open()
    await session.configure({ settings: { temperature: 0.5 } })
    await time.until(session.send('first', { settings: { maxOutputTokens: 100 } }).answer)
    await session.configure({ settings: null })
    await time.until(session.send('second').answer)
  },
  'steered-settings': async ({ createWorld }) => {
    const tools = [act(() => 'done')]
    const { open, time } = await createWorld({ tools, steps: [listCalls('act'), { text: 'two' }] })
    const session = await open()
    const { answer } = session.send('first')
    session.send('second', { delivery: 'steer', settings: { temperature: 0 } }).answer.catch(() => {})
    await time.until(answer)
  },
  'stop-and-start': async ({ createWorld }) => {
    const { open, time } = await createWorld({ steps: [{ text: 'one' }] })
    const session = await open()
    await session.control('stop')
    await session.control('start')
    await time.until(session.send('go').answer)
  },
  'task-settled': async ({ createWorld }) => {
    const job = Promise.withResolvers<string>()
    const tool = act(() => job.promise, { name: 'export', effect: 'once', background: true })
    const steps = [listCalls('export'), { text: 'It runs.' }, { text: 'It is done.' }]
    const { open, time } = await createWorld({ tools: [tool], steps })
    const session = await open()
    await time.until(session.send('Export it.').answer)
    job.resolve('file 7')
    await time.pass(1000)
  },
  'task-cancelled': async ({ createWorld }) => {
    const tool = act(never, { name: 'export', effect: 'once', background: true })
    const steps = [listCalls('export'), { text: 'It runs.' }, { text: 'It is cancelled.' }]
    const { open, time } = await createWorld({ tools: [tool], steps })
    const session = await open()
    await time.until(session.send('Export it.').answer)
    for (const { callId } of await session.tasks()) await session.cancel(callId)
    await time.pass(1000)
  },
  tree: async ({ createWorld }) => {
    await playTree(await createTree(createWorld))
  },
  'tree-child': async ({ createWorld }) => {
    const world = await createTree(createWorld)
    await playTree(world)
    const [begun] = await world.facts('child-begun')
    const digest = createHash('sha256').update(`${world.session}\n${begun?.callId}`).digest('base64url')
    return `${CHILD_PREFIX}${digest}`
  },
  'tree-interrupted': async ({ createWorld }) => {
    const world = await createTree(createWorld)
    const session = await world.open()
    session.send('go').answer.catch(() => {})
    await world.time.pass(1000)
    await session.interrupt()
    await world.time.pass(60_000)
  },
}

/** Delegates to a helper whose calls need a person and a client. */
async function createTree(createWorld: Stage['createWorld']): Promise<ContractWorld> {
  const pay = act(() => 'paid', { name: 'pay', effect: 'once', approval: true })
  const model = createScriptedModel({ steps: [listCalls('pay', 'look'), { text: 'It is paid.' }] })
  const helper = defineAgent({ name: 'helper', model, tools: [pay, createClientTool('look')] })
  const ask = delegate({ agent: helper, description: 'Helps' })
  const first = { calls: [{ name: 'helper', arguments: { task: 'Pay it.' } }] }
  return await createWorld({ tools: [ask], steps: [first, { text: 'Done.' }] })
}

async function playTree({ open, time }: ContractWorld): Promise<void> {
  const session = await open()
  await session.attach({ look: () => 'a red door' })
  const { answer } = session.send('go')
  await time.settle()
  for (const { approvalId } of await session.approvals()) await session.decide({ approvalId, decision: 'approve' })
  await time.until(answer)
}

const PLAYED = { ...SITUATIONS, ...RESTART_SITUATIONS }

/** @throws Error if a situation was renamed */
export function findKept(name: string): KeptAct {
  const found = OWN[name] ?? PLAYED[NAMED[name] ?? '']
  if (!found) throw new Error(`no situation is called "${NAMED[name] ?? name}"`)
  return found
}

export const KEPT_NAMES: readonly string[] = [...Object.keys(NAMED), ...Object.keys(OWN)]
