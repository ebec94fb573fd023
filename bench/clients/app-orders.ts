// Behavior shared by all app processes: opens the requested number of connections, and runs turns over them, one at a
// time on each.

export interface Connection {
  turn(): Promise<Turned>
}

export interface Turned {
  readonly chars: number
  readonly tools: number
}

export interface AppOrder {
  readonly connections: number
  readonly turns: number
}

/** Serves orders until the parent process ends. */
export function serveOrders(connect: () => Promise<Connection>): void {
  const connections: Connection[] = []
  const obey = async (order: AppOrder): Promise<Turned> => {
    while (connections.length < order.connections) connections.push(await connect())
    const sum = { chars: 0, tools: 0 }
    let left = order.turns
    const work = async (connection: Connection): Promise<void> => {
      while (left-- > 0) {
        const { chars, tools } = await connection.turn()
        sum.chars += chars
        sum.tools += tools
      }
    }
    await Promise.all(connections.slice(0, order.connections).map(work))
    return sum
  }
  process.on('disconnect', () => process.exit(0))
  process.on('message', (order: AppOrder) => {
    obey(order).then(
      (ran) => process.send?.(ran),
      (cause: unknown) => process.send?.({ error: String(cause) }),
    )
  })
}
