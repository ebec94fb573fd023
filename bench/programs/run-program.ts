// Runs one program in its own folder against a provider that follows the task's script.
import { startFakeAnthropic } from '@baton/testing/fake-anthropic'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Library, Task } from './tasks.ts'
import { FILES } from './tasks.ts'

export interface ProgramRun {
  readonly printed: string
  readonly complaints: string
  readonly exitCode: number | null
}

/** A provider's response to a wrong key. */
export const BAD_KEY = { status: 401, message: 'invalid x-api-key' } as const

/** A program that is still running after this many milliseconds hangs. */
const RUN_MS = 20_000

/** Each run of the task, in order; if the list is shorter, its last entry is the run that failed. */
export async function runProgram(task: Task, library: Library, answer = task.answer): Promise<readonly ProgramRun[]> {
  const script: typeof task.answer = (request) => {
    const said = answer(request)
    return 'status' in said ? said : { ...said, isWhole: request.body['stream'] !== true }
  }
  const provider = await startFakeAnthropic(script, { takesWhole: true })
  const folder = await mkdtemp(join(tmpdir(), 'baton-program-'))
  try {
    for (const [name, content] of Object.entries(FILES)) await writeFile(join(folder, name), content)
    const runs: ProgramRun[] = []
    for (const run of task.runs) {
      const path = join(import.meta.dirname, task.name, `${library}.ts`)
      runs.push(await start(path, { folder, url: provider.url, words: run.words ?? [], typed: run.typed ?? '' }))
      if (runs.at(-1)?.exitCode !== 0) break
    }
    return runs
  } finally {
    await provider.close()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Start {
  readonly folder: string
  readonly url: string
  readonly words: readonly string[]
  readonly typed: string
}

async function start(path: string, { folder, url, words, typed }: Start): Promise<ProgramRun> {
  const isBaton = path.endsWith('baton.ts')
  const child = spawn(
    process.execPath,
    ['--conditions=@baton/source', '--import', join(import.meta.dirname, 'send-to-provider.ts'), path, ...words],
    {
      cwd: folder,
      timeout: RUN_MS,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        ANTHROPIC_API_KEY: 'key-of-a-test',
        // The address in each library's documented form; `send-to-provider.ts` redirects libraries that do not read it.
        ANTHROPIC_BASE_URL: isBaton ? url : `${url}/v1`,
        BATON_PROGRAM_PROVIDER: url,
      },
    },
  )
  // A person types only after being prompted.
  child.stdout.on('data', (said: Buffer) => said.includes('?') && child.stdin.write(typed))
  const ended = new Promise<number | null>((resolve, reject) => child.on('exit', resolve).on('error', reject))
  const [printed, complaints, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { printed, complaints, exitCode }
}
