// A booking continues while the user asks another question, and the agent reports its outcome as soon as it is known.
import { createScriptedModel } from '@baton/host/testing'
import type { Session } from '@baton/host'
import { createHost, defineAgent, tool } from '@baton/host'

const began = createSignal()
const booked = createSignal()
const book = tool({
  name: 'seats.book',
  description: 'Books a seat',
  input: { type: 'object' },
  effect: 'once',
  onInterrupt: 'detach',
  execute: async () => {
    began.give()
    await booked.given // here: call the booking system
    return { seat: 14 }
  },
})

function createSignal() {
  let give = (): void => {}
  const given = new Promise<void>((resolve) => (give = resolve))
  return { given, give }
}

/** The note with the outcome waits for the next input, so this sends one. */
async function tellOutcome(session: Session): Promise<string> {
  const detached = new Set<string>()
  for await (const event of session.events({ from: 'now', delivery: true })) {
    if (event.type === 'call' && event.call.result?.type === 'cancelled' && event.call.result.detached)
      detached.add(event.call.callId)
    if (event.type !== 'result-ignored' || !detached.has(event.callId)) continue
    const inputId = `${event.callId}-ended`
    await session.notify({ name: 'TOOL_ENDED', message: 'Tell the user the outcome.', inputId })
    return (await session.turn(inputId).answer).text
  }
  throw new Error('the session was closed')
}

const model = createScriptedModel({
  steps: [
    { calls: [{ name: 'seats.book', arguments: {} }] },
    { text: 'The dining car opens at ten.' },
    { text: 'Seat 14 is yours.' },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'trains', model, tools: [book] }) })
const session = await host.session('trip')
const told = tellOutcome(session)
session.send('Book me a seat.').answer.catch(() => {}) // the next message interrupts it
await began.given
console.log((await session.send('Is there food?', { delivery: 'interrupt' }).answer).text)
booked.give()
console.log(await told)
for (const part of model.requests.at(-1)?.messages.at(-1)?.parts ?? [])
  if (part.type === 'text') console.log('it read:', part.text.split('\n').join(' '))
await host.stop()
