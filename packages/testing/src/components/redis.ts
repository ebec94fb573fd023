// A Redis server for a test run, on a free port of the loopback interface. It belongs to the machine: BATON_REDIS names
// `redis-server`, or it is in PATH.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from './free-port.ts'
import { leaveOut } from './left-out.ts'

export interface RedisServer {
  readonly url: string
  /** Kills the server; it keeps nothing. */
  kill(): Promise<void>
  start(): Promise<void>
}

/**
 * Returns the server program, or `undefined` if there is none; `warn` then receives what will not be tested.
 * @throws Error if there is none and BATON_TEST_REQUIRE is `all`
 */
export function findRedis(what: string, warn: (message: string) => void): string | undefined {
  const named = process.env['BATON_REDIS'] ?? ''
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const places = [...(named === '' ? [] : [named]), ...folders.map((folder) => join(folder, 'redis-server'))]
  const lack = {
    why: 'Redis is not installed',
    remedy: 'Install Redis, or set BATON_REDIS to redis-server, to run it.',
  }
  return places.find((place) => existsSync(place)) ?? leaveOut(what, lack, warn)
}

/** `program` comes from `findRedis`. */
export async function startRedis(program: string): Promise<RedisServer> {
  const port = await findFreePort()
  let server: ChildProcess | undefined
  const start = async (): Promise<void> => {
    const words = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', tmpdir()]
    server = spawn(program, words, { stdio: 'ignore' })
    for (let tries = 0; !(await isOpen(port)); tries++) {
      if (tries > 100) throw new Error('Redis did not start')
      await wait(50)
    }
  }
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    kill: async () => {
      if (!server || server.exitCode !== null || server.signalCode !== null) return
      const ended = once(server, 'exit')
      server.kill('SIGKILL')
      await ended
    },
    start,
  }
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const open = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  })
  socket.destroy()
  return open
}
