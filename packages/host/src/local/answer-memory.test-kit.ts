// A program that streams long answers into a host over a SQLite file, and prints the heap's bytes during and after. It
// runs with --expose-gc; its arguments are the number of answers, the UTF-16 units of each, and the store's path.
import { setImmediate } from 'node:timers/promises'
import { createHost, defineAgent, openSqliteStore } from '../index.ts'

const [answers = 1, chars = 0, path = ''] = process.argv.slice(-3).map((word, at) => (at < 2 ? Number(word) : word))

/** The length of a token with its space. */
const PIECE_CHARS = 8
/** Pieces between two turns of the event loop, which give records time to be written. */
const BURST = 200
const MEASURES = 8

function writePiece(at: number): string {
  return `${String(at).padStart(PIECE_CHARS - 1, '.')} `
}

function measure(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

let peakBytes = 0
let asked = 0
const agent = defineAgent({
  name: 'writer',
  model: {
    id: 'writer',
    provider: 'test',
    capabilities: { tools: 'native', images: false },
    async run(_request, sink) {
      const count = asked++ < Number(answers) ? Math.ceil(Number(chars) / PIECE_CHARS) : 1
      const every = Math.ceil(count / MEASURES)
      for (let at = 0; at < count; at++) {
        sink({ type: 'text-delta', text: writePiece(at) })
        if (at % BURST === 0) await setImmediate()
        if (at % every === every - 1) peakBytes = Math.max(peakBytes, measure())
      }
      const text = Array.from({ length: count }, (_, at) => writePiece(at)).join('')
      return { parts: [{ type: 'text', text }], finish: 'end', usage: {}, model: 'writer' }
    },
  },
})

const store = await openSqliteStore(String(path))
const host = createHost({ agent, store })
const session = await host.session('s')
const before = measure()
for (let at = 0; at < Number(answers); at++) await session.send('Write').answer
// Earlier writes of the store's thread finish before this one is answered. Its messages may still hold their records,
// so the smallest of several measurements counts.
let after = Infinity
for (let look = 0; look < MEASURES; look++) {
  await session.send('Write').answer
  after = Math.min(after, measure())
}
process.stdout.write(JSON.stringify({ peak: peakBytes - before, retained: after - before }))
await host.stop()
await store.close()
