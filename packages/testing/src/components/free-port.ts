// Ports for servers that are killed and restarted on the same port. The system assigns ports from 32768 (Linux) or
// 49152 up, so a lower port stays free while its server is dead. Test files run in separate processes, so each port is
// reserved by a file that names its process.
import { closeSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const LOWEST = 15_000
const PORTS = 15_000

/**
 * Reserves a port of the loopback interface: a different one on each call, in this process and in all others while this
 * one lives.
 */
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
    // Otherwise, a folder that this user cannot write to would be retried forever.
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    forgetDead(file)
    return false
  }
}

/** Frees the port of a process that has ended. */
function forgetDead(file: string): void {
  try {
    const owner = Number(readFileSync(file, 'utf8'))
    if (owner > 0 && !isAlive(owner)) unlinkSync(file)
  } catch {
    // Another process was faster.
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
