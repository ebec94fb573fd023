// Measures the cost of the kits: the validation of a call and the policies that judge it, a search over many files
// compared with ripgrep itself, and a large session file compared with a bare reader of its lines. The variants
// alternate each round; rows have the medians of the rounds.
import { spawnSync } from 'node:child_process'
import { createReadStream, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import type { AgentOptions, Tool } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { createHost, createTaintPolicy, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { codingSessionTools } from '@baton/kits/coding-sessions'
import { workspaceTools } from '@baton/tools/workspace'
import { z } from 'zod'
import { writeLargeSession } from './large-session.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    turns: { type: 'string', default: '300' },
    files: { type: 'string', default: '50000' },
    megabytes: { type: 'string', default: '500' },
    part: { type: 'string' },
  },
})
const [rounds, turns, files, megabytes] = (['rounds', 'turns', 'files', 'megabytes'] as const).map((name) => {
  const value = Number(values[name])
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} takes a whole number above 0`)
  return value
}) as [number, number, number, number] // one for each name

const print = (text: string): void => void process.stdout.write(`${text}\n`)
const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0

interface Way {
  readonly name: string
  run(): Promise<void>
}

/** Compares each way with the first one. `each`: the number of operations in one run. */
async function compare(ways: readonly Way[], { times, each }: { readonly times: number; readonly each: number }) {
  const costs = ways.map(() => ({ cpu: [] as number[], wait: [] as number[] }))
  for (let round = 0; round <= times; round += 1)
    for (const [index, way] of ways.entries()) {
      const before = process.cpuUsage()
      const begun = performance.now()
      await way.run()
      const { user, system } = process.cpuUsage(before)
      if (round === 0) continue // warm-up
      costs[index]?.wait.push((performance.now() - begun) / each)
      costs[index]?.cpu.push((user + system) / 1000 / each)
    }
  return ways.map(({ name }, index) => {
    const { cpu = [], wait = [] } = costs[index] ?? {}
    const ratio = (of: 'cpu' | 'wait') =>
      median((costs[index]?.[of] ?? []).map((value, at) => value / (costs[0]?.[of][at] ?? 1)))
    return { name, cpuMs: median(cpu), waitMs: median(wait), cpuRatio: ratio('cpu'), waitRatio: ratio('wait') }
  })
}

const json = {
  type: 'object',
  properties: { to: { type: 'string' }, text: { type: 'string' } },
  required: ['to', 'text'],
} as const
const zod = z.object({ to: z.email(), text: z.string().min(1).max(500) })
const SENT = { to: 'ann@example.com', text: 'The report of this month is in the usual folder. '.repeat(4) }
/** A page of text written by a stranger. */
const PAGE = 'Words of a page that says nothing of interest, line by line. '.repeat(160)

/**
 * A turn of two steps: the model calls a tool, and answers. With `reads`, the previous turn has read a stranger's page.
 */
async function openTurns(
  name: string,
  input: Tool['input'],
  { reads, ...more }: Partial<AgentOptions> & { readonly reads?: true } = {},
): Promise<Way & { close(): Promise<void> }> {
  const send = tool({
    name: 'mail.send',
    description: 'Sends a mail',
    input,
    effect: 'idempotent', // risky for a taint policy
    describe: () => ({ title: 'Mail to Ann', destination: SENT.to }),
    execute: () => 'sent',
  })
  const page = tool({
    name: 'page.read',
    description: 'Reads a page',
    input: { type: 'object', properties: {} },
    effect: 'pure',
    trust: 'untrusted',
    execute: () => PAGE,
  })
  const model = createScriptedModel({
    steps: ({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool') return { text: 'Done.' }
      const isFirst = reads && messages.length === 1
      return { calls: [{ name: isFirst ? 'page.read' : 'mail.send', arguments: isFirst ? {} : SENT }] }
    },
  })
  const agent = defineAgent({ name: 'bench', model, tools: [send, page], window: { exchanges: 4 }, ...more })
  const host = createHost({ agent })
  let session = await host.session('0')
  let number = 0
  return {
    name,
    run: async () => {
      // Each run has its own session, so that the window is the same.
      session = await host.session(`${(number += 1)}`)
      if (reads) await session.send('Read the page.').answer
      for (let turn = 0; turn < turns; turn += 1) await session.send(`Send ${turn} to ann@example.com.`).answer
      await session.close()
    },
    close: () => host.stop(),
  }
}

async function measureCalls(): Promise<void> {
  const allow = () => 'allow' as const
  const ways = [
    await openTurns('JSON Schema, no policy', json),
    await openTurns('Zod schema, no policy', zod),
    await openTurns('JSON Schema, a policy that allows', json, { approvalPolicy: allow }),
    await openTurns('JSON Schema, the taint policy, nothing read', json, { approvalPolicy: createTaintPolicy() }),
    await openTurns('JSON Schema, the taint policy, a page of 10 kB read', json, {
      approvalPolicy: createTaintPolicy({ allows: () => true }),
      reads: true,
    }),
  ]
  print('| A turn with one call | Processor time | Ratio |\n|---|---|---|')
  for (const row of await compare(ways, { times: rounds, each: turns }))
    print(`| ${row.name} | ${(row.cpuMs * 1000).toFixed(0)} µs | ${row.cpuRatio.toFixed(2)} |`)
  for (const way of ways) await way.close()
}

async function measureSearch(root: string): Promise<void> {
  for (let index = 0; index < files; index += 1) {
    const folder = join(root, `d${index % 500}`)
    if (index < 500) mkdirSync(folder, { recursive: true })
    const text = `export const value${index} = ${index} // some text that looks like code\n`.repeat(30)
    writeFileSync(join(folder, `f${index}.ts`), index % 500 === 0 ? `${text}needle\n` : text)
  }
  const limits = { matchesMax: files, walkedEntriesMax: 2 * files, timeMs: 600_000 }
  const search = (name: string, ripgrep: false | undefined): Way => {
    const options = { root, limits, ...(ripgrep === false && { ripgrep }) }
    const grep = workspaceTools(options).find((one) => one.name === 'code.grep')
    const context = createToolContext({ signal: new AbortController().signal })
    return {
      name,
      run: async () => {
        const found = (await grep?.execute?.({ pattern: 'need.e', startLine: 1 }, context)) as { files: unknown[] } // its schema
        if (found.files.length !== Math.ceil(files / 500)) throw new Error(`found ${found.files.length} files`)
      },
    }
  }
  const bare: Way = {
    name: 'ripgrep itself',
    run: async () => void spawnSync('rg', ['--no-config', '--hidden', '--count', '-e', 'need.e', '.'], { cwd: root }),
  }
  const ways = [bare, search('`code.grep` with ripgrep', undefined), search('`code.grep` without', false)]
  print(`\n| A search over ${files} files of 2 kB | Seconds | Ratio |\n|---|---|---|`)
  for (const row of await compare(ways, { times: 3, each: 1 }))
    print(`| ${row.name} | ${(row.waitMs / 1000).toFixed(2)} | ${row.waitRatio.toFixed(1)} |`)
}

