// Twenty worlds in which processes die, the store fails and the client loses its connection: no customer is charged
// twice.
import { defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { simulate } from '@baton/testing'

async function checkIn(): Promise<string> {
  const charged = new Map<string, number>()
  const charge = tool({
    name: 'charge',
    description: 'Charges the customer',
    input: { type: 'object' },
    effect: 'once',
    execute: (_, { callId }) => void charged.set(callId, (charged.get(callId) ?? 0) + 1),
  })
  const unlock = tool({ name: 'unlock', description: 'Opens the door', input: { type: 'object' }, effect: 'once' })
  const calls = ['charge', 'unlock'].map((name) => ({ name, arguments: {} }))
  // Its answers depend on the request alone: after a crash it is called again.
  const model = createScriptedModel({
    steps: ({ messages }) => (messages.at(-1)?.role === 'tool' ? { text: 'Come in!' } : { calls }),
  })
  const { seeds, crashes } = await simulate(defineAgent({ name: 'hotel', model, tools: [charge, unlock] }), {
    says: ['I am here', 'I am here again'],
    client: { unlock: () => 'open' },
    seeds: 20,
    faults: ['crash', 'store', 'disconnect'],
    check: () => {
      for (const [callId, times] of charged) if (times > 1) throw new Error(`${callId} was charged ${times} times`)
      charged.clear()
    },
  })
  return `${seeds} worlds, ${crashes > 0 ? 'with' : 'without'} crashes, nothing broke`
}

console.log(await checkIn())
