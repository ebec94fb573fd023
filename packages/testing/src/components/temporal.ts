// A Temporal service for a test run, over a file and on free ports of the loopback interface. It belongs to the
// machine: BATON_TEMPORAL names the `temporal` command, or it is in PATH. Its workflows can skip time (skip-time.ts).
import type { ChildProcess } from 'node:child_process'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findFreePort } from './free-port.ts'
import { leaveOut } from './left-out.ts'

const execute = promisify(execFile)

export interface TemporalServer {
  readonly address: string
  /** Runs the `temporal` command against this service and returns its output. @throws Error if it fails */
  command(words: readonly string[]): Promise<string>
  /** Kills the service, like a power cut. */
  kill(): Promise<void>
  /** Restarts it over the same file. */
  start(): Promise<void>
  /** Stops it and removes its file. */
  close(): Promise<void>
}

/**
 * Returns the `temporal` command, or `undefined` if there is none; `warn` then receives what will not be tested.
 * @throws Error if there is none and BATON_TEST_REQUIRE is `all`
 */
export function findTemporal(what: string, warn: (message: string) => void): string | undefined {
  const named = process.env['BATON_TEMPORAL'] ?? ''
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const places = [...(named === '' ? [] : [named]), ...folders.map((folder) => join(folder, 'temporal'))]
  const lack = {
    why: 'no Temporal service was found',
    remedy: 'Install the Temporal command line, or set BATON_TEMPORAL to it, to run it.',
  }
  return places.find((place) => existsSync(place)) ?? leaveOut(what, lack, warn)
}

/** `program` comes from `findTemporal`. */
export async function startTemporal(program: string): Promise<TemporalServer> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-temporal-'))
  const port = await findFreePort()
  const address = `127.0.0.1:${port}`
  let server: ChildProcess | undefined
  const start = async (): Promise<void> => {
    const file = join(folder, 'service.sqlite')
    const words = [
      'server',
      'start-dev',
      '--headless',
      '--ip',
      '127.0.0.1',
      '--port',
      String(port),
      '--db-filename',
      file,
    ]
    const skipping = ['--dynamic-config-value', 'frontend.WorkflowTimeSkippingEnabled=true']
    server = spawn(program, [...words, ...skipping, '--log-level', 'error'], { stdio: 'ignore' })
    for (let tries = 0; !(await answers(program, address)); tries++) {
      if (tries > 300 || server.exitCode !== null) throw new Error('the Temporal service did not start')
      await wait(100)
    }
  }
  const kill = async (): Promise<void> => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }
  await start()
  return {
    address,
    command: async (words) => (await execute(program, [...words, '--address', address])).stdout,
    kill,
    start,
    close: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function answers(program: string, address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':')
  const socket = connect(Number(port), host)
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  })
  socket.destroy()
  if (!isOpen) return false
  try {
    await execute(program, ['operator', 'namespace', 'describe', 'default', '--address', address])
    return true
  } catch {
    return false
  }
}
