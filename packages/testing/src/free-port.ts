// A port for a server that is killed and started again on it. The system's own choices come from 32768 on (Linux) or 49152
// on: below, no connection takes the port while its server is dead. Test files run in processes of their own, so each port
// is reserved by a file that names its process.
import { closeSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const LOWEST = 15_000
const PORTS = 15_000

/** Reserves a port of the loopback interface: another one at each call, in this process and in every other while this one lives. */
export async function findFreePort(): Promise<number> {
  const folder = join(tmpdir(), 'baton-test-ports')
  mkdirSync(folder, { recursive: true })
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * PORTS)
    if (reserve(join(folder, String(port))) && (await isFree(port))) return port
  }
}

function reserve(file: string): boolean {
  try {
    const descriptor = openSync(file, 'wx')
    writeSync(descriptor, String(process.pid))
    closeSync(descriptor)
    return true
  } catch (cause) {
    // A folder that this user may not write to would be tried for ever.
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    forgetDead(file)
    return false
  }
}

/** The port of a process that has ended is free for a later call. */
function forgetDead(file: string): void {
  try {
    const owner = Number(readFileSync(file, 'utf8'))
    if (owner > 0 && !isAlive(owner)) unlinkSync(file)
  } catch {
    // Another process was quicker.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => void server.close(() => resolve(true)))
  })
}
