// `baton chat --once`: one question to an embedded host. The answer streams to the output; calls are notes beside it.
import type { Agent, Session, TurnEvent } from '@baton/core'
import type { Settlement } from '@baton/core/machine'
import type { Console } from './console.ts'
import { openEmbeddedHost } from './embedded-host.ts'
import type { ChatOptions } from './options.ts'

export async function chat(options: ChatOptions, terminal: Console): Promise<number> {
  const embedded = await openEmbeddedHost({ ...options, terminal })
  const { host, agent, choice, environment } = embedded
  terminal.note(`model ${choice.id}, ${choice.reason}`)
  try {
    const session = await host.session(environment.newId())
    await attachNobody(session, agent)
    const stopListening = terminal.onStop(() => {
      // The turn ends as interrupted; a session that is gone needs no more.
      session.interrupt({ reason: 'signal' }).catch(() => {})
    })
    const turn = session.send(options.once)
    await tell(turn.events, terminal)
    const answer = await turn.answer
    stopListening()
    return answer.outcome === 'answered' ? 0 : 1
  } finally {
    await embedded.stop(0)
  }
}

/** Nobody is there to run a client's tools, so their calls fail at once instead of waiting for somebody. */
async function attachNobody(session: Session, agent: Agent): Promise<void> {
  const tools = agent.tools.filter((tool) => !tool.execute)
  if (tools.length === 0) return
  const refuse = (): never => {
    throw new Error('this tool runs in an app, and none is connected to "baton chat"')
  }
  await session.attach(Object.fromEntries(tools.map(({ name }) => [name, refuse])))
}

/** Characters of a call's arguments in its note. */
const SHOWN_CHARS = 100

/** Writes a turn down while it happens. */
export async function tell(events: AsyncIterable<TurnEvent>, terminal: Console): Promise<void> {
  const names = new Map<string, string>()
  let lineIsOpen = false
  /** Text of the step that runs has been shown. */
  let hasSpoken = false
  const endLine = (): void => {
    if (lineIsOpen) terminal.write('\n')
    lineIsOpen = false
  }
  for await (const event of events) {
    switch (event.type) {
      case 'text-delta':
        terminal.write(event.text)
        lineIsOpen = true
        hasSpoken = true
        break
      case 'attempt-superseded':
        endLine()
        terminal.note(askedAgain(event.reason, hasSpoken))
        hasSpoken = false
        break
      case 'call-proposed':
        endLine()
        hasSpoken = false
        names.set(event.call.callId, event.call.name)
        terminal.note(`> ${event.call.name} ${shortened(event.call.arguments)}`)
        break
      case 'call-settled':
        terminal.note(`  ${names.get(event.callId) ?? event.callId}: ${settled(event.settlement)}`)
        break
      case 'turn-finished':
        endLine()
        if (event.outcome !== 'answered' && event.outcome !== 'failed') terminal.note(`the turn was ${event.outcome}`)
        break
      default:
        break
    }
  }
}

/** Why another attempt of the same step is made; a reason that is new here is told as it is. */
const WHY: Readonly<Record<string, string>> = {
  failed: 'the last attempt failed',
  fallback: 'another model takes over',
  'model-set': 'another model was chosen',
  restart: 'the host was restarted',
  empty: 'its answer was empty',
  paused: 'the session was paused',
  'context-full': 'the conversation is too long for it and is shortened',
}

function askedAgain(reason: string, hasSpoken: boolean): string {
  const why = Object.hasOwn(WHY, reason) ? WHY[reason] : reason
  return `the model is asked again: ${why}${hasSpoken ? '; what it said since its last call is void' : ''}`
}

function settled(settlement: Settlement): string {
  if (settlement.type === 'error' || settlement.type === 'denied')
    return `${settlement.type}, ${shortened(settlement.message)}`
  return settlement.type
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line
}
