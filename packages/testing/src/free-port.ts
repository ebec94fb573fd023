// A port for a server that is killed and started again on it. The system's own choices come from 32768 on (Linux) or 49152
// on: below, no connection and no other server takes the port while its server is dead.
import { createServer } from 'node:net'

const LOWEST = 15_000
const PORTS = 15_000

/** Of the loopback interface; another one at each call. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * PORTS)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => void server.close(() => resolve(true)))
  })
}
