// A local name server that answers each query with the next in a list of uncacheable addresses: the setup of an
// attacker trying to bypass a check.
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'

export interface RebindingDns {
  /** Resolves through this server. */
  readonly resolve: (name: string) => Promise<readonly string[]>
  /** Queried names. */
  readonly asked: string[]
  close(): Promise<void>
}

/** @param answers IPv4 addresses: one list per query; the last one is repeated */
export async function startRebindingDns(answers: readonly (readonly string[])[]): Promise<RebindingDns> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, from) => {
    const { name, end } = readName(query)
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? []
    asked.push(name)
    socket.send(encodeAnswer(query, end, addresses), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const resolver = new Resolver({ timeout: 10_000, tries: 1 })
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  return {
    resolve: (name) => resolver.resolve4(name),
    asked,
    close: async () => {
      resolver.cancel()
      await new Promise<void>((resolve) => socket.close(() => resolve()))
    },
  }
}

/** Reads the single question after the 12-byte header; `end` is after its type and class. */
function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), end: at + 5 }
}

function encodeAnswer(query: Buffer, questionEnd: number, addresses: readonly string[]): Buffer {
  const header = Buffer.alloc(12)
  query.copy(header, 0, 0, 2)
  header.writeUInt16BE(0x8180, 2) // an answer, without an error
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(addresses.length, 6)
  const records = addresses.map((address) => {
    const record = Buffer.alloc(16)
    record.writeUInt16BE(0xc00c, 0) // the name of the question
    record.writeUInt16BE(1, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt32BE(0, 6) // it must not be cached
    record.writeUInt16BE(4, 10)
    for (const [at, byte] of address.split('.').entries()) record[12 + at] = Number(byte)
    return record
  })
  return Buffer.concat([header, query.subarray(12, questionEnd), ...records])
}
