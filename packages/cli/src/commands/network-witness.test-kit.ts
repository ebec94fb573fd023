// Runs a command in a network namespace that routes every address to this program, and prints the connections and
// datagrams received and the kernel's own counts as JSON. Run as
// `unshare --map-root-user --net node network-witness.test-kit.ts COMMAND [ARGUMENT…]`.
import { execFileSync, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

export interface Witnessed {
  /** Connection targets as `address:port`, and looked-up names. */
  readonly seen: readonly string[]
  /** TCP connections attempted, including local ones. */
  readonly connections: number
  /** UDP datagrams sent. */
  readonly datagrams: number
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

const PORTS = [53, 80, 443, 8080]

async function witness([program = '', ...words]: readonly string[]): Promise<Witnessed> {
  for (const line of ['link set lo up', 'route add local 0.0.0.0/0 dev lo', '-6 route add local ::/0 dev lo'])
    execFileSync('ip', line.split(' '))
  const seen = new Set<string>()
  for (const port of PORTS) await listen(port, seen)
  const names = createSocket({ type: 'udp6', ipv6Only: false })
  names.on('message', () => seen.add('a name server'))
  names.bind(53)
  await once(names, 'listening')
  const before = count()
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  const after = count()
  return {
    seen: [...seen].toSorted(),
    connections: after.connections - before.connections,
    datagrams: after.datagrams - before.datagrams,
    code,
    output,
    errors,
  }
}

/** Rejects every request. */
async function listen(port: number, seen: Set<string>): Promise<void> {
  const server = createServer((socket) => {
    seen.add(`${socket.localAddress?.replace(/^::ffff:/, '')}:${port}`)
    socket.on('error', () => {})
    socket.end('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  })
  server.listen(port, '::')
  await once(server, 'listening')
}

/** Reads the kernel's counters, which cover this namespace only. */
function count(): { readonly connections: number; readonly datagrams: number } {
  const text = readFileSync('/proc/self/net/snmp', 'utf8')
  const read = (table: string, column: string): number => {
    const [names = [], values = []] = [...text.matchAll(new RegExp(`^${table}: (.*)$`, 'gm'))].map(([, row = '']) =>
      row.split(' '),
    )
    return Number(values[names.indexOf(column)])
  }
  const six = /^Udp6OutDatagrams\s+(\d+)$/m.exec(readFileSync('/proc/self/net/snmp6', 'utf8'))?.[1]
  return { connections: read('Tcp', 'ActiveOpens'), datagrams: read('Udp', 'OutDatagrams') + Number(six) }
}

process.stdout.write(JSON.stringify(await witness(process.argv.slice(2))), () => process.exit(0))
