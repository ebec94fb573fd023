// The apps of the load test: a number of connections, each with its own session, and the latency of each piece of text.
import { once } from 'node:events'
import { WebSocket } from 'ws'

export interface AppsReport {
  /** Milliseconds from the model to the app. */
  readonly p50: number
  readonly p99: number
  readonly frames: number
  readonly cpuMs: number
}

const [kind = 'baton', ports = '', count = '0', seconds = '0'] = process.argv.slice(2)
const places = ports.split(',').map(Number)
const tell = (what: object): void => void process.send?.(what)
const sockets: WebSocket[] = []
let delays: number[] = []
let frames = 0
/** Prefix of every piece from the model. */
const MOMENT = /"text":"(\d{13}) /g

function take(text: string): void {
  const nowMs = Date.now()
  for (const [, moment] of text.matchAll(MOMENT)) {
    frames += 1
    delays.push(nowMs - Number(moment))
  }
}

async function connect(index: number, speaks: boolean): Promise<void> {
  const port = places[index % places.length] ?? 0
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, kind === 'bare' ? [] : ['baton.v2'], {
    perMessageDeflate: false,
  })
  sockets.push(socket)
  const opened = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const text = data.toString()
      if (text.includes(kind === 'connected' ? '"type":"hello"' : '"re":"open"')) resolve()
      take(text)
    })
  })
  await once(socket, 'open')
  if (kind === 'connected') await opened
  if (kind === 'baton') {
    socket.send(JSON.stringify({ id: 'open', type: 'session.open', session: `s${index}`, from: 'now' }))
    await opened
  }
  if (speaks) socket.send(JSON.stringify({ id: 'send', type: 'input.send', input: 'i1', content: 'What time is it?' }))
}

async function connectAll(from: number, speaks: boolean): Promise<void> {
  const last = from + Number(count)
  for (let index = from; index < last; index += 50)
    await Promise.all(Array.from({ length: Math.min(50, last - index) }, (_, i) => connect(index + i, speaks)))
}

function report(cpuMs: number): AppsReport {
  const sorted = delays.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), frames, cpuMs }
}

process.on('message', ({ type }: { readonly type: string }) => {
  if (type === 'end') process.exit()
  if (type === 'more') void connectAll(Number(count), false).then(() => setTimeout(() => tell({ ready: true }), 1000))
  if (type !== 'begin') return
  delays = []
  frames = 0
  const before = process.cpuUsage()
  setTimeout(
    () => {
      const { user, system } = process.cpuUsage(before)
      tell(report((user + system) / 1000))
    },
    Number(seconds) * 1000,
  )
})
await connectAll(0, Number(seconds) > 0)
// All sessions have begun, and start-up costs have settled.
setTimeout(() => tell({ ready: true }), 2000)
