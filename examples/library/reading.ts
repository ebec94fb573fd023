// Reading a conversation: as events from any place, in pages, and rewound to a message.
import { Conversation, createHost, createOfflineModel, defineAgent } from '@baton/host'

const host = createHost({ agent: defineAgent({ name: 'friend', model: createOfflineModel() }) })
const session = await host.session('chat')

for await (const event of session.send('What is the capital of Norway?', { inputId: 'question' }))
  if (event.type === 'text') process.stdout.write(event.text)
process.stdout.write('\n')

// A reader that leaves after any event continues exactly there.
const stream = session.events({ from: 'start' })
const first = await stream.nextBatch()
stream.leave()
const conversation = new Conversation()
for (const event of first?.events ?? []) conversation.take(event)
for await (const event of session.events({ from: first?.next ?? 'start' })) {
  conversation.take(event)
  if (event.type === 'live') break
}
console.log(conversation.messages().map(({ role }) => role))

// The same in pages, newest last; `info` is the state of the session and what it waits for.
const { messages } = await session.messages({ limit: 2 })
console.log(
  messages.map(({ id }) => id),
  (await session.info()).activity,
)

// Rephrased: the old message and its answer are removed, in one commit.
const edited = await session.rewind({ message: 'question', replace: 'What is the capital of Peru?' })
if (edited.turn !== undefined) {
  const { text, stop, limits } = await session.turn(edited.turn).answer
  console.log(text, stop, limits)
}
await host.stop()
