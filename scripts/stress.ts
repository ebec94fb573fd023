// `npm run test:stress [-- --load 12 --seed 7 --seeds 3]`: runs `npm test` under CPU load with its files in random
// order, once for each seed. A test that fails here asserts on time, or depends on state left by another file.
import { fork, spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { REPOSITORY } from './source-files.ts'

const { values } = parseArgs({
  options: {
    load: { type: 'string', default: '12' },
    seed: { type: 'string', default: String(Math.floor(Date.now() / 1000) % 100_000) },
    seeds: { type: 'string', default: '1' },
    busy: { type: 'boolean', default: false },
  },
})
if (values.busy) burn()
else process.exitCode = await stressAll(Number(values.load), Number(values.seed), Number(values.seeds))

/** Uses one core until the parent process ends. */
function burn(): void {
  const isOrphan = (): boolean => !process.connected
  const turn = (): void => {
    const untilMs = performance.now() + 50
    while (performance.now() < untilMs);
    if (!isOrphan()) setImmediate(turn)
  }
  turn()
}

async function stressAll(load: number, seed: number, seeds: number): Promise<number> {
  if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(seeds) || seeds < 1)
    throw new Error('--seed and --seeds must be whole numbers, and --seeds at least 1')
  let code = 0
  for (let next = seed; next < seed + seeds; next += 1) {
    const ended = await stress(load, next)
    console.log(`seed ${next}: ${ended === 0 ? 'green' : 'RED'}`)
    if (ended !== 0) code = ended
  }
  return code
}

async function stress(load: number, seed: number): Promise<number> {
  if (!Number.isSafeInteger(load) || load < 0) throw new Error(`--load must be a whole number, not "${values.load}"`)
  console.log(`npm test beside ${load} busy loops, files in the order of seed ${seed} (--seed ${seed} repeats it)`)
  const loops = Array.from({ length: load }, () => fork(import.meta.filename, ['--busy']))
  const words = ['run', '--sequence.shuffle.files', `--sequence.seed=${seed}`]
  const vitest = join(REPOSITORY, 'node_modules/vitest/vitest.mjs')
  try {
    const tests = spawn(process.execPath, [vitest, ...words], { cwd: REPOSITORY, stdio: 'inherit' })
    return await new Promise((resolve) => void tests.once('close', (code) => resolve(code ?? 1)))
  } finally {
    for (const loop of loops) loop.kill('SIGKILL')
  }
}
