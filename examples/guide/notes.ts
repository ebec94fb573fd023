// Notes about a user that outlive the window and the session: a tool writes them, and each step reads them in its
// instructions.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, type Principal, tool } from '@baton/host'
import { z } from 'zod'

/** Here: your database. */
function createNotes() {
  const texts = new Map<string, string>()
  return {
    read: (principalId: string) => texts.get(principalId) ?? 'none yet',
    write: (principalId: string, text: string) => void texts.set(principalId, text),
  }
}

function createWaiter({ id }: Principal, notes: ReturnType<typeof createNotes>) {
  const write = tool({
    name: 'notes.write',
    description: 'Replaces your notes about the user. Keep names, wishes and decisions in them',
    input: z.object({ notes: z.string().max(2000) }),
    effect: 'idempotent',
    execute: ({ notes: text }) => notes.write(id, text),
  })
  const model = createScriptedModel({
    steps: ({ messages, instructions }) => {
      if (messages.at(-1)?.role === 'tool') return { text: 'I shall remember it.' }
      if (instructions.includes('vegetarian')) return { text: 'Something without meat, as always.' }
      return { calls: [{ name: 'notes.write', arguments: { notes: 'vegetarian' } }] }
    },
  })
  const instructions = 'You help at the table.'
  return defineAgent({
    name: 'waiter',
    model,
    instructions,
    tools: [write],
    window: { exchanges: 20, summarise: false },
    prepareStep: () => ({
      instructions: `${instructions}\n\nYour notes about the user:\n${notes.read(id)}`,
    }),
  })
}

const notes = createNotes()
const host = createHost({ agentOf: ({ principal }) => createWaiter(principal, notes) })
const first = await host.session('monday', { principal: { id: 'ann' } })
console.log((await first.send('I eat no meat.').answer).text)
const second = await host.session('friday', { principal: { id: 'ann' } })
console.log((await second.send('What can I have?').answer).text)
await host.stop()
