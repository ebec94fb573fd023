// The client of this repository as a program: a device of the home agent that takes pictures, approves payments, and
// knows the card. Prints events as lines of JSON. Without a text it says nothing and stays until the first turn is
// over.
import { openSession } from '@baton/client'

const [url = '', session = '', text = ''] = process.argv.slice(2)
const tell = (what: object): void => void process.stdout.write(`${JSON.stringify(what)}\n`)

const home = openSession({
  url,
  session,
  reconnect: { baseMs: 20, mostMs: 100 },
  tools: {
    camera: () => {
      tell({ effect: 'camera' })
      return 'a hall'
    },
  },
})
const heard = Promise.withResolvers<string>()
home.on('event', (event) => {
  tell({ event })
  if (event.type === 'turn-finished') heard.resolve(event.text)
  // A rejection means that it was already decided, which the events report.
  const settle = (given: Promise<void>): void => void given.catch(() => {})
  if (event.type === 'approval-requested') settle(home.decide({ approvalId: event.approvalId, decision: 'approve' }))
  if (event.type === 'question-asked') settle(home.answer({ questionId: event.questionId, value: { card: 'red' } }))
})
tell({ said: text === '' ? await heard.promise : (await home.send(text).answer).text })
home.close()
