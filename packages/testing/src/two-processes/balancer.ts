// A balancer in front of several servers: one TCP port whose connections go to each in turn, or to the next one if it
// refuses.
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'

export interface Balancer {
  readonly port: number
  close(): Promise<void>
}

export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>()
  let turn = 0
  const server = createServer((client) => {
    open.add(client)
    client.on('close', () => open.delete(client)).on('error', () => client.destroy())
    turn += 1
    join(
      client,
      ports.map((_, index) => ports[(turn + index) % ports.length] ?? 0),
    )
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    close: async () => {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

function join(client: Socket, [port, ...others]: readonly number[]): void {
  if (port === undefined) {
    client.destroy()
    return
  }
  const upstream = connect(port, '127.0.0.1')
  upstream.once('connect', () => client.pipe(upstream).pipe(client))
  upstream.once('error', () =>
    upstream.connecting || upstream.bytesRead === 0 ? join(client, others) : client.destroy(),
  )
  upstream.once('close', () => upstream.bytesRead > 0 && client.destroy())
  client.once('close', () => upstream.destroy())
}
