// A booking goes on while the user asks something else, and the agent tells its outcome as soon as it is there.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'

const began = Promise.withResolvers<void>()
const booked = Promise.withResolvers<void>()
const book = tool({
  name: 'seats.book',
  description: 'Books a seat',
  input: { type: 'object' },
  effect: 'once',
  onInterrupt: 'detach',
  execute: async () => {
    began.resolve()
    await booked.promise // here: ask the booking system
    return { seat: 14 }
  },
})
const model = createScriptedModel({
  steps: [
    { calls: [{ name: 'seats.book', arguments: {} }] },
    { text: 'The dining car opens at ten.' },
    { text: 'Seat 14 is yours.' },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'trains', model, tools: [book] }) })
const session = await host.session('trip')
const events = session.events({ from: 'now', delivery: true })

session.send('Book me a seat.').answer.catch(() => {}) // the next words interrupt it
await began.promise
await session.send('Is there food?', { delivery: 'interrupt' }).answer
booked.resolve()

const detached = new Set<string>()
for await (const event of events) {
  if (event.type === 'call' && event.call.result?.type === 'cancelled' && event.call.result.detached)
    detached.add(event.call.callId)
  // The note with the outcome waits for the next input: this is one.
  if (event.type === 'result-ignored' && detached.delete(event.callId))
    await session.notify({ name: 'TOOL_ENDED', message: 'Tell the user the outcome.', inputId: `${event.callId}-told` })
  if (event.type === 'turn-finished' && event.stop === 'end') console.log('agent:', event.text)
  if (event.type === 'turn-finished' && event.text.startsWith('Seat')) break
}
for (const part of model.requests.at(-1)?.messages.at(-1)?.parts ?? [])
  if (part.type === 'text') console.log('it read:', part.text.split('\n').join(' '))
await host.stop()