async function measureSession(root: string): Promise<void> {
  const { store, file } = writeLargeSession(root, megabytes * 1_000_000)
  const analyze = codingSessionTools({ ...store, timeMs: 600_000 }).find(({ name }) => name === 'session.analyze')
  const context = createToolContext({ signal: new AbortController().signal })
  const ways: readonly Way[] = [
    {
      name: "Node's `readline` and `JSON.parse`",
      run: async () => {
        for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity }))
          JSON.parse(line)
      },
    },
    {
      name: '`session.analyze`',
      run: async () => void (await analyze?.execute?.({}, context)),
    },
  ]
  print(`\n| A session file of ${Math.round(statSync(file).size / 1e6)} MB | Seconds | Ratio |\n|---|---|---|`)
  for (const row of await compare(ways, { times: 2, each: 1 }))
    print(`| ${row.name} | ${(row.waitMs / 1000).toFixed(1)} | ${row.waitRatio.toFixed(2)} |`)
  print(`\nPeak memory of this process: ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB.`)
}

async function runPart(part: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'baton-bench-tools-'))
  try {
    if (part === 'calls') await measureCalls()
    else if (part === 'search') await measureSearch(place)
    else await measureSession(place)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

// Each part runs in its own process, so that its peak memory can be measured.
if (values.part !== undefined) await runPart(values.part)
else
  for (const part of ['calls', 'search', 'session']) {
    const args = [...process.execArgv, process.argv[1] ?? '', ...process.argv.slice(2), '--part', part]
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
