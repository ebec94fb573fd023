// An agent with a tool of each kind: run by the server, run by the page, and approved by a person.
import { defineAgent, tool } from '@baton/host'

const none = { type: 'object', properties: {}, additionalProperties: false } as const

export default defineAgent({
  name: 'chat-web',
  instructions: 'You help a person in a web page. Use your tools when they help, and answer in a few sentences.',
  tools: [
    tool({
      name: 'time.now',
      description: 'The time of the server, in UTC',
      input: none,
      effect: 'pure',
      title: 'Time',
      kind: 'read',
      execute: () => new Date().toISOString(),
    }),
    // No `execute`: the page runs it.
    tool({
      name: 'page.theme',
      description: 'Makes the page dark or light',
      input: { type: 'object', properties: { theme: { enum: ['dark', 'light'] } }, required: ['theme'] },
      effect: 'idempotent',
      title: 'Theme of the page',
    }),
    // Pinned at most once: after a lost connection the page is not asked a second time.
    tool({
      name: 'page.notice',
      description: 'Pins a short notice to the page',
      input: { type: 'object', properties: { text: { type: 'string', maxLength: 200 } }, required: ['text'] },
      effect: 'once',
      title: 'Pin a notice',
    }),
    tool({
      name: 'note.save',
      description: 'Keeps a note of the user',
      input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      effect: 'once',
      title: 'Save a note',
      kind: 'edit',
      approval: true,
      execute: ({ text }) => `saved ${text.length} characters`,
    }),
  ],
})
