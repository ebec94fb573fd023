// The client of version 2 as a separate program, for the tests of clients in all languages: it plays the turn of the
// home agent and prints a line of JSON for each event, for each effect of its tool, and for the answer.
import { openSession } from '../index.ts'

const [url = '', session = '', text = ''] = process.argv.slice(2)
const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const done = new Set<string>()

const client = openSession({
  url,
  session,
  reconnect: { baseMs: 20, mostMs: 100 },
  tools: {
    camera: () => {
      print({ effect: 'camera' })
      return 'a hall'
    },
  },
})
client.on('event', (event) => print({ event }))
client.subscribe(() => {
  const { approvals, questions } = client.getSnapshot()
  for (const { approvalId } of approvals)
    if (!done.has(approvalId)) {
      done.add(approvalId)
      client.decide({ approvalId, decision: 'approve' }).catch(tell)
    }
  for (const { questionId } of questions)
    if (!done.has(questionId)) {
      done.add(questionId)
      client.answer({ questionId, value: { card: 'red' } }).catch(tell)
    }
})

/** A question disappears with the server that asked it. */
function tell(cause: unknown): void {
  if (!String(cause).includes('no such question is open')) process.stderr.write(`${String(cause)}\n`)
}

const answer = await client.send(text).answer
print({ said: answer.text })
client.close()
