// Starts the processes of a measurement: the provider, and one for each client.
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { Batch, Memory, Order } from './client-process.ts'
import { ask } from './process-answer.ts'
import type { ClientName } from './scenarios.ts'

export interface Provider {
  /** `http://127.0.0.1:<port>`, without a scenario's path. */
  readonly origin: string
  stop(): void
}

export async function startProvider(): Promise<Provider> {
  const child = fork(join(import.meta.dirname, 'provider/server.ts'), { execArgv: [] })
  const { port } = await ask<{ readonly port: number }>(child)
  return { origin: `http://127.0.0.1:${port}`, stop: () => child.disconnect() }
}

const OWN_TREE = join(import.meta.dirname, '..')

export interface ClientProcess {
  readonly name: ClientName
  run(turns: number, atOnce: number): Promise<Batch>
  collect(): Promise<Memory>
  connect(connections: number): Promise<Memory>
  stop(): void
}

/**
 * NODE_BENCH_OPTIONS passes options such as `--cpu-prof` to the clients. `tree` is the root of the repository whose
 * build is measured. @throws Error if the client cannot be opened
 */
export async function startClient(name: ClientName, base: string, tree = OWN_TREE): Promise<ClientProcess> {
  const [file = '', wire = ''] = name.split(':')
  const module = join(tree, 'bench/clients', `${file}.ts`)
  const given = (process.env['NODE_BENCH_OPTIONS'] ?? '').split(' ').filter((option) => option !== '')
  const options = { execArgv: ['--expose-gc', ...given] }
  const child: ChildProcess = fork(join(tree, 'bench/client-process.ts'), [module, base, wire], options)
  await ask(child)
  const order = <Answer>(told: Order): Promise<Answer> => ask<Answer>(child, told)
  return {
    name,
    run: (turns, atOnce) => order<Batch>({ type: 'run', turns, atOnce }),
    collect: () => order<Memory>({ type: 'collect' }),
    connect: (connections) => order<Memory>({ type: 'connect', connections }),
    stop: () => child.disconnect(),
  }
}
