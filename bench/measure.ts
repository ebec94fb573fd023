// Measures one scenario: all its clients are live at the same time, each in its own process, and alternate batch by
// batch, so that other load on the machine affects all of them alike. Ratios are computed within a round; the result is
// the median of the rounds.
import type { Batch } from './client-process.ts'
import type { ClientProcess, Provider } from './processes.ts'
import { startClient } from './processes.ts'
import type { Scenario } from './scenarios.ts'

export interface Measured {
  readonly client: string
  /** In the scenario's unit. */
  readonly median: number
  readonly least: number
  readonly most: number
  /** Relative to the scenario's floor; for times, less is better. */
  readonly ratio: number
}

export interface MeasureOptions {
  readonly rounds: number
  /** Warm-up of each client in milliseconds; afterwards, all clients continue to the turn count of the fastest one. */
  readonly warmMs: number
  /** Defaults to all clients of the scenario. */
  readonly clients?: readonly string[]
  /**
   * The root of another repository: all clients except the floor are also measured with its build, as `<client> of
   * base`.
   */
  readonly baseTree?: string
  /** Processes per client, whose mean counts: the same code may be a tenth slower in one process than in another. */
  readonly copies?: number
}

const WARM_TURNS = 20
/**
 * The number of turns up to which a slower client is warmed up; by then nearly all of its code has reached its final
 * compilation.
 */
const WARM_TURNS_MOST = 2000

/** @throws Error if a client fails, or produces an unexpected text or number of calls */
export async function measure(
  provider: Provider,
  scenario: Scenario,
  options: MeasureOptions,
): Promise<readonly Measured[]> {
  return compared(await measureRounds(provider, scenario, options), scenario.floor)
}

/** The value of each client in each round. @throws Error like `measure` */
export async function measureRounds(
  provider: Provider,
  scenario: Scenario,
  options: MeasureOptions,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const { clients, baseTree, copies = 1 } = options
  const names = scenario.clients.filter((name) => name === scenario.floor || !clients || clients.includes(name))
  const others = baseTree === undefined ? [] : names.filter((name) => name !== scenario.floor)
  const base = `${provider.origin}/${scenario.path}`
  const warming: Warming[] = []
  try {
    const start = async (label: string, starting: Promise<ClientProcess>): Promise<void> => {
      const one = { label, process: await starting, turns: 0, turnMs: 0 }
      warming.push(one)
      const endMs = performance.now() + options.warmMs
      while (one.turns < WARM_TURNS || performance.now() < endMs) await warm(one, scenario)
    }
    for (let copy = 0; copy < copies; copy++) {
      for (const name of names) await start(name, startClient(name, base))
      for (const name of others) await start(`${name} of base`, startClient(name, base, baseTree))
    }
    const runners = await warmAlike(warming, scenario)
    const values = new Map<string, number[]>(runners.map(({ label }) => [label, Array(options.rounds).fill(0)]))
    for (let round = 0; round < options.rounds; round++)
      // Each round begins with another client, so that no client always follows the same one.
      for (let index = 0; index < runners.length; index++) {
        const runner = runners[(index + round) % runners.length]
        const seen = runner && values.get(runner.label)
        if (seen)
          seen[round] =
            (seen[round] ?? 0) + readValue(scenario, await runBatch(scenario, runner), runner.turns) / copies
      }
    return values
  } finally {
    for (const { process } of warming) process.stop()
  }
}

interface Runner {
  readonly label: string
  readonly process: ClientProcess
  /** Number of turns in a batch. */
  readonly turns: number
}

/** A client during warm-up. */
interface Warming {
  readonly label: string
  readonly process: ClientProcess
  /** Number of turns so far. */
  turns: number
  /** Duration of each of the newest turns. */
  turnMs: number
}

async function warm(one: Warming, scenario: Scenario): Promise<void> {
  const { wallMs } = await runBatch(scenario, { ...one, turns: scenario.atOnce })
  one.turns += scenario.atOnce
  one.turnMs = wallMs / scenario.atOnce
}

/**
 * In the same time, a quick client runs more turns, so more of its code is compiled: measured at that point, a slow
 * client would also pay for compilation.
 */
async function warmAlike(warming: readonly Warming[], scenario: Scenario): Promise<readonly Runner[]> {
  const turns = Math.min(WARM_TURNS_MOST, Math.max(...warming.map((one) => one.turns)))
  for (const one of warming) {
    while (one.turns < turns) await warm(one, scenario)
    await one.process.collect()
  }
  return warming.map(({ label, process, turnMs }) => ({
    label,
    process,
    turns: Math.max(scenario.atOnce, Math.ceil(scenario.batchMs / turnMs)),
  }))
}

async function runBatch(scenario: Scenario, { process, turns }: Runner): Promise<Batch> {
  const batch = await process.run(turns, Math.min(turns, scenario.atOnce))
  const { chars, tools } = batch
  if (tools === turns * scenario.tools && (scenario.chars === undefined || chars === turns * scenario.chars))
    return batch
  const wanted = `${turns} turns should give ${scenario.chars ?? 'some'} characters and ${scenario.tools} calls each`
  throw new Error(`${process.name}, ${scenario.name}: ${wanted}, and gave ${chars} and ${tools} in all`)
}

function readValue({ unit }: Scenario, batch: Batch, turns: number): number {
  if (unit.type === 'turns/s') return (turns * 1000) / batch.wallMs
  if (unit.type === 'delay') return median(batch.delaysUs)
  return (batch.cpuMs * unit.scale) / turns / unit.per
}

/** Compares each client with the values of `floor` in the same rounds. */
export function compared(values: ReadonlyMap<string, readonly number[]>, floor: string): readonly Measured[] {
  const least = values.get(floor) ?? []
  return [...values].map(([client, own]) => ({
    client,
    median: median(own),
    least: Math.min(...own),
    most: Math.max(...own),
    ratio: median(own.map((value, round) => value / (least[round] ?? Number.NaN))),
  }))
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[half] ?? Number.NaN)
    : ((sorted[half - 1] ?? Number.NaN) + (sorted[half] ?? Number.NaN)) / 2
}
